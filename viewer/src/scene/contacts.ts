// Contact points of a frame: normal and friction force as arrows, on both bodies where both are drawn, and friction cones,
// coloured by state. Arrows are as long as a typical body, never longer than a sixth of the picture times the reader's scale;
// cones are drawn where contacts are few, or belong to the body that is followed.
import {
  BufferGeometry,
  Color,
  ConeGeometry,
  CylinderGeometry,
  DoubleSide,
  Group,
  InstancedMesh,
  Matrix4,
  MeshBasicMaterial,
  Quaternion,
  SphereGeometry,
  Vector3,
} from "three";
import type { Contacts } from "../page.js";
import type { Palette } from "../theme.js";

const Y = new Vector3(0, 1, 0);
const LONGEST = 1 / 6; // of the scene's size
const FEW = 6; // contacts whose cones do not hide the rest

// The force that gets the longest arrow: a high quantile, so that one impact does not shrink everything else.
function typicalForce(contacts: Contacts): number {
  const sizes: number[] = [];
  const stride = Math.max(1, Math.floor(contacts.state.length / 5000));
  for (let i = 0; i < contacts.state.length; i += stride) {
    if (contacts.state[i] === 2) continue;
    const size = Math.hypot(contacts.force[3 * i], contacts.force[3 * i + 1], contacts.force[3 * i + 2]);
    if (size > 0) sizes.push(size);
  }
  sizes.sort((a, b) => a - b);
  return sizes[Math.floor(0.9 * (sizes.length - 1))] ?? 1;
}

export class ContactArrows {
  readonly group = new Group();
  readonly cones = new Group();
  private readonly points: InstancedMesh;
  private readonly shafts: InstancedMesh;
  private readonly heads: InstancedMesh;
  private readonly cone: InstancedMesh;
  private readonly capacity: number;
  private readonly perForce: number; // length per force, at scale 1
  private readonly thin: number; // half the width of a shaft
  private scale = 1;
  private followed = -1;
  private readonly colors = [new Color(), new Color(), new Color()];
  private frame = 0;
  private arrows = 0;

  constructor(
    private readonly contacts: Contacts,
    private readonly sceneSize: number,
    bodySize: number, // of a typical one; 0: unknown
  ) {
    let capacity = contacts.room ?? 1;
    for (let i = 0; i + 1 < contacts.first.length; i++)
      capacity = Math.max(capacity, contacts.first[i + 1] - contacts.first[i]);
    this.capacity = capacity;
    const usual = Math.min(0.1 * sceneSize, bodySize > 0 ? bodySize : sceneSize);
    this.perForce = usual / (contacts.typical ?? typicalForce(contacts));
    this.thin = Math.min(0.0022 * sceneSize, 0.03 * usual);
    this.points = this.layer(new SphereGeometry(1, 12, 8), capacity, 1);
    this.shafts = this.layer(new CylinderGeometry(1, 1, 1, 8).translate(0, 0.5, 0), 4 * capacity, 1);
    this.heads = this.layer(new ConeGeometry(1, 1, 12).translate(0, 0.5, 0), 4 * capacity, 1);
    this.cone = this.layer(new ConeGeometry(1, 1, 32, 1, true).rotateX(Math.PI).translate(0, 0.5, 0), capacity, 0.22);
    this.group.add(this.points, this.shafts, this.heads);
    this.cones.add(this.cone);
  }

  // Drawn over everything else: a contact is hidden between the bodies it holds apart.
  private layer(geometry: BufferGeometry, capacity: number, opacity: number): InstancedMesh {
    const material = new MeshBasicMaterial({
      transparent: true,
      opacity,
      depthTest: false,
      depthWrite: false,
      side: DoubleSide,
    });
    const mesh = new InstancedMesh(geometry, material, capacity);
    mesh.frustumCulled = false;
    mesh.renderOrder = opacity < 1 ? 9 : 10;
    return mesh;
  }

  private put(mesh: InstancedMesh, index: number, at: Vector3, along: Vector3, size: Vector3, color: Color): void {
    const q = new Quaternion().setFromUnitVectors(Y, along);
    mesh.setMatrixAt(index, new Matrix4().compose(at, q, size));
    mesh.setColorAt(index, color);
  }

  private length(force: number): number {
    return this.scale * Math.min(force * this.perForce, LONGEST * this.sceneSize);
  }

  private putArrow(at: Vector3, force: Vector3, color: Color): void {
    const thin = this.thin;
    const length = this.length(force.length());
    if (length < thin) return;
    const along = force.clone().normalize();
    const head = Math.min(5 * thin, 0.6 * length);
    this.put(this.shafts, this.arrows, at, along, new Vector3(thin, length - head, thin), color);
    const tip = at.clone().addScaledVector(along, length - head);
    this.put(this.heads, this.arrows, tip, along, new Vector3(0.45 * head, head, 0.45 * head), color);
    this.arrows++;
  }

  private putContact(index: number, at: number, few: boolean): void {
    const { body, point, normal, force, friction, state } = this.contacts;
    const bodies = [body[2 * at], body[2 * at + 1]];
    const p = new Vector3().fromArray(point, 3 * at);
    const n = new Vector3().fromArray(normal, 3 * at);
    const f = new Vector3().fromArray(force, 3 * at);
    const color = this.colors[state[at]] ?? this.colors[0];
    const pressing = f.dot(n);
    const dot = 2.2 * this.thin;
    this.put(this.points, index, p, Y, new Vector3(dot, dot, dot), color);
    const normalForce = n.clone().multiplyScalar(pressing);
    const slide = f.sub(normalForce);
    this.putArrow(p, normalForce, color);
    this.putArrow(p, slide, color);
    if (bodies[0] >= 0 && bodies[1] >= 0) {
      this.putArrow(p, normalForce.clone().negate(), color);
      this.putArrow(p, slide.clone().negate(), color);
    }
    const height = this.length(pressing);
    const selected = this.followed >= 0 && bodies.includes(this.followed);
    const visible = friction[at] > 0 && height > 0 && (selected || (few && this.followed < 0));
    const width = visible ? friction[at] * height : 0;
    this.put(this.cone, index, p, n, new Vector3(width, visible ? height : 0, width), color);
  }

  update(frame: number): void {
    this.frame = frame;
    const first = this.contacts.first[frame];
    const n = Math.min(this.capacity, this.contacts.first[frame + 1] - first);
    this.arrows = 0;
    for (let i = 0; i < n; i++) this.putContact(i, first + i, n <= FEW);
    this.points.count = this.cone.count = n;
    this.shafts.count = this.heads.count = this.arrows;
    for (const mesh of [this.points, this.shafts, this.heads, this.cone]) {
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  setScale(scale: number): void {
    this.scale = scale;
    this.update(this.frame);
  }

  follow(body: number): void {
    this.followed = body;
    this.update(this.frame);
  }

  setPalette(palette: Palette): void {
    palette.states.forEach((color, i) => this.colors[i].set(color));
    this.update(this.frame);
  }
}
