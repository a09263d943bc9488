/** `expand=customer,customer.owner`: the records at the other end of links, beside those that name them. behaviour B.7. */
import { badRequest, HttpError, isObject, parseExactly, Type } from "platform";
import { expandLimits, pathFault } from "../api.ts";
import type { Viewer } from "../access/reach.ts";
import { ownFields } from "../databases/columns.ts";
import type { Database } from "../databases/database.ts";
import type { Link } from "../databases/kinds.ts";
import type { Table } from "../databases/schema.ts";
import { partSeparator, printRaw, type Page } from "../records/print.ts";
import type { Data } from "../records/record.ts";
import { flat } from "../records/together.ts";
import { idsIn, tableIn, targetOf, type LinkContext } from "./links.ts";
import type { Linked } from "../search/query.ts";
import { rolledUp, type RollupReading } from "./rollups.ts";
import * as linkStore from "./store.ts";

export const expandParameter = Type.Union([Type.String(), Type.Array(Type.String())], {
  description:
    "links to follow, comma-separated, up to three deep (`customer,customer.owner`): each record gets `expand`, with a flat record, a list or null for each",
});

/** The paths of the parameter `expand`. 400 for too many, or too deep ones. */
export function expandPaths(query: URLSearchParams): readonly string[] {
  if (query.size === 0) return [];
  const paths = pathsIn([...query.getAll("expand").flatMap((text) => text.split(",")), ...query.getAll("expand[]")]);
  const fault = pathFault(paths);
  if (fault !== undefined) throw badRequest(`\`expand\` ${fault}`);
  return paths;
}

export function pathsIn(given: readonly string[]): string[] {
  return [...new Set(given.map((path) => path.trim()).filter((path) => path !== ""))];
}

/** The databases that these paths lead through, by id. 400 for what is no link. */
export async function databasesAlong(
  ctx: LinkContext,
  db: Database,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const path of paths) {
    let tables = new Set(db.rules.tables.values());
    for (const name of path.split(".")) {
      const links = [...tables].flatMap(({ fields }) => fields.get(name)?.link ?? []);
      if (links.length === 0) throw noLink(name);
      tables = new Set();
      for (const link of links) {
        const target = await targetOf(ctx, db.accountId, link, undefined);
        if (!target) continue;
        found.add(target.id);
        const end = tableIn(target, link);
        for (const table of end ? [end] : target.rules.tables.values()) tables.add(table);
      }
      if (tables.size === 0) break;
    }
  }
  return found;
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
  /** Undefined is a program, which reads everything. */
  readonly viewer: Viewer | undefined;
}

type Value = Data | null | readonly Value[];
/** The end of a path as JSON: a flat record, a list of them, or null. */
type EndText = string;

/** Whether an answer about this database's records has to be finished: with the ends of links, or with rollups. */
export function isUnfinished({ schema }: Database, paths: readonly string[]): boolean {
  if (paths.length > 0) return true;
  for (const { computed } of schema.tables.values()) if (computed.length > 0) return true;
  return false;
}

/**
 * Records as JSON with their rollups and `expand`. `shownOf` gives a record's data and table; `fields` are the only ones that
 * are shown.
 */
export async function finished(
  ctx: LinkContext,
  { db, viewer }: Reading & { readonly viewer: Viewer },
  { records, ends }: Pick<Page, "records"> & Partial<Page>,
  paths: readonly string[],
  shownOf: (record: Data) => Shown,
  fields?: readonly string[],
): Promise<readonly string[]> {
  const texts = isUnfinished(db, []) ? await withRolledUp() : records;
  if (paths.length === 0) return texts;
  const names = paths.map((path) => JSON.stringify(path));
  const withEnds = (text: string, values: readonly EndText[]) =>
    `${text.slice(0, -1)},"expand":{${values.map((value, at) => `${names[at]}:${value}`).join(",")}}}`;
  const room = roomToExpand();
  if (ends?.every((all) => all.every(isWhole)))
    return texts.map((text, at) =>
      withEnds(
        text,
        (ends[at] ?? []).map((raw) => placed(endText(raw), room)),
      ),
    );
  // What is read of them is ids, and the text is shown as it is: numbers may be rounded here.
  const shown = texts.map((text) => shownOf(JSON.parse(text)));
  const found = await follow(ctx, { db, viewer }, shown, paths, room);
  const valuesOf = (at: number) => paths.map((path) => found.get(path)?.[at] ?? "null");
  return texts.map((text, at) => withEnds(text, valuesOf(at)));

  async function withRolledUp(): Promise<readonly string[]> {
    const parsed = records.map((text) => parseExactly(text) as Data); // answers of ours
    await withRollups(ctx, { db, viewer }, parsed, shownOf, fields);
    return parsed.map((record) => JSON.stringify(record));
  }
}

const endText = (raw: string): EndText => (raw === "" ? "null" : printRaw(raw, "flat"));
/** Not only the id of a record, nor the start of a list. */
const isWhole = (raw: string) => raw === "" || raw.includes(partSeparator);

/**
 * The links of these paths, if a page can be read with all that they lead to: each to one record, without rollups, of a
 * database that opens for the viewer. None if it cannot.
 */
export async function linksAtOnce(
  ctx: LinkContext,
  { db, viewer }: Reading,
  paths: readonly string[],
): Promise<readonly Linked[]> {
  const found: Linked[] = [];
  for (const name of paths) {
    const [field, ...others] = [...db.schema.tables.values()].flatMap(({ fields }) => fields.get(name) ?? []);
    const target = field?.link && (await targetOf(ctx, db.accountId, field.link, viewer));
    if (!field?.link || !target || others.length > 0 || field.type !== "string" || isUnfinished(target, [])) return [];
    found.push({ field: name, target, table: tableIn(target, field.link) });
  }
  return found;
}

/** Adds the rollups of each record to its data; of `fields` alone, if they are given. */
export async function withRollups(
  ctx: LinkContext,
  reading: RollupReading,
  records: readonly Data[],
  shownOf: (record: Data) => Shown,
  fields?: readonly string[],
): Promise<void> {
  for (const table of reading.db.schema.tables.values()) {
    const ofTable = records.filter((record) => table.computed.length > 0 && shownOf(record).table?.name === table.name);
    if (ofTable.length === 0) continue;
    const ids = ofTable.map(({ id }) => String(id));
    const values = await rolledUp(ctx, reading, table, ids);
    for (const record of ofTable) {
      const rollups = Object.entries(values.get(String(record["id"])) ?? {});
      const named = fields ? rollups.filter(([name]) => fields.includes(name)) : rollups;
      Object.assign(shownOf(record).data, Object.fromEntries(named));
    }
  }
}

/**
 * The records of a public method's answer, as JSON, with rollups and `expand`: of a search of `table`, otherwise with the
 * names of their tables, which are not shown. `fields` are the only ones that it shows, with those of the ends as
 * `customer.name`; undefined: all.
 */
export async function finishedFor(
  ctx: LinkContext,
  db: Database,
  texts: readonly string[],
  paths: readonly string[],
  table: Table | undefined,
  fields: ReadonlySet<string> | undefined,
): Promise<readonly string[]> {
  const records = texts.map((text) => parseExactly(text) as Data); // answers of ours
  const shownOf = table ? flatIn(table) : nestedIn(db);
  await withRollups(ctx, { db, viewer: undefined }, records, shownOf, fields && [...fields]);
  const printed = (record: Data) => JSON.stringify(table ? record : { ...record, table_name: undefined });
  if (paths.length === 0) return records.map(printed);
  const done = await expanded(ctx, { db, viewer: undefined }, records, paths, shownOf);
  const visible = (path: string, value: Value): Value => {
    if (!fields || value === null) return value;
    if (isList(value)) return value.map((one) => visible(path, one));
    return Object.fromEntries(
      Object.entries(value).filter(([name]) => ownFields.has(name) || fields.has(`${path}.${name}`)),
    );
  };
  return done.map(({ expand, ...record }) => {
    const ends = Object.entries(expand).map(([path, value]) => [path, visible(path, value)]);
    return printed({ ...record, expand: Object.fromEntries(ends) });
  });
}

const isList = (value: Value): value is readonly Value[] => Array.isArray(value);

/** The records with `expand`: what is at the end of each path. */
export async function expanded<R extends Data>(
  ctx: LinkContext,
  reading: Reading,
  records: readonly R[],
  paths: readonly string[],
  shownOf: (record: Data) => Shown,
  room = roomToExpand(),
): Promise<(R & { readonly expand: Readonly<Record<string, Value>> })[]> {
  const found = await follow(ctx, reading, records.map(shownOf), paths, room);
  const valueOf = (text: EndText | undefined) => (text === undefined ? null : (parseExactly(text) as Value)); // of ours
  return records.map((record, at) => ({
    ...record,
    expand: Object.fromEntries(paths.map((path): [string, Value] => [path, valueOf(found.get(path)?.[at])])),
  }));
}

interface Room {
  records: number;
  characters: number;
}

/** For one answer, however many pages it is read in. */
export function roomToExpand(): Room {
  return { records: expandLimits.records, characters: expandLimits.characters };
}

/** For each path, what each of the records has at its end. */
async function follow(
  ctx: LinkContext,
  { db, viewer }: Reading,
  from: readonly Shown[],
  paths: readonly string[],
  room: Room,
): Promise<ReadonlyMap<string, readonly EndText[]>> {
  const found = new Map<string, readonly EndText[]>();
  for (const name of new Set(paths.map((path) => path.split(".")[0] ?? ""))) {
    const link = linkOf(db, from, name);
    const target = await targetOf(ctx, db.accountId, link, viewer);
    const ids = [...new Set(from.flatMap(({ data }) => idsIn(own(data, name))))];
    const ends = target ? await read(ctx, { db: target, viewer }, link, ids, room) : new Map<string, EndText>();
    const deeper = paths.flatMap((path) => (path.startsWith(`${name}.`) ? [path.slice(name.length + 1)] : []));
    const valuesAt = (end: (id: string) => EndText | undefined): readonly EndText[] =>
      from.map(({ data }) => {
        const value = own(data, name);
        const texts = idsIn(value).map((id) => end(id) ?? "null");
        return placed(Array.isArray(value) ? `[${texts.join(",")}]` : (texts[0] ?? "null"), room);
      });
    if (paths.includes(name))
      found.set(
        name,
        valuesAt((id) => ends.get(id)),
      );
    if (deeper.length === 0) continue;
    const places = new Map([...ends.keys()].map((id, at) => [id, at]));
    const records = [...ends.values()].map((text) => parseExactly(text) as Data); // objects of ours
    const next = records.map((data) => ({ data, table: target && tableIn(target, link) }));
    const further = target && (await follow(ctx, { db: target, viewer }, next, deeper, room));
    for (const path of deeper)
      found.set(
        `${name}.${path}`,
        valuesAt((id) => further?.get(path)?.[places.get(id) ?? -1]),
      );
  }
  return found;
}

/** 400 for what is no link of any of the tables. */
function linkOf(db: Database, from: readonly Shown[], name: string): Link {
  const tables = [...from.flatMap(({ table }) => table ?? []), ...db.schema.tables.values()];
  const link = tables.map(({ name: table }) => db.schema.tables.get(table)?.fields.get(name)?.link).find(Boolean);
  if (!link) throw noLink(name);
  return link;
}

const noLink = (name: string) => badRequest(`\`expand\`: ${name.slice(0, 100)} is not a link of this database`);

async function read(
  ctx: LinkContext,
  { db: target, viewer }: Reading,
  link: Link,
  ids: readonly string[],
  room: Room,
): Promise<Map<string, EndText>> {
  room.records -= ids.length;
  if (room.records < 0) throw tooMuch(`more than ${expandLimits.records} records`);
  const ends = new Map<string, EndText>();
  const table = tableIn(target, link);
  let characters = 0;
  for (let at = 0; at < ids.length; at += linkStore.mostEnds) {
    for (const [id, raw] of await flat(ctx, target, table, ids.slice(at, at + linkStore.mostEnds))) {
      const [whole] = raw === id ? await linkStore.flat(ctx.sql, target, table, [id], Infinity) : [raw];
      if (whole === undefined) continue; // gone meanwhile
      characters += whole.length;
      if (characters > room.characters) throw tooLong();
      ends.set(id, printRaw(whole, "flat"));
    }
  }
  const ofTable = target.schema.tables.get(link.table ?? "");
  // A program's are those of its own records alone: what they are of was not asked for when it was saved.
  if (!viewer || !ofTable?.computed.length) return ends;
  const records = [...ends.values()].map((text) => parseExactly(text) as Data); // objects of ours
  await withRollups(ctx, { db: target, viewer }, records, flatIn(ofTable));
  return new Map([...ends.keys()].map((id, at) => [id, JSON.stringify(records[at])]));
}

/** Counts each place that shows a record: many may link to the same. */
function placed(text: EndText, room: Room): EndText {
  room.characters -= text.length;
  if (room.characters < 0) throw tooLong();
  return text;
}

const tooLong = () => tooMuch(`more than ${expandLimits.characters} characters`);

function tooMuch(what: string): HttpError {
  return new HttpError(422, { error: `\`expand\` would show ${what}: ask for a shorter page or fewer paths` });
}

function own(data: Data, name: string): unknown {
  return Object.hasOwn(data, name) ? data[name] : null;
}
