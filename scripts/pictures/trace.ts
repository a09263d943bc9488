/** Follows light backwards from the eye: a small path tracer with soft lamps, a sun, glaze and haze. */
import { createScene, type Hit, type Scene, type Surface, type Triangle } from "./scene.ts";
import { add, clamp, createRandom, cross, dot, length, mix, mul, sub, tint, unit, type Vec } from "./vector.ts";

/** A rectangle that gives light: a corner and two sides. */
export interface Lamp {
  readonly corner: Vec;
  readonly along: Vec;
  readonly up: Vec;
  readonly light: Vec;
}

export interface Picture {
  readonly triangles: readonly Triangle[];
  readonly lamps: readonly Lamp[];
  readonly sun?: { readonly towards: Vec; readonly light: Vec; readonly spread: number };
  readonly sky: (along: Vec) => Vec;
  /** How much of the sky is seen at this distance and height. */
  readonly haze?: (distance: number, place: Vec) => number;
  readonly eye: Vec;
  readonly target: Vec;
  /** Half the picture's height at distance 1. */
  readonly zoom: number;
  readonly lens?: { readonly radius: number; readonly distance: number };
  readonly exposure: number;
  readonly width: number;
  readonly height: number;
}

/** By pixel, in threes. `base` is the colour of what is seen, which `diffuse` does not have in it yet. */
export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly diffuse: Float32Array;
  readonly direct: Float32Array;
  readonly base: Float32Array;
  readonly normal: Float32Array;
  readonly depth: Float32Array;
}

interface Sample {
  diffuse: Vec;
  direct: Vec;
  base: Vec;
  normal: Vec;
  depth: number;
}

const black: Vec = [0, 0, 0];
const maxDepth = 4;

/** With `isBare`, only what is seen and not the light on it, which takes a tenth of the time. */
export function trace(picture: Picture, width: number, samples: number, isBare = false): Frame {
  const height = Math.round((width * picture.height) / picture.width);
  const buffer = () => new Float32Array(width * height * 3);
  const frame = { width, height, diffuse: buffer(), direct: buffer(), base: buffer(), normal: buffer() };
  const depth = new Float32Array(width * height);
  const random = createRandom(7);
  const rayOf = cameraOf(picture, width, height, random);
  const follow = followerOf(picture, random, isBare);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const shift: Vec = [random(), random(), random()];
      const pixel = y * width + x;
      for (let n = 0; n < samples; n++) {
        const [from, along] = rayOf(x, y);
        // Spread evenly over the lamps, which leaves less noise than chance does.
        const spread: Vec = [(shift[0] + n * 0.754_877_67) % 1, (shift[1] + n * 0.569_840_29) % 1, shift[2]];
        const sample = follow(from, along, spread);
        for (const name of ["diffuse", "direct", "base", "normal"] as const)
          for (const part of [0, 1, 2] as const) {
            const values = frame[name];
            values[pixel * 3 + part] = (values[pixel * 3 + part] ?? 0) + sample[name][part] / samples;
          }
        depth[pixel] = (depth[pixel] ?? 0) + sample.depth / samples;
      }
    }
  return { ...frame, depth };
}

function cameraOf({ eye, target, zoom, lens }: Picture, width: number, height: number, random: () => number) {
  const forward = unit(sub(target, eye));
  const right = unit(cross(forward, [0, 1, 0]));
  const up = cross(right, forward);
  return (x: number, y: number): [Vec, Vec] => {
    const across = ((2 * (x + random())) / width - 1) * zoom * (width / height);
    const above = (1 - (2 * (y + random())) / height) * zoom;
    const along = add(forward, add(mul(right, across), mul(up, above)));
    if (!lens) return [eye, unit(along)];
    const [angle, radius] = [random() * 2 * Math.PI, Math.sqrt(random()) * lens.radius];
    const shift = add(mul(right, Math.cos(angle) * radius), mul(up, Math.sin(angle) * radius));
    return [add(eye, shift), unit(sub(mul(along, lens.distance), shift))];
  };
}

/** Directions around a normal, more of them near to it, as a dull surface sends light. */
function scattered(normal: Vec, a: number, b: number): Vec {
  const [angle, radius] = [a * 2 * Math.PI, Math.sqrt(b)];
  const side = unit(cross(Math.abs(normal[1]) > 0.9 ? [1, 0, 0] : [0, 1, 0], normal));
  const other = cross(normal, side);
  const flat = add(mul(side, Math.cos(angle) * radius), mul(other, Math.sin(angle) * radius));
  return add(flat, mul(normal, Math.sqrt(Math.max(0, 1 - b))));
}

function followerOf(picture: Picture, random: () => number, isBare: boolean) {
  const { lamps, sun, sky, haze } = picture;
  const scene = sceneOf(picture);
  const hit: Hit = { distance: 0, u: 0, v: 0, triangle: undefined };

  /** The light of lamps and sun that falls on a place. */
  const lit = (place: Vec, normal: Vec, a: number, b: number): Vec => {
    let sum = black;
    for (const { corner, along, up, light } of lamps) {
      const to = sub(add(corner, add(mul(along, a), mul(up, b))), place);
      const distance = length(to);
      const direction = mul(to, 1 / distance);
      const face = cross(along, up);
      const seen = dot(normal, direction);
      const given = -dot(face, direction);
      if (seen <= 0 || given <= 0 || !scene.isFree(place, direction, distance - 1e-3)) continue;
      sum = add(sum, mul(light, (seen * given) / (distance * distance * Math.PI)));
    }
    if (!sun) return sum;
    const direction = unit(add(sun.towards, mul(scattered(sun.towards, a, b), sun.spread)));
    const seen = dot(normal, direction);
    return seen > 0 && scene.isFree(place, direction, 1e6) ? add(sum, mul(sun.light, seen)) : sum;
  };

  return (start: Vec, towards: Vec, spread: Vec): Sample => {
    const sample: Sample = { diffuse: black, direct: black, base: black, normal: black, depth: 1e3 };
    let [from, along, through] = [start, towards, [1, 1, 1] as Vec];
    let clear = 1;
    let isDiffuse = false;
    let seesLamps = false;
    const give = (light: Vec, isFirst: boolean) => {
      // A few very bright paths would be dots and no light.
      const most = isDiffuse ? 6 : 2.5;
      const [r, g, b] = tint(through, light);
      const given = mul(isFirst ? light : [Math.min(r, most), Math.min(g, most), Math.min(b, most)], clear);
      if (isDiffuse) sample.diffuse = add(sample.diffuse, given);
      else sample.direct = add(sample.direct, given);
    };
    for (let bounce = 0; bounce < maxDepth; bounce++) {
      if (!scene.nearest(from, along, hit, seesLamps) || !hit.triangle) {
        give(sky(along), bounce === 0);
        break;
      }
      const { place, normal, surface, u, v } = shadedAt(from, along, hit);
      const base = isDiffuse ? meanOf(hit.triangle) : surface.colour(place, u, v);
      if (bounce === 0) {
        sample.normal = normal;
        sample.base = base;
        sample.depth = hit.distance;
        const hidden = haze?.(hit.distance, place) ?? 0;
        if (hidden > 0) give(mul(sky(along), hidden), true);
        clear = 1 - hidden;
        if (isBare) break;
      }
      if (surface.light) {
        // What bounces off a dull surface has met the lamps already.
        if (seesLamps || !isDiffuse) give(surface.light, bounce === 0);
        break;
      }
      const facing = clamp(-dot(normal, along));
      const mirrored = (surface.gloss ?? 0) * (0.045 + 0.955 * (1 - facing) ** 5);
      from = add(place, mul(normal, 2e-4));
      if (random() < mirrored) {
        const mirror = add(along, mul(normal, 2 * facing));
        along = unit(add(mirror, mul(scattered(normal, random(), random()), surface.rough ?? 0.05)));
        seesLamps = true;
        continue;
      }
      const isFirst = bounce === 0;
      if (isFirst) isDiffuse = true;
      else through = tint(through, base);
      give(isFirst ? lit(from, normal, spread[0], spread[1]) : lit(from, normal, random(), random()), false);
      along = scattered(normal, random(), random());
      seesLamps = false;
    }
    return sample;
  };
}

const scenes = new WeakMap<Picture, Scene>();

function sceneOf(picture: Picture): Scene {
  const scene = scenes.get(picture) ?? createScene([...picture.triangles, ...picture.lamps.flatMap(lampFaces)]);
  scenes.set(picture, scene);
  return scene;
}

function shadedAt(
  from: Vec,
  along: Vec,
  hit: Hit,
): { place: Vec; normal: Vec; surface: Surface; u: number; v: number } {
  const { triangle, distance } = hit;
  if (!triangle) throw new Error("nothing was hit");
  const [a, b, c] = triangle.corners;
  const first = 1 - hit.u - hit.v;
  const smoothed = unit(add(mul(a.normal, first), add(mul(b.normal, hit.u), mul(c.normal, hit.v))));
  const normal = dot(smoothed, along) > 0 ? mul(smoothed, -1) : smoothed;
  return {
    place: add(from, mul(along, distance)),
    normal,
    surface: triangle.surface,
    u: a.u * first + b.u * hit.u + c.u * hit.v,
    v: a.v * first + b.v * hit.u + c.v * hit.v,
  };
}

function meanOf(triangle: Triangle): Vec {
  if (triangle.mean) return triangle.mean;
  const [a, b, c] = triangle.corners;
  const third = (of: "u" | "v") => (a[of] + b[of] + c[of]) / 3;
  const middle = mul(add(a.place, add(b.place, c.place)), 1 / 3);
  triangle.mean = triangle.surface.colour(middle, third("u"), third("v"));
  return triangle.mean;
}

function lampFaces({ corner, along, up, light }: Lamp): Triangle[] {
  const normal = unit(cross(along, up));
  const surface: Surface = { colour: () => black, light, isLamp: true };
  const at = (u: number, v: number) => ({ place: add(corner, add(mul(along, u), mul(up, v))), normal, u, v });
  return [
    { corners: [at(0, 0), at(1, 0), at(1, 1)], surface },
    { corners: [at(0, 0), at(1, 1), at(0, 1)], surface },
  ];
}

/** A sky from the colour at the horizon to that above. */
export function gradient(horizon: Vec, above: Vec, below: Vec = horizon): (along: Vec) => Vec {
  return ([, y]) => (y < 0 ? mix(horizon, below, clamp(-y * 3)) : mix(horizon, above, clamp(y * 1.6) ** 0.7));
}
