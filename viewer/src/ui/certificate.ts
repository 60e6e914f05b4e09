// What the run is worth: verdict, certificate, energy ledger, solver statistics.
import { number } from "../format.js";
import type { DoubtData, Page } from "../page.js";
import { hasStandIn } from "../scene/stand_in.js";
import { element } from "./dom.js";

type Row = [name: string, value: string, meaning?: string];

function table(rows: Row[]): HTMLTableElement {
  const body = element("tbody");
  for (const [name, value, meaning] of rows) {
    const head = element("th", { scope: "row" }, name);
    if (meaning) head.append(element("small", {}, meaning));
    body.append(element("tr", {}, head, element("td", { class: "value" }, value)));
  }
  return element("table", {}, body);
}

interface Verdict {
  good: boolean;
  short: string;
  long: string;
}

export function verdict(page: Page): Verdict {
  const { certificate: c, run } = page;
  if (!run.complete)
    return {
      good: false,
      short: "✗ stopped early",
      long: `The run ended at t = ${number(run.end)} of ${number(run.duration)}.`,
    };
  if (!c.certified)
    return {
      good: false,
      short: "✗ not certified",
      long: "At least one step did not solve its own problem to the tolerance.",
    };
  if (!c.sound)
    return {
      good: false,
      short: "? doubtful",
      long: `Each step solves its own contact problem, but: ${c.doubts.map((d) => d.code).join(", ")}.`,
    };
  return {
    good: true,
    short: "✓ certified",
    long: `Each step solves its own contact problem; the worst residual is ${number(c.complementarity, 3)}.`,
  };
}

const doubtRows = (doubts: DoubtData[]): Row[] =>
  doubts.map((d) => [d.code, number(d.number, 3), `${d.meaning}; ${d.advice}`]);

function certificateRows(page: Page): Row[] {
  const c = page.certificate;
  return [
    ["Complementarity", number(c.complementarity, 3), "worst residual of a step's contact problem"],
    ["Penetration", number(c.penetration, 3), "deepest overlap of two shapes (length)"],
    ["Joint drift", number(c.joint_drift, 3), "largest error of a joint (length or sine)"],
    ["Cone", number(c.cone, 3), "friction outside its cone"],
    ["Dissipation", number(c.dissipation, 3), "defect of maximum dissipation"],
    ["Energy created", number(c.energy_created, 3), "beyond the initial energy and the work done"],
  ];
}

function runRows(page: Page): Row[] {
  const { run } = page;
  const frames = page.every > 1 ? `${page.time.length} (every ${page.every}th step)` : String(page.time.length);
  return [
    ["Scheme", run.scheme],
    ["Solver", run.solver],
    ["Step", number(run.step, 6)],
    ["Duration", number(run.duration, 6)],
    ["Steps", String(run.steps)],
    ["Frames on this page", frames],
    ["Bodies", String(page.model.bodies.length)],
  ];
}

const recordRows = (record: Record<string, number>): Row[] =>
  Object.entries(record).map(([name, value]) => [name.replace(/_/g, " "), number(value, 6)]);

const STAGES: Record<string, string> = {
  search: "which shapes may touch, where they do",
  rows: "forces, rows, discretisation",
  solve: "complementarity problems and their judge",
  advance: "positions and velocities",
  events: "impacts, and what is located inside steps",
  observe: "ledger, certificate, recording",
};

function timingRows(timings: Record<string, number>): Row[] {
  const total = Object.values(timings).reduce((sum, s) => sum + s, 0);
  const rows = Object.entries(timings).map(
    ([name, s]): Row => [name, `${number(s, 3)} s · ${total > 0 ? Math.round((100 * s) / total) : 0} %`, STAGES[name]],
  );
  return [...rows, ["together", `${number(total, 3)} s`]];
}

export function createCertificate(root: HTMLElement, badge: HTMLElement, page: Page): void {
  const { good, short, long } = verdict(page);
  const kind = good ? "good" : "bad";
  badge.className = kind;
  badge.textContent = short;
  badge.title = long;
  root.append(
    element("div", { class: `verdict ${kind}` }, element("strong", {}, short), element("span", {}, long)),
  );
  if (page.certificate.doubts.length > 0)
    root.append(element("h2", {}, "Doubts"), table(doubtRows(page.certificate.doubts)));
  root.append(element("h2", {}, "Certificate"), table(certificateRows(page)));
  if (page.ledger) root.append(element("h2", {}, "Energy"), table(recordRows(page.ledger)));
  if (page.solves) root.append(element("h2", {}, "Solver"), table(recordRows(page.solves)));
  if (page.timings) root.append(element("h2", {}, "Time per stage"), table(timingRows(page.timings)));
  root.append(element("h2", {}, "Run"), table(runRows(page)));
  const notes = pageNotes(page);
  if (notes.length > 0)
    root.append(element("h2", {}, "About this page"), ...notes.map((n) => element("p", { class: "note" }, n)));
}

// What the page leaves out, said plainly.
function pageNotes(page: Page): string[] {
  const notes: string[] = [];
  if (page.every > 1)
    notes.push(
      `The motion is thinned out: the page holds every ${page.every}th step of ${page.run.steps}; positions between frames are interpolated.`,
    );
  if (page.model.bodies.some(hasStandIn))
    notes.push("Bodies without shapes are drawn as the box that has their mass and inertia, or as a point.");
  if (!page.contacts)
    notes.push("The contacts were not recorded with this result; run the scene with --html to see them.");
  if (page.contacts?.cut)
    notes.push("Some frames have more contacts than the page holds; the strongest ones are shown.");
  if (page.patches?.cut) notes.push("Some frames have more patches than the page holds; the first ones are shown.");
  if (!page.velocity) notes.push("The velocities are left out to keep the page small.");
  return notes;
}
