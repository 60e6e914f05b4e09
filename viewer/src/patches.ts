// Patches of compliant contacts: which elements touch, what they carry, whether they stick.

export interface Patches {
  room?: number; // live: patches come and go; so many elements can be drawn
  cut: boolean;
  largest: number; // normal force of an element: the end of the colour scale
  first: Uint32Array; // frames + 1
  element: Uint32Array; // patches + 1
  body: Int32Array;
  point: Float32Array;
  normal: Float32Array;
  tangent: Float32Array;
  place: Float32Array; // 2 per element, along the tangents
  force: Float32Array; // 3 per element: normal, tangents
  state: Uint8Array; // 0 open, 1 sticks, 2 slips
}

export function largestForce(force: Float32Array): number {
  let most = 0;
  for (let i = 0; i < force.length; i += 3) most = Math.max(most, force[i]);
  return most > 0 ? most : 1;
}

// How far apart neighbours are, from the places of the first patch that has any; 0: none has more than one element.
export function elementSpacing(patches: Patches): number {
  const { element, place } = patches;
  for (let patch = 0; patch + 1 < element.length; patch++) {
    const end = Math.min(element[patch + 1], element[patch] + 200);
    let best = Infinity;
    for (let i = element[patch]; i < end; i++)
      for (let k = element[patch]; k < i; k++)
        best = Math.min(best, Math.hypot(place[2 * i] - place[2 * k], place[2 * i + 1] - place[2 * k + 1]));
    if (Number.isFinite(best) && best > 0) return best;
  }
  return 0;
}

// Dark blue over green to yellow: monotone in lightness, readable without colour vision (an approximation of viridis).
const SCALE: [number, number, number][] = [
  [68, 1, 84],
  [59, 82, 139],
  [33, 145, 140],
  [94, 201, 98],
  [253, 231, 37],
];

export function pressureColor(share: number): string {
  const s = Math.min(1, Math.max(0, share)) * (SCALE.length - 1);
  const i = Math.min(SCALE.length - 2, Math.floor(s));
  const channel = (k: number) => Math.round(SCALE[i][k] + (s - i) * (SCALE[i + 1][k] - SCALE[i][k]));
  return `rgb(${channel(0)}, ${channel(1)}, ${channel(2)})`;
}
