// The camera: orthographic from the front for planar scenes, perspective otherwise; frames the scene, follows a body.
import { MOUSE, OrthographicCamera, PerspectiveCamera, TOUCH, Vector3 } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { viewDirection, type Axes, type ViewName } from "./axes.js";
import type { Extent } from "./bounds.js";

const FIELD_OF_VIEW = 35; // degrees
const MARGIN = 1.15;
const LARGEST = 20; // how far a live scene may grow

export class SceneCamera {
  readonly camera: OrthographicCamera | PerspectiveCamera;
  readonly controls: OrbitControls;
  private aspect = 1;
  private lastFollowed: Vector3 | null = null;
  private view: ViewName;
  private moved = false; // by hand, since the last look
  private readonly firstSize: number;

  constructor(
    element: HTMLElement,
    private readonly axes: Axes,
    private readonly extent: Extent,
    private readonly planar: boolean,
  ) {
    this.view = planar ? "front" : "oblique";
    this.firstSize = extent.size;
    this.camera = planar ? new OrthographicCamera() : new PerspectiveCamera(FIELD_OF_VIEW);
    this.camera.up.copy(axes.up);
    this.controls = new OrbitControls(this.camera, element);
    this.controls.zoomToCursor = true;
    this.controls.enableDamping = false;
    this.controls.addEventListener("start", () => (this.moved = true));
    this.look(planar ? "front" : "oblique");
  }

  // The box's corners seen along `direction`: right, up and towards the viewer, from its centre.
  private corners(direction: Vector3): Vector3[] {
    const { box, center } = this.extent;
    const right = new Vector3().crossVectors(this.axes.up, direction).normalize();
    const up = new Vector3().crossVectors(direction, right);
    return [0, 1, 2, 3, 4, 5, 6, 7].map((i) => {
      const corner = new Vector3(
        (i & 1 ? box.max : box.min).x,
        (i & 2 ? box.max : box.min).y,
        (i & 4 ? box.max : box.min).z,
      ).sub(center);
      return new Vector3(corner.dot(right), corner.dot(up), corner.dot(direction)).multiplyScalar(MARGIN);
    });
  }

  // Half the height that must be seen, for an orthographic camera.
  private fit(direction: Vector3, aspect: number): number {
    const needed = this.corners(direction).map((c) => Math.max(Math.abs(c.y), Math.abs(c.x) / aspect));
    return Math.max(0.05 * this.extent.size, ...needed);
  }

  // Width over height of the scene from where it is looked at first.
  frontAspect(): number {
    const corners = this.corners(viewDirection(this.axes, this.view));
    const wide = Math.max(...corners.map((c) => Math.abs(c.x)));
    const high = Math.max(...corners.map((c) => Math.abs(c.y)));
    return high > 0 ? wide / high : 2;
  }

  private distance(direction: Vector3): number {
    const tangent = Math.tan((FIELD_OF_VIEW * Math.PI) / 360);
    const needed = this.corners(direction).map(
      (c) => c.z + Math.max(Math.abs(c.y) / tangent, Math.abs(c.x) / (tangent * this.aspect)),
    );
    return Math.max(0.05 * this.extent.size, ...needed);
  }

  // Takes in what has grown out of the picture; what flies away is let go. True: the picture is another one.
  grow(present: Extent): boolean {
    const { extent } = this;
    if (extent.box.containsBox(present.box)) return false;
    const box = extent.box.clone().union(present.box);
    if (box.getSize(new Vector3()).length() > LARGEST * this.firstSize) return false;
    const margin = box.getSize(new Vector3()).multiplyScalar(0.1);
    box.expandByVector(margin); // not again with the next step
    extent.box.copy(box);
    box.getCenter(extent.center);
    if (this.moved || this.lastFollowed) return false;
    this.look(this.view);
    return true;
  }

  look(view: ViewName): void {
    this.view = view;
    this.moved = false;
    const direction = viewDirection(this.axes, view);
    const flat = this.planar && view === "front";
    this.controls.mouseButtons.LEFT = flat ? MOUSE.PAN : MOUSE.ROTATE;
    this.controls.touches.ONE = flat ? TOUCH.PAN : TOUCH.ROTATE;
    const { center, size } = this.extent;
    this.controls.target.copy(center);
    if (this.camera instanceof PerspectiveCamera) {
      this.camera.position.copy(center).addScaledVector(direction, this.distance(direction));
      this.camera.near = 0.002 * size;
      this.camera.far = 200 * size;
    } else {
      this.camera.position.copy(center).addScaledVector(direction, 100 * size);
      this.camera.near = 0;
      this.camera.far = 200 * size;
      this.camera.zoom = 1 / this.fit(direction, this.aspect);
    }
    this.lastFollowed = null;
    this.camera.updateProjectionMatrix();
    this.controls.update();
  }

  resize(aspect: number): void {
    if (this.camera instanceof PerspectiveCamera) this.camera.aspect = aspect;
    else {
      // Keep what is framed in view when the window changes shape.
      this.camera.zoom *= this.fit(this.axes.front, this.aspect) / this.fit(this.axes.front, aspect);
      this.camera.left = -aspect;
      this.camera.right = aspect;
      this.camera.top = 1;
      this.camera.bottom = -1;
    }
    this.aspect = aspect;
    this.camera.updateProjectionMatrix();
  }

  // Moves along with the body; null: stays.
  follow(position: Vector3 | null): void {
    if (position && this.lastFollowed) {
      const moved = position.clone().sub(this.lastFollowed);
      this.camera.position.add(moved);
      this.controls.target.add(moved);
      this.controls.update();
    }
    this.lastFollowed = position ? position.clone() : null;
  }

  zoomBy(factor: number): void {
    if (this.camera instanceof PerspectiveCamera) {
      const offset = this.camera.position.clone().sub(this.controls.target).divideScalar(factor);
      this.camera.position.copy(this.controls.target).add(offset);
    } else {
      this.camera.zoom *= factor;
    }
    this.camera.updateProjectionMatrix();
    this.controls.update();
  }
}
