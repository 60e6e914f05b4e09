// Plots beside the picture: uPlot panels that share the time axis with the playback.
import uPlot from "uplot";
import { number } from "../format.js";
import type { Page } from "../page.js";
import { movingBodies, quantities, type Curve, type Quantity } from "../series.js";
import { seriesColor, type Theme } from "../theme.js";
import { element, iconButton } from "./dom.js";

// What plots need to know of the playback; live, only how far it is.
export interface PlotClock {
  readonly time: number;
  readonly frame: number;
  playing: boolean;
  seek(t: number): void;
  onChange(listener: () => void): void;
}

const HEIGHT = 170;
const CROSS = "M3.2 2 8 6.8 12.8 2 14 3.2 9.2 8 14 12.8 12.8 14 8 9.2 3.2 14 2 12.8 6.8 8 2 3.2z";

function menu(all: Quantity[], chosen: string): HTMLSelectElement {
  const node = element("select", { "aria-label": "Quantity to plot" });
  const groups = new Map<string, HTMLOptGroupElement>();
  for (const quantity of all) {
    let group = groups.get(quantity.group);
    if (!group) {
      group = element("optgroup", { label: quantity.group });
      groups.set(quantity.group, group);
      node.append(group);
    }
    group.append(new Option(quantity.label, quantity.id));
  }
  node.value = chosen;
  return node;
}

// Rounding noise is no motion: the axis never zooms in below what the quantity calls small.
function paddedRange(low: number | null, high: number | null, least: number): [number, number] {
  if (low === null || high === null) return [-1, 1]; // no value is finite
  const span = Math.max(high - low, least, 1e-12 * Math.max(Math.abs(low), Math.abs(high)), 1e-300);
  const middle = (low + high) / 2;
  return [middle - 0.56 * span, middle + 0.56 * span];
}

// Whole decades, at least one; where there is nothing to show, something around rounding errors.
function decades(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null || !(low > 0) || !(high >= low)) return [1e-17, 1e-15];
  const bottom = Math.floor(Math.log10(low));
  return [10 ** bottom, 10 ** Math.max(bottom + 1, Math.ceil(Math.log10(high)))];
}

// Every decade, or every second, fifth, ... so that the labels have room.
function decadeSplits(low: number, high: number): number[] {
  const bottom = Math.round(Math.log10(low));
  const top = Math.round(Math.log10(high));
  const step = [1, 2, 5, 10, 20].find((s) => (top - bottom) / s <= 6) ?? 50;
  const first = Math.ceil(bottom / step) * step;
  return Array.from({ length: Math.floor((top - first) / step) + 1 }, (_, i) => Number(`1e${first + i * step}`));
}

const SMALLEST = 1e-30; // on a logarithmic axis: less is as good as zero

class PlotPanel {
  readonly root: HTMLElement;
  private readonly holder = element("div");
  private readonly now = element("div", { class: "now" });
  private readonly menu: HTMLSelectElement;
  private plot: uPlot | null = null;

  constructor(
    private readonly all: Quantity[],
    chosen: string,
    private readonly page: Page,
    private readonly player: PlotClock,
    private readonly theme: Theme,
    close: (panel: PlotPanel) => void,
  ) {
    this.menu = menu(all, chosen);
    this.menu.addEventListener("change", () => this.build());
    const closer = iconButton("Remove this plot", "mouse", CROSS, () => close(this));
    closer.title = "Remove this plot";
    this.root = element(
      "div",
      { class: "plot" },
      element("div", { class: "plot-head" }, this.menu, closer),
      this.holder,
    );
  }

  private options(quantity: Quantity, names: string[], width: number): uPlot.Options {
    const { palette } = this.theme;
    const axis: uPlot.Axis = {
      stroke: palette.muted,
      grid: { stroke: palette.line, width: 1 },
      ticks: { stroke: palette.line, width: 1 },
      font: "11px system-ui, sans-serif",
    };
    const values = (_: uPlot, splits: number[]) => splits.map((v) => (v === null ? "" : number(v)));
    return {
      width,
      height: HEIGHT,
      pxAlign: false,
      cursor: { sync: { key: "stickslip" }, drag: { x: true, y: false } },
      scales: {
        x: { time: false },
        y: quantity.logarithmic
          ? { distr: 3, log: 10, range: (_, low, high) => decades(low, high) }
          : { range: (_, low, high) => paddedRange(low, high, quantity.least) },
      },
      axes: [
        { ...axis, values, size: 28 },
        {
          ...axis,
          values: quantity.logarithmic ? (_, splits) => splits.map((v) => v.toExponential(0)) : values,
          ...(quantity.logarithmic && {
            splits: (_: uPlot, __: number, low: number, high: number) => decadeSplits(low, high),
            filter: (_: uPlot, splits: number[]) => splits,
          }),
          size: (_, labels) => 16 + 6.2 * Math.max(3, ...(labels ?? []).map((label) => label.length)),
        },
      ],
      series: [
        { label: "t", value: (_, v) => (v === null ? "–" : number(v)) },
        ...names.map((name, i) => ({
          label: name,
          stroke: seriesColor(i),
          width: 1.6,
          points: { show: false },
          value: (_: uPlot, v: number | null) => (v === null || v === undefined ? "–" : number(v)),
        })),
      ],
      hooks: { ready: [(u) => this.attach(u)] },
    };
  }

  private attach(u: uPlot): void {
    u.over.append(this.now);
    let pressed = 0;
    u.over.addEventListener("mousedown", (event) => (pressed = event.clientX));
    u.over.addEventListener("click", (event) => {
      if (Math.abs(event.clientX - pressed) > 3) return; // a zoom by dragging
      this.player.playing = false;
      this.player.seek(u.posToVal(event.clientX - u.over.getBoundingClientRect().left, "x"));
    });
    u.over.addEventListener("mouseleave", () => this.update());
  }

  private data(quantity: Quantity, curves: Curve[]): uPlot.AlignedData {
    const clean = (values: ArrayLike<number>) =>
      quantity.logarithmic
        ? Array.from(values, (v) => (v > SMALLEST ? v : null))
        : Array.prototype.every.call(values, Number.isFinite)
          ? Float64Array.from(values)
          : Array.from(values, (v) => (Number.isFinite(v) ? v : null)); // gaps: outputs may be no numbers at times
    return [this.page.time, ...curves.map((curve) => clean(curve.values))] as uPlot.AlignedData;
  }

  // Live: the data have grown.
  refresh(): void {
    const quantity = this.all.find(({ id }) => id === this.menu.value);
    if (!quantity || this.holder.clientWidth === 0) return;
    const curves = quantity.curves();
    if (!this.plot || this.plot.series.length !== curves.length + 1) this.build();
    else this.plot.setData(this.data(quantity, curves));
    this.update();
  }

  build(): void {
    const quantity = this.all.find(({ id }) => id === this.menu.value);
    const width = this.holder.clientWidth;
    if (!quantity || width === 0) return;
    this.plot?.destroy();
    const curves = quantity.curves();
    const data = this.data(quantity, curves);
    const options = this.options(
      quantity,
      curves.map((curve) => curve.name),
      width,
    );
    this.plot = new uPlot(options, data, this.holder);
    this.update();
  }

  resize(): void {
    if (!this.plot) this.build();
    else if (this.holder.clientWidth > 0) this.plot.setSize({ width: this.holder.clientWidth, height: HEIGHT });
    this.update();
  }

  // The cursor follows the playback; the legend shows the values there.
  update(): void {
    const { plot, player } = this;
    if (!plot || this.holder.clientWidth === 0) return;
    const x = plot.valToPos(player.time, "x");
    this.now.style.transform = `translateX(${x}px)`;
    this.now.hidden = x < 0 || x > plot.over.clientWidth;
    if (plot.cursor.left === undefined || plot.cursor.left < 0) plot.setLegend({ idx: player.frame }, false);
  }

  get quantity(): string {
    return this.menu.value;
  }

  destroy(): void {
    this.plot?.destroy();
    this.plot = null;
    this.root.remove();
  }
}

export class Plots {
  private panels: PlotPanel[] = [];
  private readonly all: Quantity[];
  private readonly adder = element("button", { type: "button", class: "wide" }, "+ Add a plot");

  constructor(
    root: HTMLElement,
    private readonly page: Page,
    private readonly player: PlotClock,
    private readonly theme: Theme,
    sceneSize: number,
  ) {
    this.all = quantities(page, sceneSize);
    this.adder.addEventListener("click", () => this.add(this.unused()));
    root.append(this.adder);
    for (const id of this.defaults(sceneSize)) this.add(id);
    player.onChange(() => this.panels.forEach((panel) => panel.update()));
    theme.onChange(() => this.panels.forEach((panel) => panel.build()));
    new ResizeObserver(() => this.panels.forEach((panel) => panel.resize())).observe(root);
  }

  private defaults(sceneSize: number): string[] {
    const [first, second] = movingBodies(this.page, sceneSize);
    const force = this.all.find(({ id }) => id.startsWith("force:"))?.id ?? "";
    const outputs = this.all.filter(({ id }) => id.startsWith("signal::")).map(({ id }) => id);
    const motion = (body: number | undefined) => [`position:${body}`, `velocity:${body}`];
    const wanted =
      this.page.layout === "report"
        ? ["energy", "ledger", "residuals", ...outputs, ...motion(first), ...motion(second), force, "contacts"]
        : [...outputs.slice(0, 2), ...motion(first), "energy", force || "residuals"];
    return wanted.filter((id) => this.all.some((quantity) => quantity.id === id));
  }

  private unused(): string {
    const used = new Set(this.panels.map((panel) => panel.quantity));
    return (this.all.find(({ id }) => !used.has(id)) ?? this.all[0]).id;
  }

  add(id: string): void {
    const panel = new PlotPanel(this.all, id, this.page, this.player, this.theme, (closed) => {
      this.panels = this.panels.filter((other) => other !== closed);
      closed.destroy();
    });
    this.panels.push(panel);
    this.adder.before(panel.root);
    panel.build();
  }

  refresh(): void {
    this.panels.forEach((panel) => panel.refresh());
  }

  get count(): number {
    return this.panels.length;
  }
}
