// One table of keys: what they do and what the help says.
import type { Page } from "../page.js";
import type { Player } from "../player.js";
import { SPEEDS } from "../player.js";
import type { SceneView } from "../scene/view.js";
import type { Theme } from "../theme.js";
import { element } from "./dom.js";
import type { EventJumper } from "./events.js";
import type { Toolbar } from "./toolbar.js";

interface Key {
  keys: string[]; // values of KeyboardEvent.key, lower case
  shown: string;
  text: string;
  run: (event: KeyboardEvent) => void;
}

export interface Controls {
  page: Page;
  player: Player;
  view: SceneView;
  toolbar: Toolbar;
  jumper: EventJumper;
  theme: Theme;
  help: HTMLDialogElement;
}

function faster(player: Player, step: number): void {
  const at = SPEEDS.findIndex((speed) => speed >= player.speed);
  player.setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, at + step))]);
}

function followNext(c: Controls): void {
  const next = c.view.followed + 1;
  c.toolbar.follow(next < c.page.model.bodies.length ? next : -1);
}

function keyTable(c: Controls): Key[] {
  const { player, toolbar, view } = c;
  return [
    { keys: [" ", "k"], shown: "space", text: "play, pause", run: () => player.setPlaying(!player.playing) },
    {
      keys: ["arrowleft"],
      shown: "← (shift: 10)",
      text: "frame back",
      run: (e) => player.stepFrames(e.shiftKey ? -10 : -1),
    },
    {
      keys: ["arrowright"],
      shown: "→ (shift: 10)",
      text: "frame forward",
      run: (e) => player.stepFrames(e.shiftKey ? 10 : 1),
    },
    { keys: ["home"], shown: "Home", text: "to the start", run: () => player.seek(player.start) },
    { keys: ["end"], shown: "End", text: "to the end", run: () => player.seek(player.end) },
    { keys: ["["], shown: "[", text: "previous event", run: () => c.jumper.previous() },
    { keys: ["]"], shown: "]", text: "next event", run: () => c.jumper.next() },
    { keys: [","], shown: ",", text: "slower", run: () => faster(player, -1) },
    { keys: ["."], shown: ".", text: "faster", run: () => faster(player, 1) },
    { keys: ["r"], shown: "R", text: "repeat", run: () => player.setLoop(!player.loop) },
    { keys: ["f"], shown: "F", text: "frame the whole scene", run: () => toolbar.frame(c.page.model.planar !== null) },
    { keys: ["1"], shown: "1", text: "look from the front", run: () => toolbar.look("front") },
    { keys: ["2"], shown: "2", text: "look from the side", run: () => toolbar.look("side") },
    { keys: ["3"], shown: "3", text: "look from the top", run: () => toolbar.look("top") },
    { keys: ["4"], shown: "4", text: "look obliquely", run: () => toolbar.look("oblique") },
    { keys: ["+", "="], shown: "+", text: "nearer", run: () => view.camera.zoomBy(1.2) },
    { keys: ["-"], shown: "-", text: "farther", run: () => view.camera.zoomBy(1 / 1.2) },
    { keys: ["b"], shown: "B", text: "follow the next body", run: () => followNext(c) },
    { keys: ["c"], shown: "C", text: "contact forces", run: () => toolbar.toggle("contacts") },
    { keys: ["v"], shown: "V", text: "friction cones", run: () => toolbar.toggle("cones") },
    { keys: ["a"], shown: "A", text: "applied forces and moments", run: () => toolbar.toggle("applied") },
    { keys: ["p"], shown: "P", text: "pressure of compliant contacts", run: () => toolbar.toggle("patches") },
    { keys: ["j"], shown: "J", text: "joints and springs", run: () => toolbar.toggle("links") },
    { keys: ["n"], shown: "N", text: "names", run: () => toolbar.toggle("labels") },
    { keys: ["g"], shown: "G", text: "ground, grid and axes", run: () => toolbar.toggle("grid") },
    { keys: ["m"], shown: "M", text: "record a video", run: () => document.getElementById("video-button")?.click() },
    { keys: ["d"], shown: "D", text: "light or dark", run: () => c.theme.toggle() },
    { keys: ["?"], shown: "?", text: "this help", run: () => c.help.showModal() },
  ];
}

export interface HelpRow {
  shown: string;
  text: string;
}

export function fillHelp(help: HTMLDialogElement, keys: HelpRow[], mouse: string): void {
  const rows = keys.flatMap(({ shown, text }) => [
    element("dt", {}, element("kbd", {}, shown)),
    element("dd", {}, text),
  ]);
  const close = element("button", { type: "submit", class: "wide" }, "Close");
  help.append(
    element("h2", {}, "Keyboard"),
    element("dl", {}, ...rows),
    element("p", { class: "note" }, mouse),
    element("form", { method: "dialog" }, close),
  );
}

// Keys that the focused control needs itself.
export function taken(event: KeyboardEvent): boolean {
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLSelectElement || target instanceof HTMLDialogElement) return true;
  const presses =
    target instanceof HTMLButtonElement || (target instanceof HTMLInputElement && target.type === "checkbox");
  return presses && event.key === " ";
}

export function createKeyboard(c: Controls): void {
  const keys = keyTable(c);
  fillHelp(
    c.help,
    keys,
    "Mouse: drag to turn (planar scenes: to move), wheel to zoom, double click a body to follow it. Plots: click to go there, drag to zoom, double click to see all.",
  );
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || c.help.open || taken(event)) return;
    const key = keys.find((k) => k.keys.includes(event.key.toLowerCase()));
    if (!key) return;
    event.preventDefault();
    key.run(event);
  });
}
