// The report: the same parts as the viewer, below one another, with still pictures that can be printed.
import { timeFormatter } from "../format.js";
import type { Page } from "../page.js";
import type { Player } from "../player.js";
import type { SceneView } from "../scene/view.js";
import { byId, element } from "./dom.js";
import type { Tabs } from "./tabs.js";

const PICTURES = 6;

function addPictures(page: Page, player: Player, view: SceneView): void {
  const format = timeFormatter(player.end - player.start, page.time.length);
  const strip = element("div", { id: "pictures" });
  byId("side").before(strip);
  for (let i = 0; i < PICTURES; i++) {
    const t = player.start + (i / (PICTURES - 1)) * (player.end - player.start);
    player.seek(t);
    const image = element("img", { src: view.picture(), alt: `The scene at ${format(t)} seconds` });
    strip.append(element("figure", {}, image, element("figcaption", {}, `t = ${format(t)}`)));
  }
  player.seek(player.start);
}

export function layOutReport(page: Page, player: Player, view: SceneView, tabs: Tabs): void {
  document.documentElement.classList.add("report");
  tabs.unfold();
  view.resize();
  view.look(page.model.planar ? "front" : "oblique");
  addPictures(page, player, view);
}
