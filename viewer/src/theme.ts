// Light and dark: the system's choice until the reader makes another; three.js and uPlot get the same colours as CSS.

export interface Palette {
  background: string;
  world: string;
  worldEdge: string;
  grid: string;
  text: string;
  muted: string;
  line: string;
  accent: string;
  link: string;
  states: [string, string, string]; // stick, slip, impact
}

const LIGHT: Palette = {
  background: "#eef1f5",
  world: "#dbe0e8",
  worldEdge: "#8793a5",
  grid: "#bcc5d2",
  text: "#1a2230",
  muted: "#566173",
  line: "#d5dbe4",
  accent: "#1f5fd0",
  link: "#5b6676",
  states: ["#0b7f72", "#c26a00", "#cf2a36"],
};

const DARK: Palette = {
  background: "#12161d",
  world: "#29313d",
  worldEdge: "#76859b",
  grid: "#3d4757",
  text: "#e8ecf2",
  muted: "#9aa6b8",
  line: "#2c3542",
  accent: "#7fb0ff",
  link: "#a9b5c6",
  states: ["#2ed3bd", "#ffb340", "#ff6a70"],
};

export type ThemeName = "light" | "dark";

export const palette = (theme: ThemeName): Palette => (theme === "dark" ? DARK : LIGHT);

// Distinguishable on both grounds; bodies take them by index.
export const SERIES = [
  "#4c82e8",
  "#e07b39",
  "#4aa564",
  "#b45bc8",
  "#c9a227",
  "#3fa7b8",
  "#d9557f",
  "#8a7be0",
  "#8c9a3b",
  "#a86f4e",
];

export const seriesColor = (index: number) => SERIES[index % SERIES.length];

export class Theme {
  name: ThemeName;
  private listeners: ((name: ThemeName) => void)[] = [];

  constructor() {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    this.name = dark.matches ? "dark" : "light";
    dark.addEventListener("change", () => this.set(dark.matches ? "dark" : "light"));
    document.documentElement.dataset["theme"] = this.name;
  }

  get palette(): Palette {
    return palette(this.name);
  }

  onChange(listener: (name: ThemeName) => void): void {
    this.listeners.push(listener);
  }

  set(name: ThemeName): void {
    this.name = name;
    document.documentElement.dataset["theme"] = name;
    for (const listener of this.listeners) listener(name);
  }

  toggle(): void {
    this.set(this.name === "dark" ? "light" : "dark");
  }
}
