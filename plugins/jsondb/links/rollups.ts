/** Fields that are worked out when a record is read, over the records that link to it. behaviour B.7. */
import { exactly, isNumber, type Queryable } from "platform";
import { hiddenAlways, mayAll, type Viewer } from "../access/reach.ts";
import type { Database } from "../databases/database.ts";
import type { Rollup } from "../databases/kinds.ts";
import type { Table } from "../databases/schema.ts";
import { linkFields, linksTo, targetOf, type LinkContext } from "./links.ts";
import * as linkStore from "./store.ts";

type RollupFields = readonly (readonly [name: string, rollup: Rollup])[];

export function rollupsOf({ fields, computed }: Table): RollupFields {
  return computed.flatMap((name) => {
    const rollup = fields.get(name)?.rollup;
    return rollup ? [[name, rollup] as const] : [];
  });
}

/** Where rollups are read, and for whom. */
export interface RollupReading {
  readonly db: Database;
  /** Undefined is a program. */
  readonly viewer: Viewer | undefined;
  /** Whether a program may read all of a database; undefined: of each. */
  readonly reads?: ((db: string) => Promise<boolean>) | undefined;
}

/** For each record of this table, what its rollups are for the viewer; null where they may not see what it takes. */
export async function rolledUp(
  ctx: LinkContext,
  reading: RollupReading,
  table: Table,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>> {
  const found = new Map<string, Record<string, unknown>>(ids.map((id) => [id, {}]));
  for (const [name, rollup] of rollupsOf(table)) {
    const values = await valuesOf(ctx.sql, await sourceOf(ctx, reading, rollup), rollup, ids);
    for (const [id, own] of found) own[name] = values ? (values.get(id) ?? emptyOf(rollup)) : null;
  }
  return found;
}

/** The ids of the databases whose records the rollups of a database are of. */
export async function rollupSources(ctx: LinkContext, db: Database): Promise<string[]> {
  const ids = new Set<string>();
  for (const table of db.rules.tables.values())
    for (const [, rollup] of rollupsOf(table)) {
      const source = await targetOf(ctx, db.accountId, rollup, undefined);
      if (source) ids.add(source.id);
    }
  return [...ids];
}

const emptyOf = ({ op }: Rollup) => (op === "count" || op === "sum" ? 0 : null);

interface Source {
  readonly db: Database;
  readonly table: Table;
  readonly field: string;
}

/** Where the records that link here are; undefined if they are not open, or link elsewhere. */
async function sourceOf(
  ctx: LinkContext,
  { db, viewer, reads }: RollupReading,
  { db: code, link, field: measured }: Rollup,
): Promise<Source | undefined> {
  const source = await targetOf(ctx, db.accountId, { db: code }, viewer);
  if (!source || (reads && !(await reads(source.id)))) return undefined;
  const { tableName, name: field } = linkingField(source, link);
  const table = source.rules.tables.get(tableName);
  const isLink = table && linkFields(table).some(([name, to]) => name === field && linksTo(db, to));
  const hidden = hiddenAlways(source.reach);
  if (!table || !isLink || hidden.has(field) || (measured !== undefined && hidden.has(measured))) return undefined;
  return { db: source, table, field };
}

/** The field that a rollup names, in a database with tables behind its table. */
export function linkingField({ rules }: Database, link: string): { tableName: string; name: string } {
  const at = rules.multiTable ? link.indexOf(".") : -1;
  return { tableName: link.slice(0, Math.max(at, 0)), name: link.slice(at + 1) };
}

async function valuesOf(
  on: Queryable,
  source: Source | undefined,
  { op, field: measured }: Rollup,
  ids: readonly string[],
): Promise<ReadonlyMap<string, unknown> | undefined> {
  if (!source) return undefined;
  const type = measured === undefined ? undefined : source.table.fields.get(measured)?.type;
  const isTime = type === "datetime" || type === "date";
  const rows = await linkStore.aggregated(on, source.db, {
    table: source.table,
    field: source.field,
    targets: ids,
    op,
    measured,
    isTime,
    isWhole: mayAll(source.db, "read"),
  });
  return new Map(rows.map(({ target, value }) => [target, op !== "count" && isTime ? value : numberOf(value)]));
}

function numberOf(value: string | null): unknown {
  if (value === null) return null;
  const number = exactly(value);
  return isNumber(number) ? number : null;
}
