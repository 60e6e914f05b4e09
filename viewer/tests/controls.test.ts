// The controls of one page: keys, layers, themes, small screens, names for assistive technology, reduced motion.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { drawn, launch, near, open, pictureContent, seek, time } from "./browser.js";

const SCENE = "double-pendulum-wall";
let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

test("plays by itself unless motion is to be reduced", async () => {
  const still = await open(browser, SCENE);
  await drawn(still.page);
  assert.equal(await time(still.page), 0);
  await still.page.context().close();
  const moving = await open(browser, SCENE, { reducedMotion: "no-preference" });
  await moving.page.waitForFunction(() => (globalThis.stickslip?.player.time ?? 0) > 0);
  await moving.page.context().close();
});

test("a link into the run opens at its time, paused", async () => {
  const { page } = await open(browser, SCENE, { reducedMotion: "no-preference" }, "#t=1.25");
  await drawn(page);
  near(await time(page), 1.25, 0, "time");
  await page.context().close();
});

test("keys: speed, views, theme, help", async () => {
  const { page, complaints } = await open(browser, SCENE);
  const speed = () => page.evaluate(() => globalThis.stickslip?.player.speed ?? 0);
  const before = await speed();
  await page.keyboard.press(".");
  assert.ok((await speed()) > before, "faster");
  await page.keyboard.press("d");
  assert.equal(await page.evaluate(() => document.documentElement.dataset["theme"]), "dark");
  for (const key of ["1", "2", "3", "4", "f", "+", "-", "b", "c", "v", "j", "n", "g", "r"])
    await page.keyboard.press(key);
  await page.keyboard.press("?");
  assert.ok(await page.locator("#help").isVisible(), "help");
  await page.keyboard.press("Escape");
  assert.ok(!(await page.locator("#help").isVisible()), "help closed");
  await drawn(page);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test("records a video", async () => {
  const { page, complaints } = await open(browser, SCENE, { acceptDownloads: true });
  await drawn(page);
  await page.evaluate(() => globalThis.stickslip?.player.setSpeed(10));
  const download = page.waitForEvent("download");
  await page.keyboard.press("m");
  const file = await (await download).path();
  const head = readFileSync(file).subarray(0, 4).toString("hex");
  assert.equal(head, "1a45dfa3", "WebM");
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test("following a body keeps it where it was in the picture", async () => {
  const { page } = await open(browser, SCENE);
  await page.selectOption('select[aria-label="Follow a body"]', "1");
  await seek(page, 0);
  await page.keyboard.press("n");
  await drawn(page);
  const label = page.locator("#labels span").nth(1);
  const before = await label.boundingBox();
  await seek(page, 0.9);
  const after = await label.boundingBox();
  assert.ok(before && after);
  near(after.x, before.x, 2, "x on the screen");
  near(after.y, before.y, 2, "y on the screen");
  await page.context().close();
});

test("layers change the picture", async () => {
  const { page } = await open(browser, SCENE);
  const withJoints = await pictureContent(page);
  await page.click('button[aria-label="Joints and springs"]');
  await page.click('button[aria-label="Ground, grid and axes"]');
  await drawn(page);
  const without = await pictureContent(page);
  assert.ok(without.share < withJoints.share, "less is drawn");
  await page.context().close();
});

test("plots can be added and removed", async () => {
  const { page } = await open(browser, SCENE);
  const count = await page.locator(".plot").count();
  await page.click("text=Add a plot");
  assert.equal(await page.locator(".plot").count(), count + 1);
  await page.locator('button[aria-label="Remove this plot"]').first().click();
  assert.equal(await page.locator(".plot").count(), count);
  await page.context().close();
});

test("fits a phone", async () => {
  const { page, complaints } = await open(browser, SCENE, {
    viewport: { width: 375, height: 740 },
    hasTouch: true,
    isMobile: true,
  });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `nothing sticks out to the side (${wide} pixels)`);
  for (const id of ["#canvas", "#scrubber", ".play"]) assert.ok(await page.locator(id).isVisible(), id);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test("every control has a name", async () => {
  const { page } = await open(browser, SCENE);
  const nameless = await page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("button, select, input, [role=img], [role=tab]")]
      .filter((node) => {
        const label = node.closest("label")?.textContent ?? "";
        return !(node.getAttribute("aria-label") ?? "") && !(node.textContent ?? "").trim() && !label.trim();
      })
      .map((node) => node.outerHTML),
  );
  assert.deepEqual(nameless, []);
  await page.context().close();
});

// WCAG: 4.5 to 1 for text.
test("text is readable, light and dark", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    const { page } = await open(browser, SCENE, { colorScheme });
    const worst = await page.evaluate(() => {
      const channels = (text: string) => (text.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);
      const luminance = (text: string) => {
        const [r, g, b] = channels(text).map((c) =>
          c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4,
        );
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const style = getComputedStyle(document.documentElement);
      const probe = document.createElement("span");
      document.body.append(probe);
      const resolved = (name: string) => {
        probe.style.color = style.getPropertyValue(name);
        return luminance(getComputedStyle(probe).color);
      };
      const ground = resolved("--surface");
      const ratios = ["--text", "--muted", "--accent", "--good", "--bad"].map((name) => {
        const [high, low] = [resolved(name), ground].sort((a, b) => b - a);
        return (high + 0.05) / (low + 0.05);
      });
      return Math.min(...ratios);
    });
    assert.ok(worst >= 4.5, `${colorScheme}: contrast ${worst}`);
    await page.context().close();
  }
});
