// All solids of bodies and world: instanced by geometry, so that a thousand bodies are a handful of draw calls.
import {
  BoxGeometry,
  BufferGeometry,
  Color,
  EdgesGeometry,
  Group,
  InstancedMesh,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  MeshLambertMaterial,
  Quaternion,
  Raycaster,
  Vector3,
} from "three";
import type { ModelData, ShapeData } from "../page.js";
import { seriesColor, type Palette } from "../theme.js";
import { solidOf, type Solid } from "./geometry.js";
import { shapesOf } from "./stand_in.js";

const OUTLINED = 400; // boxes get their edges drawn up to this many
// Segments around something round: fewer where there are many, more where each may fill the picture.
const segments = (count: number) => (count > 200 ? 12 : count > 20 ? 32 : 64);
const CHEAP = 2000; // triangles of all bodies of a kind that cost no machine anything
const trianglesOf = (geometry: BufferGeometry) => (geometry.index ?? geometry.getAttribute("position")).count / 3;
const COARSEST = 6;

export function localMatrix(shape: ShapeData, scale: Vector3): Matrix4 {
  const [w, x, y, z] = shape.orientation;
  return new Matrix4().compose(new Vector3(...shape.position), new Quaternion(x, y, z, w), scale);
}

interface Instance {
  body: number;
  local: Matrix4;
}

interface Batch {
  solid: Solid;
  instances: Instance[];
}

interface Drawn extends Batch {
  mesh: InstancedMesh;
  detail: number;
}

interface Outline {
  instance: Instance;
  lines: LineSegments;
}

export class Bodies {
  readonly group = new Group();
  private readonly meshes: Drawn[] = [];
  private readonly outlines: Outline[] = [];
  private readonly edgeMaterial = new LineBasicMaterial();
  private readonly scratch = new Matrix4();

  constructor(model: ModelData, sceneSize: number, shadows: boolean) {
    const batches = new Map<string, Batch>();
    const add = (shape: ShapeData, body: number) => {
      const solid = solidOf(shape, sceneSize);
      if (!solid) return;
      const batch = batches.get(solid.key) ?? { solid, instances: [] };
      batch.instances.push({ body, local: localMatrix(shape, solid.scale) });
      batches.set(solid.key, batch);
    };
    model.world.forEach((shape) => add(shape, -1));
    model.bodies.forEach((body, index) => shapesOf(model, body).forEach((shape) => add(shape, index)));
    for (const batch of batches.values()) this.addBatch(batch, shadows);
    const boxes = batches.get("box");
    if (boxes && boxes.instances.length <= OUTLINED) this.addOutlines(boxes.instances, new BoxGeometry(1, 1, 1));
    for (const { solid, instances } of batches.values()) if (solid.outlined) this.addOutlines(instances, solid.make(0));
  }

  private addBatch({ solid, instances }: Batch, shadows: boolean): void {
    const material = new MeshLambertMaterial({ vertexColors: true });
    const detail = segments(instances.length);
    const mesh = new InstancedMesh(solid.make(detail), material, instances.length);
    mesh.frustumCulled = false;
    mesh.castShadow = mesh.receiveShadow = shadows;
    this.meshes.push({ mesh, solid, instances, detail });
    this.group.add(mesh);
  }

  private addOutlines(instances: Instance[], geometry: BufferGeometry): void {
    const edges: BufferGeometry = new EdgesGeometry(geometry);
    for (const instance of instances) {
      const lines = new LineSegments(edges, this.edgeMaterial);
      lines.matrixAutoUpdate = false;
      lines.frustumCulled = false;
      this.outlines.push({ instance, lines });
      this.group.add(lines);
    }
  }

  private worldMatrix(instance: Instance, poses: Matrix4[]): Matrix4 {
    if (instance.body < 0) return this.scratch.copy(instance.local);
    return this.scratch.multiplyMatrices(poses[instance.body], instance.local);
  }

  update(poses: Matrix4[]): void {
    for (const { mesh, instances } of this.meshes) {
      instances.forEach((instance, i) => mesh.setMatrixAt(i, this.worldMatrix(instance, poses)));
      mesh.instanceMatrix.needsUpdate = true;
    }
    for (const { instance, lines } of this.outlines) {
      lines.matrix.copy(this.worldMatrix(instance, poses));
      lines.matrixWorldNeedsUpdate = true;
    }
  }

  // Fewer triangles, for machines that cannot draw as many in time. What has few already stays round.
  coarsen(): void {
    for (const drawn of this.meshes) {
      if (trianglesOf(drawn.mesh.geometry) * drawn.instances.length <= CHEAP) continue;
      const detail = Math.max(COARSEST, Math.floor(drawn.detail / 2));
      if (detail >= drawn.detail) continue;
      drawn.mesh.geometry.dispose();
      drawn.mesh.geometry = drawn.solid.make(detail);
      drawn.detail = detail;
    }
  }

  setPalette(palette: Palette, highlighted: number): void {
    const color = new Color();
    for (const { mesh, instances } of this.meshes) {
      instances.forEach(({ body }, i) => {
        color.set(body < 0 ? palette.world : seriesColor(body));
        if (body >= 0 && body === highlighted) color.offsetHSL(0, 0.1, 0.12);
        mesh.setColorAt(i, color);
      });
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
    this.edgeMaterial.color.set(palette.text);
    this.edgeMaterial.opacity = 0.55;
    this.edgeMaterial.transparent = true;
  }

  // The body under a ray, -1 where there is none.
  pick(ray: Raycaster): number {
    return this.hit(ray)?.body ?? -1;
  }

  // The body (-1: the world) under a ray and the point where it is hit.
  hit(ray: Raycaster): { body: number; point: Vector3 } | null {
    for (const { mesh } of this.meshes) mesh.computeBoundingSphere();
    const hit = ray.intersectObjects(this.meshes.map((m) => m.mesh))[0];
    if (!hit || hit.instanceId === undefined) return null;
    const body = this.meshes.find((m) => m.mesh === hit.object)?.instances[hit.instanceId].body ?? -1;
    return { body, point: hit.point };
  }

  // What the scene graph says of a body: the pose of its frame, recovered from its first shape.
  drawnPose(body: number): Matrix4 | null {
    for (const { mesh, instances } of this.meshes) {
      const i = instances.findIndex((instance) => instance.body === body);
      if (i < 0) continue;
      const drawn = new Matrix4();
      mesh.getMatrixAt(i, drawn);
      return drawn.multiply(instances[i].local.clone().invert());
    }
    return null;
  }
}
