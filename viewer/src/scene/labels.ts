// Names of the bodies, as text over the picture.
import { Camera, Vector3 } from "three";
import type { ModelData } from "../page.js";
import type { Motion } from "./motion.js";

const MOST = 60;

export class Labels {
  private readonly items: HTMLSpanElement[];
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
    this.items.forEach((item, body) => {
      this.point.setFromMatrixPosition(motion.matrices[body]).project(camera);
      const seen = Math.abs(this.point.z) <= 1;
      item.style.display = seen ? "" : "none";
      item.style.transform = `translate(${((this.point.x + 1) / 2) * width}px, ${((1 - this.point.y) / 2) * height}px)`;
    });
  }

  set visible(visible: boolean) {
    this.layer.hidden = !visible;
  }
}
