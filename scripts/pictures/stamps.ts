/** Grandfather's cork stamps, and the first prints that did not run. */
import { boards, cloudy, plain } from "./grounds.ts";
import { mug, plate } from "./pots.ts";
import type { Surface, Triangle } from "./scene.ts";
import { block, panel, put, sheet, turned } from "./shapes.ts";
import { gradient, type Picture } from "./trace.ts";
import { clamp, fractal, hex, mix, mul, noise, smooth, unit, type Vec } from "./vector.ts";

const cobalt = hex("#1f3a9c");

/** How much colour an eye leaves at this place, in parts of its radius; `seed` makes each print its own. */
function eye(x: number, y: number, seed: number): number {
  const r = Math.hypot(x, y) * (1 + (noise(x * 2.2 + seed * 7, y * 2.2, seed) - 0.5) * 0.1);
  const disc = (at: number) => 1 - smooth(at - 0.03, at + 0.03, r);
  const pressed = 0.55 + 0.7 * fractal([x * 5 + seed * 3, y * 5, seed], 3);
  return clamp((disc(0.95) - disc(0.63) + disc(0.42) - disc(0.17)) * pressed);
}

const paper: Surface = {
  colour(place, u, v) {
    const ground = mul(hex("#f1e6d0"), 0.9 + 0.14 * fractal([place[0] * 8, 0, place[2] * 8], 3));
    const [x, y] = [u * 6, v * 4.5];
    const [column, row] = [Math.floor(x), Math.floor(y - 0.25)];
    const count = row * 6 + column;
    // The last row is not finished.
    if (row < 0 || row > 3 || count > 21) return ground;
    const shift = (n: number) => (noise(column * 9.1, row * 7.3, n) - 0.5) * 0.14;
    return mix(
      ground,
      cobalt,
      eye((x - column - 0.5 + shift(1)) * 2.35, (y - 0.25 - row - 0.5 + shift(2)) * 2.35, count),
    );
  },
};

/** A cork with an eye cut into its end. */
function stamp(radius: number, height: number, seed: number): Triangle[] {
  const cork = cloudy("#b98d5e", 0.9, 3);
  const end: Surface = {
    colour: (place, u, v) => {
      const r = (1 - v) * 1.02;
      const angle = u * 2 * Math.PI;
      return mix(mul(hex("#8f6b4a"), 0.8), mul(cobalt, 0.8), eye(Math.cos(angle) * r, Math.sin(angle) * r, seed));
    },
  };
  return [
    ...turned(
      [
        [radius, 0.01],
        [radius * 1.01, 0.05],
        [radius * 0.97, height * 0.5],
        [radius, height * 0.95],
        [radius * 0.94, height],
        [0.001, height],
      ],
      cork,
    ),
    ...sheet(
      (u, v) => [Math.cos(u * 6.2832) * radius * (1 - v), -0.002, Math.sin(u * 6.2832) * radius * (1 - v)],
      48,
      24,
      end,
    ),
  ];
}

function box(): Triangle[] {
  const wood = boards("#9a5f38", 0.9);
  const side = (low: Vec, high: Vec) => block(low, high, wood);
  return [
    ...side([-1.5, 0, -1], [1.5, 0.08, 1]),
    ...side([-1.5, 0, -1], [1.5, 0.62, -0.9]),
    ...side([-1.5, 0, 0.9], [1.5, 0.62, 1]),
    ...side([-1.5, 0, -1], [-1.4, 0.62, 1]),
    ...side([1.4, 0, -1], [1.5, 0.62, 1]),
    // Its lid is up, and leans back.
    ...put(block([-1.5, 0, 0], [1.5, 1.9, 0.08], wood), [0, 0.62, -1.02], { tilt: -0.35 }),
  ];
}

export function stamps(): Picture {
  const colour: Surface = { ...cloudy("#182c78", 0.3, 1), gloss: 0.9, rough: 0.06 };
  const lying = (to: Vec, turn: number, radius: number, seed: number) =>
    put(put(stamp(radius, 0.8, seed), [0, 0, 0], { tilt: -Math.PI / 2 }), to, { turn });
  return {
    width: 1600,
    height: 1200,
    eye: [0.25, 5.0, 6.6],
    target: [0.0, 0.22, -0.1],
    zoom: 0.31,
    lens: { radius: 0.05, distance: 8 },
    exposure: 0.68,
    sky: gradient(mul(hex("#c9d6ff"), 0.5), mul(hex("#c9d6ff"), 0.7)),
    sun: { towards: unit([-0.75, 0.62, -0.3]), light: [4.4, 3.9, 3.1], spread: 0.02 },
    lamps: [{ corner: [-7, 1, 5], along: [0, 0, -9], up: [1, 5, 0], light: mul([0.8, 0.9, 1.1], 0.8) }],
    triangles: [
      ...panel([-14, 0, 9], [28, 0, 0], [0, 0, -22], boards("#9a683e", 1.5)),
      ...sheet(
        (u, v) => {
          const [x, z] = [(u - 0.5) * 3.5, (v - 0.5) * 2.65];
          const curl = Math.max(0, x + z * 0.4 - 1.2) ** 2 * 0.35 + Math.max(0, -x - 1.4) ** 2 * 0.3;
          return [-0.55 + x * 0.985 - z * 0.17, 0.012 + curl, 1.05 + z * 0.985 + x * 0.17];
        },
        60,
        40,
        paper,
      ),
      ...put(box(), [1.7, 0, -1.5], { turn: -0.24 }),
      ...lying([0.95, 0.38, -1.55], 0.35, 0.3, 3),
      ...lying([1.65, 0.36, -1.35], -0.1, 0.28, 4),
      ...put(stamp(0.3, 0.7, 5), [2.35, 0.08, -1.75]),
      ...put(stamp(0.26, 0.62, 6), [2.45, 0.08, -1.05]),
      ...lying([2.25, 0.35, 0.95], 0.35, 0.35, 7),
      ...put(stamp(0.31, 0.8, 8), [0.78, 0.02, 1.05], { turn: 1 }),
      ...put(plate(), [-1.9, 0, -1.55], { size: 0.78, turn: 0.5 }),
      ...turned(
        [
          [0.001, 0.13],
          [0.5, 0.135],
          [0.56, 0.12],
        ],
        colour,
        ([x, y, z]) => [x - 1.9, y, z - 1.55],
      ),
      ...put(mug(), [-2.75, 0, 0.0], { size: 1.0, turn: 2.5 }),
      ...lying([-1.35, 0.36, -1.3], 2.2, 0.28, 9),
      ...block([-14, -1, -12.5], [14, 6, -12], plain("#c9a878")),
    ],
  };
}
