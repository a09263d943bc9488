/** Links given by a field of the record at the other end: `customer:email`, as files of people have them. behaviour B.7. */
import type { Viewer } from "../access/reach.ts";
import type { FieldType } from "../databases/columns.ts";
import type { Database } from "../databases/database.ts";
import type { Field, Link } from "../databases/kinds.ts";
import type { Table } from "../databases/schema.ts";
import { linkFields, nameOf, tableIn, targetOf, type LinkContext } from "./links.ts";
import * as endsStore from "./ends-store.ts";

export interface Reference {
  /** `customer:email` */
  readonly name: string;
  /** The link. */
  readonly field: string;
  readonly link: Link;
  readonly isList: boolean;
  /** The field of the record at the other end: what people know it by, or a unique one. */
  readonly by: string;
  readonly type: FieldType;
  readonly target: Database;
  /** The tables of the target where `by` is such a field. */
  readonly tables: readonly Table[];
}

/** By their names; of each link the title comes first. */
export type References = ReadonlyMap<string, Reference>;

/** The references that a table's links take, of what the viewer may read (undefined is a program). */
export async function referencesOf(
  ctx: LinkContext,
  {
    db,
    table,
    viewer,
  }: {
    readonly db: Pick<Database, "accountId" | "schema">;
    readonly table: Table;
    readonly viewer: Viewer | undefined;
  },
): Promise<References> {
  const found = new Map<string, Reference>();
  const fields = db.schema.tables.get(table.name)?.fields ?? table.fields;
  for (const [field, link] of linkFields(table)) {
    if (!fields.has(field)) continue;
    const target = await targetOf(ctx, db.accountId, link, viewer);
    for (const [by, type] of target ? keysOf(target, link) : []) {
      const name = `${field}:${by}`;
      if (!target || fields.has(name)) continue;
      const tables = tablesOf(target, link).filter((one) => keyFields(one).includes(by));
      const isList = table.fields.get(field)?.type === "list";
      found.set(name, { name, field, link, isList, by, type, target, tables });
    }
  }
  return found;
}

/** As a link would that is still to be made, by what people know the records of a table by. */
export function titleOf(target: Database, table: Table): Reference | undefined {
  const by = keyFields(table).find((name) => name === table.titleField);
  const type = table.fields.get(by ?? "")?.type;
  const link: Link = { db: target.code, table: table.name || undefined, onDelete: "clear" };
  const name = `${nameOf(link)}:${by}`;
  return by && type ? { name, field: "", link, isList: false, by, type, target, tables: [table] } : undefined;
}

/** As the viewer sees them. */
function tablesOf(target: Database, link: Link): Table[] {
  const only = tableIn(target, link);
  const all = [...target.schema.tables.values()];
  if (link.table !== undefined) return all.filter(({ name }) => name === only?.name);
  return target.schema.multiTable ? all.filter(({ name }) => name !== "") : all;
}

function keysOf(target: Database, link: Link): ReadonlyMap<string, FieldType> {
  const found = new Map<string, FieldType>();
  for (const table of tablesOf(target, link))
    for (const name of keyFields(table)) {
      const type = table.fields.get(name)?.type;
      if (type) found.set(name, found.get(name) ?? type);
    }
  return found;
}

function keyFields({ titleField, unique, fields }: Table): readonly string[] {
  const isTitle = (field: Field | undefined) =>
    field !== undefined && field.type !== "list" && !field.rollup && !field.link;
  const title = titleField !== undefined && isTitle(fields.get(titleField)) ? [titleField] : [];
  return [...new Set([...title, ...unique.filter((name) => fields.has(name))])];
}

/** The record that a value names; or why there is none. */
export type Match = { readonly id: string } | { readonly why: string };

const mostKept = 50_000;
/** In one statement. */
const atOnce = 10_000;

/** Looks values up, one statement for all of a page; what was found is kept for the pages that follow. */
export function createFinder(ctx: Pick<LinkContext, "sql">) {
  const kept = new Map<string, Map<string, Match>>();
  return async (reference: Reference, values: readonly string[]): Promise<ReadonlyMap<string, Match>> => {
    const known = kept.get(reference.name) ?? new Map<string, Match>();
    kept.set(reference.name, known);
    const missing = [...new Set(values)].filter((value) => !known.has(value));
    if (missing.length === 0) return known;
    if (known.size + missing.length > mostKept) known.clear();
    const asked = known.size === 0 ? [...new Set(values)] : missing;
    for (let at = 0; at < asked.length; at += atOnce) {
      const some = asked.slice(at, at + atOnce);
      const found = await endsStore.byValues(ctx.sql, reference, some);
      for (const value of some) known.set(value, matchOf(reference, value, found.get(value)));
    }
    return known;
  };
}

function matchOf({ link, by }: Reference, value: string, found: endsStore.Found | undefined): Match {
  const what = nameOf(link);
  const shown = JSON.stringify(value.length > 100 ? `${value.slice(0, 100).toWellFormed()}…` : value);
  if (!found) return { why: `no record of ${what} has the ${by} ${shown}` };
  return found.count > 1 ? { why: `several records of ${what} have the ${by} ${shown}` } : { id: found.id };
}
