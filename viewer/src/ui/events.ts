// The events as a list of buttons, and jumping from one to the next.
import { timeFormatter } from "../format.js";
import { bodyName, type Page, type PageEvent } from "../page.js";
import type { Player } from "../player.js";
import { element } from "./dom.js";

export const eventText = (page: Page, event: PageEvent) =>
  `${event.kind} ${bodyName(page.model, event.bodies[0])} – ${bodyName(page.model, event.bodies[1])}`;

export class EventJumper {
  constructor(
    private readonly events: PageEvent[],
    private readonly player: Player,
  ) {}

  private go(event: PageEvent | undefined): void {
    if (!event) return;
    this.player.playing = false;
    this.player.seek(event.t);
  }

  next(): void {
    this.go(this.events.find((event) => event.t > this.player.time));
  }

  previous(): void {
    this.go([...this.events].reverse().find((event) => event.t < this.player.time));
  }
}

const SHOWN = 400; // rows; more would make the list slow to draw and nobody reads it

export function createEvents(root: HTMLElement, page: Page, player: Player): void {
  if (page.events.length === 0) {
    root.append(
      element("p", { class: "note" }, "Nothing happened: no collision, no change between stick and slip, no take-off."),
    );
    return;
  }
  const format = timeFormatter(player.end - player.start, page.time.length * 10);
  const kinds = [...new Set(page.events.map((event) => event.kind))];
  const shown = new Set(kinds);
  const filters = element("div", { class: "filters", role: "group", "aria-label": "Kinds of events" });
  const note = element("p", { class: "note" });
  const list = element("ol", { class: "events" });
  list.style.setProperty("--time-width", `${format(player.end).length + 2}ch`); // the longest time, a space, the unit
  let rows: { event: PageEvent; button: HTMLButtonElement }[] = [];

  const fill = () => {
    const wanted = page.events.filter((event) => shown.has(event.kind));
    rows = wanted.slice(0, SHOWN).map((event) => {
      const dot = element("span", {}, element("i", { class: `dot ${event.kind}` }), event.kind);
      const names = event.bodies.map((body) => bodyName(page.model, body)).join(" – ");
      const button = element(
        "button",
        { type: "button" },
        element("span", {}, `${format(event.t)} s`),
        dot,
        element("span", { title: names }, names),
      );
      button.addEventListener("click", () => {
        player.playing = false;
        player.seek(event.t);
      });
      return { event, button };
    });
    list.replaceChildren(...rows.map(({ button }) => element("li", {}, button)));
    const cut = rows.length < wanted.length || page.events.length < page.eventsTotal;
    note.textContent = `${page.eventsTotal} events in the run${cut ? `; the first ${rows.length} are listed` : ""}.`;
    mark();
  };
  let current: HTMLButtonElement | null = null;
  const mark = () => {
    const last = rows.filter(({ event }) => event.t <= player.time).pop()?.button ?? null;
    if (last === current) return;
    current?.removeAttribute("aria-current");
    last?.setAttribute("aria-current", "true");
    current = last;
  };
  for (const kind of kinds) {
    const box = element("input", { type: "checkbox", checked: "" });
    box.addEventListener("change", () => {
      if (box.checked) shown.add(kind);
      else shown.delete(kind);
      fill();
    });
    const count = page.events.filter((event) => event.kind === kind).length;
    filters.append(element("label", {}, box, element("i", { class: `dot ${kind}` }), `${kind} (${count})`));
  }
  root.append(filters, note, list);
  player.onChange(mark);
  fill();
}
