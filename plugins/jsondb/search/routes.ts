import { answer, jsonText, pageQuery, endsEarly, route, Type, unavailable, warned } from "platform";
import type { RequestInput, Route } from "platform";
import { createAccountTurns } from "../turns.ts";
import { FlatRecord, ShownRecord, UnknownTable, recordExample, unknownTable } from "../records/routes.ts";
import { decodeCursor, encodeCursor, fieldHints, namedFields, readList, readSearch, withLinks } from "./query.ts";
import type { Query } from "./query.ts";
import type { Database } from "../databases/database.ts";
import { dbAccess, openAt, viewerOf, type Viewing } from "../databases/cache.ts";
import { search, type SearchContext, type SearchPage, type SearchShape } from "./store.ts";
import type { JsondbContext } from "../context.ts";
import { listOf } from "../records/print.ts";
import { endFilters } from "../links/filters.ts";
import {
  expandParameter,
  expandPaths,
  flatIn,
  isUnfinished,
  linksAtOnce,
  nestedIn,
  finished,
} from "../links/expand.ts";

const apps = "the records of its own databases, for a viewer with `dbs`";

/** The filters, for the documentation of all routes that take them. */
export const filterParameters = {
  "filter[<field>]": 'exactly this value by the field\'s type; with `*` or `%` a pattern; empty = missing, null or ""',
  "filter[<field>][<operator>]":
    "gt, gte, lt, lte: in the order of the field's type; a bare day, as 2026-01-31, is the whole day of the account's time zone, and `{today}`, `{yesterday}`, `{tomorrow}`, `{last_week}`, `{this_month}`, `{next_year}`, `{last_7_days}`, `{next_30_days}` and the like are days that are worked out when one asks, today among the last and the next ones; ne: all that the exact filter does not find; in: one of several values, comma-separated, or `filter[<field>][in][]=` for each, where a value holds a comma; of none nothing is found; null: `true` or `false`. A field outside of the schema is compared as a number where the value is one, else as a text.",
  "any[<number>][<field>]":
    "as filter, with its operators too; of the numbered groups one must hold whole: `any[0][age][gt]=60&any[1][city]=Łódź`. At most 20 filters, and 100 values of `in`.",
};

/** Names separated by commas, or a list of them. */
export const namesParameter = (description: string) =>
  Type.Union([Type.String(), Type.Array(Type.String())], {
    description: `${description}; comma-separated, or \`<parameter>[]=\` for each, where a name holds a comma`,
  });

/** Records have shorter pages than other lists. */
export const recordPage = {
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, description: "1 to 100, default 20" }),
  offset: pageQuery.offset,
};

const parameters = {
  q: "phrase, case ignored; `*` and `%` are wildcards, without them a fragment is searched",
  search_in: namesParameter(
    "fields for `q`; default: the indexed fields (strings by fragment, numbers and times by their whole value), or all data if none is indexed",
  ),
  ...filterParameters,
  sort: "field, `-` in front = descending: id, created_at, updated_at or a field of the data",
  fields: namesParameter("fields to show (id, created_at and updated_at always are)"),
  ...recordPage,
  after: "the header X-Next-Cursor of the page before; instead of offset",
  expand: expandParameter,
  count: Type.Boolean({ description: "`true` adds the header X-Total-Count" }),
};

/** Connections that lists leave to all else: a list that no index serves holds one for as long as it reads all records. */
const leftConnections = 3;
/** As long as a statement waits for a connection. */
const longestWaitMs = 10_000;

/** Lists and private search. behaviour 4.4. */
export function searchRoutes(ctx: JsondbContext): Route[] {
  type Asked = Viewing & Pick<RequestInput, "request" | "query">;
  const places = Math.max(1, ctx.connections - leftConnections);
  const patience = { ms: longestWaitMs, error: () => unavailable() };
  // Nearly all of them: most servers have one account, and what people wait for is short.
  const turns = createAccountTurns(places, patience, Math.max(1, places - 1));
  const respond = async (
    input: Asked,
    key: string,
    read: (db: Database, params: URLSearchParams) => Query,
    shape: SearchShape,
  ) => {
    const db = await openAt(ctx, input, key);
    let hints: readonly string[] = [];
    const viewer = viewerOf(input);
    const paths = expandPaths(input.query);
    const { params, ends, hints: further } = await endFilters(ctx, { db, viewer }, input.query);
    const linked = await linksAtOnce(ctx, { db, viewer }, paths);
    const make = (current: Database) => {
      const query = { ...read(current, params), ends, ...(current === db && { linked }) };
      hints = [...fieldHints(current, query, namedFields(query)), ...further];
      return withLinks(query, paths);
    };
    const finish: Finish = (found, query) =>
      finished(
        ctx,
        { db: found.db, viewer },
        found,
        paths,
        shape.form === "flat" ? flatIn(query.table) : nestedIn(found.db),
        query.fields,
      );
    const page = () => answerPage(ctx, db, make, shape, isUnfinished(db, paths) ? finish : undefined);
    return warned(await turns(input.account.id, page, input.request.signal), hints);
  };
  return [
    route(
      "GET",
      "/core/dbs/:db_id/records",
      {
        summary: "List records, the newest first",
        access: dbAccess,
        apps,
        query: { table_name: "only this table", ...parameters },
        answers: { 200: answer.list(ShownRecord), 400: UnknownTable },
        responses: { 200: [recordExample], ...unknownTable },
      },
      (input) => respond(input, input.params.db_id, readList, { form: "nested" }),
    ),
    route(
      "GET",
      "/core/dbs/:db_id/search",
      {
        summary: "Search records",
        access: dbAccess,
        apps,
        query: { table_name: "required where the schema has tables", ...parameters },
        answers: { 200: answer.list(FlatRecord), 400: UnknownTable },
        responses: {
          200: [
            {
              id: recordExample.id,
              created_at: recordExample.created_at,
              updated_at: recordExample.updated_at,
              ...recordExample.data,
            },
          ],
          ...unknownTable,
        },
      },
      (input) => respond(input, input.params.db_id, readSearch, { form: "flat" }),
    ),
  ];
}

/** Puts into a page's records what is worked out when they are read. */
type Finish = (found: SearchPage, query: Query) => Promise<readonly string[]>;

/** A page, with X-Next-Cursor if there may be more, and X-Total-Count if the request wants it. */
export async function answerPage(
  ctx: SearchContext,
  first: Database,
  read: (db: Database) => Query,
  shape: SearchShape,
  finish?: Finish,
) {
  let asked: Query | undefined;
  const make = (db: Database) => {
    const query = read(db);
    asked = query;
    const cursor = query.after === undefined ? undefined : decodeCursor(ctx.secrets, db, query, query.after);
    return { query, cursor };
  };
  const found = await search(ctx, first, make, shape);
  const { next, cutAfter, total } = found;
  const headers: Record<string, string> = {};
  if (next && asked) headers["x-next-cursor"] = encodeCursor(ctx.secrets, found.db, asked, next);
  if (total !== undefined) headers["x-total-count"] = `${total}`;
  const texts = finish && asked ? await finish(found, asked) : found.records;
  return warned(jsonText(200, listOf(texts), headers), asked && cutAfter ? [cutHint(asked, cutAfter)] : []);
}

/** A page that is shorter than its limit is not the last one. */
function cutHint({ after, offset }: Query, records: number): string {
  const next = after === undefined ? `\`offset=${offset + records}\`` : "`X-Next-Cursor`";
  return endsEarly(records, next, "records");
}
