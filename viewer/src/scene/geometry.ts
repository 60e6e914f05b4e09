// One row per shape type: a geometry that several shapes can share, and the scale that makes it this one.
import {
  BoxGeometry,
  BufferGeometry,
  CapsuleGeometry,
  CylinderGeometry,
  Float32BufferAttribute,
  SphereGeometry,
  Vector3,
} from "three";
import { mergeVertices } from "three/addons/utils/BufferGeometryUtils.js";
import type { ShapeData } from "../page.js";

export interface Solid {
  key: string; // shapes with the same key share a geometry
  make: (detail: number) => BufferGeometry; // detail: segments around something round
  scale: Vector3;
  outlined?: boolean; // its kinks are drawn as lines
}

// Octants in two tones, so that a ball is seen to turn from every side.
function turningSphere(detail: number): BufferGeometry {
  const geometry = new SphereGeometry(1, detail, Math.ceil((2 * detail) / 3)).toNonIndexed();
  const position = geometry.getAttribute("position");
  const tones: number[] = [];
  const center = new Vector3();
  const corner = new Vector3();
  for (let i = 0; i < position.count; i += 3) {
    center.set(0, 0, 0);
    for (let k = 0; k < 3; k++) center.add(corner.fromBufferAttribute(position, i + k));
    const tone = center.x * center.y * center.z > 0 ? 1 : 0.72;
    for (let k = 0; k < 9; k++) tones.push(tone);
  }
  geometry.setAttribute("color", new Float32BufferAttribute(tones, 3));
  geometry.deleteAttribute("uv"); // corners that differ in nothing else become one
  return mergeVertices(geometry);
}

function plain(geometry: BufferGeometry): BufferGeometry {
  const count = geometry.getAttribute("position").count;
  geometry.setAttribute("color", new Float32BufferAttribute(new Float32Array(3 * count).fill(1), 3));
  return geometry;
}

const uniform = (size: number) => new Vector3(size, size, size);

const half = (size: [number, number, number] = [0, 0, 0]) => new Vector3(...size).multiplyScalar(0.5);

type Maker = (shape: ShapeData, sceneSize: number) => Solid;

// Each surface is a geometry of its own. Its triangles do not share corners, so that kinks are seen.
const surfaces = new WeakMap<ShapeData, number>();
let surfaceCount = 0;
const OUTLINED_TRIANGLES = 20000;

function surface(shape: ShapeData): Solid {
  const number = surfaces.get(shape) ?? ++surfaceCount;
  surfaces.set(shape, number);
  return {
    key: `mesh ${number}`,
    make: () => {
      const corners = new Float32BufferAttribute(shape.vertices ?? [], 3);
      const indexed = new BufferGeometry().setAttribute("position", corners).setIndex(shape.faces ?? []);
      const geometry = indexed.toNonIndexed();
      geometry.computeVertexNormals();
      return plain(geometry);
    },
    scale: uniform(1),
    outlined: (shape.faces ?? []).length <= 3 * OUTLINED_TRIANGLES,
  };
}

const SOLIDS: Record<string, Maker> = {
  point: (_, sceneSize) => ({ key: "sphere", make: turningSphere, scale: uniform(0.012 * sceneSize) }),
  sphere: (shape) => ({ key: "sphere", make: turningSphere, scale: uniform(shape.radius ?? 0) }),
  box: (shape) => ({
    key: "box",
    make: () => plain(new BoxGeometry(1, 1, 1)),
    scale: new Vector3(...(shape.size ?? [0, 0, 0])),
  }),
  // Along x.
  cylinder: (shape) => ({
    key: "cylinder",
    make: (detail) => plain(new CylinderGeometry(1, 1, 1, detail).rotateZ(Math.PI / 2)),
    scale: new Vector3(shape.length ?? 0, shape.radius ?? 0, shape.radius ?? 0),
  }),
  ellipsoid: (shape) => ({ key: "sphere", make: turningSphere, scale: half(shape.size) }),
  // A thin slice: its size across the plane is zero.
  ellipse: (shape) => ({
    key: "sphere",
    make: turningSphere,
    scale: half(shape.size).max(uniform(0.02 * Math.max(...(shape.size ?? [0])))),
  }),
  convex: (shape) => ({
    key: `convex ${JSON.stringify(shape.triangles)}`,
    make: () => {
      const corners = new Float32BufferAttribute((shape.triangles ?? []).flat(), 3);
      const geometry = new BufferGeometry().setAttribute("position", corners);
      geometry.computeVertexNormals();
      return plain(geometry);
    },
    scale: uniform(1),
  }),
  mesh: surface,
  "height-field": surface,
  // Along x; the ends must stay round, so each proportion is a geometry of its own.
  capsule: (shape) => {
    const radius = shape.radius ?? 0;
    const length = shape.length ?? 0;
    return {
      key: `capsule ${length / radius}`,
      make: (detail) => plain(new CapsuleGeometry(1, length / radius, Math.ceil(detail / 4), detail).rotateZ(Math.PI / 2)),
      scale: uniform(radius),
    };
  },
};

// Undefined for half-spaces, which have no size, and for types this viewer does not know.
export function solidOf(shape: ShapeData, sceneSize: number): Solid | undefined {
  return SOLIDS[shape.type]?.(shape, sceneSize);
}
