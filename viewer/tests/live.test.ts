// The live page: started, stepped, a parameter changed, a body pulled with the mouse, ended.
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { PATIENCE, launch, pictureContent } from "./browser.js";

const SCENE = `name: Hanging ball
parameters: {g: 9.81, L: 1}
planar: xy
gravity: [0, -g]
inputs: {wind: 0}
bodies:
  - {name: bob, mass: 1, freedom: [x, y], position: [0, -L], shapes: [{type: sphere, radius: 0.2}]}
joints: [{type: distance, between: [world, bob], length: L}]
forces: [{type: applied, on: bob, force: [4*wind, 0]}]
outputs: [{name: push, value: 4*wind}]
simulation: {scheme: trapezoidal, step: 2^-8, duration: 10}
`;

let browser: Browser;
let server: ChildProcess;
let page: Page;
const complaints: string[] = [];

before(async () => {
  const folder = process.env["STICKSLIP_PAGES"] ?? "";
  const scene = join(folder, "live.yaml");
  writeFileSync(scene, SCENE);
  server = spawn(process.env["STICKSLIP"] ?? "stickslip", ["view", "--live", scene]);
  const [line] = (await once(server.stdout ?? server, "data")) as [Buffer];
  browser = await launch();
  page = await browser.newPage({ viewport: { width: 900, height: 520 }, reducedMotion: "reduce" });
  page.setDefaultTimeout(PATIENCE);
  page.on("pageerror", (error) => complaints.push(`exception: ${error.message}`));
  page.on("console", (m) => {
    if (m.type() === "error") complaints.push(m.text());
  });
  await page.goto(line.toString().trim());
  await page.waitForFunction(() => (globalThis.stickslip?.frames() ?? 0) > 0);
});
after(async () => {
  await browser.close();
  server.kill("SIGKILL");
});

const bob = () => page.evaluate(() => globalThis.stickslip?.drawn(0)?.position ?? [NaN, NaN, NaN]);
const now = () => page.evaluate(() => globalThis.stickslip?.player.time ?? NaN);
const message = (text: string) =>
  page.waitForFunction((t) => document.querySelector("#message")?.textContent?.includes(t) === true, text);

test("shows the scene, paused at its start", async () => {
  assert.equal(await now(), 0);
  assert.ok((await pictureContent(page)).colors > 3, "the picture is not blank");
});

test("steps, starts, pauses and resets", async () => {
  await page.getByRole("button", { name: "One step" }).click();
  await page.waitForFunction(() => globalThis.stickslip?.player.time === 1 / 256);
  await page.getByRole("button", { name: "Start" }).click();
  await page.waitForFunction(() => (globalThis.stickslip?.player.time ?? 0) > 0.2);
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Start" }).waitFor();
  await page.getByRole("button", { name: "Reset" }).click();
  await page.waitForFunction(() => globalThis.stickslip?.player.time === 0);
});

test("plots what it has seen, and lists events", async () => {
  await page.click("#tab-plots");
  await page.getByRole("button", { name: "Start" }).click();
  await page.waitForFunction(() => (globalThis.stickslip?.player.time ?? 0) > 0.3);
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Start" }).waitFor();
  assert.ok((await page.locator("#panel-plots .u-over").count()) >= 1, "a plot is shown");
  await page.click("#tab-events");
  await page.getByText("Nothing has happened yet.").waitFor();
  await page.click("#tab-parameters");
  await page.getByRole("button", { name: "Reset" }).click();
  await page.waitForFunction(() => globalThis.stickslip?.player.time === 0);
});

test("? shows the keys, also after a button was clicked", async () => {
  await page.keyboard.press("?");
  assert.ok(await page.locator("#help").isVisible(), "help");
  assert.ok(await page.getByText("one step", { exact: true }).isVisible());
  await page.keyboard.press("Escape");
});

test("a dragged body follows the pointer, from standing still", async () => {
  const place = await page.evaluate(() => {
    const handle = globalThis.stickslip;
    const canvas = document.querySelector("#canvas");
    if (!handle || !canvas) return null;
    const at = handle.view.motion.matrices[0].elements;
    const p = handle.view.extent.center.clone().set(at[12], at[13], at[14]).project(handle.view.camera.camera);
    const box = canvas.getBoundingClientRect();
    return { x: box.left + ((p.x + 1) / 2) * box.width, y: box.top + ((1 - p.y) / 2) * box.height };
  });
  assert.ok(place);
  await page.mouse.move(place.x, place.y); // nothing was started: pulling does
  await page.mouse.down();
  await page.mouse.move(place.x + 150, place.y, { steps: 4 });
  await page.waitForFunction(() => (globalThis.stickslip?.drawn(0)?.position[0] ?? 0) > 0.1);
  await page.mouse.up();
  const [x, y] = await bob();
  assert.ok(Math.abs(Math.hypot(x, y) - 1) < 1e-2, "the rod holds");
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Start" }).waitFor();
});

test("parameters: the motion goes on where it can, and restarts elsewhere", async () => {
  const t = await now();
  assert.ok(t > 0);
  await page.getByLabel("g", { exact: true }).fill("1.5");
  await page.keyboard.press("Enter");
  await message("the motion goes on");
  await page.waitForFunction((at) => globalThis.stickslip?.player.time === at, t);
  await page.getByLabel("L", { exact: true }).fill("3/2");
  await page.keyboard.press("Enter");
  await message("restarted, because the joints would not hold");
  await page.waitForFunction(() => Math.abs((globalThis.stickslip?.drawn(0)?.position[1] ?? 0) + 1.5) < 1e-6);
  await page.getByLabel("g", { exact: true }).fill("1 +");
  await page.keyboard.press("Enter");
  await message("g=1 +");
});

test("inputs: a slider that is dragged pushes at once, and follows the number beside it", async () => {
  await page.getByRole("button", { name: "Reset" }).click();
  await page.waitForFunction(() => globalThis.stickslip?.player.time === 0);
  const slider = page.getByRole("slider", { name: "wind", exact: true });
  const field = page.getByLabel("wind, a number");
  const box = await slider.boundingBox();
  assert.ok(box && box.width > 40, "there is room for it");
  await page.getByRole("button", { name: "Start" }).click();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.95 * box.width, box.y + box.height / 2, { steps: 3 });
  await page.mouse.up();
  const wind = Number(await field.inputValue());
  assert.ok(wind > 0.7 && wind <= 1, `the field says ${wind}`);
  await page.waitForFunction(() => (globalThis.stickslip?.drawn(0)?.position[0] ?? 0) > 0.3);
  await field.fill("-20"); // beyond the slider's end: it widens
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => (globalThis.stickslip?.drawn(0)?.position[0] ?? 0) < -0.3);
  assert.equal(Number(await slider.inputValue()), -20);
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Start" }).waitFor();
});

test("ends when asked, without complaints", async () => {
  // The browser itself reports the refused parameter of the test before (status 400).
  assert.deepEqual(
    complaints.filter((c) => !c.includes("400")),
    [],
  );
  const ended = once(server, "exit");
  await page.getByRole("button", { name: "End the simulation" }).click();
  const [code] = (await ended) as [number];
  assert.equal(code, 0);
});
