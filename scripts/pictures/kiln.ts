/** The kiln on the day it is opened, and the cones that say when it is hot enough. */
import { brick, boards, cloudy, plain } from "./grounds.ts";
import { bowl, jug, mug, teapot, vase } from "./pots.ts";
import type { Surface, Triangle } from "./scene.ts";
import { block, panel, put, sheet, tube, turned } from "./shapes.ts";
import { gradient, type Picture } from "./trace.ts";
import { hex, mix, mul, noise, type Vec } from "./vector.ts";

const half = 1.65;
const spring = 1.55;

/** The opening from the left foot over the arch to the right foot, larger by `out`. */
function arch(u: number, out = 0): readonly [number, number] {
  const radius = half + out;
  const leg = spring / (spring * 2 + Math.PI * half);
  if (u < leg) return [-radius, (u / leg) * spring];
  if (u > 1 - leg) return [radius, ((1 - u) / leg) * spring];
  const angle = Math.PI * (1 - (u - leg) / (1 - 2 * leg));
  return [Math.cos(angle) * radius, spring + Math.sin(angle) * radius];
}

const fired = hex("#a8522f");
const soot = hex("#3a2a24");

const front: Surface = {
  colour(place) {
    const [x, y] = place;
    const out = y > spring ? Math.hypot(x, y - spring) - half : Math.abs(x) - half;
    const dark = Math.exp(-out * 2.2) * (0.35 + 0.5 * noise(x * 2, y * 2, 4)) * (y > spring ? 1 : 0.5);
    const angle = Math.atan2(y - spring, x);
    // Two rings of bricks on edge carry the arch.
    const wall =
      out < 0.84 && y > spring
        ? brick(out + 0.01, angle * (half + 0.4) + 7, place, mul(fired, 0.9), 0.42, 0.19)
        : brick(x + 20, y, place, fired);
    return mix(wall, mul(soot, 0.5), dark);
  },
};
const inside: Surface = {
  colour: (place) => brick(place[2] + 20, place[1] + Math.abs(place[0]), place, hex("#b4694a")),
};
const slab = cloudy("#c9a98a", 0.3, 2);

function load(): Triangle[] {
  const shelf = (y: number, wide: number) => block([-wide, y - 0.1, -2.9], [wide, y, -0.55], slab);
  const at = (what: () => Triangle[], x: number, y: number, z: number, size: number, turn = 0.4) =>
    put(what(), [x, y, z], { size, turn });
  return [
    ...shelf(0.12, 1.5),
    ...shelf(1.5, 1.55),
    ...shelf(2.3, 1.3),
    ...[-1.35, 1.35].flatMap((x) => block([x - 0.07, 0.1, -1.6], [x + 0.07, 1.42, -1.45], slab)),
    ...[-1.1, 1.1].flatMap((x) => block([x - 0.06, 1.5, -1.6], [x + 0.06, 2.22, -1.45], slab)),
    ...at(vase, -0.95, 0.12, -1.1, 0.58),
    ...at(teapot, 0.02, 0.12, -0.95, 0.6, 0.15),
    ...at(jug, 0.98, 0.12, -1.1, 0.64, -0.5),
    ...at(vase, 0.45, 0.12, -2.2, 0.58),
    ...[-1.15, -0.42, 0.28, 0.98].flatMap((x, n) => at(mug, x, 1.5, -0.95, 0.58, n * 0.35 - 0.6)),
    ...[-0.75, 0, 0.75].flatMap((x) => at(mug, x, 1.5, -2.0, 0.58, x)),
    ...at(bowl, -0.58, 2.3, -1.1, 0.46),
    ...at(bowl, 0.52, 2.3, -1.1, 0.46, 2),
  ];
}

/** Slats nailed around two ends. */
function crate(): Triangle[] {
  const wood = boards("#a97c50", 0.4, true);
  const parts: Triangle[] = [];
  for (const y of [0.06, 0.38, 0.7]) {
    parts.push(
      ...block([-1.1, y, 0.62], [1.1, y + 0.24, 0.7], wood),
      ...block([-1.1, y, -0.7], [1.1, y + 0.24, -0.62], wood),
    );
    for (const x of [-1.1, 1.02]) parts.push(...block([x, y, -0.62], [x + 0.08, y + 0.24, 0.62], wood));
  }
  for (const x of [-1.02, 0.9])
    for (const z of [-0.6, 0.5]) parts.push(...block([x, 0, z], [x + 0.12, 1, z + 0.1], wood));
  return [...parts, ...block([-1, 0.02, -0.6], [1, 0.3, 0.6], cloudy("#c9a766", 0.6, 4))];
}

export function kiln(): Picture {
  const outer = (u: number): readonly [number, number] => {
    const [x, y] = arch(u);
    return y <= spring ? [Math.sign(x) * 9, (y / spring) * spring] : [x * 5.45, spring + (y - spring) * 4.4];
  };
  return {
    width: 1600,
    height: 1200,
    eye: [0.9, 2.15, 9.2],
    target: [0.12, 1.62, 0],
    zoom: 0.252,
    exposure: 1.15,
    sky: gradient(mul(hex("#8fa5dd"), 0.22), mul(hex("#8fa5dd"), 0.2)),
    lamps: [
      { corner: [-0.9, 3.0, -0.5], along: [1.8, 0, 0], up: [0, 0, -2.4], light: [12, 5.6, 2.2] },
      { corner: [-1.3, 0.3, -3.9], along: [2.6, 0, 0], up: [0, 2.2, 0], light: [4, 1.5, 0.45] },
      { corner: [-7.5, 1.2, 6.5], along: [0, 0, -4], up: [0.5, 4, 0], light: mul(hex("#cdd8ff"), 15) },
    ],
    triangles: [
      ...sheet(
        (u, v) => {
          const [[x, y], [ox, oy]] = [arch(u), outer(u)];
          return [x + (ox - x) * v, y + (oy - y) * v, 0];
        },
        120,
        6,
        front,
      ),
      ...sheet(
        (u, v) => {
          const [x, y] = arch(u);
          return [x, y, -v * 4];
        },
        120,
        4,
        inside,
      ),
      ...panel([-3, 0, -4], [6, 0, 0], [0, 4, 0], inside),
      ...panel([-14, 0, 12], [28, 0, 0], [0, 0, -17], floor),
      ...load(),
      ...put(crate(), [2.7, 0, 0.85], { turn: -0.2 }),
      ...put(bowl(), [2.25, 0.3, 0.85], { size: 0.62 }),
      ...put(mug(), [3.15, 0.3, 1.0], { size: 0.75, turn: 0.7 }),
      ...put(mug(), [2.9, 0.3, 0.6], { size: 0.75, turn: 2 }),
      ...put(jug(), [-2.35, 0, 0.75], { size: 0.8, turn: 0.5 }),
      ...put(mug(), [-3.05, 0, 1.3], { size: 0.75, turn: -0.6 }),
    ],
  };
}

const floor: Surface = {
  colour: (place) => mul(brick(place[0] + 40, place[2] + 40, place, hex("#7d4a36"), 0.9, 0.45), 0.8),
};

/** Small pyramids that lean as they soften. */
export function cones(): Picture {
  const clay = (heat: number): Surface => ({
    colour: ([x, y, z]) => mul(mix(hex("#e2c6a4"), hex("#c98a5c"), heat), 0.8 + 0.4 * noise(x * 14, y * 14, z * 14)),
  });
  const cone = (points: readonly Vec[], x: number, heat: number) =>
    put(
      tube(points, (t) => 0.33 * (1 - t) + 0.05, clay(heat), { sides: 60, rows: 60, edges: 3 }),
      [x, 0.3, 0],
    );
  const glow: [number, number, number] = [9, 3.1, 0.75];
  return {
    width: 1600,
    height: 1200,
    eye: [0.35, 1.35, 6.2],
    target: [0.1, 0.98, 0],
    zoom: 0.235,
    lens: { radius: 0.075, distance: 6.15 },
    exposure: 1.25,
    sky: gradient(mul(hex("#7f9bff"), 0.1), mul(hex("#7f9bff"), 0.14)),
    lamps: [
      { corner: [-2.5, 4.2, -2.5], along: [5, 0, 0], up: [0, 0, -3], light: mul(glow, 1.0) },
      { corner: [4.6, 0.3, 3.2], along: [-0.6, 0, -5], up: [0, 2.6, 0], light: mul(glow, 0.5) },
      // Behind the pots, on the wall.
      { corner: [4, 0, -5.3], along: [-8, 0, 0], up: [0, 1.6, 0], light: mul(glow, 1.3) },
      { corner: [-5, 0.5, 5], along: [1, 0, -3.4], up: [0.4, 3.2, 0], light: mul(hex("#cdd8ff"), 11) },
    ],
    triangles: [
      ...panel([-14, 0, 8], [28, 0, 0], [0, 0, -18], cloudy("#9a6b4c", 0.5, 1.4)),
      ...turned(
        [
          [0.001, 0],
          [1.75, 0],
          [1.8, 0.1],
          [1.74, 0.3],
          [1.6, 0.36],
          [0.001, 0.36],
        ],
        cloudy("#b98a63", 0.5, 2),
        ([x, y, z]) => [x, y, z * 0.36],
      ),
      ...cone(
        [
          [0, 0, 0],
          [0.03, 0.5, 0],
          [0.07, 1.0, 0],
          [0.13, 1.55, 0],
        ],
        -1.1,
        0.05,
      ),
      ...cone(
        [
          [0, 0, 0],
          [0.04, 0.55, 0],
          [0.22, 1.0, 0],
          [0.58, 1.12, 0],
          [0.82, 0.82, 0],
        ],
        -0.18,
        0.35,
      ),
      ...cone(
        [
          [0, 0, 0],
          [0.08, 0.4, 0],
          [0.3, 0.58, 0],
          [0.58, 0.42, 0],
          [0.68, 0.16, 0.02],
        ],
        0.82,
        0.7,
      ),
      ...put(mug(), [-2.3, 0, -3.2], { size: 1.2, turn: 2.6 }),
      ...put(vase(), [2.2, 0, -3.6], { size: 1.1 }),
      ...put(bowl(), [0.3, 0, -4.2], { size: 1.1 }),
      ...put(jug(), [-4.1, 0, -4.6], { size: 1.2 }),
      ...panel([-14, 0, -6.6], [28, 0, 0], [0, 9, 0], {
        colour: (place) => brick(place[0] + 40, place[1], place, hex("#b4694a")),
      }),
      ...block([-14, 5.4, -7], [14, 6, 3], plain("#8a5a3c")),
    ],
  };
}
