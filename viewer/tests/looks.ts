// How each scene's page looked: coarse grey pictures in looks.json, made by `npm run looks`. They are of the canvas only, without
// text, so that fonts and renderers may differ.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";

const WIDTH = 30;
const HEIGHT = 16;
const file = join(process.env["STICKSLIP_ROOT"] ?? "..", "viewer/tests/looks.json");
const making = process.env["STICKSLIP_LOOKS"] === "make";
const stored: Record<string, string> = existsSync(file)
  ? (JSON.parse(readFileSync(file, "utf8")) as Record<string, string>)
  : {};

// Two hexadecimal digits for each cell; the canvas is halved until it is small, which averages.
function coarse(page: Page): Promise<string> {
  return page.evaluate(
    ([width, height]) => {
      const scaled = (source: HTMLCanvasElement, w: number, h: number) => {
        const copy = document.createElement("canvas");
        copy.width = w;
        copy.height = h;
        copy.getContext("2d")?.drawImage(source, 0, 0, w, h);
        return copy;
      };
      let picture = document.querySelector<HTMLCanvasElement>("#canvas");
      if (!picture) return "";
      for (let factor = 8; factor >= 1; factor /= 2) picture = scaled(picture, factor * width, factor * height);
      const data = picture.getContext("2d")?.getImageData(0, 0, width, height).data ?? new Uint8ClampedArray();
      return Array.from({ length: width * height }, (_, i) =>
        Math.round((data[4 * i] + data[4 * i + 1] + data[4 * i + 2]) / 3)
          .toString(16)
          .padStart(2, "0"),
      ).join("");
    },
    [WIDTH, HEIGHT],
  );
}

const greys = (text: string): number[] => (text.match(/../g) ?? []).map((digits) => parseInt(digits, 16));

export async function checkLook(page: Page, name: string): Promise<void> {
  const now = await coarse(page);
  if (making) {
    stored[name] = now;
    const sorted = Object.fromEntries(Object.entries(stored).sort(([a], [b]) => (a < b ? -1 : 1)));
    writeFileSync(file, `${JSON.stringify(sorted, null, 1)}\n`);
    return;
  }
  assert.ok(stored[name], `there is no stored picture of ${name}: npm run looks`);
  const before = greys(stored[name]);
  const differences = greys(now).map((grey, i) => Math.abs(grey - before[i]));
  const mean = differences.reduce((sum, d) => sum + d, 0) / differences.length;
  const changed = differences.filter((d) => d > 30).length / differences.length;
  assert.ok(mean < 3 && changed < 0.02, `looks different: mean ${mean} of 255, ${100 * changed} % of the cells changed`);
}
