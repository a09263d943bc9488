/** From light to a picture: noise is smoothed where nothing has an edge, then come curve, warmth and grain. */
import type { Frame } from "./trace.ts";
import { at, clamp, createRandom, noise } from "./vector.ts";

export interface Points {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}

/** `light` may be smaller than `bare`: light changes more slowly over a picture than what it falls on. */
export function develop(light: Frame, bare: Frame, exposure: number): Points {
  const { width, height } = bare;
  const diffuse = enlarged(light, smoothed(light, light.diffuse, 0.5), bare);
  const direct = enlarged(light, smoothed(light, light.direct, 0.3, 3), bare);
  const data = new Uint8ClampedArray(width * height * 4);
  const random = createRandom(11);
  const scale = 1600 / width;
  for (let pixel = 0; pixel < width * height; pixel++) {
    const [x, y] = [pixel % width, Math.floor(pixel / width)];
    const [fromX, fromY] = [x / width - 0.5, y / height - 0.5];
    const corner = 1 - 0.32 * (fromX * fromX + fromY * fromY);
    // Grain as of paper: fine, and stronger in the middle tones.
    const fine = random() + random() - 1;
    const coarse = noise((x * scale) / 2.6, (y * scale) / 2.6, 3) - 0.5;
    const grain = (fine * 0.35 + coarse) * 0.016;
    for (const part of [0, 1, 2] as const) {
      const n = pixel * 3 + part;
      const bright = at(diffuse, n) * at(bare.base, n) + at(direct, n);
      const shown = curve(bright * exposure * corner);
      data[pixel * 4 + part] = 255 * clamp(shown + grain * (1 - (2 * shown - 1) ** 4));
    }
    data[pixel * 4 + 3] = 255;
  }
  return { data, width, height };
}

/** Bright light ends softly, and shadows keep a little colour. */
function curve(light: number): number {
  const film = (light * (2.2 * light + 0.12)) / (light * (2.0 * light + 0.72) + 0.13);
  return clamp(film) ** (1 / 2.0);
}

/** Dammertz's filter: five passes, each twice as wide, which stop at edges of place, direction and light. */
function smoothed(frame: Frame, light: Float32Array, tolerance: number, passes = 4): Float32Array {
  let values = light;
  for (let pass = 0; pass < passes; pass++)
    values = pass1(frame, values, blurred(frame, values), 2 ** pass, tolerance / (pass + 1));
  return values;
}

const weights = [0.375, 0.25, 0.0625] as const;

/** Between points of the smaller picture, those count that lie on the same thing. */
function enlarged(small: Frame, values: Float32Array, large: Frame): Float32Array {
  const result = new Float32Array(large.width * large.height * 3);
  const scale = small.width / large.width;
  for (let y = 0; y < large.height; y++)
    for (let x = 0; x < large.width; x++) {
      const here = y * large.width + x;
      const [sx, sy] = [(x + 0.5) * scale - 0.5, (y + 0.5) * scale - 0.5];
      const sum: [number, number, number] = [0, 0, 0];
      let total = 0;
      for (const row of [Math.floor(sy), Math.floor(sy) + 1])
        for (const column of [Math.floor(sx), Math.floor(sx) + 1]) {
          const [cx, cy] = [clamp(column, 0, small.width - 1), clamp(row, 0, small.height - 1)];
          const there = cy * small.width + cx;
          const near = (1 - Math.abs(sx - column)) * (1 - Math.abs(sy - row));
          const weight = near * (likeness(small, there, large, here) + 1e-3) + 1e-9;
          for (const part of [0, 1, 2] as const) sum[part] += at(values, there * 3 + part) * weight;
          total += weight;
        }
      for (const part of [0, 1, 2] as const) result[here * 3 + part] = sum[part] / total;
    }
  return result;
}

function likeness(a: Frame, i: number, b: Frame, j: number): number {
  let facing = 0;
  for (const part of [0, 1, 2] as const) facing += at(a.normal, i * 3 + part) * at(b.normal, j * 3 + part);
  const [here, there] = [at(a.depth, i), at(b.depth, j)];
  return Math.max(0, facing) ** 8 * Math.exp(-Math.abs(here - there) / (0.02 * there));
}

/** What a pixel's light is compared by: its own may be far off, and then nothing would mend it. */
function blurred({ width, height }: Frame, light: Float32Array): Float32Array {
  const result = new Float32Array(light.length);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      for (const part of [0, 1, 2] as const) {
        let [sum, total] = [0, 0];
        for (let row = Math.max(0, y - 1); row <= Math.min(height - 1, y + 1); row++)
          for (let column = Math.max(0, x - 1); column <= Math.min(width - 1, x + 1); column++) {
            sum += Math.min(at(light, (row * width + column) * 3 + part), 8);
            total += 1;
          }
        result[(y * width + x) * 3 + part] = sum / total;
      }
  return result;
}

function pass1(
  { width, height, normal, depth }: Frame,
  light: Float32Array,
  guide: Float32Array,
  step: number,
  tolerance: number,
) {
  const result = new Float32Array(light.length);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const here = y * width + x;
      const h = here * 3;
      const [nx, ny, nz] = [at(normal, h), at(normal, h + 1), at(normal, h + 2)];
      const [lr, lg, lb] = [at(guide, h), at(guide, h + 1), at(guide, h + 2)];
      const deep = at(depth, here);
      const strength = 1 / (tolerance * (0.05 + lr + lg + lb));
      let [r, g, b, total] = [0, 0, 0, 0];
      for (let dy = -2; dy <= 2; dy++) {
        const row = y + dy * step;
        if (row < 0 || row >= height) continue;
        for (let dx = -2; dx <= 2; dx++) {
          const column = x + dx * step;
          if (column < 0 || column >= width) continue;
          const there = row * width + column;
          const t = there * 3;
          const facing = nx * at(normal, t) + ny * at(normal, t + 1) + nz * at(normal, t + 2);
          const [tr, tg, tb] = [at(guide, t), at(guide, t + 1), at(guide, t + 2)];
          const apart = (Math.abs(tr - lr) + Math.abs(tg - lg) + Math.abs(tb - lb)) * strength;
          const away = Math.abs(at(depth, there) - deep) / (0.02 * deep * (1 + step * 0.5));
          const turned = Math.max(0, facing) ** 24;
          const weight =
            (weights[Math.abs(dx) as 0 | 1 | 2] ?? 0) *
            (weights[Math.abs(dy) as 0 | 1 | 2] ?? 0) *
            (nx === 0 && ny === 0 && nz === 0 ? 1 : turned) *
            Math.exp(-apart * apart - away);
          r += at(light, t) * weight;
          g += at(light, t + 1) * weight;
          b += at(light, t + 2) * weight;
          total += weight;
        }
      }
      const share = total > 1e-9 ? 1 / total : 0;
      result[h] = share ? r * share : lr;
      result[h + 1] = share ? g * share : lg;
      result[h + 2] = share ? b * share : lb;
    }
  return result;
}
