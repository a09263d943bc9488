/** `expand=customer,customer.owner`: the records at the other end of links, beside those that name them. behaviour B.7. */
import { badRequest, HttpError, isObject, parseExactly } from "platform";
import type { Viewer } from "../access/reach.ts";
import type { Database } from "../databases/database.ts";
import type { Link } from "../databases/kinds.ts";
import type { Table } from "../databases/schema.ts";
import { printRaw, readRaw } from "../records/print.ts";
import type { Data } from "../records/record.ts";
import { idsIn, tableIn, targetOf, type LinkContext } from "./links.ts";
import { rolledUp } from "./rollups.ts";
import * as linkStore from "./store.ts";

export const expandLimits = { paths: 10, depth: 3, records: 5_000, characters: 8_000_000 } as const;

export const expandParameter =
  "links to follow, comma-separated, up to three deep (`customer,customer.owner`): each record gets `expand`, with a flat record, a list or null for each";

/** The paths of the parameter `expand`. 400 for too many, or too deep ones. */
export function expandPaths(query: URLSearchParams): readonly string[] {
  if (query.size === 0) return [];
  const given = [...query.getAll("expand").flatMap((text) => text.split(",")), ...query.getAll("expand[]")];
  const paths = [...new Set(given.map((path) => path.trim()).filter((path) => path !== ""))];
  if (paths.length > expandLimits.paths) throw badRequest(`\`expand\` takes at most ${expandLimits.paths} paths`);
  const deep = paths.find((path) => path.split(".").length > expandLimits.depth);
  if (deep !== undefined) throw badRequest(`\`expand\`: ${deep.slice(0, 100)} is more than ${expandLimits.depth} deep`);
  return paths;
}

/** A record as an answer has it, and the table of its data. */
interface Shown {
  readonly data: Data;
  readonly table: Table | undefined;
}

/** Records as the records API shows them, and as a search of this table does. */
export const nestedIn =
  (db: Database) =>
  ({ data, table_name: name }: Data): Shown => ({
    data: isObject(data) ? data : {},
    table: db.schema.tables.get(typeof name === "string" ? name : ""),
  });
export const flatIn =
  (table: Table) =>
  (data: Data): Shown => ({ data, table });

/** What is read, and by whom. */
interface Reading {
  readonly db: Database;
  readonly viewer: Viewer;
}

type Value = Data | null | readonly Value[];

/** Whether an answer about this database's records has to be finished: with the ends of links, or with rollups. */
export function isUnfinished({ schema }: Database, paths: readonly string[]): boolean {
  if (paths.length > 0) return true;
  for (const { computed } of schema.tables.values()) if (computed.length > 0) return true;
  return false;
}

/** The answer's JSON with the rollups and `expand` of each of its records. `shownOf` gives a record's data and table. */
export async function finished(
  ctx: LinkContext,
  { db, viewer }: Reading,
  body: string,
  paths: readonly string[],
  shownOf: (record: Data) => Shown,
): Promise<string> {
  if (!isUnfinished(db, paths)) return body;
  const answer: unknown = parseExactly(body);
  const records = (Array.isArray(answer) ? answer : [answer]) as Data[]; // an answer of ours
  for (const table of db.schema.tables.values()) {
    const ofTable = records.filter((record) => table.computed.length > 0 && shownOf(record).table?.name === table.name);
    if (ofTable.length === 0) continue;
    const values = await rolledUp(
      ctx,
      { db, viewer },
      table,
      ofTable.map(({ id }) => String(id)),
    );
    for (const record of ofTable) Object.assign(shownOf(record).data, values.get(String(record["id"])));
  }
  if (paths.length === 0) return JSON.stringify(answer);
  const room = { records: expandLimits.records, characters: expandLimits.characters };
  const found = await follow(ctx, { db, viewer }, records.map(shownOf), paths, room);
  const done = records.map((record, at) => ({
    ...record,
    expand: Object.fromEntries(paths.map((path) => [path, found.get(path)?.[at] ?? null])),
  }));
  return JSON.stringify(Array.isArray(answer) ? done : done[0]);
}

interface Room {
  records: number;
  characters: number;
}

/** For each path, what each of the records has at its end. */
async function follow(
  ctx: LinkContext,
  { db, viewer }: Reading,
  from: readonly Shown[],
  paths: readonly string[],
  room: Room,
): Promise<ReadonlyMap<string, readonly Value[]>> {
  const found = new Map<string, readonly Value[]>();
  for (const name of new Set(paths.map((path) => path.split(".")[0] ?? ""))) {
    const link = linkOf(db, from, name);
    const target = await targetOf(ctx, db.accountId, link, viewer);
    const ids = [...new Set(from.flatMap(({ data }) => idsIn(own(data, name))))];
    const ends = target ? await read(ctx, target, link, ids, room) : new Map<string, Data>();
    const deeper = paths.flatMap((path) => (path.startsWith(`${name}.`) ? [path.slice(name.length + 1)] : []));
    const records = [...ends.values()];
    const next = records.map((data) => ({ data, table: target && tableIn(target, link) }));
    const further =
      target && deeper.length > 0 ? await follow(ctx, { db: target, viewer }, next, deeper, room) : undefined;
    const places = new Map([...ends.keys()].map((id, at) => [id, at]));
    const valuesAt = (end: (id: string) => Value): readonly Value[] =>
      from.map(({ data }) => {
        const value = own(data, name);
        return Array.isArray(value) ? idsIn(value).map(end) : end(idsIn(value)[0] ?? "");
      });
    if (paths.includes(name))
      found.set(
        name,
        valuesAt((id) => ends.get(id) ?? null),
      );
    for (const path of deeper)
      found.set(
        `${name}.${path}`,
        valuesAt((id) => further?.get(path)?.[places.get(id) ?? -1] ?? null),
      );
  }
  return found;
}

/** 400 for what is no link of any of the tables. */
function linkOf(db: Database, from: readonly Shown[], name: string): Link {
  const tables = [...from.flatMap(({ table }) => table ?? []), ...db.schema.tables.values()];
  const link = tables.map(({ name: table }) => db.schema.tables.get(table)?.fields.get(name)?.link).find(Boolean);
  if (!link) throw badRequest(`\`expand\`: ${name.slice(0, 100)} is not a link of this database`);
  return link;
}

async function read(
  ctx: LinkContext,
  target: Database,
  link: Link,
  ids: readonly string[],
  room: Room,
): Promise<Map<string, Data>> {
  room.records -= ids.length;
  if (room.records < 0) throw tooMuch(`more than ${expandLimits.records} records`);
  const ends = new Map<string, Data>();
  if (ids.length === 0) return ends;
  for (const raw of await linkStore.flat(ctx.sql, target, tableIn(target, link), ids)) {
    room.characters -= raw.length;
    if (room.characters < 0) throw tooMuch(`more than ${expandLimits.characters} characters`);
    ends.set(readRaw(raw).id, parseExactly(printRaw(raw, "flat")) as Data); // an object of ours
  }
  return ends;
}

function tooMuch(what: string): HttpError {
  return new HttpError(422, { error: `\`expand\` would show ${what}: ask for a shorter page or fewer paths` });
}

function own(data: Data, name: string): unknown {
  return Object.hasOwn(data, name) ? data[name] : null;
}
