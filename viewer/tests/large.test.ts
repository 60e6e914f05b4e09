// A large page: 1,000 bodies and 1,000 frames stay below 30 MB, load, and play.
import assert from "node:assert/strict";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { launch, near, open, pictureContent, seek, stickslip } from "./browser.js";

const BODIES = 1000;
const FRAMES = 1000;
const STEP = 0.01;
const folder = process.env["STICKSLIP_PAGES"] ?? "";

// Spheres that fly apart and spin, each its own way.
const speed = (i: number) => [0.05 * Math.sin(i), 0.05 * Math.cos(2 * i), 0.05 * Math.sin(3 * i)];
const place = (i: number) => [3 * (i % 10), 3 * (Math.floor(i / 10) % 10), 3 * Math.floor(i / 100)];

function scene(): string {
  const bodies = Array.from({ length: BODIES }, (_, i) => {
    const numbers = (values: number[]) => `[${values.join(", ")}]`;
    const motion = `velocity: ${numbers(speed(i))}, angular_velocity: [${i % 3}, ${i % 5}, ${i % 7}]`;
    return `  - {name: b${i}, mass: 1, position: ${numbers(place(i))}, ${motion}, shapes: [{type: sphere, radius: 0.5}]}`;
  });
  const simulation = `simulation: {scheme: moreau, step: ${STEP}, duration: ${STEP * (FRAMES - 1)}}`;
  return ["gravity: [0, 0, 0]", "bodies:", ...bodies, simulation, ""].join("\n");
}

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

test("1,000 bodies in 1,000 frames", { timeout: 240_000 }, async () => {
  const file = join(folder, "large.yaml");
  const page = join(folder, "large.html");
  writeFileSync(file, scene());
  stickslip("view", file, "-o", page);
  const { size } = statSync(page);
  assert.ok(size < 30e6, `the page has ${size} bytes`);
  const opened = await open(browser, "large");
  const [bodies, frames] = await opened.page.evaluate(() => [
    globalThis.stickslip?.page.model.bodies.length,
    globalThis.stickslip?.page.time.length,
  ]);
  assert.deepEqual([bodies, frames], [BODIES, FRAMES], "nothing is left out");
  await seek(opened.page, 500 * STEP);
  for (const body of [0, 499, 999]) {
    const shown = await opened.page.evaluate((i) => globalThis.stickslip?.drawn(i)?.position ?? [], body);
    place(body).forEach((x, k) => near(shown[k], x + 5 * speed(body)[k], 1e-5, `body ${body}, coordinate ${k}`));
  }
  assert.ok((await pictureContent(opened.page)).colors > 20, "the picture is not blank");
  await seek(opened.page, 0);
  await opened.page.keyboard.press("Space");
  await opened.page.waitForFunction(() => (globalThis.stickslip?.player.time ?? 0) > 0.5);
  assert.deepEqual(opened.complaints, []);
  await opened.page.context().close();
});
