// The picture: everything three.js draws, updated from the player's time and drawn only when something changed.
import {
  Color,
  DirectionalLight,
  HemisphereLight,
  PCFShadowMap,
  Plane,
  Raycaster,
  Scene,
  Vector2,
  Vector3,
  WebGLRenderer,
} from "three";
import type { Page } from "../page.js";
import type { Player } from "../player.js";
import type { Palette } from "../theme.js";
import { AppliedArrows } from "./applied.js";
import { sceneAxes, type Axes, type ViewName } from "./axes.js";
import { Bodies } from "./bodies.js";
import { sceneExtent, typicalBody, type Extent } from "./bounds.js";
import { SceneCamera } from "./camera.js";
import { ContactArrows } from "./contacts.js";
import { Ground } from "./ground.js";
import { Labels } from "./labels.js";
import { Links } from "./links.js";
import { Motion } from "./motion.js";
import { PatchTiles } from "./patches.js";

const FINGER = 22; // pixels
const SHADOWED_BODIES = 250; // shadows cost a second pass, smooth edges four samples; large scenes do without

export type Layer = "contacts" | "cones" | "applied" | "patches" | "links" | "labels" | "grid";

export class SceneView {
  readonly motion: Motion;
  readonly bodies: Bodies;
  readonly axes: Axes;
  readonly extent: Extent;
  readonly planar: boolean;
  readonly camera: SceneCamera;
  followed = -1;
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly ground: Ground;
  private readonly links: Links;
  private readonly contacts: ContactArrows | null;
  private readonly applied: AppliedArrows | null;
  private readonly patches: PatchTiles | null;
  private readonly labels: Labels;
  private readonly light = new DirectionalLight(0xffffff, 2.1);
  private palette: Palette;
  private dirty = true;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    labelLayer: HTMLElement,
    page: Page,
    private readonly player: Player,
    palette: Palette,
  ) {
    const { model } = page;
    const small = model.bodies.length <= SHADOWED_BODIES;
    const shadows = !model.planar && small;
    this.palette = palette;
    this.planar = model.planar !== null;
    this.renderer = new WebGLRenderer({ canvas, antialias: small, preserveDrawingBuffer: true });
    this.renderer.shadowMap.enabled = shadows;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.axes = sceneAxes(model);
    this.extent = sceneExtent(page);
    this.motion = new Motion(page);
    this.bodies = new Bodies(model, this.extent.size, shadows);
    this.ground = new Ground(model, this.axes, this.extent, shadows);
    this.links = new Links(model, this.motion, 0.006 * this.extent.size);
    this.contacts = page.contacts ? new ContactArrows(page.contacts, this.extent.size, typicalBody(page)) : null;
    this.applied = page.applied ? new AppliedArrows(page, this.motion, this.extent.size) : null;
    this.patches = page.patches ? new PatchTiles(page.patches, typicalBody(page)) : null;
    this.labels = new Labels(labelLayer, model);
    this.camera = new SceneCamera(canvas, this.axes, this.extent, model.planar !== null);
    this.scene.add(this.ground.group, this.bodies.group, this.links.group);
    if (this.contacts) this.scene.add(this.contacts.group, this.contacts.cones);
    if (this.applied) this.scene.add(this.applied.group);
    if (this.patches) this.scene.add(this.patches.group);
    this.addLights(shadows);
    this.setPalette(palette);
    this.camera.controls.addEventListener("change", () => this.invalidate());
    player.onChange(() => this.invalidate());
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement ?? canvas);
    // On a narrow screen the picture is as high as the scene needs (style.css).
    const across = this.camera.frontAspect();
    canvas.parentElement?.style.setProperty("--scene-aspect", String(Math.min(2, Math.max(0.75, across))));
    this.resize();
    this.camera.look(model.planar ? "front" : "oblique");
  }

  private addLights(shadows: boolean): void {
    const { center, size } = this.extent;
    this.scene.add(new HemisphereLight(0xffffff, 0x8a94a6, 1.6));
    this.light.position
      .copy(center)
      .addScaledVector(this.axes.up, size * 1.6)
      .addScaledVector(this.axes.front, size);
    this.light.position.addScaledVector(this.axes.right, -0.7 * size);
    this.light.target.position.copy(center);
    this.light.castShadow = shadows;
    const reach = 0.9 * size;
    Object.assign(this.light.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, far: 6 * size });
    this.light.shadow.mapSize.set(2048, 2048);
    this.light.shadow.normalBias = 0.004 * size;
    this.scene.add(this.light, this.light.target);
  }

  invalidate(): void {
    this.dirty = true;
  }

  setPalette(palette: Palette): void {
    this.palette = palette;
    this.scene.background = new Color(palette.background);
    this.bodies.setPalette(palette, this.followed);
    this.ground.setPalette(palette);
    this.links.setPalette(palette);
    this.contacts?.setPalette(palette);
    this.applied?.setPalette(palette);
    this.invalidate();
  }

  setLayer(layer: Layer, visible: boolean): void {
    if (layer === "contacts" && this.contacts) this.contacts.group.visible = visible;
    if (layer === "cones" && this.contacts) this.contacts.cones.visible = visible;
    if (layer === "applied" && this.applied) this.applied.group.visible = visible;
    if (layer === "patches" && this.patches) this.patches.group.visible = visible;
    if (layer === "links") this.links.group.visible = visible;
    if (layer === "grid") this.ground.group.visible = visible;
    if (layer === "labels") this.labels.visible = visible;
    this.invalidate();
  }

  look(view: ViewName): void {
    this.camera.look(view);
    this.invalidate();
  }

  follow(body: number): void {
    this.followed = body;
    this.camera.follow(null);
    this.bodies.setPalette(this.palette, body);
    this.contacts?.follow(body);
    this.invalidate();
  }

  // How long arrows and cones are, 1: as long as a body.
  setForceScale(scale: number): void {
    this.contacts?.setScale(scale);
    this.invalidate();
  }

  get canvasStream(): MediaStream {
    return this.canvas.captureStream(30);
  }

  resize(): void {
    const box = (this.canvas.parentElement ?? this.canvas).getBoundingClientRect();
    if (box.width === 0 || box.height === 0) return;
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio));
    this.renderer.setSize(box.width, box.height, false);
    this.camera.resize(box.width / box.height);
    this.invalidate();
  }

  // Live: the scene grows with what happens in it, up to a point; the camera goes along unless it was moved by hand.
  include(page: Page): void {
    if (this.camera.grow(sceneExtent(page))) this.invalidate();
  }

  // The body at a place of the window, -1: none.
  pick(clientX: number, clientY: number): number {
    return this.bodies.pick(this.ray(clientX, clientY));
  }

  // The body at a place of the window and the point of it, in its own frame and in the world's.
  grab(clientX: number, clientY: number): { body: number; point: Vector3; at: Vector3 } | null {
    const hit = this.bodies.hit(this.ray(clientX, clientY)) ?? this.nearby(clientX, clientY);
    if (!hit || hit.body < 0) return null;
    const point = hit.point.clone().applyMatrix4(this.motion.matrices[hit.body].clone().invert());
    return { body: hit.body, point, at: hit.point };
  }

  // A body whose origin is within a finger's breadth: small and thin ones are hard to meet.
  private nearby(clientX: number, clientY: number): { body: number; point: Vector3 } | null {
    const box = this.canvas.getBoundingClientRect();
    let best: { body: number; point: Vector3 } | null = null;
    let nearest = FINGER;
    this.motion.matrices.forEach((matrix, body) => {
      const point = new Vector3().setFromMatrixPosition(matrix);
      const seen = point.clone().project(this.camera.camera);
      const x = box.left + ((seen.x + 1) / 2) * box.width;
      const y = box.top + ((1 - seen.y) / 2) * box.height;
      const away = Math.hypot(x - clientX, y - clientY);
      if (away >= nearest) return;
      nearest = away;
      best = { body, point };
    });
    return best;
  }

  // Where a place of the window is on the plane through `at` that faces the viewer.
  across(clientX: number, clientY: number, at: Vector3): Vector3 {
    const facing = this.camera.camera.getWorldDirection(new Vector3());
    const plane = new Plane().setFromNormalAndCoplanarPoint(facing, at);
    return this.ray(clientX, clientY).ray.intersectPlane(plane, new Vector3()) ?? at.clone();
  }

  private ray(clientX: number, clientY: number): Raycaster {
    const box = this.canvas.getBoundingClientRect();
    const x = ((clientX - box.left) / box.width) * 2 - 1;
    const y = 1 - ((clientY - box.top) / box.height) * 2;
    const ray = new Raycaster();
    ray.setFromCamera(new Vector2(x, y), this.camera.camera);
    return ray;
  }

  // The present picture as an image.
  picture(): string {
    this.invalidate();
    this.draw();
    return this.canvas.toDataURL("image/png");
  }

  // For machines that draw slowly.
  coarsen(): void {
    this.bodies.coarsen();
    this.invalidate();
  }

  // Draws if needed; true if it did.
  draw(): boolean {
    if (!this.dirty) return false;
    this.dirty = false;
    this.motion.set(this.player.time);
    this.bodies.update(this.motion.matrices);
    this.ground.update(this.motion.matrices);
    this.links.update();
    this.contacts?.update(this.player.stepFrame);
    this.applied?.update(this.player.stepFrame);
    this.patches?.update(this.player.stepFrame);
    if (this.followed >= 0) {
      this.camera.follow(new Vector3().setFromMatrixPosition(this.motion.matrices[this.followed]));
      this.dirty = false; // following is no change of its own
    }
    this.renderer.render(this.scene, this.camera.camera);
    this.labels.update(this.motion, this.camera.camera, this.canvas.clientWidth, this.canvas.clientHeight);
    return true;
  }
}
