// How many contacts there are in this frame, and in which state.
import { STATES, type Page } from "../page.js";
import type { Player } from "../player.js";
import { element } from "./dom.js";

export function createLegend(root: HTMLElement, page: Page, player: Player): void {
  const { contacts } = page;
  if (!contacts || contacts.state.length === 0) {
    root.hidden = true;
    return;
  }
  const counts = STATES.map(() => document.createTextNode(""));
  STATES.forEach((state, i) =>
    root.append(element("span", {}, element("i", { class: `dot ${state}` }), `${state} `, counts[i])),
  );
  let last = -1;
  const update = () => {
    const frame = player.stepFrame;
    if (frame === last) return;
    last = frame;
    const totals = [0, 0, 0];
    for (let i = contacts.first[frame]; i < contacts.first[frame + 1]; i++) totals[contacts.state[i]]++;
    totals.forEach((total, i) => (counts[i].data = String(total)));
  };
  player.onChange(update);
  update();
}
