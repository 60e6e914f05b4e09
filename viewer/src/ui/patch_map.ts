// A contact patch seen along its normal: elements coloured by pressure, friction as arrows, sticking ones framed.
import { number } from "../format.js";
import { elementSpacing, pressureColor, type Patches } from "../patches.js";
import { bodyName, type Page } from "../page.js";
import type { Theme } from "../theme.js";
import { element } from "./dom.js";

const HEIGHT = 300;
const ROOM = 0.12; // around the elements, against the picture

interface Clock {
  readonly stepFrame: number;
  onChange(listener: () => void): void;
}

export class PatchMap {
  private readonly canvas = element("canvas", { role: "img", class: "patch-map" });
  private readonly menu = element("select", { "aria-label": "Contact" });
  private readonly text = element("p", { class: "note", role: "status" });
  private readonly spacing: number;
  private readonly span: number; // of the places of all elements, from the centre

  constructor(
    root: HTMLElement,
    private readonly page: Page,
    private readonly patches: Patches,
    private readonly clock: Clock,
    private readonly theme: Theme,
  ) {
    this.spacing = elementSpacing(patches) || 1;
    let span = this.spacing;
    for (let i = 0; i < Math.min(patches.place.length, 20000); i++) span = Math.max(span, Math.abs(patches.place[i]));
    this.span = span + this.spacing / 2;
    root.append(
      this.menu,
      this.canvas,
      this.text,
      this.scale(),
      element(
        "p",
        { class: "note" },
        "Seen along the normal; friction on the first body as arrows. Framed elements stick, unframed ones slip, hollow ones are open.",
      ),
    );
    this.menu.addEventListener("change", () => this.draw());
    clock.onChange(() => this.draw());
    theme.onChange(() => this.draw());
    new ResizeObserver(() => this.draw()).observe(root);
    this.draw();
  }

  private scale(): HTMLElement {
    const stops = [0, 0.25, 0.5, 0.75, 1].map((s) => `${pressureColor(s)} ${100 * s}%`).join(", ");
    const bar = element("span", { class: "pressure-scale" });
    bar.style.background = `linear-gradient(90deg, ${stops})`;
    return element(
      "div",
      { class: "scale-row" },
      element("span", {}, "0"),
      bar,
      element("span", {}, `${number(this.patches.largest)} per element`),
    );
  }

  // The contacts of the present frame; the chosen one stays where it still exists.
  private choose(first: number, n: number): number {
    const names = Array.from({ length: n }, (_, i) => {
      const [a, b] = [this.patches.body[2 * (first + i)], this.patches.body[2 * (first + i) + 1]];
      return `${i + 1}: ${bodyName(this.page.model, a)} – ${bodyName(this.page.model, b)}`;
    });
    const shown = [...this.menu.options].map(({ text }) => text);
    if (names.join("\n") !== shown.join("\n")) {
      const kept = this.menu.selectedIndex;
      this.menu.replaceChildren(...names.map((name) => new Option(name)));
      this.menu.selectedIndex = Math.min(Math.max(0, kept), n - 1);
    }
    this.menu.disabled = n === 0;
    return first + Math.max(0, this.menu.selectedIndex);
  }

  private draw(): void {
    const width = this.canvas.clientWidth;
    const context = this.canvas.getContext("2d");
    if (width === 0 || !context) return;
    const ratio = Math.min(2, devicePixelRatio);
    this.canvas.width = width * ratio;
    this.canvas.height = HEIGHT * ratio;
    context.scale(ratio, ratio);
    const frame = this.clock.stepFrame;
    const first = this.patches.first[frame];
    const n = this.patches.first[frame + 1] - first;
    const patch = this.choose(first, n);
    if (n === 0) {
      this.text.textContent = "No contact at this moment.";
      this.canvas.setAttribute("aria-label", "No contact at this moment");
      return;
    }
    this.drawPatch(context, patch, width);
  }

  private drawPatch(context: CanvasRenderingContext2D, patch: number, width: number): void {
    const { element: start, place, force, state, largest } = this.patches;
    const scale = ((1 - ROOM) * Math.min(width, HEIGHT)) / (2 * this.span);
    const tile = Math.max(2, 0.94 * this.spacing * scale);
    const counts = [0, 0, 0];
    let total = 0;
    const x = (e: number) => width / 2 + scale * place[2 * e];
    const y = (e: number) => HEIGHT / 2 - scale * place[2 * e + 1];
    for (let e = start[patch]; e < start[patch + 1]; e++) {
      counts[state[e]]++;
      total += force[3 * e];
      const [left, top] = [x(e) - tile / 2, y(e) - tile / 2];
      context.fillStyle = pressureColor(force[3 * e] / largest);
      if (state[e] > 0) context.fillRect(left, top, tile, tile);
      context.strokeStyle = state[e] === 1 ? this.theme.palette.text : this.theme.palette.line;
      context.lineWidth = state[e] === 1 ? 1.5 : 1;
      if (state[e] !== 2) context.strokeRect(left + 0.75, top + 0.75, tile - 1.5, tile - 1.5);
    }
    this.drawFriction(context, patch, x, y, tile);
    const words = `${counts[1]} elements stick, ${counts[2]} slip, ${counts[0]} are open; together they press with ${number(total)}.`;
    this.text.textContent = words;
    this.canvas.setAttribute("aria-label", `Contact patch: ${words}`);
  }

  private drawFriction(
    context: CanvasRenderingContext2D,
    patch: number,
    x: (e: number) => number,
    y: (e: number) => number,
    tile: number,
  ): void {
    const { element: start, force } = this.patches;
    let most = 0;
    for (let e = start[patch]; e < start[patch + 1]; e++)
      most = Math.max(most, Math.hypot(force[3 * e + 1], force[3 * e + 2]));
    if (most === 0) return;
    context.strokeStyle = this.theme.palette.states[2];
    context.lineWidth = 1.5;
    context.beginPath();
    for (let e = start[patch]; e < start[patch + 1]; e++) {
      const [dx, dy] = [(0.9 * tile * force[3 * e + 1]) / most, (-0.9 * tile * force[3 * e + 2]) / most];
      if (Math.hypot(dx, dy) < 1) continue;
      context.moveTo(x(e), y(e));
      context.lineTo(x(e) + dx, y(e) + dy);
      for (const side of [-0.5, 0.5]) {
        context.moveTo(x(e) + dx, y(e) + dy);
        context.lineTo(x(e) + 0.7 * dx + 0.3 * side * dy, y(e) + 0.7 * dy - 0.3 * side * dx);
      }
    }
    context.stroke();
  }
}
