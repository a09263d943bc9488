/** What things are made of, besides glaze. */
import type { Surface } from "./scene.ts";
import { clamp, fractal, hex, mix, mul, noise, smooth, type Vec } from "./vector.ts";

export const plain = (colour: string, gloss = 0, rough = 0.3): Surface => {
  const light = hex(colour);
  return { colour: () => light, gloss, rough };
};

/** Plaster, earth, cloth: one colour, cloudy in two sizes. */
export const cloudy = (colour: string, amount = 0.25, size = 1): Surface => {
  const light = hex(colour);
  return {
    colour: ([x, y, z]) => {
      const large = fractal([x * 0.6 * size, y * 0.6 * size, z * 0.6 * size]);
      const small = fractal([x * 7 * size, y * 7 * size, z * 7 * size], 3);
      return mul(light, 1 + amount * (large * 1.3 + small * 0.5 - 0.9));
    },
  };
};

/** Boards that run along x, each with its own tone and grain. */
export const boards = (colour: string, width = 1.1, isUpright = false): Surface => {
  const light = hex(colour);
  return {
    colour: ([x, y, z]) => {
      const across = (isUpright ? y : z) / width;
      const board = Math.floor(across);
      const within = across - board;
      const gap = smooth(0, 0.012, within) * (1 - smooth(0.988, 1, within));
      const ring = fractal([x * 0.35 + board * 13, across * 7, y * 3], 4);
      const grain = noise(x * 1.3, across * 60 + ring * 6, board) * 0.5 + ring;
      const tone = 0.86 + 0.28 * noise(board * 3.7, 1, 1);
      return mul(light, clamp(tone * (0.62 + 0.5 * grain), 0, 1.4) * (0.35 + 0.65 * gap));
    },
  };
};

/** `across` and `above` in units: bricks in rows that are half a brick apart. */
export function brick(across: number, above: number, [x, y, z]: Vec, base: Vec, width = 0.62, height = 0.2): Vec {
  const row = Math.floor(above / height);
  const column = Math.floor(across / width + (row % 2) * 0.5);
  const [u, v] = [across / width + (row % 2) * 0.5 - column, above / height - row];
  const joint = 0.035;
  const rough = (fractal([x * 5, y * 5, z * 5], 3) - 0.5) * 0.05;
  const inside =
    smooth(joint * 0.4, joint, u * 1 + rough) *
    (1 - smooth(1 - joint, 1 - joint * 0.4, u + rough)) *
    smooth(joint * 1.2, joint * 3, v + rough * 3) *
    (1 - smooth(1 - joint * 3, 1 - joint * 1.2, v + rough * 3));
  const tone = 0.66 + 0.6 * noise(column * 5.3, row * 3.1, 7) + 0.3 * (fractal([x * 6, y * 6, z * 6], 3) - 0.5);
  return mix(mul(hex("#b9a58c"), 0.55), mul(base, tone), inside);
}
