// One browser for a test file, pages that complain about errors and about any use of the network.
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { DebugHandle } from "../src/main.js";

declare global {
  var stickslip: DebugHandle | undefined;
}

const folder = process.env["STICKSLIP_PAGES"] ?? "";

// The scenes of which there are pages.
export const pageNames = (): string[] => (process.env["STICKSLIP_SCENES"] ?? "").split(",").filter(Boolean);

export function stickslip(...args: string[]): void {
  const run = spawnSync(process.env["STICKSLIP"] ?? "stickslip", args, { encoding: "utf8" });
  assert.equal(run.status, 0, run.stderr);
}

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--use-angle=swiftshader",
      "--enable-unsafe-swiftshader",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

export const PATIENCE = 120_000; // milliseconds: a busy machine without a graphics card is slow, not wrong

export interface Opened {
  page: Page;
  complaints: string[];
}

export async function open(
  browser: Browser,
  name: string,
  options: BrowserContextOptions = {},
  hash = "",
): Promise<Opened> {
  const page = await browser.newPage({
    viewport: { width: 900, height: 520 },
    deviceScaleFactor: 0.5, // a quarter of the pixels: the tests draw without a graphics card
    reducedMotion: "reduce",
    colorScheme: "light",
    ...options,
  });
  page.setDefaultTimeout(PATIENCE);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(`exception: ${error.message}`));
  // The software renderer reports its own slowness when the canvas is read back; that is no fault of the page.
  page.on("console", (message) => {
    if (message.type() === "error" || (message.type() === "warning" && !message.text().includes("GPU stall")))
      complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) complaints.push(`network: ${request.url()}`);
  });
  await page.goto(`file://${join(folder, `${name}.html`)}${hash}`);
  await page.waitForFunction(() => (globalThis.stickslip?.frames() ?? 0) > 0);
  return { page, complaints };
}

export const time = (page: Page): Promise<number> => page.evaluate(() => globalThis.stickslip?.player.time ?? NaN);

// Goes to a time and waits until it has been drawn.
export async function seek(page: Page, t: number): Promise<void> {
  await page.evaluate((to) => {
    const handle = globalThis.stickslip;
    if (!handle) return;
    handle.player.playing = false;
    handle.player.seek(to);
  }, t);
  await drawn(page);
}

export async function drawn(page: Page): Promise<void> {
  await page.evaluate(
    () =>
      new Promise<void>((done) =>
        requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => done()))),
      ),
  );
}

// Share of the picture that differs from its most frequent colour, and how many colours there are.
export function pictureContent(page: Page): Promise<{ share: number; colors: number }> {
  return page.evaluate(() => {
    const canvas = document.querySelector<HTMLCanvasElement>("#canvas");
    const copy = document.createElement("canvas");
    copy.width = 200;
    copy.height = 130;
    const context = copy.getContext("2d");
    if (!canvas || !context) return { share: 0, colors: 0 };
    context.drawImage(canvas, 0, 0, copy.width, copy.height);
    const { data } = context.getImageData(0, 0, copy.width, copy.height);
    const counts = new Map<number, number>();
    for (let i = 0; i < data.length; i += 4) {
      const color = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
      counts.set(color, (counts.get(color) ?? 0) + 1);
    }
    const most = Math.max(...counts.values());
    return { share: 1 - most / (data.length / 4), colors: counts.size };
  });
}

export function near(actual: number, expected: number, tolerance: number, what: string): void {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${what}: ${actual} instead of ${expected} (+- ${tolerance})`);
}
