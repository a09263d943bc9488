/** `filter[customer.country]=PL`: filters by a field at the other end of a link, one deep. behaviour B.7. */
import { badRequest } from "platform";
import { inScope } from "../access/reach-store.ts";
import type { Viewer } from "../access/reach.ts";
import { tableForSearch, type Database } from "../databases/database.ts";
import type { Table } from "../databases/schema.ts";
import { fieldHints, mustBeStored } from "../search/query.ts";
import { filterConditions, sourceOf, type Args } from "../search/filter-store.ts";
import { conditionsOf, fieldsOf, isFilter, readFilters, type EndFilter } from "../search/filters.ts";
import { linkBefore, tableIn, targetOf, type LinkContext } from "./links.ts";

interface Split {
  /** The parameters without those filters. */
  readonly params: URLSearchParams;
  readonly ends: readonly EndFilter[];
  /** Fields that the schemas at the other ends do not know. */
  readonly hints: readonly string[];
}

/** Takes the filters by ends of links out of a request's parameters. 400 for what is wrong in them. */
export async function endFilters(
  ctx: LinkContext,
  { db, viewer }: { readonly db: Database; readonly viewer: Viewer | undefined },
  query: URLSearchParams,
): Promise<Split> {
  const dotted = [...query].filter(([name]) => isFilter(name) && name.includes("."));
  if (dotted.length === 0) return { params: query, ends: [], hints: [] };
  const table = tableForSearch(db, query.get("table_name"));
  const params = new URLSearchParams();
  const inner = new Map<string, URLSearchParams>();
  for (const [name, value] of query) {
    const link = dotted.length > 0 && isFilter(name) ? linkIn(table, name) : undefined;
    if (link === undefined) params.append(name, value);
    else if (name.startsWith("any[")) throw badRequest(`\`${name.slice(0, 100)}\`: groups take no field of a link`);
    else {
      const own = inner.get(link) ?? new URLSearchParams();
      own.append(`filter[${name.slice(`filter[${link}.`.length)}`, value);
      inner.set(link, own);
    }
  }
  const ends: EndFilter[] = [];
  const hints: string[] = [];
  for (const [field, own] of inner) {
    const { hints: unknown, ...end } = await endFilter(ctx, { db, viewer, table }, field, own);
    ends.push(end);
    hints.push(...unknown.map((hint) => `at the end of ${field}: ${hint}`));
  }
  return { params, ends, hints };
}

/** The link that a filter goes through, if the schema has no field of the whole name. */
function linkIn(table: Table, parameter: string): string | undefined {
  const inside = parameter.slice(parameter.indexOf("[", parameter.startsWith("any[") ? 4 : 0) + 1);
  return linkBefore(table, inside.split("]", 1)[0] ?? "");
}

async function endFilter(
  ctx: LinkContext,
  { db, viewer, table }: { readonly db: Database; readonly viewer: Viewer | undefined; readonly table: Table },
  field: string,
  own: URLSearchParams,
): Promise<EndFilter & Pick<Split, "hints">> {
  const { link, type } = table.fields.get(field) ?? {};
  const target = link && (await targetOf(ctx, db.accountId, link, viewer));
  // A database that does not open is as if it had no records.
  if (!link || !target) return { field, condition: () => "false", hints: [] };
  const end = tableIn(target, link) ?? tableForSearch(target, null);
  const shown = target.schema.tables.get(end.name) ?? end;
  const conditions = conditionsOf(shown, own);
  mustBeStored(
    shown,
    conditions.map((one) => one.field),
  );
  const filters = readFilters(shown, conditions);
  const scope = { table: shown, allTables: false };
  const condition = (args: Args) => {
    const where = [
      inScope(args, target, scope, fieldsOf(filters)),
      ...filterConditions(args, sourceOf(target, scope), filters),
    ];
    const ids = `select r.id::text from records r where ${where.join(" and ")}`;
    const name = args.bind(field, "text");
    return type === "list" ? `r.data -> ${name} ?| array(${ids})` : `r.data ->> ${name} in (${ids})`;
  };
  return { field, condition, hints: fieldHints(target, scope, fieldsOf(filters)) };
}
