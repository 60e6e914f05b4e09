// Makes a page of every scene with the built stickslip, then runs the tests in Chromium; `run.mjs fast` does so for a few
// scenes and without the comparison of pictures; `run.mjs gallery` makes the pictures of docs/gallery instead, `run.mjs looks`
// the coarse pictures that scenes.test.ts compares with, of all scenes or of those that are named.
//   STICKSLIP   the executable (default: ../build/stickslip)
//   CHROMIUM    the browser (default: /usr/bin/chromium)
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../..");
const stickslip = resolve(process.env.STICKSLIP ?? join(root, "build/stickslip"));
if (!existsSync(stickslip)) {
  console.error(`${stickslip} does not exist: run ./dev build, or set STICKSLIP`);
  process.exit(2);
}

const work = mkdtempSync(join(tmpdir(), "stickslip-viewer-"));
try {
  const fast = process.argv[2] === "fast";
  const few = ["double-pendulum-wall.yaml", "cattaneo-mindlin.yaml", "pawl.yaml"];
  const yaml = (folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(".yaml"))
      .map((name) => join(folder, name));
  const all = [...yaml(join(root, "scenes")), ...yaml(here)];
  const asked = process.argv.slice(3); // scenes by name
  const wanted = (file) => asked.length === 0 || asked.includes(basename(file, ".yaml"));
  const scenes = fast ? few.map((name) => join(root, "scenes", name)) : all.filter(wanted);
  for (const scene of scenes) {
    const page = join(work, `${basename(scene, ".yaml")}.html`);
    const made = spawnSync(stickslip, ["view", scene, "-o", page], { encoding: "utf8" });
    // A run without a certified step (exit code 1) has a page too, which says so.
    if (made.status !== 0 && !existsSync(page)) throw new Error(`view ${scene}: ${made.stderr}`);
  }
  const names = scenes.map((scene) => basename(scene, ".yaml")).join(",");
  const gallery = process.argv[2] === "gallery";
  const looks = process.argv[2] === "looks";
  const slow = ["gallery.test.ts", "controls.test.ts"];
  const tests = gallery
    ? ["make_gallery.ts"]
    : looks
      ? ["scenes.test.ts"]
      : readdirSync(here).filter((name) => name.endsWith(".test.ts") && !(fast && slow.includes(name)));
  await build({
    entryPoints: tests.map((name) => join(here, name)),
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    outdir: work,
    outExtension: { ".js": ".mjs" },
    logLevel: "warning",
  });
  symlinkSync(join(here, "../node_modules"), join(work, "node_modules"));
  const files = tests.map((name) => join(work, name.replace(/\.ts$/, ".mjs")));
  const run = spawnSync(process.execPath, gallery ? files : ["--test", ...files], {
    stdio: "inherit",
    env: { ...process.env, STICKSLIP: stickslip, STICKSLIP_PAGES: work, STICKSLIP_ROOT: root, STICKSLIP_SCENES: names, STICKSLIP_LOOKS: looks ? "make" : "" },
  });
  process.exitCode = run.status ?? 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}
