// Which way to look, whom to follow, what to show.
import type { Page } from "../page.js";
import type { ViewName } from "../scene/axes.js";
import type { Layer, SceneView } from "../scene/view.js";
import { element, select } from "./dom.js";

export class Toolbar {
  private readonly layers = new Map<Layer, HTMLButtonElement>();
  private readonly followed: HTMLSelectElement;

  constructor(
    root: HTMLElement,
    page: Page,
    private readonly view: SceneView,
  ) {
    const planar = page.model.planar !== null;
    const views: [ViewName, string, string][] = [
      ["front", "Front", "1"],
      ["side", "Side", "2"],
      ["top", "Top", "3"],
      ["oblique", "3D", "4"],
    ];
    root.append(this.tool("Frame", "Frame the whole scene", "F", () => this.frame(planar)));
    for (const [name, text, key] of views)
      root.append(this.tool(text, `Look from: ${name}`, key, () => this.look(name)));
    root.append(element("span", { class: "gap" }));
    this.followed = select(
      "Follow a body",
      [["-1", "follow nothing"], ...page.model.bodies.map((body, i): [string, string] => [String(i), body.name])],
      (value) => this.follow(Number(value)),
    );
    root.append(this.followed, element("span", { class: "gap" }));
    if (page.contacts) {
      this.addLayer(root, "contacts", "Forces", "Contact forces", "C", true);
      this.addLayer(root, "cones", "Cones", "Friction cones (few contacts, or of the followed body)", "V", true);
      root.append(this.scale());
    }
    if (page.applied) this.addLayer(root, "applied", "Loads", "Applied forces and moments", "A", true);
    if (page.patches) this.addLayer(root, "patches", "Patches", "Pressure of compliant contacts", "P", true);
    if (page.model.joints.length + page.model.forces.length > 0)
      this.addLayer(root, "links", "Joints", "Joints and springs", "J", true);
    this.addLayer(root, "labels", "Names", "Names of the bodies", "N", false);
    this.addLayer(root, "grid", "Grid", "Ground, grid and axes", "G", true);
  }

  // A tenth to ten times.
  private scale(): HTMLInputElement {
    const slider = element("input", {
      type: "range",
      id: "force-scale",
      min: "-1",
      max: "1",
      step: "0.05",
      value: "0",
      title: "Length of arrows and cones",
      "aria-label": "Length of arrows and cones",
    });
    slider.addEventListener("input", () => this.view.setForceScale(10 ** Number(slider.value)));
    return slider;
  }

  private tool(text: string, label: string, key: string, action: () => void): HTMLButtonElement {
    const button = element(
      "button",
      { type: "button", class: "tool", title: `${label} (${key})`, "aria-label": label },
      text,
    );
    button.addEventListener("click", action);
    return button;
  }

  private addLayer(root: HTMLElement, layer: Layer, text: string, label: string, key: string, shown: boolean): void {
    const button = this.tool(text, label, key, () => this.toggle(layer));
    button.setAttribute("aria-pressed", String(shown));
    this.layers.set(layer, button);
    root.append(button);
    this.view.setLayer(layer, shown);
  }

  toggle(layer: Layer): void {
    const button = this.layers.get(layer);
    if (!button) return;
    const shown = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(shown));
    this.view.setLayer(layer, shown);
  }

  look(name: ViewName): void {
    this.view.look(name);
  }

  frame(planar: boolean): void {
    this.view.look(planar ? "front" : "oblique");
  }

  follow(body: number): void {
    this.followed.value = String(body);
    this.view.follow(body);
  }
}
