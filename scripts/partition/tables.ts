/** Which tables can be divided, and the bounds of their partitions. Pure. */

export type Way =
  | { readonly by: "hash"; readonly column: string }
  /** By a number that is counted; `counter` is the table that counts it. */
  | { readonly by: "number"; readonly column: string; readonly counter: string }
  /** By a UUID of version 7, which begins with its time. */
  | { readonly by: "month"; readonly column: string };

export type RangeWay = Exclude<Way, { readonly by: "hash" }>;

const versions: Way = { by: "hash", column: "account_id" };

/** Each column is part of its table's primary key, so the key stays as it is. */
const ways: ReadonlyMap<string, Way> = new Map<string, Way>([
  ["records", { by: "hash", column: "db_id" }],
  ["app_versions", versions],
  ["prompt_versions", versions],
  ["flow_programs", versions],
  ["webhook_deliveries", { by: "number", column: "id", counter: "webhook_deliveries" }],
  ["activity", { by: "number", column: "id", counter: "activity" }],
  ["job_history", { by: "number", column: "id", counter: "jobs" }],
  ["flow_processes", { by: "month", column: "id" }],
  ["flow_process_steps", { by: "month", column: "process_id" }],
]);

export function wayOf(table: string): Way {
  const way = ways.get(table);
  if (!way) throw new Error(`${table} cannot be divided; these can: ${[...ways.keys()].join(", ")}`);
  return way;
}

export const byRange: readonly string[] = [...ways].flatMap(([table, { by }]) => (by === "hash" ? [] : table));

export interface Part {
  readonly name: string;
  /** As `for values …` has it, or `default`. */
  readonly bound: string;
}

export function hashParts(table: string, count: number): readonly Part[] {
  return Array.from({ length: count }, (_, at) => ({
    name: `${table}_p${`${at}`.padStart(3, "0")}`,
    bound: `for values with (modulus ${count}, remainder ${at})`,
  }));
}

/** Where partitions by range begin and end: a bound is an id, or the milliseconds of a month's first moment. */
export interface Scale {
  read(value: string): number;
  floor(at: number): number;
  next(bound: number): number;
  write(bound: number): string;
  label(bound: number): string;
}

export function numbers(width: number): Scale {
  return {
    read: Number,
    floor: (at) => Math.floor(at / width) * width,
    next: (bound) => bound + width,
    write: (bound) => `${bound}`,
    label: (bound) => `${bound}`,
  };
}

export const months: Scale = {
  read: (id) => Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16),
  floor: (at) => monthOf(at, 0),
  next: (bound) => monthOf(bound, 1),
  write: (bound) => {
    const hex = bound.toString(16).padStart(12, "0");
    return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
  },
  label: (bound) => new Date(bound).toISOString().slice(0, 7).replace("-", "_"),
};

function monthOf(at: number, later: number): number {
  const day = new Date(at);
  return Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + later);
}

/** Partitions that are there before they are needed. */
const ahead = 3;
const most = 500;

/** Up to where there should be partitions. */
export function horizonOf(scale: Scale, at: number): number {
  let bound = scale.next(scale.floor(at));
  for (let more = 0; more < ahead; more++) bound = scale.next(bound);
  return bound;
}

export function rangeParts(table: string, scale: Scale, from: number, upTo: number): readonly Part[] {
  const parts: Part[] = [];
  for (let bound = scale.floor(from); bound < upTo; bound = scale.next(bound)) {
    const values = `('${scale.write(bound)}') to ('${scale.write(scale.next(bound))}')`;
    parts.push({ name: `${table}_${scale.label(bound)}`, bound: `for values from ${values}` });
    if (parts.length > most) throw new Error(`${table} would have more than ${most} partitions: say more --rows`);
  }
  return parts;
}
