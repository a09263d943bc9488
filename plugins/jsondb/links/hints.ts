/** Links and rollups of a schema that lead to nothing: said where it is saved, for tables may be made in any order. behaviour B.7.31. */
import type { Viewer } from "../access/reach.ts";
import type { Database } from "../databases/database.ts";
import type { Rollup } from "../databases/kinds.ts";
import { linksTo, targetOf, type LinkContext } from "./links.ts";
import { linkingField } from "./rollups.ts";

const mostHints = 20;

/** Databases that do not open for the viewer, and what is hidden in others, are as if they were not there. */
export async function linkHints(ctx: LinkContext, db: Database, viewer: Viewer | undefined): Promise<string[]> {
  const hints: string[] = [];
  const opened = async (key: string) =>
    linksTo(db, { db: key }) ? db : targetOf(ctx, db.accountId, { db: key }, viewer);
  for (const [name, { fields }] of db.schema.tables)
    for (const [field, { link, rollup }] of fields) {
      const key = link?.db ?? rollup?.db;
      // Bounded, because what is not there is looked up each time.
      if (key === undefined || hints.length >= mostHints) continue;
      const target = await opened(key);
      const fault = !target
        ? `there is no database "${key}"`
        : link
          ? tableFault(target, link.table)
          : rollup && rollupFault(db, target, rollup);
      const place = `schema.${name === "" ? "" : `tables.${name}.`}fields.${field}.${link ? "link" : "rollup"}`;
      if (fault !== undefined) hints.push(`${place}: ${fault}`);
    }
  return hints;
}

function tableFault({ code, schema }: Database, table: string | undefined): string | undefined {
  if (table === undefined || (schema.multiTable && schema.tables.has(table))) return undefined;
  return `${code} has no table "${table}"`;
}

function rollupFault(db: Database, source: Database, { link, field }: Rollup): string | undefined {
  const { tableName, name } = linkingField(source, link);
  if (source.schema.multiTable && tableName === "")
    return `${source.code} has tables: name one, as ${source.code}.table.field`;
  const fields = source.schema.tables.get(tableName)?.fields;
  if (!fields) return `${source.code} has no table "${tableName}"`;
  const back = fields.get(name);
  if (!back) return `${source.code} has no field "${link}"`;
  if (!back.link || !linksTo(db, back.link)) return `"${link}" of ${source.code} is no link to ${db.code}`;
  return field === undefined || fields.has(field) ? undefined : `${source.code} has no field "${field}" there`;
}
