/** The former brickworks by the river, early in the morning. A unit is a metre and a half here. */
import { brick, cloudy } from "./grounds.ts";
import type { Surface, Triangle } from "./scene.ts";
import { ball, block, panel, put, sheet, turned } from "./shapes.ts";
import type { Picture } from "./trace.ts";
import { add, clamp, createRandom, dot, fractal, hex, mix, mul, noise, smooth, unit, type Vec } from "./vector.ts";

const sunTowards = unit([0.52, 0.2, -0.72]);

/** The river comes from the hills and passes before the halls. */
const riverAt = (z: number): number => -3.5 + 5.5 * Math.sin(z * 0.06 + 0.9) - z * 0.06;

function ground(x: number, z: number): number {
  const far = smooth(-25, -110, z);
  const hills = fractal([x * 0.035 + 3, z * 0.03, 2], 4) * 22 * far + 6 * far * smooth(10, 60, Math.abs(x));
  const meadow = (fractal([x * 0.12, z * 0.12, 8], 3) - 0.5) * 1.1;
  const bank = smooth(1.6, 5.5, Math.abs(x - riverAt(z)));
  const yard = smooth(12, 5, Math.hypot((x - 6) * 0.7, z + 13));
  return ((meadow + hills) * (1 - yard) + 0.35 * yard) * bank - 1.1 * (1 - bank);
}

const grass: Surface = {
  colour([x, y, z]) {
    const patch = fractal([x * 0.3, z * 0.3, 1], 4);
    const blade = noise(x * 9, z * 9, 3);
    const field = mix(hex("#7c8a4f"), hex("#c9a35a"), clamp(patch * 2.2 - 0.7));
    const dew = mix(field, hex("#b9c3c9"), 0.25 * noise(x * 0.7, z * 0.7, 5));
    return mul(mix(dew, hex("#6f5a3f"), smooth(-0.2, -0.7, y)), 0.75 + 0.4 * blade);
  },
};
const water: Surface = { colour: () => hex("#2c406f"), gloss: 1, rough: 0.008 };
const walls: Surface = {
  colour: (place) => brick(place[0] + place[2] + 60, place[1] + 4, place, hex("#a8502e"), 0.5, 0.16),
};
const tiles: Surface = {
  colour: ([x, y, z]) =>
    mul(
      hex("#8a4a3a"),
      0.7 + 0.35 * noise(Math.floor(x * 5), Math.floor(y * 7), Math.floor(z * 5)) + 0.1 * Math.sin(y * 44),
    ),
};
const lit: Surface = { colour: () => [0, 0, 0], light: [2.6, 1.5, 0.55] };
const pane: Surface = { colour: () => hex("#3a4a70"), gloss: 1, rough: 0.05 };

/** A hall along x with its gable to the sides. */
function hall(wide: number, deep: number, high: number, seed: number): Triangle[] {
  const [w, d, top] = [wide / 2, deep / 2, high + deep * 0.42];
  const parts = [...block([-w, -1, -d], [w, high, d], walls)];
  for (const x of [-w, w])
    parts.push(...sheet((u, v) => [x, high + (top - high) * v, (u * 2 - 1) * d * (1 - v)], 2, 2, walls));
  const out = 0.25;
  for (const side of [-1, 1])
    parts.push(
      ...panel(
        [-w - out, high - 0.12, side * (d + out)],
        [wide + 2 * out, 0, 0],
        [0, top - high + 0.16, -side * (d + out)],
        tiles,
      ),
    );
  const count = Math.floor(wide / 1.15);
  for (let n = 0; n < count; n++) {
    const x = -w + ((n + 0.5) * wide) / count;
    const surface = noise(n * 5.1, seed, 2) > 0.56 ? lit : pane;
    parts.push(
      ...sheet(
        (u, v) => [
          x + (u - 0.5) * 0.5,
          high * 0.3 + v * high * 0.46 + (v > 0.99 ? 0.1 * Math.sin(u * 3.14) : 0),
          d + 0.02,
        ],
        4,
        4,
        surface,
      ),
    );
  }
  return parts;
}

function chimney(): Triangle[] {
  const stone: Surface = {
    colour: (place, u) => {
      const band = (place[1] > 8.3 && place[1] < 8.75) || (place[1] > 9.1 && place[1] < 9.3);
      return brick(u * 6, place[1], place, hex(band ? "#e3c48e" : "#a04d2d"), 0.5, 0.16);
    },
  };
  return turned(
    [
      [0.95, -0.5],
      [0.92, 0.8],
      [0.78, 1.0],
      [0.7, 4],
      [0.58, 8],
      [0.56, 9.6],
      [0.68, 9.8],
      [0.7, 10.05],
      [0.5, 10.1],
      [0.001, 9.9],
    ],
    stone,
    undefined,
    40,
  );
}

function trees(): Triangle[] {
  const random = createRandom(21);
  const leaves = ["#5d7048", "#7d8546", "#b98a3c", "#3f5a52", "#a8632f"].map((colour) => cloudy(colour, 0.7, 1.5));
  const trunk = cloudy("#4a382c", 0.4, 2);
  const parts: Triangle[] = [];
  const tree = (x: number, z: number, tall: number, slim: number) => {
    const y = ground(x, z);
    if (y < -0.25) return;
    const surface = leaves[Math.floor(random() * leaves.length)] ?? trunk;
    const seed = random() * 50;
    const rough = ([a, b, c]: Vec) => 0.7 + 0.6 * fractal([a * 2.2 + seed, b * 2.2, c * 2.2], 3);
    parts.push(
      ...ball([x, y + tall * (slim < 0.2 ? 0.55 : 0.42), z], [tall * slim, tall * 0.5, tall * slim], surface, rough),
    );
    parts.push(...block([x - 0.07, y - 0.3, z - 0.07], [x + 0.07, y + tall * 0.3, z + 0.07], trunk));
  };
  for (let n = 0; n < 13; n++) tree(riverAt(-n * 5 - 7) - 3.9 - random() * 1.2, -n * 5 - 7, 3.4 + random() * 1.6, 0.13);
  for (let n = 2; n < 26; n++) tree(riverAt(-n * 3) + 3.2 + random() * 0.8, -n * 3, 0.7 + random() * 0.9, 0.5);
  // Groups of them, in the meadows.
  for (let group = 0; group < 22; group++) {
    const [x, z] = [(random() - 0.5) * 80, -24 - random() * 48];
    for (let n = 0; n < 6; n++) tree(x + (random() - 0.5) * 7, z + (random() - 0.5) * 3, 1.4 + random() * 1.6, 0.42);
  }
  for (const [x, z, tall] of [
    [12.6, -9.5, 2.6],
    [13.6, -11.5, 3.2],
    [-11, -9, 3],
    [-12.4, -7, 2.3],
    [1.4, -17.5, 2.8],
  ] as const)
    tree(x, z, tall, 0.4);
  return parts;
}

export function brickworks(): Picture {
  const sky = (along: Vec): Vec => {
    const height = clamp(along[1] * 2.4);
    const base = mix(hex("#f6cfa0"), hex("#6f8fd6"), height ** 0.62);
    const near = Math.max(0, dot(along, sunTowards));
    const streak =
      smooth(0.52, 0.75, fractal([along[0] * 2.2 + 4, along[1] * 16, along[2] * 2.2], 5)) *
      smooth(0.02, 0.14, along[1]);
    const clouds = mix(base, hex("#fbe3c4"), streak * 0.55);
    return add(mul(clouds, 0.95), mul(hex("#ffc483"), 0.75 * near ** 10 + 0.9 * near ** 90));
  };
  return {
    width: 1600,
    height: 900,
    eye: [-5.2, 3.6, 17],
    target: [1.4, 2.7, -10],
    zoom: 0.31,
    exposure: 0.85,
    sky,
    haze: (distance, place) =>
      1 - Math.exp(-Math.max(0, distance - 14) * 0.0085 * (0.6 + 1.6 * Math.exp(-Math.max(0, place[1]) * 0.55))),
    sun: { towards: sunTowards, light: [5.2, 3.6, 2.1], spread: 0.02 },
    lamps: [],
    triangles: [
      ...sheet(
        (u, v) => {
          const z = 16 - v ** 1.7 * 150;
          const x = (u - 0.5) * (50 + v * 220);
          return [x, ground(x, z), z];
        },
        260,
        240,
        grass,
      ),
      ...panel([-120, -0.62, 17], [240, 0, 0], [0, 0, -150], water),
      ...put(hall(11, 4.2, 2.3, 1), [6.6, 0.3, -13], { turn: 0.16 }),
      ...put(hall(6, 3.4, 1.7, 5), [2.2, 0.3, -9.6], { turn: 1.35 }),
      ...put(hall(4.4, 2.6, 1.4, 9), [11.6, 0.3, -9.4], { turn: 0.1 }),
      ...put(chimney(), [4.2, 0.3, -15.8]),
      ...trees(),
    ],
  };
}
