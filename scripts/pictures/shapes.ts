/** Things made of triangles. A unit is ten centimetres. */
import type { Corner, Surface, Triangle } from "./scene.ts";
import { add, cross, mul, sub, unit, type Vec } from "./vector.ts";

type Place = (u: number, v: number) => Vec;

/** A grid over `place`, bent smoothly; its normals follow from its corners. */
export function sheet(place: Place, columns: number, rows: number, surface: Surface, isClosed = false): Triangle[] {
  const corner = (i: number, j: number): Corner => {
    const [u, v] = [i / columns, j / rows];
    const small = 1e-3;
    const [left, right] = isClosed ? [u - small, u + small] : [Math.max(0, u - small), Math.min(1, u + small)];
    const across = sub(place(right, v), place(left, v));
    const up = sub(place(u, Math.min(1, v + small)), place(u, Math.max(0, v - small)));
    return { place: place(u, v), normal: unit(cross(across, up)), u, v };
  };
  const corners = Array.from({ length: rows + 1 }, (_, j) =>
    Array.from({ length: columns + 1 }, (__, i) => corner(i, j)),
  );
  const triangles: Triangle[] = [];
  for (const [j, row] of corners.slice(0, -1).entries())
    for (const [i, a] of row.slice(0, -1).entries()) {
      const [b, c, d] = [row[i + 1], corners[j + 1]?.[i + 1], corners[j + 1]?.[i]];
      if (b && c && d) triangles.push({ corners: [a, b, c], surface }, { corners: [a, c, d], surface });
    }
  return triangles;
}

/** A smooth line through points. */
export function line(points: readonly Vec[]): (t: number) => Vec {
  const last = points.length - 1;
  const point = (n: number) => points[Math.min(last, Math.max(0, n))] ?? [0, 0, 0];
  return (t) => {
    const place = Math.min(last - 1e-9, Math.max(0, t * last));
    const n = Math.floor(place);
    const f = place - n;
    const [a, b, c, d] = [point(n - 1), point(n), point(n + 1), point(n + 2)];
    const bend = (p: number, q: number, r: number, s: number) =>
      0.5 * (2 * q + (r - p) * f + (2 * p - 5 * q + 4 * r - s) * f * f + (3 * q - p - 3 * r + s) * f * f * f);
    return [bend(a[0], b[0], c[0], d[0]), bend(a[1], b[1], c[1], d[1]), bend(a[2], b[2], c[2], d[2])];
  };
}

/** Turned on the wheel: `profile` has radius and height; u goes around, v along the profile. */
export function turned(
  profile: readonly (readonly [number, number])[],
  surface: Surface,
  bend: (place: Vec, angle: number) => Vec = (place) => place,
  around = 72,
): Triangle[] {
  const path = line(profile.map(([radius, height]) => [radius, height, 0]));
  const rows = (profile.length - 1) * 7;
  const place: Place = (u, v) => {
    const [radius, height] = path(v);
    const angle = u * 2 * Math.PI;
    return bend([Math.cos(angle) * radius, height, Math.sin(angle) * radius], angle);
  };
  return sheet(place, around, rows, surface, true);
}

/** A tube along a line; `radius` may change on the way, `flat` makes it a strap, and with `edges` it is not round. */
export function tube(
  points: readonly Vec[],
  radius: (t: number) => number,
  surface: Surface,
  { flat = 1, rows = 40, sides = 16, edges = 0 } = {},
): Triangle[] {
  const path = line(points);
  const place: Place = (u, v) => {
    const along = unit(sub(path(Math.min(1, v + 0.01)), path(Math.max(0, v - 0.01))));
    const side = unit(cross(along, Math.abs(along[2]) > 0.9 ? [0, 1, 0] : [0, 0, 1]));
    const other = cross(along, side);
    const angle = u * 2 * Math.PI;
    const part = edges > 0 ? (2 * Math.PI) / edges : 1;
    const r = radius(v) * (edges > 0 ? Math.cos(part / 2) / Math.cos((angle % part) - part / 2) : 1);
    return add(path(v), add(mul(side, Math.cos(angle) * r), mul(other, Math.sin(angle) * r * flat)));
  };
  return sheet(place, sides, rows, surface, true);
}

export function ball(centre: Vec, radius: Vec, surface: Surface, bend: (along: Vec) => number = () => 1): Triangle[] {
  const place: Place = (u, v) => {
    const [a, b] = [u * 2 * Math.PI, (v - 0.5) * Math.PI * 0.9999];
    const along: Vec = [Math.cos(a) * Math.cos(b), Math.sin(b), Math.sin(a) * Math.cos(b)];
    const size = bend(along);
    return add(centre, [along[0] * radius[0] * size, along[1] * radius[1] * size, along[2] * radius[2] * size]);
  };
  return sheet(place, 24, 14, surface, true);
}

/** Flat, from a corner along two sides. */
export function panel(corner: Vec, along: Vec, up: Vec, surface: Surface): Triangle[] {
  return sheet((u, v) => add(corner, add(mul(along, u), mul(up, v))), 1, 1, surface);
}

export function block(low: Vec, high: Vec, surface: Surface): Triangle[] {
  const [x, y, z] = sub(high, low);
  return [
    ...panel(low, [0, y, 0], [x, 0, 0], surface),
    ...panel([low[0], low[1], high[2]], [x, 0, 0], [0, y, 0], surface),
    ...panel(low, [0, 0, z], [0, y, 0], surface),
    ...panel([high[0], low[1], low[2]], [0, y, 0], [0, 0, z], surface),
    ...panel([low[0], high[1], low[2]], [0, 0, z], [x, 0, 0], surface),
    ...panel(low, [x, 0, 0], [0, 0, z], surface),
  ];
}

/** Moved, turned around the upright axis and made larger; `tilt` leans it forward first. */
export function put(
  triangles: readonly Triangle[],
  to: Vec,
  { turn = 0, tilt = 0, size = 1 }: { readonly turn?: number; readonly tilt?: number; readonly size?: number } = {},
): Triangle[] {
  const [c, s, tc, ts] = [Math.cos(turn), Math.sin(turn), Math.cos(tilt), Math.sin(tilt)];
  const rotate = ([x, y, z]: Vec): Vec => {
    const [y2, z2] = [y * tc - z * ts, y * ts + z * tc];
    return [x * c + z2 * s, y2, z2 * c - x * s];
  };
  const moved = (corner: Corner): Corner => ({
    ...corner,
    place: add(to, mul(rotate(corner.place), size)),
    normal: rotate(corner.normal),
  });
  return triangles.map(({ corners: [a, b, d], surface }) => ({ corners: [moved(a), moved(b), moved(d)], surface }));
}
