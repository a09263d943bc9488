/** The pottery's six forms with their stamped pattern, and the grounds that they stand on. */
import type { Surface, Triangle } from "./scene.ts";
import { ball, line, tube, turned } from "./shapes.ts";
import { clamp, fractal, hex, mix, mul, noise, smooth, type Vec } from "./vector.ts";

const ink = {
  cobalt: hex("#1f3a9c"),
  glaze: hex("#f7efdf"),
  ochre: hex("#d08a3c"),
  clay: hex("#a8683f"),
} as const;

/** A ring of the pattern: from and to in units along the profile. */
interface Band {
  readonly from: number;
  readonly to: number;
  readonly kind: "solid" | "eyes" | "dots" | "scales" | "target";
}

interface Painted {
  readonly bands: readonly Band[];
  /** Where on the surface: around, as an angle; along, in units; and how wide the round is there. */
  readonly placeOf: (u: number, v: number) => { angle: number; along: number; radius: number };
  /** How wide it is in a band's middle, which decides how many prints fit around. */
  readonly radiusAt: (along: number) => number;
  readonly isInside: (v: number) => boolean;
  readonly isFoot: (v: number) => boolean;
}

/** Each print is a little different: the sponge had more colour or less, and sat a little beside its place. */
function printed({ from, to, kind }: Band, angle: number, along: number, radius: number, round: number): number {
  const height = to - from;
  const middle = (from + to) / 2;
  if (kind === "solid") return smooth(from, from + 0.015, along) * (1 - smooth(to - 0.015, to, along));
  if (kind === "target") return target(along / to, angle);
  const rows = kind === "scales" ? 2 : 1;
  const count = Math.max(6, Math.round((2 * Math.PI * round) / ((height / rows) * (kind === "dots" ? 1.25 : 1.04))));
  const row = rows === 1 ? 0 : along < middle ? 0 : 1;
  const turn = (angle / (2 * Math.PI)) * count + row * 0.5 + 100;
  const cell = Math.floor(turn);
  const jitter = (n: number) => noise((cell % count) * 7.7 + n * 31, from * 91 + row * 13, n) - 0.5;
  const across = ((turn - cell - 0.5) * 2 * Math.PI * radius) / count + jitter(1) * 0.02;
  const centre = rows === 1 ? middle : from + (height * (row + 0.5)) / 2;
  const above = along - centre + jitter(2) * 0.02;
  const size = height / rows;
  const wobble = 1 + (noise(across * 14 + cell * 9, above * 14, 5) - 0.5) * 0.07;
  const r = (Math.hypot(across, above) / size) * wobble;
  const edge = 0.02;
  const disc = (at: number) => 1 - smooth(at - edge, at + edge, r);
  if (kind === "dots") return disc(0.33);
  if (kind === "scales") return above > 0 ? disc(0.46) - disc(0.3) : disc(0.12);
  return disc(0.45) - disc(0.3) + disc(0.2) + (disc(0.075) > 0.5 ? 1 : 0);
}

/** One large eye, round the middle of a plate. */
function target(out: number, angle: number): number {
  const r = out + (noise(Math.cos(angle) * 2 + 5, Math.sin(angle) * 2 + 5, 1) - 0.5) * 0.04;
  if (r < 0.16) return 2;
  return smooth(0.24, 0.26, r) * (1 - smooth(0.48, 0.5, r)) + smooth(0.72, 0.74, r) * (1 - smooth(0.96, 0.98, r));
}

function glazed({ bands, placeOf, radiusAt, isInside, isFoot }: Painted): Surface {
  const rounds = new Map(bands.map((band) => [band, radiusAt((band.from + band.to) / 2)]));
  return {
    gloss: 1,
    rough: 0.035,
    colour(place, u, v) {
      const cloud = fractal([place[0] * 3, place[1] * 3, place[2] * 3]);
      const speck = noise(place[0] * 42, place[1] * 42, place[2] * 42) > 0.93 ? 0.72 : 1;
      const ground = mul(ink.glaze, (0.86 + 0.16 * cloud) * speck);
      if (isFoot(v)) return mul(ink.clay, 0.8 + 0.4 * cloud);
      if (isInside(v)) return ground;
      const { angle, along, radius } = placeOf(u, v);
      const band = bands.find(({ from, to }) => along >= from && along <= to);
      if (!band) return ground;
      const cover = printed(band, angle, along, radius, rounds.get(band) ?? radius);
      if (cover > 1.5) return mul(ink.ochre, 0.85 + 0.3 * cloud);
      const thin = clamp(0.8 + 0.5 * (fractal([place[0] * 9, place[1] * 9, place[2] * 9], 3) - 0.35));
      return mix(ground, mix(ink.cobalt, mul(ink.cobalt, 0.5), cloud), clamp(cover) * thin);
    },
  };
}

type Profile = readonly (readonly [number, number])[];

/** The wall gets a thickness: the outline up to the rim, over it, and down on the inside. */
function vessel(outline: Profile, bands: readonly Band[], bend?: (place: Vec, angle: number) => Vec): Triangle[] {
  const wall = 0.07;
  const [, rim = 0] = outline.at(-1) ?? [];
  const inside = outline
    .slice(1)
    .map(([radius, height]) => [Math.max(0.01, radius - wall), Math.max(0.09, height)] as const);
  const over = (outline.at(-1)?.[0] ?? 0) - wall / 2;
  const foot = outline[0]?.[0] ?? 0;
  const profile: Profile = [
    [0.001, 0.03],
    [foot - 0.09, 0.03],
    [foot - 0.05, 0],
    ...outline,
    [over, rim + 0.035],
    ...inside.toReversed(),
    [0.001, 0.09],
  ];
  const path = line(profile.map(([radius, height]) => [radius, height, 0]));
  const steps = profile.length - 1;
  const [outer, inner] = [3 / steps, (3 + outline.length) / steps];
  const surface = glazed({
    bands,
    placeOf(u, v) {
      const [radius, height] = path(v);
      return { angle: u * 2 * Math.PI, along: height, radius };
    },
    radiusAt(height) {
      const sought = Array.from({ length: 200 }, (_, n) => path(outer + ((inner - outer) * n) / 200));
      return sought.toSorted((a, b) => Math.abs(a[1] - height) - Math.abs(b[1] - height))[0]?.[0] ?? 1;
    },
    isInside: (v) => v > inner,
    isFoot: (v) => v < outer,
  });
  return turned(profile, surface, bend);
}

const handleSurface: Surface = {
  gloss: 1,
  rough: 0.04,
  colour: (place) => mul(ink.cobalt, 0.6 + 0.6 * fractal([place[0] * 6, place[1] * 6, place[2] * 6])),
};

/** A strap handle in the plane of x and y. */
function handle(points: readonly (readonly [number, number])[], radius: number): Triangle[] {
  const path = points.map(([x, y]): Vec => [x, y, 0]);
  return tube(path, (t) => radius * (0.85 + 0.4 * (2 * t - 1) ** 2), handleSurface, { flat: 1.5 });
}

export const mug = (): Triangle[] => [
  ...vessel(
    [
      [0.34, 0.02],
      [0.39, 0.1],
      [0.42, 0.3],
      [0.44, 0.6],
      [0.445, 0.85],
      [0.455, 0.98],
    ],
    [
      { from: 0.04, to: 0.2, kind: "solid" },
      { from: 0.25, to: 0.55, kind: "eyes" },
      { from: 0.58, to: 0.61, kind: "solid" },
      { from: 0.63, to: 0.8, kind: "dots" },
      { from: 0.9, to: 1.1, kind: "solid" },
    ],
  ),
  ...handle(
    [
      [0.4, 0.84],
      [0.55, 0.9],
      [0.75, 0.78],
      [0.77, 0.5],
      [0.63, 0.28],
      [0.38, 0.24],
    ],
    0.05,
  ),
];

export const bowl = (): Triangle[] =>
  vessel(
    [
      [0.42, 0.02],
      [0.5, 0.1],
      [0.78, 0.3],
      [0.98, 0.6],
      [1.06, 0.82],
      [1.09, 0.92],
    ],
    [
      { from: 0.05, to: 0.2, kind: "solid" },
      { from: 0.27, to: 0.58, kind: "eyes" },
      { from: 0.61, to: 0.64, kind: "solid" },
      { from: 0.66, to: 0.8, kind: "dots" },
      { from: 0.85, to: 1, kind: "solid" },
    ],
  );

export const jug = (): Triangle[] => {
  // The rim is pulled out to a lip with a finger.
  const lip = ([x, y, z]: Vec, angle: number): Vec => {
    const pull = smooth(1.45, 1.85, y) * Math.exp(-((1 - Math.cos(angle - Math.PI)) * 5));
    return [x * (1 + 0.42 * pull), y + 0.07 * pull, z * (1 - 0.12 * pull)];
  };
  return [
    ...vessel(
      [
        [0.42, 0.02],
        [0.52, 0.15],
        [0.66, 0.5],
        [0.64, 0.85],
        [0.47, 1.2],
        [0.38, 1.45],
        [0.42, 1.68],
        [0.47, 1.78],
      ],
      [
        { from: 0.04, to: 0.16, kind: "solid" },
        { from: 0.22, to: 0.5, kind: "eyes" },
        { from: 0.52, to: 0.8, kind: "eyes" },
        { from: 0.84, to: 0.88, kind: "solid" },
        { from: 0.91, to: 1.06, kind: "dots" },
        { from: 1.1, to: 1.14, kind: "solid" },
        { from: 1.66, to: 1.95, kind: "solid" },
      ],
      lip,
    ),
    ...handle(
      [
        [0.36, 1.55],
        [0.58, 1.68],
        [0.84, 1.5],
        [0.92, 1.1],
        [0.82, 0.72],
        [0.58, 0.58],
      ],
      0.065,
    ),
  ];
};

export const vase = (): Triangle[] =>
  vessel(
    [
      [0.4, 0.02],
      [0.5, 0.14],
      [0.66, 0.5],
      [0.68, 0.85],
      [0.52, 1.25],
      [0.3, 1.62],
      [0.25, 1.95],
      [0.33, 2.15],
    ],
    [
      { from: 0.05, to: 0.18, kind: "solid" },
      { from: 0.25, to: 0.55, kind: "eyes" },
      { from: 0.58, to: 0.88, kind: "eyes" },
      { from: 0.92, to: 0.95, kind: "solid" },
      { from: 0.98, to: 1.3, kind: "scales" },
      { from: 1.35, to: 1.38, kind: "solid" },
      { from: 1.98, to: 2.3, kind: "solid" },
    ],
  );

export const teapot = (): Triangle[] => [
  ...vessel(
    [
      [0.42, 0.02],
      [0.52, 0.1],
      [0.78, 0.4],
      [0.8, 0.65],
      [0.62, 0.95],
      [0.4, 1.1],
    ],
    [
      { from: 0.04, to: 0.16, kind: "solid" },
      { from: 0.22, to: 0.5, kind: "eyes" },
      { from: 0.53, to: 0.56, kind: "solid" },
      { from: 0.58, to: 0.82, kind: "eyes" },
      { from: 0.86, to: 0.95, kind: "dots" },
    ],
  ),
  ...turned(
    [
      [0.44, 1.09],
      [0.42, 1.15],
      [0.28, 1.24],
      [0.12, 1.29],
      [0.07, 1.34],
      [0.12, 1.42],
      [0.001, 1.47],
    ],
    handleSurface,
  ),
  ...tube(
    [
      [-0.66, 0.42, 0],
      [-0.95, 0.55, 0],
      [-1.1, 0.88, 0],
      [-1.3, 1.08, 0],
    ],
    (t) => 0.19 - 0.115 * t,
    handleSurface,
  ),
  ...handle(
    [
      [-0.5, 0.98],
      [-0.48, 1.5],
      [0, 1.85],
      [0.48, 1.5],
      [0.5, 0.98],
    ],
    0.05,
  ),
];

/** Flat, with its pattern on the side that one eats from. */
export const plate = (): Triangle[] => {
  const profile: Profile = [
    [0.001, 0.0],
    [0.6, 0.0],
    [0.7, 0.04],
    [1.1, 0.16],
    [1.28, 0.24],
    [1.3, 0.27],
    [1.26, 0.28],
    [1.08, 0.21],
    [0.74, 0.1],
    [0.6, 0.07],
    [0.001, 0.06],
  ];
  const path = line(profile.map(([radius, height]) => [radius, height, 0]));
  const steps = profile.length - 1;
  const surface = glazed({
    bands: [
      { from: 0, to: 0.38, kind: "target" },
      { from: 0.42, to: 0.46, kind: "solid" },
      { from: 0.5, to: 0.72, kind: "dots" },
      { from: 0.76, to: 0.79, kind: "solid" },
      { from: 0.82, to: 1.16, kind: "eyes" },
      { from: 1.2, to: 1.4, kind: "solid" },
    ],
    placeOf(u, v) {
      const [radius] = path(v);
      return { angle: u * 2 * Math.PI, along: radius, radius };
    },
    radiusAt: (along) => along,
    isInside: (v) => v < 4.5 / steps,
    isFoot: () => false,
  });
  return turned(profile, surface, undefined, 96);
};

export const lump = (centre: Vec, size: Vec, surface: Surface, seed: number): Triangle[] =>
  ball(centre, size, surface, ([x, y, z]) => 0.8 + 0.4 * fractal([x * 1.4 + seed * 5, y * 1.4, z * 1.4], 3));
