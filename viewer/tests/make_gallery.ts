import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { launch } from "./browser.js";
import { EXHIBITS, galleryFolder, shoot } from "./gallery.js";

const browser = await launch();
mkdirSync(galleryFolder(), { recursive: true });
for (const exhibit of EXHIBITS) {
  const file = join(galleryFolder(), `${exhibit.scene}.png`);
  writeFileSync(file, await shoot(browser, exhibit));
  console.log(file);
}
await browser.close();
