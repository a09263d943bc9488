/** What stands in a picture: triangles in a tree of boxes, and the nearest of them on a ray. */
import { type Vec } from "./vector.ts";

/** How light leaves a surface. */
export interface Surface {
  /** At a place, with the coordinates on the surface. */
  readonly colour: (place: Vec, u: number, v: number) => Vec;
  /** How much of a glaze there is, 0 to 1, and how dull it is. */
  readonly gloss?: number;
  readonly rough?: number;
  readonly light?: Vec;
  /** It lights and is mirrored, and else is not there. */
  readonly isLamp?: boolean;
}

export interface Corner {
  readonly place: Vec;
  readonly normal: Vec;
  readonly u: number;
  readonly v: number;
}

export interface Triangle {
  readonly corners: readonly [Corner, Corner, Corner];
  readonly surface: Surface;
  /** The colour of its middle, once somebody has asked: light that has bounced before shows no details. */
  mean?: Vec;
}

/** A triangle as the intersection wants it. */
interface Face {
  readonly ax: number;
  readonly ay: number;
  readonly az: number;
  readonly bx: number;
  readonly by: number;
  readonly bz: number;
  readonly cx: number;
  readonly cy: number;
  readonly cz: number;
  readonly low: Vec;
  readonly high: Vec;
  readonly triangle: Triangle;
}

interface Box {
  readonly lx: number;
  readonly ly: number;
  readonly lz: number;
  readonly hx: number;
  readonly hy: number;
  readonly hz: number;
  readonly near: Box | undefined;
  readonly far: Box | undefined;
  readonly axis: number;
  readonly faces: readonly Face[];
}

export interface Hit {
  distance: number;
  u: number;
  v: number;
  triangle: Triangle | undefined;
}

export interface Scene {
  /** Fills `hit` with what is nearest. */
  nearest(from: Vec, along: Vec, hit: Hit, withLamps: boolean): boolean;
  isFree(from: Vec, along: Vec, limit: number): boolean;
}

export function createScene(triangles: readonly Triangle[]): Scene {
  const root = boxOf(triangles.map(faceOf));
  const stack: Box[] = [];
  const search = (from: Vec, along: Vec, limit: number, hit: Hit, isAny: boolean, withLamps: boolean): boolean => {
    const ox = from[0];
    const oy = from[1];
    const oz = from[2];
    // A direction along an axis would divide by nothing.
    const dx = along[0] || 1e-12;
    const dy = along[1] || 1e-12;
    const dz = along[2] || 1e-12;
    const ix = 1 / dx;
    const iy = 1 / dy;
    const iz = 1 / dz;
    hit.distance = limit;
    hit.triangle = undefined;
    let size = 1;
    stack[0] = root;
    while (size > 0) {
      const box = stack[--size];
      if (!box) break;
      // By hand: this line is where a picture's time goes.
      let near = (dx > 0 ? box.lx - ox : box.hx - ox) * ix;
      let far = (dx > 0 ? box.hx - ox : box.lx - ox) * ix;
      const nearY = (dy > 0 ? box.ly - oy : box.hy - oy) * iy;
      const farY = (dy > 0 ? box.hy - oy : box.ly - oy) * iy;
      if (nearY > near) near = nearY;
      if (farY < far) far = farY;
      const nearZ = (dz > 0 ? box.lz - oz : box.hz - oz) * iz;
      const farZ = (dz > 0 ? box.hz - oz : box.lz - oz) * iz;
      if (nearZ > near) near = nearZ;
      if (farZ < far) far = farZ;
      if (near > far || far < 0 || near > hit.distance) continue;
      if (box.near && box.far) {
        const isForward = (box.axis === 0 ? dx : box.axis === 1 ? dy : dz) > 0;
        stack[size++] = isForward ? box.far : box.near;
        stack[size++] = isForward ? box.near : box.far;
        continue;
      }
      for (const face of box.faces) {
        if (!withLamps && face.triangle.surface.isLamp) continue;
        if (meets(face, ox, oy, oz, dx, dy, dz, hit) && isAny) return true;
      }
    }
    return hit.triangle !== undefined;
  };
  const any: Hit = { distance: 0, u: 0, v: 0, triangle: undefined };
  return {
    nearest: (from, along, hit, withLamps) => search(from, along, 1e6, hit, false, withLamps),
    isFree: (from, along, limit) => !search(from, along, limit, any, true, false),
  };
}

/** Möller and Trumbore's test. */
function meets(face: Face, ox: number, oy: number, oz: number, dx: number, dy: number, dz: number, hit: Hit): boolean {
  const { bx, by, bz, cx, cy, cz } = face;
  const px = dy * cz - dz * cy;
  const py = dz * cx - dx * cz;
  const pz = dx * cy - dy * cx;
  const determinant = bx * px + by * py + bz * pz;
  if (determinant > -1e-12 && determinant < 1e-12) return false;
  const inverse = 1 / determinant;
  const tx = ox - face.ax;
  const ty = oy - face.ay;
  const tz = oz - face.az;
  const u = (tx * px + ty * py + tz * pz) * inverse;
  if (u < 0 || u > 1) return false;
  const qx = ty * bz - tz * by;
  const qy = tz * bx - tx * bz;
  const qz = tx * by - ty * bx;
  const v = (dx * qx + dy * qy + dz * qz) * inverse;
  if (v < 0 || u + v > 1) return false;
  const distance = (cx * qx + cy * qy + cz * qz) * inverse;
  if (distance < 1e-5 || distance >= hit.distance) return false;
  hit.distance = distance;
  hit.u = u;
  hit.v = v;
  hit.triangle = face.triangle;
  return true;
}

function faceOf(triangle: Triangle): Face {
  const [a, b, c] = triangle.corners.map(({ place }) => place) as [Vec, Vec, Vec]; // three corners, three places
  const bound = (of: (...numbers: number[]) => number): Vec => [
    of(a[0], b[0], c[0]),
    of(a[1], b[1], c[1]),
    of(a[2], b[2], c[2]),
  ];
  return {
    ax: a[0],
    ay: a[1],
    az: a[2],
    bx: b[0] - a[0],
    by: b[1] - a[1],
    bz: b[2] - a[2],
    cx: c[0] - a[0],
    cy: c[1] - a[1],
    cz: c[2] - a[2],
    low: bound(Math.min),
    high: bound(Math.max),
    triangle,
  };
}

type Axis = 0 | 1 | 2;
const middle = ({ low, high }: Face, axis: Axis) => low[axis] + high[axis];

function bounds(faces: readonly Face[]) {
  const low: [number, number, number] = [Infinity, Infinity, Infinity];
  const high: [number, number, number] = [-Infinity, -Infinity, -Infinity];
  for (const face of faces)
    for (const axis of [0, 1, 2] as const) {
      low[axis] = Math.min(low[axis], face.low[axis]);
      high[axis] = Math.max(high[axis], face.high[axis]);
    }
  const [x, y, z] = [high[0] - low[0], high[1] - low[1], high[2] - low[2]];
  return { low, high, area: faces.length === 0 ? 0 : x * y + y * z + z * x };
}

function boxOf(faces: readonly Face[]): Box {
  const { low, high } = bounds(faces);
  const [lx, ly, lz] = low;
  const [hx, hy, hz] = high;
  const parts = faces.length > 4 ? split(faces) : undefined;
  const [near, far] = parts ? [boxOf(parts.near), boxOf(parts.far)] : [];
  return { lx, ly, lz, hx, hy, hz, near, far, axis: parts?.axis ?? 0, faces: parts ? [] : faces };
}

/** Where a ray is expected to have the least to test. */
function split(faces: readonly Face[]) {
  let best: { near: Face[]; far: Face[]; axis: Axis; cost: number } | undefined;
  for (const axis of [0, 1, 2] as const) {
    let [least, most] = [Infinity, -Infinity];
    for (const face of faces) {
      least = Math.min(least, middle(face, axis));
      most = Math.max(most, middle(face, axis));
    }
    for (let part = 1; part < 10; part++) {
      const border = least + ((most - least) * part) / 10;
      const near = faces.filter((face) => middle(face, axis) < border);
      const far = faces.filter((face) => middle(face, axis) >= border);
      if (near.length === 0 || far.length === 0) continue;
      const cost = bounds(near).area * near.length + bounds(far).area * far.length;
      if (!best || cost < best.cost) best = { near, far, axis, cost };
    }
  }
  return best;
}
