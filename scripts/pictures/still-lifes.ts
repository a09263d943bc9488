/** Pictures with the pottery itself: the still life of the first page, and each piece by itself. */
import { boards, cloudy, plain } from "./grounds.ts";
import { bowl, jug, lump, mug, plate, teapot, vase } from "./pots.ts";
import type { Triangle } from "./scene.ts";
import { ball, block, line, panel, put, sheet, tube } from "./shapes.ts";
import { gradient, type Picture } from "./trace.ts";
import { add, createRandom, hex, mul, unit, type Vec } from "./vector.ts";

const daylight: Vec = [1, 0.93, 0.82];

/** A branch with leaves and berries, from the neck of the vase. */
function branch(points: readonly Vec[], seed: number): Triangle[] {
  const random = createRandom(seed);
  const path = line(points);
  const twig = cloudy("#5a3d2a", 0.4, 3);
  const berry = { ...cloudy("#c8742c", 0.3, 4), gloss: 0.7, rough: 0.15 };
  const parts = tube(points, (t) => 0.035 * (1.15 - t), twig, { sides: 8 });
  for (let n = 0; n < 16; n++) {
    const t = 0.3 + (0.7 * n) / 16;
    const from = path(t);
    const to = unit([random() - 0.5, random() * 0.9 - 0.1, random() - 0.5]);
    if (n % 4 === 3) {
      const end = add(from, mul(to, 0.2));
      parts.push(
        ...tube([from, end], () => 0.012, twig, { sides: 5, rows: 4 }),
        ...ball(end, [0.085, 0.085, 0.085], berry),
      );
    } else parts.push(...leaf(from, to, 0.34 + random() * 0.16, random));
  }
  return parts;
}

function leaf(from: Vec, towards: Vec, size: number, random: () => number): Triangle[] {
  const side = unit([towards[2] + 0.1, random() - 0.5, -towards[0]]);
  const surface = { ...cloudy(random() > 0.4 ? "#3d5a86" : "#56764f", 0.5, 2), gloss: 0.3, rough: 0.35 };
  return sheet(
    (u, v) => {
      const width = Math.sin(Math.PI * v ** 0.8) * 0.24 * size * (u * 2 - 1);
      const bow = Math.abs(u * 2 - 1) * 0.12 * size - v * v * 0.3 * size;
      return add(add(from, mul(towards, v * size)), add(mul(side, width), [0, bow, 0]));
    },
    4,
    8,
    surface,
  );
}

/** The sun falls through a window with six panes, which stands out of the picture on the left. */
function windowFrame(x: number): Triangle[] {
  const wood = plain("#d8cfc0");
  const [low, high, near, far] = [1.6, 8.2, 7.4, -0.6];
  const bars: Triangle[] = [];
  const bar = (from: Vec, to: Vec) => void bars.push(...block(from, to, wood));
  for (const z of [far, (near + far) / 2, near]) bar([x, low, z - 0.13], [x + 0.15, high, z + 0.13]);
  for (const y of [low, low + 2.2, low + 4.4, high]) bar([x, y - 0.1, far], [x + 0.15, y + 0.1, near]);
  // The wall around it.
  const wall = plain("#b9a27e");
  bars.push(
    ...block([x, -6, -14], [x + 0.2, low, 20], wall),
    ...block([x, high, -14], [x + 0.2, 20, 20], wall),
    ...block([x, low, -14], [x + 0.2, high, far], wall),
    ...block([x, low, near], [x + 0.2, high, 20], wall),
  );
  return bars;
}

export function stillLife(): Picture {
  const plum = { ...cloudy("#2b2f63", 0.6, 2), gloss: 0.5, rough: 0.3 };
  const apricot = { ...cloudy("#d8893a", 0.35, 2), gloss: 0.3, rough: 0.4 };
  const fruits: [Vec, number, typeof plum][] = [
    [[0.0, 0.86, 0.1], 0.37, apricot],
    [[-0.52, 0.83, 0.2], 0.33, plum],
    [[0.5, 0.82, -0.05], 0.34, plum],
    [[0.1, 0.84, -0.5], 0.34, apricot],
    [[-0.38, 0.84, -0.4], 0.32, plum],
    [[0.36, 0.84, 0.5], 0.31, plum],
    [[-0.12, 0.86, 0.62], 0.3, apricot],
    [[0.1, 1.22, -0.1], 0.33, plum],
  ];
  const neck: Vec = [-1.55, 2.1, -0.7];
  const twig = (points: readonly Vec[]) => points.map((point) => add(neck, point));
  return {
    width: 1600,
    height: 1280,
    eye: [0.1, 2.6, 8.6],
    target: [0.12, 1.58, 0],
    zoom: 0.278,
    lens: { radius: 0.05, distance: 8.4 },
    exposure: 0.6,
    sky: gradient(mul(hex("#c9d6ff"), 0.7), mul(hex("#c9d6ff"), 0.9)),
    sun: { towards: unit([-0.8, 0.52, 0.58]), light: mul(daylight, 4.6), spread: 0.014 },
    lamps: [{ corner: [-5.6, 1.6, 7.4], along: [0, 0, -8], up: [0, 6.6, 0], light: mul([0.8, 0.9, 1.1], 1) }],
    triangles: [
      ...panel([-14, 0, 4], [28, 0, 0], [0, 0, -6.2], boards("#8a5a38", 1.25)),
      ...block([-14, -0.5, 3.96], [14, -0.01, 4], plain("#6b4429")),
      ...panel([-14, -6, -2.2], [28, 0, 0], [0, 20, 0], cloudy("#d9b98a", 0.2, 0.8)),
      ...windowFrame(-5.2),
      ...put(vase(), [-1.55, 0, -0.7], { turn: 0.3 }),
      ...put(bowl(), [0.28, 0, 0.1], { turn: 1, size: 1.08 }),
      ...put(mug(), [2.15, 0, 0.35], { turn: 0.5 }),
      ...put(jug(), [1.75, 0, -1.15], { turn: 0.35, size: 0.95 }),
      ...fruits.flatMap(([place, size, surface], n) =>
        put(lump([0, 0, 0], [size, size * 0.94, size], surface, n), add(mul(place, 1.08), [0.28, 0, 0.1])),
      ),
      ...lump([-0.95, 0.29, 1.15], [0.32, 0.3, 0.32], apricot, 12),
      ...lump([-1.5, 0.27, 0.85], [0.31, 0.29, 0.3], plum, 15),
      ...branch(
        twig([
          [0, -0.6, 0],
          [0.02, 0.3, 0.02],
          [0.3, 1.0, 0.1],
          [0.95, 1.45, 0.15],
        ]),
        3,
      ),
      ...branch(
        twig([
          [0, -0.6, 0],
          [-0.1, 0.3, 0],
          [-0.35, 0.9, 0.15],
          [-0.3, 1.5, 0.2],
        ]),
        9,
      ),
      ...branch(
        twig([
          [0, -0.6, 0],
          [-0.15, 0.15, 0.1],
          [-0.7, 0.55, 0.3],
          [-1.15, 0.6, 0.3],
        ]),
        5,
      ),
    ],
  };
}

const pieces = { mug, bowl, jug, plate, teapot, vase } as const;
export const pieceNames = ["mug", "bowl", "jug", "plate", "teapot", "vase"] as const;

/** One piece before a ground that bends up behind it. */
export function piece(name: (typeof pieceNames)[number]): Picture {
  const tall = { mug: 0.95, bowl: 0.95, jug: 1.85, plate: 2.45, teapot: 1.8, vase: 2.15 }[name];
  const wide = { mug: 1.3, bowl: 2.2, jug: 1.6, plate: 2.6, teapot: 2.4, vase: 1.4 }[name];
  const view = Math.max(tall * 0.72, wide * 0.52, 0.85);
  const shown = pieces[name]();
  const stands = {
    mug: put(shown, [-0.12, 0, 0], { turn: -0.45 }),
    bowl: put(shown, [0, 0, 0], { turn: 0.2 }),
    jug: put(shown, [-0.08, 0, 0], { turn: -0.35 }),
    // Leaning back a little, on its edge.
    plate: put(shown, [0, 1.24, 0.1], { tilt: 1.25, turn: -0.18 }),
    teapot: put(shown, [0.12, 0, 0], { turn: -0.3 }),
    vase: put(shown, [0, 0, 0], { turn: 0.6 }),
  }[name];
  const back = cloudy("#ecd3a2", 0.12, 0.7);
  return {
    width: 1200,
    height: 1000,
    eye: [0, tall * 0.5 + 2.3, 10],
    target: [0, tall * 0.46, 0],
    zoom: view / 9,
    exposure: 1.05,
    sky: gradient(mul(hex("#e4e6f5"), 0.62), mul(hex("#e4e6f5"), 0.8)),
    lamps: [{ corner: [-6, 1.5, 5.5], along: [2.6, 0, -5.5], up: [0.5, 4.5, 0.4], light: mul(daylight, 5.2) }],
    triangles: [
      ...stands,
      ...sheet(
        (u, v) => {
          // A floor, a bend and a wall.
          const x = (u - 0.5) * 40;
          const s = v * 20;
          if (s < 8) return [x, 0, 6 - s];
          if (s < 8 + Math.PI) return [x, 2 - 2 * Math.cos((s - 8) / 2), -2 - 2 * Math.sin((s - 8) / 2)];
          return [x, 2 + s - 8 - Math.PI, -4];
        },
        1,
        80,
        back,
      ),
    ],
  };
}
