// Bundles src/ into dist/viewer.html: one file with script and style inlined and a marker where the data go.
import { build } from "esbuild";
import { mkdir, readFile, writeFile } from "node:fs/promises";

const MARKER = "@@STICKSLIP-DATA@@";

async function bundle() {
  const result = await build({
    entryPoints: ["src/main.ts"],
    bundle: true,
    minify: true,
    write: false,
    outdir: "dist",
    format: "iife",
    target: ["es2021"],
    legalComments: "none",
    charset: "utf8",
    logLevel: "warning",
  });
  const text = (suffix) => result.outputFiles.find((file) => file.path.endsWith(suffix))?.text ?? "";
  return { script: text(".js"), style: text(".css") };
}

// The replacement is a function, so that "$&" and the like in the bundle stay what they are.
function place(template, mark, content) {
  if (template.split(mark).length !== 2) throw new Error(`index.html must contain ${mark} exactly once`);
  return template.replace(mark, () => content);
}

const { script, style } = await bundle();
if (script.includes(MARKER) || /<\/script|<!--/i.test(script)) throw new Error("the bundle would break the page");
let page = await readFile("src/index.html", "utf8");
page = place(page, "/*style*/", style);
page = place(page, "/*script*/", script);
if (page.split(MARKER).length !== 2) throw new Error(`the page must contain ${MARKER} exactly once`);
await mkdir("dist", { recursive: true });
await writeFile("dist/viewer.html", page);
console.log(`dist/viewer.html: ${Math.round(page.length / 1024)} KiB`);
