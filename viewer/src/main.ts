// Puts the page together: data in, picture, playback and panels out.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { Vector3, Quaternion } from "three";
import { number } from "./format.js";
import { decodePage, type Page } from "./page.js";
import { Player } from "./player.js";
import { SceneView } from "./scene/view.js";
import { Theme } from "./theme.js";
import { createCertificate } from "./ui/certificate.js";
import { byId, element } from "./ui/dom.js";
import { createEvents, EventJumper } from "./ui/events.js";
import { createKeyboard } from "./ui/keyboard.js";
import { createLegend } from "./ui/legend.js";
import { PatchMap } from "./ui/patch_map.js";
import { Plots } from "./ui/plots.js";
import { layOutReport } from "./ui/report.js";
import { Tabs } from "./ui/tabs.js";
import { Timeline } from "./ui/timeline.js";
import { Toolbar } from "./ui/toolbar.js";
import { createTransport } from "./ui/transport.js";
import { Video, videoButton } from "./ui/video.js";
import { startLive } from "./live.js";

// For tests and for the curious, in the browser's console.
export interface DebugHandle {
  page: Page;
  player: Player;
  view: SceneView;
  drawn: (body: number) => { position: number[]; orientation: number[] } | null;
  frames: () => number; // pictures drawn so far
}

declare global {
  interface Window {
    stickslip?: DebugHandle;
  }
}

function describe(page: Page): void {
  const { model, run } = page;
  const name = model.name || model.file || "stickslip";
  document.title = `${name} – stickslip`;
  byId("title").textContent = name;
  const length = page.layout === "live" ? "live" : `${number(run.end)} s`;
  const parts = [model.source, `${run.scheme}, h = ${number(run.step)}, ${length}`];
  byId("subtitle").textContent = parts.filter(Boolean).join(" · ");
}

function createSceneText(root: HTMLElement, page: Page): void {
  const { model } = page;
  if (model.file) root.append(element("p", { class: "note" }, model.file));
  root.append(
    model.text
      ? element("pre", {}, model.text)
      : element("p", { class: "note" }, "This scene was built in a program; it has no text."),
  );
}

// #t=0.5 opens the page at that time, paused: links into a run.
function startTime(): number | null {
  const match = /[#&]t=([-+.\deE]+)/.exec(location.hash);
  return match ? Number(match[1]) : null;
}

const SLOW = 0.035; // seconds a picture: fewer than 30 a second
const PATIENCE = 8; // pictures in a row that are late before there are fewer triangles in them

function animate(player: Player, view: SceneView): () => number {
  let last = performance.now();
  let drawn = 0;
  let late = 0;
  const tick = (now: number) => {
    const passed = (now - last) / 1000;
    player.advance(Math.min(0.25, passed));
    last = now;
    late = player.playing && passed > SLOW ? late + 1 : 0;
    if (late === PATIENCE) {
      view.coarsen();
      late = 0;
    }
    if (view.draw()) drawn++;
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
  return () => drawn;
}

function drawnPose(view: SceneView, body: number): { position: number[]; orientation: number[] } | null {
  const matrix = view.bodies.drawnPose(body);
  if (!matrix) return null;
  const position = new Vector3();
  const q = new Quaternion();
  matrix.decompose(position, q, new Vector3());
  return { position: position.toArray(), orientation: [q.w, q.x, q.y, q.z] };
}

// From the start to the end of the run, at the chosen speed.
function recordRun(page: Page, player: Player, view: SceneView): HTMLButtonElement {
  let looped = false;
  const begin = () => {
    looped = player.loop;
    player.setLoop(false);
    player.seek(player.start);
    player.setPlaying(true);
  };
  const over = () => {
    if (player.playing) return false;
    player.setLoop(looped);
    return true;
  };
  return videoButton(new Video(view, page.model.name), begin, over);
}

function start(): void {
  const page = decodePage(byId("stickslip-data").textContent ?? "");
  const theme = new Theme();
  if (page.layout === "live") {
    describe(page);
    const { player, view } = startLive(page, theme, createSceneText);
    const frames = animate(player, view);
    window.stickslip = { page, player, view, drawn: (body) => drawnPose(view, body), frames };
    return;
  }
  const player = new Player(page.time);
  const jumper = new EventJumper(page.events, player);
  const canvas = byId("canvas") as HTMLCanvasElement;
  const help = byId("help") as HTMLDialogElement;
  describe(page);
  const view = new SceneView(canvas, byId("labels"), page, player, theme.palette);
  theme.onChange(() => view.setPalette(theme.palette));
  createTransport(byId("transport"), page, player, jumper);
  new Timeline(byId("transport"), page, player, theme);
  const toolbar = new Toolbar(byId("toolbar"), page, view);
  if (Video.possible) byId("toolbar").append(recordRun(page, player, view));
  createLegend(byId("legend"), page, player);
  const tabs = new Tabs(byId("tabs"), byId("panels"), [
    { id: "plots", label: "Plots" },
    { id: "events", label: `Events (${page.eventsTotal})` },
    ...(page.patches ? [{ id: "patches", label: "Patches" }] : []),
    { id: "certificate", label: "Certificate" },
    { id: "scene", label: "Scene" },
  ]);
  const report = page.layout === "report";
  new Plots(tabs.panel("plots"), page, player, theme, view.extent.size);
  createEvents(tabs.panel("events"), page, player);
  if (page.patches) new PatchMap(tabs.panel("patches"), page, page.patches, player, theme);
  createCertificate(tabs.panel("certificate"), byId("badge"), page);
  createSceneText(tabs.panel("scene"), page);
  if (report) layOutReport(page, player, view, tabs);
  byId("badge").addEventListener("click", () =>
    report ? tabs.panel("certificate").scrollIntoView() : tabs.show("certificate"),
  );
  byId("theme-button").addEventListener("click", () => theme.toggle());
  byId("help-button").addEventListener("click", () => help.showModal());
  canvas.addEventListener("dblclick", (event) => toolbar.follow(view.pick(event.clientX, event.clientY)));
  createKeyboard({ page, player, view, toolbar, jumper, theme, help });

  const opened = startTime();
  if (opened !== null) player.seek(opened);
  else if (!report && !matchMedia("(prefers-reduced-motion: reduce)").matches) player.setPlaying(true);
  const frames = animate(player, view);
  window.stickslip = { page, player, view, drawn: (body) => drawnPose(view, body), frames };
}

try {
  start();
} catch (failure) {
  const message = failure instanceof Error ? failure.message : String(failure);
  byId("app").replaceChildren(element("p", { class: "failure" }, `This page cannot be shown: ${message}`));
  throw failure;
}
