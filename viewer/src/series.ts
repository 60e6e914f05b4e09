// What can be plotted: quantities, each one a few curves over the frames.
import { bodyName, type Contacts, type Page } from "./page.js";

export interface Curve {
  name: string;
  values: ArrayLike<number>;
}

export interface Quantity {
  id: string;
  group: string;
  label: string;
  logarithmic: boolean;
  least: number; // a span of values that is still worth a plot
  curves: () => Curve[];
}

const AXIS_NAMES = ["x", "y", "z"];

function component(page: Page, data: Float32Array, body: number, axis: number): Float32Array {
  const n = page.model.bodies.length;
  return Float32Array.from(page.time, (_, frame) => data[3 * (frame * n + body) + axis]);
}

// Those of the plane, or all three.
const coordinates = (page: Page): number[] =>
  AXIS_NAMES.map((_, i) => i).filter((i) => !page.model.planar || page.model.planar.includes(AXIS_NAMES[i]));

// Curves that never change are left out, unless none does.
function moving(curves: Curve[]): Curve[] {
  const moves = curves.filter(({ values }) => Array.prototype.some.call(values, (v: number) => v !== values[0]));
  return moves.length > 0 ? moves : curves;
}

// What counts as no motion at all, against the size of the scene (or per second of it).
const SMALL = 1e-6;

function largest(values: Float32Array | undefined): number {
  let most = 0;
  for (const value of values ?? []) most = Math.max(most, Math.abs(value));
  return most;
}

function vectorQuantity(
  page: Page,
  data: Float32Array,
  body: number,
  word: string,
  symbol: string,
  least: number,
): Quantity {
  const name = bodyName(page.model, body);
  return {
    id: `${word}:${body}`,
    group: name,
    label: `${name}: ${word}`,
    logarithmic: false,
    least,
    curves: () => {
      const curves = (axes: number[]) =>
        axes.map((i) => ({ name: `${symbol}${AXIS_NAMES[i]}`, values: component(page, data, body, i) }));
      return symbol === "ω" ? moving(curves([0, 1, 2])) : curves(coordinates(page));
    },
  };
}

// The turn about the plane's normal, followed continuously; for spatial scenes the angle of the whole rotation.
function angleQuantity(page: Page, body: number): Quantity {
  const name = bodyName(page.model, body);
  const n = page.model.bodies.length;
  const axis = { xy: 3, xz: 2, yz: 1 }[page.model.planar ?? "xy"];
  const sign = page.model.planar === "xz" ? -1 : 1;
  const planar = () => {
    let turns = 0;
    let last = 0;
    return Float32Array.from(page.time, (_, frame) => {
      const at = 4 * (frame * n + body);
      const angle = 2 * sign * Math.atan2(page.orientation[at + axis], page.orientation[at]);
      if (frame > 0) turns += Math.round((last - angle) / (2 * Math.PI) - turns);
      last = angle + 2 * Math.PI * turns;
      return (last * 180) / Math.PI;
    });
  };
  const spatial = () =>
    Float32Array.from(page.time, (_, frame) => {
      const w = page.orientation[4 * (frame * n + body)];
      return (2 * Math.acos(Math.min(1, Math.abs(w))) * 180) / Math.PI;
    });
  return {
    id: `angle:${body}`,
    group: name,
    label: `${name}: angle (degrees)`,
    logarithmic: false,
    least: 1e-3,
    curves: () => [{ name: "angle", values: page.model.planar ? planar() : spatial() }],
  };
}

function speedQuantity(page: Page, velocity: Float32Array, body: number, least: number): Quantity {
  const name = bodyName(page.model, body);
  const n = page.model.bodies.length;
  const values = () =>
    Float32Array.from(page.time, (_, frame) => {
      const at = 3 * (frame * n + body);
      return Math.hypot(velocity[at], velocity[at + 1], velocity[at + 2]);
    });
  return {
    id: `speed:${body}`,
    group: name,
    label: `${name}: speed`,
    logarithmic: false,
    least,
    curves: () => [{ name: "|v|", values: values() }],
  };
}

function bodyQuantities(page: Page, body: number, least: number): Quantity[] {
  const vector = (data: Float32Array, word: string, symbol: string, small: number) =>
    vectorQuantity(page, data, body, word, symbol, small);
  const list = [vector(page.position, "position", "", least), angleQuantity(page, body)];
  if (page.velocity) {
    list.push(vector(page.velocity, "velocity", "v", least), speedQuantity(page, page.velocity, body, least));
  }
  if (page.angularVelocity) list.push(vector(page.angularVelocity, "angular velocity", "ω", SMALL));
  return list;
}

function energyQuantities(page: Page): Quantity[] {
  const pick = (names: string[]) => () =>
    names.flatMap((name) => {
      const values = page.energy.get(name);
      return values ? [{ name: name.replace("_", " "), values }] : [];
    });
  if (page.energy.size === 0) return [];
  const small = SMALL * Math.max(largest(page.energy.get("total")), largest(page.energy.get("kinetic")));
  return [
    {
      id: "energy",
      group: "System",
      label: "energy",
      logarithmic: false,
      least: small,
      curves: pick(["total", "kinetic", "potential", "elastic"]),
    },
    {
      id: "ledger",
      group: "System",
      label: "energy ledger",
      logarithmic: false,
      least: small,
      curves: pick(["work", "friction_loss", "impact_loss", "damping_loss", "stabilization", "remainder"]),
    },
  ];
}

const pairKey = (contacts: Contacts, i: number) => `${contacts.body[2 * i]} ${contacts.body[2 * i + 1]}`;

// Sums of the normal and of the tangential force over the contacts of a pair, frame by frame.
function pairForces(page: Page, contacts: Contacts, key: string): Curve[] {
  const normal = new Float32Array(page.time.length);
  const tangential = new Float32Array(page.time.length);
  for (let frame = 0; frame < page.time.length; frame++) {
    for (let i = contacts.first[frame]; i < contacts.first[frame + 1]; i++) {
      if (pairKey(contacts, i) !== key) continue;
      const f = contacts.force.subarray(3 * i, 3 * i + 3);
      const n = contacts.normal.subarray(3 * i, 3 * i + 3);
      const pressing = f[0] * n[0] + f[1] * n[1] + f[2] * n[2];
      normal[frame] += pressing;
      tangential[frame] += Math.hypot(f[0] - pressing * n[0], f[1] - pressing * n[1], f[2] - pressing * n[2]);
    }
  }
  return [
    { name: "normal", values: normal },
    { name: "friction", values: tangential },
  ];
}

const MOST_PAIRS = 200;

function contactQuantities(page: Page): Quantity[] {
  const { contacts } = page;
  if (!contacts) return [];
  const list: Quantity[] = [
    {
      id: "contacts",
      group: "Contacts",
      label: "number of contacts",
      logarithmic: false,
      least: 1,
      curves: () => [{ name: "contacts", values: contacts.count }],
    },
  ];
  const pairs = new Map<string, [number, number]>();
  for (let i = 0; i < contacts.state.length && pairs.size < MOST_PAIRS; i++)
    pairs.set(pairKey(contacts, i), [contacts.body[2 * i], contacts.body[2 * i + 1]]);
  for (const [key, [a, b]] of pairs) {
    list.push({
      id: `force:${key}`,
      group: "Contacts",
      label: `contact force ${bodyName(page.model, a)} – ${bodyName(page.model, b)}`,
      logarithmic: false,
      least: 0,
      curves: () => pairForces(page, contacts, key),
    });
  }
  return list;
}

function residualQuantities(page: Page): Quantity[] {
  if (page.worst.size === 0) return [];
  return [
    {
      id: "residuals",
      group: "System",
      label: "residuals (worst so far)",
      logarithmic: true,
      least: 0,
      curves: () => [...page.worst].map(([name, values]) => ({ name: name.replace("_", " "), values })),
    },
  ];
}

// Outputs, and positions, speeds, motor forces and reactions of joints.
function signalQuantities(page: Page): Quantity[] {
  const { signals } = page;
  if (!signals) return [];
  let first = 0;
  return signals.sets.map(({ owner, name, width }) => {
    const start = first;
    first += width;
    const column = (k: number) =>
      Float32Array.from(page.time, (_, frame) => page.signals?.values[frame * signals.width + start + k] ?? NaN);
    const curves = Array.from({ length: width }, (_, k) => k);
    return {
      id: `signal:${owner ?? ""}:${name}`,
      group: owner === null ? "Outputs" : "Joints",
      label: owner === null ? name : `${owner}: ${name}`,
      logarithmic: false,
      least: 0,
      curves: () =>
        moving(curves.map((k) => ({ name: width > 1 ? AXIS_NAMES[k] : (owner ?? name), values: column(k) }))),
    };
  });
}

// The first bodies that move at all, for the plots that are shown unasked; the first body where none does.
export function movingBodies(page: Page, sceneSize: number): number[] {
  const n = page.model.bodies.length;
  const stride = Math.max(1, Math.floor(page.time.length / 100));
  const moves = (body: number) => {
    for (let frame = 0; frame < page.time.length; frame += stride)
      for (let axis = 0; axis < 3; axis++)
        if (Math.abs(page.position[3 * (frame * n + body) + axis] - page.position[3 * body + axis]) > 1e-4 * sceneSize)
          return true;
    return false;
  };
  const moving = page.model.bodies.map((_, body) => body).filter(moves);
  return moving.length > 0 ? moving : [0];
}

const MOST_BODIES = 300; // in the menu

export function quantities(page: Page, sceneSize: number): Quantity[] {
  return [
    ...energyQuantities(page),
    ...residualQuantities(page),
    ...contactQuantities(page),
    ...signalQuantities(page),
    ...page.model.bodies.slice(0, MOST_BODIES).flatMap((_, body) => bodyQuantities(page, body, SMALL * sceneSize)),
  ];
}
