// Every scene's page: loads in silence, moves the bodies to where they were recorded, reacts to mouse and keyboard.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { checkLook } from "./looks.js";
import { drawn, launch, near, open, pageNames, pictureContent, seek, time } from "./browser.js";

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

interface Difference {
  body: string;
  position: number;
  orientation: number;
}

// Largest difference between the scene graph and the record at a frame.
function differences(page: Page, frame: number): Promise<Difference[]> {
  return page.evaluate((at) => {
    const handle = globalThis.stickslip;
    if (!handle) return [];
    const { model, position, orientation } = handle.page;
    return model.bodies.flatMap(({ name }, body) => {
      const shown = handle.drawn(body);
      if (!shown) return [];
      const record = at * model.bodies.length + body;
      const p = Array.from(position.subarray(3 * record, 3 * record + 3));
      const q = Array.from(orientation.subarray(4 * record, 4 * record + 4));
      const largest = (a: number[], b: number[]) => Math.max(...a.map((value, i) => Math.abs(value - b[i])));
      const turned = Math.min(
        largest(q, shown.orientation),
        largest(
          q,
          shown.orientation.map((value) => -value),
        ),
      );
      const far = 1 + Math.max(...p.map(Math.abs));
      return [{ body: name, position: largest(p, shown.position) / far, orientation: turned }];
    });
  }, frame);
}

async function checkMotion(page: Page): Promise<void> {
  const times = await page.evaluate(() => Array.from(globalThis.stickslip?.page.time ?? []));
  assert.ok(times.length > 1, "the page has frames");
  for (const share of [0, 0.74, 1, 0.37]) {
    const frame = Math.round(share * (times.length - 1));
    await seek(page, times[frame]);
    for (const { body, position, orientation } of await differences(page, frame)) {
      near(position, 0, 1e-6, `${body} in frame ${frame}, relative`);
      near(orientation, 0, 1e-3, `orientation of ${body} in frame ${frame}`);
    }
  }
}

async function checkPlayback(page: Page): Promise<void> {
  await seek(page, 0);
  await page.click("#canvas", { position: { x: 5, y: 5 } });
  await page.keyboard.press("Space");
  await page.waitForFunction(() => (globalThis.stickslip?.player.time ?? 0) > 0);
  await page.keyboard.press("Space");
  const stopped = await time(page);
  await drawn(page);
  assert.equal(await time(page), stopped, "paused");
}

async function checkScrubber(page: Page): Promise<void> {
  const [start, end] = await page.evaluate(() => [
    globalThis.stickslip?.player.start ?? 0,
    globalThis.stickslip?.player.end ?? 0,
  ]);
  const box = await page.locator("#scrubber").boundingBox();
  assert.ok(box);
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  near(await time(page), (start + end) / 2, 0.02 * (end - start), "time after a click in the middle of the slider");
  const before = await page.evaluate(() => globalThis.stickslip?.player.frame ?? -1);
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.evaluate(() => globalThis.stickslip?.player.frame), before + 1, "one frame on");
  await page.keyboard.press("Home");
  near(await time(page), start, 0, "time after Home");
}

async function checkPlots(page: Page): Promise<void> {
  await page.click("#tab-plots");
  const over = page.locator(".plot .u-over").first();
  const box = await over.boundingBox();
  assert.ok(box && box.width > 100, "a plot is shown");
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  const t = await time(page);
  const mark = await page.locator(".plot .now").first().boundingBox();
  assert.ok(mark);
  near(mark.x, box.x + box.width / 2, 3, "the plot's cursor");
  const end = await page.evaluate(() => globalThis.stickslip?.player.end ?? 0);
  near(t, end / 2, 0.1 * end, "time after a click into the plot");
  const menu = page.locator(".plot select").first();
  const values = await menu
    .locator("option")
    .evaluateAll((options) => options.map((o) => (o as HTMLOptionElement).value));
  for (const value of values.slice(0, 4)) await menu.selectOption(value);
  assert.equal(await page.locator(".plot").first().locator(".u-over").count(), 1, "one plot per panel");
}

async function checkEvents(page: Page): Promise<void> {
  await page.click("#tab-events");
  const events = await page.evaluate(() => (globalThis.stickslip?.page.events ?? []).map((event) => event.t));
  const rows = page.locator("ol.events button");
  assert.equal(await rows.count(), Math.min(400, events.length), "events listed");
  if (events.length === 0) return;
  await rows.first().click();
  near(await time(page), events[0], 0, "time of the first event, by mouse");
  const next = events.find((t) => t > events[0]);
  await page.keyboard.press("]");
  near(await time(page), next ?? events[0], 0, "time of the next event, by keyboard");
  await rows.first().focus();
  await page.keyboard.press("Enter");
  near(await time(page), events[0], 0, "time of the first event, by keyboard");
}

for (const name of pageNames()) {
  test(name, async () => {
    const { page, complaints } = await open(browser, name);
    await checkMotion(page);
    const { share, colors } = await pictureContent(page);
    assert.ok(share > 0.01 && colors >= 8, `the picture is not blank (${share} differs, ${colors} colours)`);
    await checkLook(page, name);
    await checkPlayback(page);
    await checkScrubber(page);
    await checkPlots(page);
    await checkEvents(page);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });
}
