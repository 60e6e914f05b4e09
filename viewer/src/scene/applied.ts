// Applied forces as arrows at the points where they act, applied moments as bent arrows about their axes.
import {
  ConeGeometry,
  CylinderGeometry,
  Group,
  Mesh,
  MeshBasicMaterial,
  Quaternion,
  TorusGeometry,
  Vector3,
  type BufferGeometry,
} from "three";
import type { Page } from "../page.js";
import type { Palette } from "../theme.js";
import type { Motion } from "./motion.js";

const Y = new Vector3(0, 1, 0);
const Z = new Vector3(0, 0, 1);
const TURN = 1.5 * Math.PI; // of the bent arrow
const LONGEST = 0.16; // arrow, against the scene's size

interface Arrow {
  body: number;
  anchor: Vector3;
  force: Group;
  torque: Group;
}

export class AppliedArrows {
  readonly group = new Group();
  private readonly material = new MeshBasicMaterial({ transparent: true, depthTest: false, depthWrite: false });
  private readonly arrows: Arrow[];
  private readonly perForce: number;
  private readonly perTorque: number;

  constructor(
    private readonly page: Page,
    private readonly motion: Motion,
    private readonly sceneSize: number,
  ) {
    const applied = page.model.forces.filter(({ type }) => type === "applied");
    this.arrows = applied.map(({ bodies, anchors }) => ({
      body: bodies[0],
      anchor: new Vector3(...anchors[0]),
      force: this.straight(),
      torque: this.bent(),
    }));
    for (const { force, torque } of this.arrows) this.group.add(force, torque);
    this.perForce = (LONGEST * sceneSize) / this.largest(0);
    this.perTorque = (0.6 * LONGEST * sceneSize) / this.largest(3);
  }

  // Of all forces (offset 0) or torques (3) of the run. Live, only the first frame is known: what comes later is cut.
  private largest(offset: number): number {
    const { applied } = this.page;
    let most = 0;
    for (let i = offset; applied && i < applied.length; i += 6)
      most = Math.max(most, Math.hypot(applied[i], applied[i + 1], applied[i + 2]));
    return most > 0 ? most : 1;
  }

  private mesh(geometry: BufferGeometry): Mesh {
    const mesh = new Mesh(geometry, this.material);
    mesh.renderOrder = 8;
    mesh.frustumCulled = false;
    return mesh;
  }

  // One unit long, along y.
  private straight(): Group {
    const thin = 0.018;
    const arrow = new Group();
    arrow.add(this.mesh(new CylinderGeometry(thin, thin, 0.8, 10).translate(0, 0.4, 0)));
    arrow.add(this.mesh(new ConeGeometry(3 * thin, 0.2, 16).translate(0, 0.9, 0)));
    return arrow;
  }

  // About z, with radius one.
  private bent(): Group {
    const thin = 0.05;
    const arrow = new Group();
    arrow.add(this.mesh(new TorusGeometry(1, thin, 8, 48, TURN)));
    const head = this.mesh(new ConeGeometry(3 * thin, 0.35, 16));
    head.position.set(Math.cos(TURN), Math.sin(TURN), 0);
    head.quaternion.setFromUnitVectors(Y, new Vector3(-Math.sin(TURN), Math.cos(TURN), 0));
    arrow.add(head);
    return arrow;
  }

  private show(arrow: Group, from: Vector3, at: Vector3, vector: Vector3, scale: number): void {
    const length = Math.min(vector.length() * scale, 2 * LONGEST * this.sceneSize);
    arrow.visible = length > 0.002 * this.sceneSize;
    if (!arrow.visible) return;
    arrow.position.copy(at);
    arrow.quaternion.copy(new Quaternion().setFromUnitVectors(from, vector.clone().normalize()));
    arrow.scale.setScalar(length);
  }

  update(frame: number): void {
    const { applied } = this.page;
    if (!applied) return;
    this.arrows.forEach(({ body, anchor, force, torque }, i) => {
      const at = this.motion.place(body, anchor.clone());
      const first = 6 * (frame * this.arrows.length + i);
      this.show(force, Y, at, new Vector3().fromArray(applied, first), this.perForce);
      this.show(torque, Z, at, new Vector3().fromArray(applied, first + 3), this.perTorque);
    });
  }

  setPalette(palette: Palette): void {
    this.material.color.set(palette.accent);
  }
}
