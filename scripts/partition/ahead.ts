/** Keeps tables that are divided by range going: partitions for what is to come, and none that are old and empty. */
import type { Queryable, Sql, Tx } from "../../runtime/db.ts";
import { endOf, indexesOf, nameOn, positionOf, shapeOf, withLocks } from "./catalogue.ts";
import {
  byRange,
  horizonOf,
  months,
  numbers,
  rangeParts,
  wayOf,
  type Part,
  type RangeWay,
  type Scale,
} from "./tables.ts";

/** What it has done, a line for each. */
export async function makeAhead(sql: Sql): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const table of byRange) {
    const way = wayOf(table);
    if (way.by === "hash" || !(await shapeOf(sql, table)).isDivided) continue;
    const ranges = await rangesOf(sql, table, way);
    const at = await positionOf(sql, way);
    lines.push(...(await extend(sql, table, way, ranges, at)), ...(await dropEmpty(sql, table, ranges, at)));
    // Autovacuum looks at each partition, and never at the whole.
    await sql.unsafe(`analyze ${table}`);
  }
  return lines;
}

interface Range {
  readonly name: string;
  readonly settings: string;
  readonly from: number;
  readonly to: number;
}

interface Ranges {
  readonly scale: Scale;
  readonly all: readonly Range[];
  readonly latest: Range;
}

async function rangesOf(sql: Sql, table: string, way: RangeWay): Promise<Ranges> {
  const parts = await sql<{ name: string; settings: string; bound: string }[]>`
    select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound,
      coalesce(' with (' || array_to_string(c.reloptions, ', ') || ')', '') as settings
    from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = ${table}::regclass`;
  const read = way.by === "month" ? months.read : Number;
  const all = parts.flatMap(({ name, settings, bound }) => {
    const [, from, to] = /^FOR VALUES FROM \('(.+)'\) TO \('(.+)'\)$/.exec(bound) ?? [];
    return from !== undefined && to !== undefined ? [{ name, settings, from: read(from), to: read(to) }] : [];
  });
  const latest = all.toSorted((a, b) => b.to - a.to)[0];
  if (!latest) throw new Error(`${table} has no partitions by range`);
  return { scale: way.by === "month" ? months : numbers(latest.to - latest.from), all, latest };
}

/** What has gone into the default partition stays there: the next one begins behind it. */
async function extend(
  sql: Sql,
  table: string,
  way: RangeWay,
  { scale, latest }: Ranges,
  at: number,
): Promise<string[]> {
  const stray = await endOf(sql, `${table}_default`, way.column, scale, "desc");
  const from = Math.max(latest.to, stray === undefined ? 0 : scale.next(scale.floor(Math.max(stray, at))));
  const parts = rangeParts(table, scale, from, horizonOf(scale, at));
  for (const part of parts) await withLocks(sql, (tx) => add(tx, table, part, latest));
  return [
    ...parts.map(({ name }) => `made ${name}`),
    ...(stray === undefined ? [] : [`${table}_default has rows: run this more often`]),
  ];
}

async function add(tx: Tx, table: string, { name, bound }: Part, like: Range): Promise<void> {
  await tx.unsafe(`create table ${name} partition of ${table} ${bound}${like.settings}`);
  // Those that no index of the whole has.
  for (const index of await indexesOf(tx, like.name, true)) {
    const unique = index.isUnique ? "unique" : "";
    await tx.unsafe(`create ${unique} index ${nameOn(name, index.name, like.name)} on ${name} ${index.rest}`);
  }
}

/** Old ones, whose rows the server has forgotten by their age. */
async function dropEmpty(sql: Sql, table: string, { all }: Ranges, at: number): Promise<string[]> {
  const dropped: string[] = [];
  for (const { name, to } of all) {
    if (to > at || !(await isEmpty(sql, name))) continue;
    const isGone = await withLocks(sql, async (tx) => {
      await tx.unsafe(`lock table ${name} in access exclusive mode`);
      if (!(await isEmpty(tx, name))) return false;
      await tx.unsafe(`alter table ${table} detach partition ${name}; drop table ${name}`);
      return true;
    });
    if (isGone) dropped.push(`dropped ${name}`);
  }
  return dropped;
}

async function isEmpty(on: Queryable, name: string): Promise<boolean> {
  const rows = await on.unsafe(`select from ${name} limit 1`);
  return rows.length === 0;
}
