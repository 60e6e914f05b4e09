// Bodies without shapes are seen all the same: as the box that has their mass and inertia, or as a point.
import type { BodyData, ModelData, ShapeData, Vec3 } from "../page.js";

export const hasStandIn = (body: BodyData) => body.shapes.length === 0;

// Edges of the homogeneous box with this mass and these principal moments; null where there is none.
function inertiaBox(body: BodyData): Vec3 | null {
  const [xx, yy, zz, ...products] = body.inertia;
  const largest = Math.max(xx, yy, zz);
  if (!(largest > 0) || products.some((p) => Math.abs(p) > 1e-9 * largest)) return null;
  const squares = [yy + zz - xx, xx + zz - yy, xx + yy - zz].map((sum) => (6 * sum) / body.mass);
  if (squares.some((square) => square < -1e-9 * largest)) return null;
  const edges = squares.map((square) => Math.sqrt(Math.max(0, square)));
  const thin = 0.03 * Math.max(...edges);
  return edges.map((edge) => Math.max(edge, thin)) as Vec3;
}

export function shapesOf(model: ModelData, body: BodyData): ShapeData[] {
  if (!hasStandIn(body)) return body.shapes;
  const size = model.planar ? null : inertiaBox(body);
  const pose = { position: body.center_of_mass, orientation: [1, 0, 0, 0] as ShapeData["orientation"] };
  return [size ? { type: "box", size, ...pose } : { type: "point", ...pose }];
}
