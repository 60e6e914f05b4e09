// Half-spaces, the grid and the world's frame.
import {
  AxesHelper,
  BoxGeometry,
  BufferGeometry,
  DoubleSide,
  Float32BufferAttribute,
  Group,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  RingGeometry,
  ShadowMaterial,
  Vector3,
} from "three";
import { roundUp } from "../format.js";
import type { ModelData, ShapeData } from "../page.js";
import type { Palette } from "../theme.js";
import type { Axes } from "./axes.js";
import { localMatrix } from "./bodies.js";
import type { Extent } from "./bounds.js";

const ONES = new Vector3(1, 1, 1);

// Opaque in the middle, nothing at the rim: a plane has no end.
const fade = (distance: number, rim: number) => Math.min(1, Math.max(0, 2 - (2 * distance) / rim));

const PIECES = 10; // of a line that fades

// Lines at round coordinates in the plane spanned by a and b through `origin`; those of a finite disc fade to its rim.
function gridGeometry(
  origin: Vector3,
  a: Vector3,
  b: Vector3,
  cell: number,
  half: number,
  fading: boolean,
): BufferGeometry {
  const points: number[] = [];
  const colors: number[] = [];
  const n = Math.ceil(half / cell);
  const point = (u: number, v: number) => {
    points.push(
      ...origin
        .clone()
        .addScaledVector(a, u * cell)
        .addScaledVector(b, v * cell)
        .toArray(),
    );
    colors.push(1, 1, 1, fading ? fade(Math.hypot(u, v) * cell, half) : 1);
  };
  for (let i = -n; i <= n; i++) {
    const reach = fading ? Math.sqrt(n * n - i * i) : n;
    const pieces = fading ? PIECES : 1;
    for (let k = 0; k < pieces; k++) {
      const [from, to] = [k, k + 1].map((piece) => reach * ((2 * piece) / pieces - 1));
      point(i, from);
      point(i, to);
      point(from, i);
      point(to, i);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new Float32BufferAttribute(points, 3));
  geometry.setAttribute("color", new Float32BufferAttribute(colors, 4));
  return geometry;
}

function discGeometry(radius: number): BufferGeometry {
  const geometry = new RingGeometry(0, radius, 96, 24);
  const position = geometry.getAttribute("position");
  const colors: number[] = [];
  for (let i = 0; i < position.count; i++)
    colors.push(1, 1, 1, fade(Math.hypot(position.getX(i), position.getY(i)), radius));
  geometry.setAttribute("color", new Float32BufferAttribute(colors, 4));
  return geometry;
}

const snap = (value: number, cell: number) => Math.round(value / cell) * cell;

interface Attached {
  body: number;
  local: Matrix4;
  object: Group;
}

export class Ground {
  readonly group = new Group();
  readonly cell: number;
  private readonly gridMaterial = new LineBasicMaterial({ transparent: true, depthWrite: false, vertexColors: true });
  private readonly edgeMaterial = new LineBasicMaterial();
  private readonly solidMaterial: MeshBasicMaterial;
  private readonly shadowMaterial = new ShadowMaterial({ opacity: 0.22, depthWrite: false });
  private readonly halfSpaces: Attached[] = [];

  constructor(model: ModelData, axes: Axes, extent: Extent, shadows: boolean) {
    this.cell = roundUp(extent.size / 16);
    this.solidMaterial = model.planar
      ? new MeshBasicMaterial({ depthTest: false, depthWrite: false })
      : new MeshBasicMaterial({ side: DoubleSide, transparent: true, vertexColors: true, depthWrite: false });
    const add = (shape: ShapeData, body: number) => {
      if (shape.type !== "half-space") return;
      const local = localMatrix(shape, ONES);
      const object = model.planar ? this.slab(extent) : this.plane(extent, local, body, shadows);
      object.matrixAutoUpdate = false;
      this.halfSpaces.push({ body, local, object });
      this.group.add(object);
    };
    model.world.forEach((shape) => add(shape, -1));
    model.bodies.forEach((body, index) => body.shapes.forEach((shape) => add(shape, index)));
    this.addGrid(model, axes, extent);
    const frame = new AxesHelper(1.2 * this.cell);
    frame.setColors("#d64550", "#3d9950", "#3d7fe0");
    frame.renderOrder = 1;
    this.group.add(frame);
  }

  // Planar: the solid side, filled, seen edge-on; thin along the line of sight.
  private slab(extent: Extent): Group {
    const wide = 60 * extent.size;
    const group = new Group();
    const solid = new Mesh(new BoxGeometry(wide, wide, wide).translate(0, 0, -wide / 2), this.solidMaterial);
    const edge = new BufferGeometry();
    const w = wide / 2;
    edge.setAttribute("position", new Float32BufferAttribute([-w, 0, 0, w, 0, 0, 0, -w, 0, 0, w, 0], 3));
    solid.renderOrder = -2;
    const line = new LineSegments(edge, this.edgeMaterial);
    line.material.depthTest = false;
    line.renderOrder = -1;
    group.add(solid, line);
    return group;
  }

  // Spatial: the surface around the scene, with the grid and the shadows on it.
  private plane(extent: Extent, local: Matrix4, body: number, shadows: boolean): Group {
    const group = new Group();
    const half = 2.5 * extent.size;
    const inverse = local.clone().invert();
    const center = body < 0 ? extent.center.clone().applyMatrix4(inverse) : new Vector3();
    const origin = new Vector3(snap(center.x, this.cell), snap(center.y, this.cell), 0);
    const disc = discGeometry(half).translate(origin.x, origin.y, 0);
    const surface = new Mesh(disc, this.solidMaterial);
    const grid = gridGeometry(origin, new Vector3(1, 0, 0), new Vector3(0, 1, 0), this.cell, half, true);
    const lines = new LineSegments(grid, this.gridMaterial);
    const shade = new Mesh(disc, this.shadowMaterial);
    shade.receiveShadow = shadows;
    [surface, lines, shade].forEach((object, i) => (object.renderOrder = i - 4));
    group.add(surface, lines);
    if (shadows) group.add(shade);
    return group;
  }

  private addGrid(model: ModelData, axes: Axes, extent: Extent): void {
    if (!model.planar && this.halfSpaces.some((h) => h.body < 0)) return;
    const c = extent.center;
    const along = (axis: Vector3) => axis.clone().multiplyScalar(snap(c.dot(axis), this.cell));
    const origin = new Vector3();
    if (model.planar) {
      origin.add(along(axes.right)).add(along(axes.up));
      const lines = new LineSegments(
        gridGeometry(origin, axes.right, axes.up, this.cell, 4 * extent.size, false),
        this.gridMaterial,
      );
      lines.renderOrder = -3;
      this.group.add(lines);
      return;
    }
    const low = Math.min(extent.box.min.dot(axes.up), extent.box.max.dot(axes.up));
    origin.add(along(axes.right)).add(along(axes.front)).addScaledVector(axes.up, low);
    this.group.add(
      new LineSegments(
        gridGeometry(origin, axes.right, axes.front, this.cell, 1.5 * extent.size, true),
        this.gridMaterial,
      ),
    );
  }

  update(poses: Matrix4[]): void {
    for (const { body, local, object } of this.halfSpaces) {
      object.matrix.copy(local);
      if (body >= 0) object.matrix.premultiply(poses[body]);
      object.matrixWorldNeedsUpdate = true;
    }
  }

  setPalette(palette: Palette): void {
    this.gridMaterial.color.set(palette.grid);
    this.edgeMaterial.color.set(palette.worldEdge);
    this.solidMaterial.color.set(palette.world);
  }
}
