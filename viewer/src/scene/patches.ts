// The elements of compliant contacts in the picture: tiles at their places, coloured by pressure.
import { Color, DoubleSide, Group, InstancedMesh, Matrix4, MeshBasicMaterial, PlaneGeometry, Vector3 } from "three";
import { pressureColor, elementSpacing, type Patches } from "../patches.js";

export class PatchTiles {
  readonly group = new Group();
  private readonly tiles: InstancedMesh;
  private readonly capacity: number;
  private size = 0;

  // Elements that stand alone are drawn in a share of a typical body's size.
  constructor(
    private readonly patches: Patches,
    private readonly body: number,
  ) {
    let capacity = patches.room ?? 1;
    for (let i = 0; i + 1 < patches.first.length; i++)
      capacity = Math.max(capacity, patches.element[patches.first[i + 1]] - patches.element[patches.first[i]]);
    this.capacity = capacity;
    this.size = 0.92 * elementSpacing(patches);
    const material = new MeshBasicMaterial({ depthTest: false, depthWrite: false, transparent: true, side: DoubleSide });
    this.tiles = new InstancedMesh(new PlaneGeometry(1, 1), material, capacity);
    this.tiles.frustumCulled = false;
    this.tiles.renderOrder = 7;
    this.group.add(this.tiles);
  }

  update(frame: number): void {
    const { first, element, point, normal, tangent, place, force, state } = this.patches;
    if (this.size === 0 && this.patches.room) this.size = 0.92 * elementSpacing(this.patches); // live: there was no patch at first
    const size = this.size || 0.3 * this.body;
    const matrix = new Matrix4();
    const color = new Color();
    let n = 0;
    for (let patch = first[frame]; patch < first[frame + 1]; patch++) {
      const x = new Vector3().fromArray(tangent, 3 * patch);
      const z = new Vector3().fromArray(normal, 3 * patch);
      const y = new Vector3().crossVectors(z, x);
      const center = new Vector3().fromArray(point, 3 * patch);
      for (let e = element[patch]; e < element[patch + 1] && n < this.capacity; e++) {
        if (state[e] === 0) continue;
        const at = center.clone().addScaledVector(x, place[2 * e]).addScaledVector(y, place[2 * e + 1]);
        matrix.makeBasis(x.clone().multiplyScalar(size), y.clone().multiplyScalar(size), z).setPosition(at);
        this.tiles.setMatrixAt(n, matrix);
        this.tiles.setColorAt(n, color.set(pressureColor(force[3 * e] / this.patches.largest)));
        n++;
      }
    }
    this.tiles.count = n;
    this.tiles.instanceMatrix.needsUpdate = true;
    if (this.tiles.instanceColor) this.tiles.instanceColor.needsUpdate = true;
  }
}
