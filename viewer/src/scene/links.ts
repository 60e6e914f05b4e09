// Joints, springs and dampers: rods, helices and pins between the two anchors.
import {
  BufferGeometry,
  Curve,
  CylinderGeometry,
  Group,
  Mesh,
  MeshLambertMaterial,
  SphereGeometry,
  TorusGeometry,
  TubeGeometry,
  Vector3,
} from "three";
import type { LinkData, ModelData } from "../page.js";
import { seriesColor, type Palette } from "../theme.js";
import type { Motion } from "./motion.js";
import { hasStandIn } from "./stand_in.js";

const X = new Vector3(1, 0, 0);
const Z = new Vector3(0, 0, 1);
// From (0,0,0) to (length,0,0), with straight ends; its radius is 1.
class Helix extends Curve<Vector3> {
  constructor(
    private readonly length: number,
    private readonly turns: number,
  ) {
    super();
  }

  override getPoint(s: number, target = new Vector3()): Vector3 {
    const lead = 0.12;
    const inner = Math.min(1, Math.max(0, (s - lead) / (1 - 2 * lead)));
    const radius = Math.min(1, 2 * this.turns * inner, 2 * this.turns * (1 - inner));
    const angle = 2 * Math.PI * this.turns * inner;
    return target.set(this.length * s, radius * Math.sin(angle), radius * Math.cos(angle));
  }
}

// Unit length along x; made for springs that are `slenderness` times as long as thick, so that its wire is round then.
function helixGeometry(slenderness: number): BufferGeometry {
  const turns = Math.round(Math.min(14, Math.max(4, slenderness / 1.4)));
  return new TubeGeometry(new Helix(slenderness, turns), 30 * turns, 0.16, 6).scale(1 / slenderness, 1, 1);
}

interface Part {
  mesh: Mesh;
  place: (a: Vector3, b: Vector3) => void;
}

export class Links {
  readonly group = new Group();
  private readonly material = new MeshLambertMaterial();
  private readonly springMaterial = new MeshLambertMaterial();
  private readonly items: { link: LinkData; parts: Part[] }[] = [];
  private readonly rod = new CylinderGeometry(1, 1, 1, 10).rotateZ(Math.PI / 2).translate(0.5, 0, 0);
  private readonly ball = new SphereGeometry(1, 16, 12);
  private readonly ring = new TorusGeometry(1, 0.35, 10, 28);

  constructor(
    model: ModelData,
    private readonly motion: Motion,
    private readonly thickness: number,
  ) {
    for (const link of model.joints) {
      this.items.push({ link, parts: this.jointParts(link) });
      if (link.type !== "distance") this.addBones(model, link);
    }
    for (const link of model.forces) this.items.push({ link, parts: this.forceParts(link) });
  }

  // From the centre of a body that has no shape to its joint: a mechanism given by its joints alone is seen as rods.
  private addBones(model: ModelData, link: LinkData): void {
    link.bodies.forEach((body, side) => {
      if (body < 0 || !hasStandIn(model.bodies[body])) return;
      const material = new MeshLambertMaterial({ color: seriesColor(body) });
      const bone: LinkData = {
        type: "bone",
        bodies: [body, body],
        anchors: [model.bodies[body].center_of_mass, link.anchors[side]],
      };
      this.items.push({ link: bone, parts: [this.span(this.rod, material, 0.6 * this.thickness)] });
    });
  }

  private anchor(link: LinkData, side: 0 | 1): Vector3 {
    return this.motion.place(link.bodies[side], new Vector3(...link.anchors[side]));
  }

  private mesh(geometry: BufferGeometry, material: MeshLambertMaterial): Mesh {
    const mesh = new Mesh(geometry, material);
    mesh.frustumCulled = false;
    this.group.add(mesh);
    return mesh;
  }

  // Stretched along x from a to b.
  private span(geometry: BufferGeometry, material: MeshLambertMaterial, radius: number, from = 0, to = 1): Part {
    const mesh = this.mesh(geometry, material);
    const direction = new Vector3();
    const place = (a: Vector3, b: Vector3) => {
      direction.subVectors(b, a);
      const length = direction.length();
      mesh.visible = length > 1e-9 * radius;
      if (!mesh.visible) return;
      mesh.position.copy(a).addScaledVector(direction, from);
      mesh.quaternion.setFromUnitVectors(X, direction.divideScalar(length));
      mesh.scale.set(length * (to - from), radius, radius);
    };
    return { mesh, place };
  }

  private pin(geometry: BufferGeometry, radius: number, side: 0 | 1): Part {
    const mesh = this.mesh(geometry, this.material);
    mesh.scale.setScalar(radius);
    return { mesh, place: (a, b) => mesh.position.copy(side === 0 ? a : b) };
  }

  private jointParts(link: LinkData): Part[] {
    const t = this.thickness;
    const axis = link.axis ? new Vector3(...link.axis).normalize() : Z;
    switch (link.type) {
      case "distance":
        return [this.span(this.rod, this.material, 0.6 * t), this.pin(this.ball, t, 0), this.pin(this.ball, t, 1)];
      case "revolute": {
        const ring = this.pin(this.ring, 1.2 * t, 0);
        const place = (a: Vector3, b: Vector3) => {
          ring.place(a, b);
          ring.mesh.quaternion.setFromUnitVectors(Z, this.motion.turn(link.bodies[0], axis.clone()));
        };
        return [{ mesh: ring.mesh, place }];
      }
      case "prismatic": {
        const rail = this.span(this.rod, this.material, 0.6 * t);
        const place = (a: Vector3) => {
          const half = this.motion.turn(link.bodies[0], axis.clone()).multiplyScalar(7 * t);
          rail.place(a.clone().sub(half), a.clone().add(half));
        };
        return [{ mesh: rail.mesh, place }];
      }
      default:
        return [this.pin(this.ball, 1.3 * t, 0)];
    }
  }

  private spring(link: LinkData, radius: number): Part {
    const length = this.anchor(link, 0).distanceTo(this.anchor(link, 1));
    return this.span(helixGeometry(Math.max(4, length / radius)), this.springMaterial, radius);
  }

  private forceParts(link: LinkData): Part[] {
    const t = this.thickness;
    const damper = () => [
      this.span(this.rod, this.material, 0.4 * t),
      this.span(this.rod, this.material, 1.3 * t, 0.3, 0.65),
    ];
    switch (link.type) {
      case "spring":
        return [this.spring(link, 2 * t)];
      case "damper":
        return damper();
      case "spring-damper":
        return [this.spring(link, 2.4 * t), ...damper()];
      default:
        return [];
    }
  }

  update(): void {
    for (const { link, parts } of this.items) {
      const a = this.anchor(link, 0);
      const b = this.anchor(link, 1);
      for (const part of parts) part.place(a, b);
    }
  }

  setPalette(palette: Palette): void {
    this.material.color.set(palette.link);
    this.springMaterial.color.set(palette.accent);
  }
}
