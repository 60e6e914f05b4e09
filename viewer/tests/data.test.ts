// What pages show beyond the motion: patches of compliant contacts, applied loads, residuals, timings.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { drawn, launch, near, open, seek, stickslip, time } from "./browser.js";

const COMPLIANT = "cattaneo-mindlin";
const folder = process.env["STICKSLIP_PAGES"] ?? "";
const scene = (name: string) => join(process.env["STICKSLIP_ROOT"] ?? "..", "scenes", `${name}.yaml`);
let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const end = (page: Page) => page.evaluate(() => globalThis.stickslip?.player.end ?? NaN);

test("patches: a map of the elements, which together carry the contact force", async () => {
  const { page, complaints } = await open(browser, COMPLIANT);
  await page.click("#tab-patches");
  await seek(page, 0.039); // the tangential load has nearly reached its peak, and still grows
  const status = (await page.locator("#panel-patches [role=status]").textContent()) ?? "";
  const counts = /(\d+) elements stick, (\d+) slip, (\d+) are open/.exec(status);
  assert.ok(counts, status);
  const [stick, slip] = [Number(counts[1]), Number(counts[2])];
  assert.ok(stick > 0 && slip > 0, `Mindlin: the middle sticks, the rim slips (${status})`);
  const [elements, contact] = await page.evaluate(() => {
    const p = globalThis.stickslip?.page;
    if (!p?.patches || !p.contacts) return [NaN, NaN];
    const last = globalThis.stickslip?.player.stepFrame ?? 0;
    let sum = 0;
    for (let e = p.patches.element[p.patches.first[last]]; e < p.patches.element[p.patches.first[last + 1]]; e++)
      sum += p.patches.force[3 * e];
    const i = 3 * p.contacts.first[last];
    const { force, normal } = p.contacts;
    return [sum, force[i] * normal[i] + force[i + 1] * normal[i + 1] + force[i + 2] * normal[i + 2]];
  });
  near(elements, contact, 1e-3 * contact, "normal forces of the elements");
  assert.ok((await page.locator(".patch-map").getAttribute("aria-label"))?.includes("elements stick"));
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test("loads and patches are layers of the picture", async () => {
  const { page } = await open(browser, COMPLIANT, { deviceScaleFactor: 1 });
  await seek(page, await end(page));
  const picture = () => page.locator("#canvas").screenshot();
  for (const key of ["a", "p"]) {
    const shown = await picture();
    await page.keyboard.press(key);
    await drawn(page);
    assert.notDeepEqual(await picture(), shown, `key ${key} hides something`);
    await page.keyboard.press(key);
    await drawn(page);
  }
  await page.context().close();
});

test("results have residuals and, where they were measured, timings; events are found on the time line", async () => {
  const name = "from-result";
  const result = join(folder, "timed.h5");
  stickslip("run", scene("double-pendulum-wall"), "--timings", "-o", result);
  stickslip("view", result, "-o", join(folder, `${name}.html`));
  const { page, complaints } = await open(browser, name);
  await page.locator(".plot select").first().selectOption("residuals");
  await page.click("#tab-certificate");
  for (const stage of ["search", "solve", "observe", "together"])
    await page.locator("#panel-certificate th", { hasText: stage }).first().waitFor();
  const box = await page.locator("#timeline canvas").boundingBox();
  assert.ok(box);
  const { t, share } = await page.evaluate(() => {
    const handle = globalThis.stickslip;
    const event = handle?.page.events[1]?.t ?? NaN;
    return { t: event, share: handle ? (event - handle.player.start) / (handle.player.end - handle.player.start) : NaN };
  });
  await page.mouse.click(box.x + share * box.width + 1, box.y + 3);
  near(await time(page), t, 0, "time after a click on the mark of an event");
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test("a planar scene of millimetres is framed by what is seen of it, not by its depth", async () => {
  const { page } = await open(browser, "pawl");
  const size = await page.evaluate(() => globalThis.stickslip?.view.extent.size ?? NaN);
  assert.ok(size > 1e-3 && size < 0.05, `${size}`);
  await page.context().close();
});

test("an output that is no number at times has a curve where it is one", async () => {
  const file = join(folder, "gaps.yaml");
  writeFileSync(
    file,
    "bodies: [{name: a, mass: 1, inertia: [1, 1, 1]}]\n" +
      'outputs: [{name: half, value: "log(0.5 - t)"}]\n' +
      "simulation: {scheme: moreau, step: 0.01, duration: 1}\n",
  );
  stickslip("view", file, "-o", join(folder, "gaps.html"));
  const { page, complaints } = await open(browser, "gaps");
  await drawn(page);
  const coloured = await page.evaluate(() => {
    const canvas = document.querySelector<HTMLCanvasElement>(".plot canvas");
    const data = canvas?.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
    let n = 0;
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 60 && data[i + 2] - data[i] > 40) n++;
    return n;
  });
  assert.ok(coloured > 50, `${coloured} pixels of the curve`);
  assert.deepEqual(complaints, []);
  await page.context().close();
});
