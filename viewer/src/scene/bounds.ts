// How large the scene is, without the few moments in which something flies away.
import { Box3, Quaternion, Vector3 } from "three";
import type { Page, Planar, ShapeData, Vec3 } from "../page.js";
import { shapesOf } from "./stand_in.js";

export interface Extent {
  box: Box3;
  center: Vector3;
  size: number; // diagonal
}

// How far a shape reaches from its body's origin; in planar scenes within the plane: depth is not seen.
export function shapeReach(shape: ShapeData, planar: Planar | null = null): number {
  const seen = (v: Vec3): Vec3 => [0, 1, 2].map((i) => (planar && !planar.includes("xyz"[i]) ? 0 : v[i])) as Vec3;
  const offset = Math.hypot(...seen(shape.position));
  if (shape.size) return offset + Math.hypot(...seen(shape.size)) / 2;
  if (shape.triangles) return offset + Math.max(...shape.triangles.map((corner) => Math.hypot(...seen(corner))));
  return offset + (shape.radius ?? 0) + (shape.length ?? 0) / 2;
}

// The reach of the body in the middle of the list by size.
export function typicalBody(page: Page): number {
  const reaches = page.model.bodies
    .map((body) => Math.max(0, ...shapesOf(page.model, body).map((shape) => shapeReach(shape, page.model.planar))))
    .filter((reach) => reach > 0)
    .sort((a, b) => a - b);
  return reaches[Math.floor(reaches.length / 2)] ?? 0;
}

function quantile(sorted: number[], fraction: number): number {
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.round(fraction * (sorted.length - 1))))];
}

const SAMPLES = 20000;
const TRIM = 0.005;

function bodyBox(page: Page, reaches: number[]): Box3 {
  const n = page.model.bodies.length;
  const box = new Box3();
  const frames = page.time.length;
  const stride = Math.max(1, Math.ceil((frames * n) / SAMPLES));
  const low = [0, 1, 2].map(() => [] as number[]);
  const high = [0, 1, 2].map(() => [] as number[]);
  for (let frame = 0; frame < frames; frame += stride) {
    for (let body = 0; body < n; body++) {
      for (let axis = 0; axis < 3; axis++) {
        const value = page.position[3 * (frame * n + body) + axis];
        if (!Number.isFinite(value)) continue;
        low[axis].push(value - reaches[body]);
        high[axis].push(value + reaches[body]);
      }
    }
  }
  if (low[0].length === 0) return box;
  const ascending = (a: number, b: number) => a - b;
  for (let axis = 0; axis < 3; axis++) {
    box.min.setComponent(axis, quantile(low[axis].sort(ascending), TRIM));
    box.max.setComponent(axis, quantile(high[axis].sort(ascending), 1 - TRIM));
  }
  return box;
}

// Corner by corner: a terrain is much wider than it is high.
function expandByVertices(box: Box3, shape: ShapeData, vertices: number[]): void {
  const [w, x, y, z] = shape.orientation;
  const turn = new Quaternion(x, y, z, w);
  const position = new Vector3(...shape.position);
  const corner = new Vector3();
  for (let i = 0; i + 2 < vertices.length; i += 3)
    box.expandByPoint(corner.fromArray(vertices, i).applyQuaternion(turn).add(position));
}

export function sceneExtent(page: Page): Extent {
  const { planar } = page.model;
  const reaches = page.model.bodies.map((body) =>
    Math.max(0, ...shapesOf(page.model, body).map((shape) => shapeReach(shape, planar))),
  );
  const box = bodyBox(page, reaches);
  for (const shape of page.model.world) {
    if (shape.type === "half-space") continue;
    if (shape.vertices) {
      expandByVertices(box, shape, shape.vertices);
      continue;
    }
    const reach = shapeReach({ ...shape, position: [0, 0, 0] }, planar);
    box.expandByPoint(new Vector3(...shape.position).addScalar(reach));
    box.expandByPoint(new Vector3(...shape.position).addScalar(-reach));
  }
  for (const link of [...page.model.joints, ...page.model.forces]) {
    link.bodies.forEach((body, side) => body < 0 && box.expandByPoint(new Vector3(...link.anchors[side])));
  }
  if (box.isEmpty()) box.set(new Vector3(-1, -1, -1), new Vector3(1, 1, 1));
  const size = box.getSize(new Vector3()).length();
  if (size === 0) box.expandByScalar(0.5);
  return { box, center: box.getCenter(new Vector3()), size: box.getSize(new Vector3()).length() };
}
