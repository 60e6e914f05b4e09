// Names of the bodies, as text over the picture. A name that would cover another waits until there is room.
import { Camera, Vector3 } from "three";
import type { ModelData } from "../page.js";
import type { Motion } from "./motion.js";

const MOST = 60;

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

const overlap = (a: Box, b: Box) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

export class Labels {
  private readonly items: HTMLSpanElement[];
  private sizes: { width: number; height: number }[] = [];
  private readonly point = new Vector3();

  constructor(
    private readonly layer: HTMLElement,
    model: ModelData,
  ) {
    this.items = model.bodies.slice(0, MOST).map((body) => {
      const item = document.createElement("span");
      item.textContent = body.name;
      layer.append(item);
      return item;
    });
  }

  update(motion: Motion, camera: Camera, width: number, height: number): void {
    if (this.layer.hidden) return;
    if (this.sizes.length === 0)
      this.sizes = this.items.map((item) => ({ width: item.offsetWidth, height: item.offsetHeight }));
    const shown: Box[] = [];
    this.items.forEach((item, body) => {
      this.point.setFromMatrixPosition(motion.matrices[body]).project(camera);
      const x = ((this.point.x + 1) / 2) * width;
      const y = ((1 - this.point.y) / 2) * height;
      const box = { x, y, ...this.sizes[body] };
      const seen = Math.abs(this.point.z) <= 1 && !shown.some((other) => overlap(box, other));
      if (seen) shown.push(box);
      item.style.visibility = seen ? "" : "hidden";
      item.style.transform = `translate(${x}px, ${y}px)`;
    });
  }

  set visible(visible: boolean) {
    this.layer.hidden = !visible;
  }
}
