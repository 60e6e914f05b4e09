// The data of a page, as docs/page-format.md describes them, and their decoded form.
import { largestForce, type Patches } from "./patches.js";

export type Vec3 = [number, number, number];
export type Quat = [number, number, number, number]; // w x y z

export interface ShapeData {
  type: string;
  position: Vec3;
  orientation: Quat;
  radius?: number;
  length?: number;
  size?: Vec3;
  triangles?: Vec3[]; // three corners each
  vertices?: number[]; // mesh, height-field: three numbers each
  faces?: number[]; // three vertices each
}

export interface BodyData {
  name: string;
  mass: number;
  center_of_mass: Vec3;
  inertia: [number, number, number, number, number, number]; // Ixx Iyy Izz Ixy Ixz Iyz
  shapes: ShapeData[];
}

export interface LinkData {
  type: string;
  name?: string;
  bodies: [number, number];
  anchors: [Vec3, Vec3];
  axis?: Vec3;
}

export type Planar = "xy" | "xz" | "yz";

export interface ModelData {
  name: string;
  source: string;
  file: string;
  text: string;
  planar: Planar | null;
  gravity: Vec3;
  bodies: BodyData[];
  world: ShapeData[];
  joints: LinkData[];
  forces: LinkData[];
}

export interface RunData {
  scheme: string;
  solver: string;
  step: number;
  duration: number;
  steps: number;
  end: number;
  complete: boolean;
}

export interface DoubtData {
  code: string;
  number: number;
  meaning: string;
  advice: string;
}

export interface CertificateData {
  complementarity: number;
  penetration: number;
  joint_drift: number;
  cone: number;
  dissipation: number;
  energy_created: number;
  certified: boolean;
  sound: boolean;
  doubts: DoubtData[];
}

// Outputs (no owner) and what is known of a joint; `width` numbers side by side.
export interface SignalSet {
  owner: string | null;
  name: string;
  width: number;
}

export interface Signals {
  sets: SignalSet[];
  width: number; // of all sets together
  values: Float32Array; // [frame][width]
}

export interface EncodedPage {
  format: string;
  version: number;
  layout: "viewer" | "report" | "live";
  model: ModelData;
  run: RunData;
  frames: {
    count: number;
    every: number;
    time: string;
    position: string;
    orientation: string;
    velocity: string | null;
    angular_velocity: string | null;
  };
  energy: Record<string, string>;
  worst: Record<string, string>;
  contacts: {
    cut: boolean;
    count: string;
    first: string;
    body: string;
    point: string;
    normal: string;
    force: string;
    friction: string;
    state: string;
  } | null;
  applied: string | null;
  signals?: { sets: SignalSet[]; values: string } | null;
  patches: {
    cut: boolean;
    first: string;
    element: string;
    body: string;
    point: string;
    normal: string;
    tangent: string;
    place: string;
    force: string;
    state: string;
  } | null;
  timings: Record<string, number> | null;
  events: { total: number; kinds: string[]; t: string; kind: string; body: string };
  certificate: CertificateData;
  ledger: Record<string, number> | null;
  solves: Record<string, number> | null;
}

export const STATES = ["stick", "slip", "impact"] as const;

export interface Contacts {
  room?: number; // live: contacts come and go; so many can be drawn
  typical?: number; // live: the force that gets a long arrow
  cut: boolean;
  count: Uint32Array; // how many each frame had; the page may hold fewer
  first: Uint32Array; // frames + 1
  body: Int32Array;
  point: Float32Array;
  normal: Float32Array;
  force: Float32Array;
  friction: Float32Array;
  state: Uint8Array;
}

export interface PageEvent {
  t: number;
  kind: string;
  bodies: [number, number];
}

export interface Page {
  layout: "viewer" | "report" | "live";
  model: ModelData;
  run: RunData;
  every: number;
  time: Float64Array;
  position: Float32Array;
  orientation: Float32Array;
  velocity: Float32Array | null;
  angularVelocity: Float32Array | null;
  energy: Map<string, Float32Array>;
  worst: Map<string, Float32Array>;
  contacts: Contacts | null;
  applied: Float32Array | null; // 6 per frame and applied force: force, torque
  signals: Signals | null;
  patches: Patches | null;
  timings: Record<string, number> | null;
  events: PageEvent[];
  eventsTotal: number;
  certificate: CertificateData;
  ledger: Record<string, number> | null;
  solves: Record<string, number> | null;
}

function decode(text: string): ArrayBuffer {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes.buffer;
}

const floats = (text: string) => new Float32Array(decode(text));
const optionalFloats = (text: string | null) => (text === null ? null : floats(text));

function orientations(text: string): Float32Array {
  return Float32Array.from(new Int16Array(decode(text)), (q) => q / 32767);
}

function columns(encoded: Record<string, string>): Map<string, Float32Array> {
  return new Map(Object.entries(encoded).map(([name, text]) => [name, floats(text)]));
}

function decodeContacts(c: EncodedPage["contacts"]): Contacts | null {
  if (c === null) return null;
  return {
    cut: c.cut,
    count: new Uint32Array(decode(c.count)),
    first: new Uint32Array(decode(c.first)),
    body: new Int32Array(decode(c.body)),
    point: floats(c.point),
    normal: floats(c.normal),
    force: floats(c.force),
    friction: floats(c.friction),
    state: new Uint8Array(decode(c.state)),
  };
}

function decodePatches(p: EncodedPage["patches"]): Patches | null {
  if (p === null) return null;
  const force = floats(p.force);
  return {
    cut: p.cut,
    largest: largestForce(force),
    first: new Uint32Array(decode(p.first)),
    element: new Uint32Array(decode(p.element)),
    body: new Int32Array(decode(p.body)),
    point: floats(p.point),
    normal: floats(p.normal),
    tangent: floats(p.tangent),
    place: floats(p.place),
    force,
    state: new Uint8Array(decode(p.state)),
  };
}

function decodeEvents(e: EncodedPage["events"]): PageEvent[] {
  const t = new Float64Array(decode(e.t));
  const kind = new Uint8Array(decode(e.kind));
  const body = new Int32Array(decode(e.body));
  return Array.from(t, (time, i) => ({
    t: time,
    kind: e.kinds[kind[i]] ?? "event",
    bodies: [body[2 * i], body[2 * i + 1]],
  }));
}

function decodeSignals(s: EncodedPage["signals"]): Signals | null {
  if (!s) return null;
  return { sets: s.sets, width: s.sets.reduce((sum, set) => sum + set.width, 0), values: floats(s.values) };
}

export const decodePage = (text: string): Page => decodeData(JSON.parse(text) as EncodedPage);

export function decodeData(p: EncodedPage): Page {
  if (p.format !== "stickslip page" || p.version !== 1) throw new Error(`unknown page format ${p.format} ${p.version}`);
  return {
    layout: p.layout,
    model: p.model,
    run: p.run,
    every: p.frames.every,
    time: new Float64Array(decode(p.frames.time)),
    position: floats(p.frames.position),
    orientation: orientations(p.frames.orientation),
    velocity: optionalFloats(p.frames.velocity),
    angularVelocity: optionalFloats(p.frames.angular_velocity),
    energy: columns(p.energy),
    worst: columns(p.worst),
    contacts: decodeContacts(p.contacts),
    applied: optionalFloats(p.applied),
    signals: decodeSignals(p.signals),
    patches: decodePatches(p.patches),
    timings: p.timings,
    events: decodeEvents(p.events),
    eventsTotal: p.events.total,
    certificate: p.certificate,
    ledger: p.ledger,
    solves: p.solves,
  };
}

export const bodyName = (model: ModelData, body: number) => (body < 0 ? "world" : (model.bodies[body]?.name ?? "?"));
