// The time line: a slider for the time, and above it a mark for every event.
import { timeFormatter } from "../format.js";
import type { Page, PageEvent } from "../page.js";
import type { Player } from "../player.js";
import type { Theme } from "../theme.js";
import { element } from "./dom.js";
import { eventText } from "./events.js";

const STEPS = 10000; // of the slider
const NEAR = 6; // pixels

export class Timeline {
  private readonly canvas = element("canvas", { "aria-hidden": "true" });
  private readonly slider = element("input", {
    type: "range",
    min: "0",
    max: String(STEPS),
    step: "1",
    "aria-label": "Time",
    id: "scrubber",
  });
  private readonly format;

  constructor(
    root: HTMLElement,
    private readonly page: Page,
    private readonly player: Player,
    private readonly theme: Theme,
  ) {
    this.format = timeFormatter(player.end - player.start, page.time.length);
    root.prepend(element("div", { id: "timeline" }, this.canvas, this.slider));
    this.slider.addEventListener("input", () => this.scrub());
    this.slider.addEventListener("keydown", (event) => this.keepArrows(event));
    this.canvas.addEventListener("click", (event) => this.goToEvent(event));
    this.canvas.addEventListener("pointermove", (event) => this.describe(event));
    player.onChange(() => this.update());
    theme.onChange(() => this.drawMarks());
    new ResizeObserver(() => this.drawMarks()).observe(this.canvas);
    this.update();
  }

  private get span(): number {
    return this.player.end - this.player.start || 1;
  }

  private scrub(): void {
    this.player.playing = false;
    this.player.seek(this.player.start + (Number(this.slider.value) / STEPS) * this.span);
  }

  // On the slider the arrows step by frames, as everywhere else on the page.
  private keepArrows(event: KeyboardEvent): void {
    if (["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"].includes(event.key)) event.preventDefault();
  }

  private update(): void {
    this.slider.value = String(Math.round(((this.player.time - this.player.start) / this.span) * STEPS));
    this.slider.setAttribute("aria-valuetext", `${this.format(this.player.time)} seconds`);
  }

  private nearest(event: MouseEvent): PageEvent | null {
    const box = this.canvas.getBoundingClientRect();
    const t = this.player.start + ((event.clientX - box.left) / box.width) * this.span;
    let best: PageEvent | null = null;
    for (const e of this.page.events) if (!best || Math.abs(e.t - t) < Math.abs(best.t - t)) best = e;
    const pixels = best ? (Math.abs(best.t - t) / this.span) * box.width : Infinity;
    return pixels <= NEAR ? best : null;
  }

  private goToEvent(event: MouseEvent): void {
    const near = this.nearest(event);
    if (!near) return;
    this.player.playing = false;
    this.player.seek(near.t);
  }

  private describe(event: PointerEvent): void {
    const near = this.nearest(event);
    this.canvas.title = near ? `${this.format(near.t)} s: ${eventText(this.page, near)}` : "";
  }

  private drawMarks(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const ratio = Math.min(2, devicePixelRatio);
    this.canvas.width = Math.max(1, width * ratio);
    this.canvas.height = Math.max(1, height * ratio);
    const context = this.canvas.getContext("2d");
    if (!context) return;
    context.scale(ratio, ratio);
    const [stick, slip, impact] = this.theme.palette.states;
    const colors: Record<string, string> = { stick, slip, collision: impact };
    const lanes: Record<string, number> = { collision: 0, slip: 1, stick: 1 };
    for (const e of this.page.events) {
      const x = ((e.t - this.player.start) / this.span) * width;
      context.fillStyle = colors[e.kind] ?? this.theme.palette.muted;
      const lane = lanes[e.kind] ?? 2;
      context.fillRect(x - 1, 1 + 5.5 * lane, 2, 5);
    }
    context.fillStyle = this.theme.palette.line;
    context.fillRect(0, height - 1, width, 1);
  }
}
