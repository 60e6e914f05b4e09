// Numbers as people read them.

export function number(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(Math.max(0, digits - 2)).replace("e+", "e");
  return String(Number(value.toPrecision(digits)));
}

// Seconds with as many decimals as the run's resolution deserves.
export function timeFormatter(duration: number, frames: number): (t: number) => string {
  const resolution = duration / Math.max(1, frames);
  const decimals = Math.min(9, Math.max(1, Math.ceil(-Math.log10(resolution || 1))));
  return (t) => t.toFixed(decimals);
}

// The round number 1, 2 or 5 times a power of ten that is nearest above `value`.
export function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 2, 5, 10].find((f) => f * power >= value * (1 - 1e-12)) ?? 10;
  return factor * power;
}
