/** Points, directions and colours: three numbers each. Colours are linear light. */
export type Vec = readonly [number, number, number];

export const add = (a: Vec, b: Vec): Vec => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const sub = (a: Vec, b: Vec): Vec => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const mul = (a: Vec, by: number): Vec => [a[0] * by, a[1] * by, a[2] * by];
export const tint = (a: Vec, b: Vec): Vec => [a[0] * b[0], a[1] * b[1], a[2] * b[2]];
export const mix = (a: Vec, b: Vec, t: number): Vec => add(mul(a, 1 - t), mul(b, t));
export const dot = (a: Vec, b: Vec): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const length = (a: Vec): number => Math.sqrt(dot(a, a));
export const unit = (a: Vec): Vec => mul(a, 1 / (length(a) || 1));
export const cross = (a: Vec, b: Vec): Vec => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
export const clamp = (x: number, low = 0, high = 1): number => Math.min(high, Math.max(low, x));
export const smooth = (from: number, to: number, x: number): number => {
  const t = clamp((x - from) / (to - from));
  return t * t * (3 - 2 * t);
};
/** Arrays of numbers are read within their bounds here. */
export const at = (numbers: Float32Array, index: number): number => numbers[index] ?? 0;

/** `#243f9e` as light. */
export function hex(text: string): Vec {
  const part = (from: number) => (Number.parseInt(text.slice(from, from + 2), 16) / 255) ** 2.2;
  return [part(1), part(3), part(5)];
}

/** Numbers that look random and are the same in every run. */
export function createRandom(seed: number): () => number {
  let state = (seed * 2_654_435_761 + 0x9e37_79b9) >>> 0;
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function lattice(x: number, y: number, z: number): number {
  let h = (Math.imul(x, 374_761_393) + Math.imul(y, 668_265_263) + Math.imul(z, 1_274_126_177)) | 0;
  h = Math.imul(h ^ (h >>> 13), 1_274_126_177);
  return ((h ^ (h >>> 16)) >>> 0) / 4_294_967_296;
}

/** Value noise from 0 to 1. */
export function noise(x: number, y: number, z: number): number {
  const [i, j, k] = [Math.floor(x), Math.floor(y), Math.floor(z)];
  const ease = (t: number) => t * t * (3 - 2 * t);
  const [u, v, w] = [ease(x - i), ease(y - j), ease(z - k)];
  const line = (b: number, c: number) => lattice(i, b, c) * (1 - u) + lattice(i + 1, b, c) * u;
  const face = (c: number) => line(j, c) * (1 - v) + line(j + 1, c) * v;
  return face(k) * (1 - w) + face(k + 1) * w;
}

/** Noise in several sizes, from 0 to 1. */
export function fractal(p: Vec, octaves = 4): number {
  let [sum, weight, total, scale] = [0, 1, 0, 1];
  for (let n = 0; n < octaves; n++) {
    sum += weight * noise(p[0] * scale + n * 17.3, p[1] * scale, p[2] * scale);
    total += weight;
    weight *= 0.5;
    scale *= 2.03;
  }
  return sum / total;
}
