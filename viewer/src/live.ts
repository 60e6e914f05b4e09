// The live page: the simulation runs in the server that sent this page (stickslip view --live); it is watched by long
// polling and told what to do by commands. The picture is drawn by the same code as a recorded one, with a single frame.
import { number } from "./format.js";
import { LiveHistory } from "./live_history.js";
import { bodyName, decodeData, type EncodedPage, type Page } from "./page.js";
import { Player, SPEEDS } from "./player.js";
import { SceneView } from "./scene/view.js";
import type { Theme } from "./theme.js";
import { createCertificate } from "./ui/certificate.js";
import { byId, element, iconButton, select } from "./ui/dom.js";
import { fillHelp, taken } from "./ui/keyboard.js";
import { createLegend } from "./ui/legend.js";
import { PatchMap } from "./ui/patch_map.js";
import { Plots } from "./ui/plots.js";
import { Tabs } from "./ui/tabs.js";
import { Toolbar } from "./ui/toolbar.js";
import { Video, videoButton } from "./ui/video.js";

interface LiveState {
  sequence: number;
  generation: number;
  running: boolean;
  speed: number;
  steps: number;
  message: string;
  parameters: Record<string, number>;
  inputs: Record<string, number>;
  frame: EncodedPage;
}

type Command = { action: string } & Record<string, unknown>;

const ROOM = 2000; // contacts that can be drawn
const EVENTS_SHOWN = 200;
const PANEL_EVERY = 500; // milliseconds between two updates of the numbers
const ICONS = {
  play: "M4 2.5v11l9-5.5z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  step: "M5 3v10l6-5zM11.4 3H13v10h-1.6z",
  reset: "M11 3v10L5 8zM3 3h1.6v10H3z",
  end: "M3 3h10v10H3z",
};

class Server {
  constructor(private readonly say: (message: string) => void) {}

  async tell(command: Command): Promise<boolean> {
    try {
      const reply = await fetch("/command", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(command),
      });
      const { ok, message } = (await reply.json()) as { ok: boolean; message: string };
      if (!ok || message) this.say(message);
      return ok;
    } catch {
      this.say("The simulation has ended.");
      return false;
    }
  }

  // Calls back with every state, for as long as the server answers.
  async watch(show: (state: LiveState) => void): Promise<void> {
    let after = -1;
    try {
      for (;;) {
        const reply = await fetch(`/state?after=${after}`);
        const state = (await reply.json()) as LiveState;
        after = state.sequence;
        show(state);
      }
    } catch {
      this.say("The simulation has ended.");
    }
  }
}

// Long arrows for the weight of the heaviest body: what forces there will be is not known yet.
function prepareContacts(page: Page): void {
  if (page.patches) page.patches.room = ROOM;
  if (!page.contacts) return;
  const weight = Math.max(...page.model.bodies.map((b) => b.mass)) * Math.hypot(...page.model.gravity);
  page.contacts.room = ROOM;
  page.contacts.typical = weight > 0 ? weight : 1;
}

function replaceFrame(page: Page, frame: Page): void {
  page.time.set(frame.time);
  page.position.set(frame.position);
  page.orientation.set(frame.orientation);
  if (page.contacts && frame.contacts) Object.assign(page.contacts, frame.contacts);
  if (page.applied && frame.applied) page.applied.set(frame.applied);
  if (page.patches && frame.patches) {
    const largest = Math.max(page.patches.largest, frame.patches.largest);
    Object.assign(page.patches, frame.patches, { largest });
  }
  Object.assign(page, { certificate: frame.certificate, run: frame.run, ledger: frame.ledger, solves: frame.solves });
}

// A field per parameter. The value is an expression, as in the scene; Enter sets it.
class Parameters {
  private readonly fields = new Map<string, HTMLInputElement>();

  constructor(
    private readonly root: HTMLElement,
    private readonly server: Server,
  ) {
    root.append(
      element(
        "p",
        { class: "note" },
        "A change compiles the scene again. The motion goes on where the joints still hold and nothing overlaps; otherwise it restarts, and the line below the picture says so.",
      ),
    );
  }

  show(values: Record<string, number>): void {
    if (this.fields.size === 0 && Object.keys(values).length === 0 && !this.root.querySelector(".none"))
      this.root.append(element("p", { class: "note none" }, "This scene declares no parameters."));
    for (const [name, value] of Object.entries(values)) {
      const field = this.fields.get(name) ?? this.add(name);
      if (document.activeElement !== field) field.value = String(value);
    }
  }

  private add(name: string): HTMLInputElement {
    const field = element("input", { type: "text", name, autocomplete: "off", spellcheck: "false" });
    field.addEventListener("change", () => {
      void this.server.tell({ action: "set", name, value: field.value });
    });
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") field.blur();
    });
    this.fields.set(name, field);
    this.root.append(element("label", { class: "parameter" }, element("span", {}, name), field));
    return field;
  }
}

// A slider and a field per input. They act at once, without compiling anything.
class Inputs {
  private readonly rows = new Map<string, { slider: HTMLInputElement; field: HTMLInputElement }>();

  constructor(
    private readonly root: HTMLElement,
    private readonly server: Server,
  ) {}

  show(values: Record<string, number>): void {
    for (const [name, value] of Object.entries(values)) {
      const row = this.rows.get(name) ?? this.add(name, value);
      if (document.activeElement === row.slider || document.activeElement === row.field) continue;
      this.put(row, value);
    }
  }

  // The slider reaches from minus to plus twice the value; it widens where the field asks for more.
  private put({ slider, field }: { slider: HTMLInputElement; field: HTMLInputElement }, value: number): void {
    if (Math.abs(value) > Number(slider.max)) {
      slider.max = String(2 * Math.abs(value));
      slider.min = String(-2 * Math.abs(value));
    }
    slider.step = String(Number(slider.max) / 200);
    slider.value = String(value);
    field.value = String(value);
  }

  private add(name: string, value: number): { slider: HTMLInputElement; field: HTMLInputElement } {
    const reach = String(value === 0 ? 1 : 2 * Math.abs(value));
    const slider = element("input", { type: "range", name, min: `-${reach}`, max: reach, "aria-label": name });
    const field = element("input", { type: "number", step: "any", "aria-label": `${name}, a number` });
    const row = { slider, field };
    slider.addEventListener("input", () => {
      field.value = slider.value;
      void this.server.tell({ action: "input", name, value: Number(slider.value) });
    });
    field.addEventListener("change", () => {
      this.put(row, Number(field.value));
      void this.server.tell({ action: "input", name, value: Number(field.value) });
    });
    this.put(row, value);
    this.rows.set(name, row);
    this.root.append(element("div", { class: "input" }, element("span", {}, name), slider, field));
    return row;
  }
}

// Dragging a body pulls it: a spring from the point that was grabbed to the pointer. A simulation that stands still is started.
function createPull(canvas: HTMLCanvasElement, view: SceneView, server: Server, controls: Controls): void {
  let held: ReturnType<SceneView["grab"]> = null;
  let latest: Command | null = null;
  let sending = false;
  const send = async (command: Command) => {
    latest = command;
    if (sending) return;
    sending = true;
    while (latest) {
      const next: Command = latest;
      latest = null;
      await server.tell(next);
    }
    sending = false;
  };
  const pull = (event: PointerEvent) => {
    if (!held) return;
    const target = view.across(event.clientX, event.clientY, held.at);
    void send({ action: "pull", body: held.body, point: held.point.toArray(), target: target.toArray() });
  };
  const release = () => {
    if (!held) return;
    held = null;
    view.camera.controls.enabled = true;
    void send({ action: "release" });
  };
  // Before the camera's own listener, which would turn the scene.
  const area = canvas.parentElement ?? canvas;
  area.addEventListener(
    "pointerdown",
    (event) => {
      if (event.target !== canvas || event.button !== 0) return;
      held = view.grab(event.clientX, event.clientY);
      if (!held) return;
      view.camera.controls.enabled = false;
      canvas.setPointerCapture(event.pointerId);
      pull(event);
      if (!controls.running()) controls.toggle();
    },
    { capture: true },
  );
  canvas.addEventListener("pointermove", pull);
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
}

// The newest events first. Time cannot be turned back, so they are no buttons.
class LiveEvents {
  private readonly note = element("p", { class: "note" }, "Nothing has happened yet.");
  private readonly list = element("ol", { class: "events", "aria-label": "Events, the newest first" });
  private total = 0;

  constructor(
    root: HTMLElement,
    private readonly page: Page,
  ) {
    root.append(this.note, this.list);
  }

  add(frame: Page): void {
    if (frame.eventsTotal === 0) return;
    this.total += frame.eventsTotal;
    this.note.textContent = `${this.total} events so far${this.total > EVENTS_SHOWN ? `; the last ${EVENTS_SHOWN} are listed` : ""}.`;
    const rows = frame.events.slice(-EVENTS_SHOWN).map((event) =>
      element(
        "li",
        { class: "event" },
        element("span", {}, `${event.t.toFixed(4)} s`),
        element("span", {}, element("i", { class: `dot ${event.kind}` }), event.kind),
        element("span", {}, event.bodies.map((body) => bodyName(this.page.model, body)).join(" – ")),
      ),
    );
    this.list.prepend(...rows.reverse());
    while (this.list.childElementCount > EVENTS_SHOWN) this.list.lastElementChild?.remove();
  }

  clear(): void {
    this.total = 0;
    this.list.replaceChildren();
    this.note.textContent = "Nothing has happened yet.";
  }
}

interface Controls {
  update: (state: LiveState, t: number) => void;
  toggle: () => void;
  running: () => boolean;
}

function createControls(root: HTMLElement, server: Server): Controls {
  let running = false;
  const toggle = () => void server.tell({ action: running ? "pause" : "start" });
  const play = iconButton("Start", "space", ICONS.play, toggle);
  play.classList.add("play");
  const clock = element("output", { id: "clock", "aria-label": "Time" });
  const speed = select(
    "Speed",
    SPEEDS.map((s) => [String(s), `${number(s)}×`]),
    (value) => void server.tell({ action: "speed", value: Number(value) }),
  );
  root.append(
    element(
      "div",
      { class: "buttons" },
      iconButton("Reset", "R", ICONS.reset, () => void server.tell({ action: "reset" })),
      play,
      iconButton("One step", "→", ICONS.step, () => void server.tell({ action: "step" })),
      iconButton("End the simulation", "click", ICONS.end, () => void server.tell({ action: "stop" })),
    ),
    clock,
    element("div", { class: "rate" }, speed),
  );
  const update = (state: LiveState, t: number) => {
    clock.replaceChildren(`t = ${t.toFixed(3)} `, element("small", {}, `s · step ${state.steps}`));
    speed.value = String(state.speed);
    if (state.running === running) return;
    running = state.running;
    const name = running ? "Pause" : "Start";
    play.setAttribute("aria-label", name);
    play.title = `${name} (space)`;
    play.querySelector("path")?.setAttribute("d", running ? ICONS.pause : ICONS.play);
  };
  return { update, toggle, running: () => running };
}

function createKeys(server: Server, controls: Controls, theme: Theme, view: SceneView, toolbar: Toolbar): void {
  const help = byId("help") as HTMLDialogElement;
  const keys: { key: string; shown: string; text: string; run: () => void }[] = [
    { key: " ", shown: "space", text: "start, pause", run: controls.toggle },
    { key: "arrowright", shown: "→", text: "one step", run: () => void server.tell({ action: "step" }) },
    { key: "r", shown: "R", text: "reset", run: () => void server.tell({ action: "reset" }) },
    { key: "f", shown: "F", text: "frame the whole scene", run: () => toolbar.frame(view.planar) },
    { key: "1", shown: "1", text: "look from the front", run: () => toolbar.look("front") },
    { key: "2", shown: "2", text: "look from the side", run: () => toolbar.look("side") },
    { key: "3", shown: "3", text: "look from the top", run: () => toolbar.look("top") },
    { key: "4", shown: "4", text: "look obliquely", run: () => toolbar.look("oblique") },
    { key: "c", shown: "C", text: "contact forces", run: () => toolbar.toggle("contacts") },
    { key: "v", shown: "V", text: "friction cones", run: () => toolbar.toggle("cones") },
    { key: "n", shown: "N", text: "names", run: () => toolbar.toggle("labels") },
    {
      key: "m",
      shown: "M",
      text: "record a video, end it",
      run: () => document.getElementById("video-button")?.click(),
    },
    { key: "d", shown: "D", text: "light or dark", run: () => theme.toggle() },
    { key: "?", shown: "?", text: "this help", run: () => help.showModal() },
  ];
  fillHelp(
    help,
    keys,
    "Mouse: drag a body to pull it with a spring, drag elsewhere to turn the view (planar scenes: to move), wheel to zoom.",
  );
  byId("help-button").addEventListener("click", () => help.showModal());
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLInputElement && event.target.type !== "range";
    const entry = keys.find(({ key }) => key === event.key.toLowerCase());
    if (!entry || typing || help.open || taken(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    entry.run();
  });
}

export function startLive(
  page: Page,
  theme: Theme,
  createSceneText: (root: HTMLElement, page: Page) => void,
): { player: Player; view: SceneView } {
  prepareContacts(page);
  const player = new Player(page.time);
  const canvas = byId("canvas") as HTMLCanvasElement;
  const view = new SceneView(canvas, byId("labels"), page, player, theme.palette);
  theme.onChange(() => view.setPalette(theme.palette));
  const toolbar = new Toolbar(byId("toolbar"), page, view);
  if (Video.possible)
    byId("toolbar").append(
      videoButton(
        new Video(view, page.model.name),
        () => {},
        () => false,
      ),
    );
  createLegend(byId("legend"), page, player);
  const message = element("p", { id: "message", role: "status" }, "Drag a body to pull it.");
  const server = new Server((text) => (message.textContent = text));
  const controls = createControls(byId("transport"), server);
  byId("transport").append(message);
  const tabs = new Tabs(byId("tabs"), byId("panels"), [
    { id: "parameters", label: "Parameters" },
    { id: "plots", label: "Plots" },
    { id: "events", label: "Events" },
    ...(page.patches ? [{ id: "patches", label: "Patches" }] : []),
    { id: "certificate", label: "Certificate" },
    { id: "scene", label: "Scene" },
  ]);
  const sliders = element("div");
  tabs.panel("parameters").append(sliders);
  const inputs = new Inputs(sliders, server);
  const parameters = new Parameters(tabs.panel("parameters"), server);
  const history = new LiveHistory(page);
  const clock = {
    get time() {
      return player.time;
    },
    get frame() {
      return Math.max(0, history.length - 1);
    },
    playing: false,
    seek: () => {}, // time cannot be turned back
    onChange: () => {},
  };
  history.add(page);
  const plots = new Plots(tabs.panel("plots"), history.page, clock, theme, view.extent.size);
  const events = new LiveEvents(tabs.panel("events"), page);
  if (page.patches) new PatchMap(tabs.panel("patches"), page, page.patches, player, theme);
  createSceneText(tabs.panel("scene"), page);
  byId("badge").addEventListener("click", () => tabs.show("certificate"));
  byId("theme-button").addEventListener("click", () => theme.toggle());
  createPull(canvas, view, server, controls);
  createKeys(server, controls, theme, view, toolbar);

  let generation: number | null = null;
  let panelShown = -Infinity;
  const shown = sessionStorage.getItem("message");
  if (shown) message.textContent = shown;
  sessionStorage.removeItem("message");
  void server.watch((state) => {
    generation ??= state.generation;
    if (state.generation !== generation) {
      sessionStorage.setItem("message", state.message);
      location.reload(); // another model
      return;
    }
    const frame = decodeData(state.frame);
    if (frame.time[0] < page.time[0]) events.clear();
    replaceFrame(page, frame);
    history.add(frame);
    events.add(frame);
    view.include(page);
    player.show(page.time[0]);
    controls.update(state, page.time[0]);
    if (state.message) message.textContent = state.message;
    if (state.running && performance.now() - panelShown < PANEL_EVERY) return;
    panelShown = performance.now();
    inputs.show(state.inputs);
    parameters.show(state.parameters);
    plots.refresh();
    tabs.panel("certificate").replaceChildren();
    createCertificate(tabs.panel("certificate"), byId("badge"), page);
  });
  return { player, view };
}
