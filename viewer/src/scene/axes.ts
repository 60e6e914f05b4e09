// Which way is up, and from where to look: planar scenes from the front of their plane, others from above the side.
import { Vector3 } from "three";
import type { ModelData, Planar } from "../page.js";

export interface Axes {
  right: Vector3;
  up: Vector3;
  front: Vector3; // from the scene towards the viewer
}

const X = () => new Vector3(1, 0, 0);
const Y = () => new Vector3(0, 1, 0);
const Z = () => new Vector3(0, 0, 1);

const PLANES: Record<Planar, () => Axes> = {
  xy: () => ({ right: X(), up: Y(), front: Z() }),
  xz: () => ({ right: X(), up: Z(), front: Y().negate() }),
  yz: () => ({ right: Y(), up: Z(), front: X() }),
};

// Spatial scenes: up is the coordinate axis most opposed to gravity, z where there is none.
function spatial(gravity: Vector3): Axes {
  if (Math.abs(gravity.y) > Math.max(Math.abs(gravity.x), Math.abs(gravity.z))) return PLANES.xy();
  if (Math.abs(gravity.x) > Math.abs(gravity.z)) return { right: Y(), up: X(), front: Z() };
  return PLANES.xz();
}

export function sceneAxes(model: ModelData): Axes {
  return model.planar ? PLANES[model.planar]() : spatial(new Vector3(...model.gravity));
}

export type ViewName = "front" | "side" | "top" | "oblique";

export function viewDirection(axes: Axes, view: ViewName): Vector3 {
  switch (view) {
    case "front":
      return axes.front.clone();
    case "side":
      return axes.right.clone();
    case "top":
      return axes.up.clone().addScaledVector(axes.front, 1e-3).normalize();
    case "oblique":
      return axes.front.clone().addScaledVector(axes.right, 0.55).addScaledVector(axes.up, 0.45).normalize();
  }
}
