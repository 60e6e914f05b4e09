// Poses of all bodies at a time: recorded ones at the frames, interpolated ones between.
import { Matrix4, Quaternion, Vector3 } from "three";
import type { Page } from "../page.js";
import { frameBefore } from "../player.js";

export class Motion {
  readonly matrices: Matrix4[];
  private readonly ones = new Vector3(1, 1, 1);
  private readonly p = new Vector3();
  private readonly p1 = new Vector3();
  private readonly q = new Quaternion();
  private readonly q1 = new Quaternion();

  constructor(private readonly page: Page) {
    this.matrices = page.model.bodies.map(() => new Matrix4());
    this.set(page.time[0]);
  }

  private read(frame: number, body: number, p: Vector3, q: Quaternion): void {
    const at = frame * this.matrices.length + body;
    const { position, orientation } = this.page;
    p.fromArray(position, 3 * at);
    q.set(orientation[4 * at + 1], orientation[4 * at + 2], orientation[4 * at + 3], orientation[4 * at]).normalize();
  }

  set(t: number): void {
    const { time } = this.page;
    const frame = frameBefore(time, t);
    const next = Math.min(frame + 1, time.length - 1);
    const span = time[next] - time[frame];
    const fraction = span > 0 ? Math.min(1, Math.max(0, (t - time[frame]) / span)) : 0;
    for (let body = 0; body < this.matrices.length; body++) {
      this.read(frame, body, this.p, this.q);
      if (fraction > 0) {
        this.read(next, body, this.p1, this.q1);
        this.p.lerp(this.p1, fraction);
        this.q.slerp(this.q1, fraction);
      }
      this.matrices[body].compose(this.p, this.q, this.ones);
    }
  }

  // A point given in a body's frame (-1: the world's).
  place(body: number, point: Vector3): Vector3 {
    return body < 0 ? point : point.applyMatrix4(this.matrices[body]);
  }

  // A direction given in a body's frame.
  turn(body: number, direction: Vector3): Vector3 {
    return body < 0 ? direction : direction.transformDirection(this.matrices[body]);
  }
}
