/** Titles of records in place of their ids, for exports that people read. No SQL. */
import { isObject, isUuid, parseExactly, type BaseContext } from "platform";
import type { Viewer } from "../../access/reach.ts";
import type { Database } from "../../databases/database.ts";
import type { Link } from "../../databases/kinds.ts";
import * as endsStore from "../../links/ends-store.ts";
import { linkFields, tableIn, targetOf, type LinkContext } from "../../links/links.ts";
import { forEachRow, type ExportPage } from "./bytes.ts";
import type { TitleOf } from "./csv.ts";

type TitleContext = LinkContext & Pick<BaseContext, "read">;

export interface Titles {
  readonly of: TitleOf;
  /** The same pages, each when the titles of its links are known. */
  readonly pages: (pages: AsyncGenerator<ExportPage>) => AsyncGenerator<ExportPage>;
}

const mostKept = 100_000;
const atOnce = 5_000;

/** `viewer`: who reads them by now. One statement for each link of a page, of what was not read before. */
export function titlesOf(
  ctx: TitleContext,
  db: Database,
  fields: readonly string[],
  viewer: () => Promise<Viewer>,
): Titles {
  const links = linksIn(db, fields);
  const known = new Map<string, string | undefined>();
  const of: TitleOf = (id) => known.get(id.toLowerCase());
  const learn = async (page: ExportPage) => {
    const ids = idsIn(page, links);
    if (known.size > mostKept) known.clear();
    for (const [link, all] of ids) {
      const missing = [...all].filter((id) => !known.has(id));
      const target = missing.length > 0 && (await targetOf(ctx, db.accountId, link, await viewer()));
      if (!target) continue;
      for (let at = 0; at < missing.length; at += atOnce) {
        const some = missing.slice(at, at + atOnce);
        const found = await ctx.read((sql) => endsStore.titles(sql, target, tableIn(target, link), some));
        for (const id of some) known.set(id, found.get(id));
      }
    }
  };
  return {
    of,
    async *pages(pages) {
      for await (const page of pages) {
        if (links.size > 0) await learn(page);
        yield page;
      }
    },
  };
}

function linksIn(db: Database, fields: readonly string[]): ReadonlyMap<string, readonly Link[]> {
  const found = new Map<string, Link[]>();
  for (const table of db.schema.tables.values())
    for (const [name, link] of linkFields(table))
      if (fields.includes(name)) found.set(name, [...(found.get(name) ?? []), link]);
  return found;
}

function idsIn(page: ExportPage, links: ReadonlyMap<string, readonly Link[]>): ReadonlyMap<Link, ReadonlySet<string>> {
  const found = new Map<Link, Set<string>>();
  const decoder = new TextDecoder();
  forEachRow(page, (_id, _time, _table, _endOfTable, data, endOfData) => {
    const record = parseExactly(decoder.decode(page.data.subarray(data, endOfData)));
    if (!isObject(record)) return;
    for (const [name, all] of links) {
      const value = Object.hasOwn(record, name) ? record[name] : null;
      for (const id of [value].flat())
        if (typeof id === "string" && isUuid(id))
          for (const link of all) {
            const ids = found.get(link) ?? new Set();
            found.set(link, ids.add(id.toLowerCase()));
          }
    }
  });
  return found;
}
