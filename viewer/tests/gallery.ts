// The pictures of docs/gallery: made by `npm run gallery`, and what the tests compare the present pictures with.
import type { Browser } from "playwright-core";
import { join } from "node:path";
import { drawn, open } from "./browser.js";

export interface Exhibit {
  scene: string;
  time: number;
  colorScheme: "light" | "dark";
  tab: "plots" | "events" | "patches" | "certificate" | "scene";
  follow?: string; // this body
  zoom?: number; // so much nearer, in turns of the wheel
}

export const EXHIBITS: Exhibit[] = [
  { scene: "double-pendulum-wall", time: 0.7, colorScheme: "light", tab: "plots" },
  { scene: "four-balls", time: 0.55, colorScheme: "light", tab: "plots", zoom: 900 },
  { scene: "falling-rod", time: 0.45, colorScheme: "dark", tab: "plots" },
  { scene: "block-on-incline", time: 1, colorScheme: "light", tab: "certificate" },
  { scene: "two-carts-spring", time: 0.05, colorScheme: "light", tab: "events" },
  { scene: "sphere-slide-to-roll", time: 0.3, colorScheme: "dark", tab: "plots" },
  { scene: "cattaneo-mindlin", time: 0.039, colorScheme: "light", tab: "patches" },
  { scene: "rover", time: 3.2, colorScheme: "light", tab: "plots", follow: "chassis", zoom: 1200 },
  { scene: "pawl", time: 0.0006, colorScheme: "dark", tab: "plots" },
];

export const galleryFolder = (): string => join(process.env["STICKSLIP_ROOT"] ?? "..", "docs/gallery");

export async function shoot(browser: Browser, { scene, time, colorScheme, tab, follow, zoom }: Exhibit): Promise<Buffer> {
  const { page } = await open(
    browser,
    scene,
    { viewport: { width: 1080, height: 660 }, deviceScaleFactor: 1, colorScheme },
    `#t=${time}`,
  );
  if (follow) await page.locator("select", { hasText: "follow nothing" }).selectOption({ label: follow });
  if (zoom) {
    await page.mouse.move(360, 330);
    await page.mouse.wheel(0, -zoom);
  }
  await page.click(`#tab-${tab}`);
  await page.mouse.move(5, 5);
  await drawn(page);
  const picture = await page.screenshot();
  await page.context().close();
  return picture;
}
