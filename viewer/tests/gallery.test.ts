// The pages still look as in docs/gallery: coarse pictures are compared, so that fonts and renderers may differ.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launch } from "./browser.js";
import { EXHIBITS, galleryFolder, shoot } from "./gallery.js";

let browser: Browser;
let blank: Page;
before(async () => {
  browser = await launch();
  blank = await browser.newPage();
});
after(() => browser.close());

// Grey values of a coarse copy.
function coarse(picture: Buffer): Promise<number[]> {
  return blank.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = 72;
    canvas.height = 44;
    const context = canvas.getContext("2d");
    if (!context) return [];
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    const { data: rgba } = context.getImageData(0, 0, canvas.width, canvas.height);
    return Array.from(
      { length: canvas.width * canvas.height },
      (_, i) => (rgba[4 * i] + rgba[4 * i + 1] + rgba[4 * i + 2]) / 3,
    );
  }, picture.toString("base64"));
}

for (const exhibit of EXHIBITS) {
  const stored = join(galleryFolder(), `${exhibit.scene}.png`);
  test(
    `${exhibit.scene} looks as before`,
    { skip: !existsSync(stored) && `there is no ${stored}: npm run gallery` },
    async () => {
      const now = await coarse(await shoot(browser, exhibit));
      const before = await coarse(readFileSync(stored));
      const differences = now.map((value, i) => Math.abs(value - before[i]));
      const mean = differences.reduce((sum, d) => sum + d, 0) / differences.length;
      const changed = differences.filter((d) => d > 40).length / differences.length;
      assert.ok(mean < 4 && changed < 0.02, `mean difference ${mean} of 255, ${100 * changed} % of the cells changed`);
    },
  );
}
