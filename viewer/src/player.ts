// The clock of the page: where in the run we are, and whether time passes.

export type Listener = () => void;

// Index of the last entry of `times` that is not after t; times ascend.
export function frameBefore(times: Float64Array, t: number): number {
  let low = 0;
  let high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle - 1;
  }
  return low;
}

export class Player {
  time: number;
  playing = false;
  loop = true;
  speed: number;
  readonly start: number;
  readonly end: number;
  private listeners: Listener[] = [];

  constructor(readonly times: Float64Array) {
    this.start = times[0];
    this.end = times[times.length - 1];
    this.time = this.start;
    this.speed = comfortableSpeed(this.end - this.start);
  }

  onChange(listener: Listener): void {
    this.listeners.push(listener);
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }

  get frame(): number {
    return frameBefore(this.times, this.time);
  }

  // The frame whose step contains the present time: contacts and impacts are those of the step that ends with a frame.
  get stepFrame(): number {
    const frame = this.frame;
    return this.time > this.times[frame] ? Math.min(frame + 1, this.times.length - 1) : frame;
  }

  seek(t: number): void {
    this.time = Math.min(this.end, Math.max(this.start, t));
    this.changed();
  }

  // Goes to a recorded frame, so that nothing shown is interpolated.
  stepFrames(n: number): void {
    this.playing = false;
    const between = this.time > this.times[this.frame] && n < 0 ? 1 : 0;
    const frame = Math.min(this.times.length - 1, Math.max(0, this.frame + n + between));
    this.seek(this.times[frame]);
  }

  setPlaying(playing: boolean): void {
    if (playing && this.time >= this.end) this.time = this.start;
    this.playing = playing;
    this.changed();
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    this.changed();
  }

  setLoop(loop: boolean): void {
    this.loop = loop;
    this.changed();
  }

  // Lets wall-clock seconds pass.
  advance(seconds: number): void {
    if (!this.playing) return;
    let t = this.time + seconds * this.speed;
    if (t >= this.end) {
      if (this.loop && this.end > this.start) t = this.start;
      else this.playing = false;
    }
    this.seek(t);
  }
}

export const SPEEDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

// Real time where that lasts between two seconds and a minute; otherwise the nearest speed that does.
export function comfortableSpeed(duration: number): number {
  const lasts = (speed: number) => duration / speed;
  if (lasts(1) < 2) return [...SPEEDS].reverse().find((speed) => lasts(speed) >= 2) ?? SPEEDS[0];
  if (lasts(1) > 60) return SPEEDS.find((speed) => lasts(speed) <= 60) ?? SPEEDS[SPEEDS.length - 1];
  return 1;
}
