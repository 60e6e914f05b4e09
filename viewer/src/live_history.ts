// What the live page has seen so far, in the shape of a page, so that it can be plotted. It holds so many moments; when it
// is full, every second one is dropped and the next ones are taken half as often.
import type { Page } from "./page.js";

const CAPACITY = 1200;

export class LiveHistory {
  readonly page: Page;
  private n = 0;
  private every = 1;
  private waiting = 0;
  private readonly time = new Float64Array(CAPACITY);
  private readonly columns: { to: Float32Array; from: (frame: Page) => Float32Array | null | undefined; width: number }[];
  private readonly energy = new Map<string, Float32Array>();
  private readonly worst = new Map<string, Float32Array>();
  private readonly count = new Uint32Array(CAPACITY);

  constructor(first: Page) {
    const bodies = first.model.bodies.length;
    const vectors = () => new Float32Array(CAPACITY * 3 * bodies);
    const orientation = new Float32Array(CAPACITY * 4 * bodies);
    const position = vectors();
    const velocity = first.velocity ? vectors() : null;
    const angularVelocity = first.angularVelocity ? vectors() : null;
    for (const name of first.energy.keys()) this.energy.set(name, new Float32Array(CAPACITY));
    for (const name of first.worst.keys()) this.worst.set(name, new Float32Array(CAPACITY));
    this.columns = [
      { to: position, from: (frame) => frame.position, width: 3 * bodies },
      { to: orientation, from: (frame) => frame.orientation, width: 4 * bodies },
    ];
    if (velocity) this.columns.push({ to: velocity, from: (frame) => frame.velocity, width: 3 * bodies });
    if (angularVelocity)
      this.columns.push({ to: angularVelocity, from: (frame) => frame.angularVelocity, width: 3 * bodies });
    for (const [name, to] of this.energy) this.columns.push({ to, from: (frame) => frame.energy.get(name), width: 1 });
    for (const [name, to] of this.worst) this.columns.push({ to, from: (frame) => frame.worst.get(name), width: 1 });
    const signals = first.signals && {
      ...first.signals,
      values: new Float32Array(CAPACITY * first.signals.width),
    };
    if (signals)
      this.columns.push({ to: signals.values, from: (frame) => frame.signals?.values, width: signals.width });
    const nothing = new Float32Array(0);
    const contacts = first.contacts && {
      cut: false,
      count: this.count,
      first: new Uint32Array(CAPACITY + 1),
      body: new Int32Array(0),
      point: nothing,
      normal: nothing,
      force: nothing,
      friction: nothing,
      state: new Uint8Array(0),
    };
    this.page = { ...first, position, orientation, velocity, angularVelocity, contacts, signals, events: [] };
    this.publish();
  }

  get length(): number {
    return this.n;
  }

  // The page's arrays end where the history does.
  private publish(): void {
    this.page.time = this.time.subarray(0, this.n);
    const cut = (columns: Map<string, Float32Array>) =>
      new Map([...columns].map(([name, values]) => [name, values.subarray(0, this.n)]));
    this.page.energy = cut(this.energy);
    this.page.worst = cut(this.worst);
    if (this.page.contacts) this.page.contacts.count = this.count.subarray(0, this.n);
  }

  private thin(): void {
    for (let i = 0; 2 * i < this.n; i++) {
      this.time[i] = this.time[2 * i];
      this.count[i] = this.count[2 * i];
      for (const { to, width } of this.columns) to.copyWithin(i * width, 2 * i * width, (2 * i + 1) * width);
    }
    this.n = Math.floor((this.n + 1) / 2);
    this.every *= 2;
  }

  clear(): void {
    this.n = this.waiting = 0;
    this.every = 1;
    this.publish();
  }

  // A moment at or before the last one begins another run.
  add(frame: Page): void {
    const t = frame.time[0];
    if (this.n > 0 && t < this.time[this.n - 1]) this.clear();
    if (this.n > 0 && t === this.time[this.n - 1]) return;
    if (this.waiting++ % this.every !== 0) return;
    if (this.n === CAPACITY) this.thin();
    this.time[this.n] = t;
    this.count[this.n] = frame.contacts?.count[0] ?? 0;
    for (const { to, from, width } of this.columns) {
      const values = from(frame);
      if (values) to.set(values.subarray(0, width), this.n * width);
    }
    this.n++;
    this.publish();
  }
}
