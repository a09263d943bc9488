/**
 * Checks the rows of an import, each for all of its faults. Those with links, and of a dry run those with unique fields, a page at a time: what they
 * name is looked up together.
 */
import * as endsStore from "../../links/ends-store.ts";
import * as keysStore from "../../records/keys-store.ts";
import { tableForWrite, type Database } from "../../databases/database.ts";
import { isTaken } from "../../databases/unique.ts";
import { choiceReader, type ChoiceReader } from "../../databases/choices.ts";
import { fits, listLimit } from "../../databases/kinds.ts";
import { whyUnread } from "../files/expected.ts";
import { place as quoted } from "../files/parameters.ts";
import { noTable, type Table } from "../../databases/schema.ts";
import { idsIn, linkFields, nameOf, tableIn, targetOf } from "../../links/links.ts";
import { createFinder, referencesOf, type Match, type Reference, type References } from "../../links/references.ts";
import { mayAll, type Viewer } from "../../access/reach.ts";
import type { JsondbContext } from "../../context.ts";
import { withDefaults } from "../../records/defaults.ts";
import { withPeople } from "../../people/people.ts";
import { hasNamed, namedFaults, namedThere, type Namer } from "../../records/named.ts";
import { indexValues } from "../../records/index-values.ts";
import { newClaims } from "../../records/keys.ts";
import { asStored, checkRecord, newRecord, type Data, type Faults } from "../../records/record.ts";
import { mayName } from "../../records/rights.ts";
import { dataFromText, valueFromText, type Place, type Row, type RowFault } from "./rows.ts";
import type { RowReader } from "./reader.ts";
import type { PlacedRecord } from "./store.ts";
import { isNumber, uuidv7, ValidationError } from "platform";

export interface CheckedRow {
  readonly record: PlacedRecord;
  readonly tableName: string;
  readonly data: Data;
}

interface FaultyRow {
  readonly faults: readonly RowFault[];
  /** Of what is right in it, for further checks; undefined if nothing can be said of it. */
  readonly tableName: string | undefined;
  readonly data: Data;
}

export type Checked = CheckedRow | FaultyRow;

interface CheckOptions {
  readonly reader: Pick<RowReader, "written">;
  readonly asText: boolean;
  readonly tableName: string | undefined;
  readonly dry?: boolean;
  readonly viewer: Viewer | undefined;
}

export interface Outcome {
  readonly row: Row;
  checked: Checked;
}

export const pageLimits = { rows: 1000, characters: 4_000_000, keys: 1_000_000 } as const;

/** `take` gives back the rows that are checked by now, `end` those that are left. */
export function createChecker(ctx: JsondbContext, db: Database, options: CheckOptions) {
  const isLinked = [...db.rules.tables.values()].some((table) => linkFields(table).length > 0);
  const isNaming = hasNamed(db);
  const isPaged = isLinked || isNaming || (options.dry === true && db.keySets.length > 0);
  const { tableName } = options;
  const tableOf = (row: Row) => ("fault" in row ? undefined : db.rules.tables.get(tableName ?? row.tableName ?? ""));
  const links = createLinks(ctx, db, { ...options, tableOf });
  const seen = new Set<string>();
  const ignored = new Set<string>();
  const check = createRowCheck(db, options, ignored);
  let page: Row[] = [];
  let size = 0;
  const flush = async (): Promise<readonly Outcome[]> => {
    const rows = page;
    [page, size] = [[], 0];
    const linked = isLinked ? await links.resolve(rows) : rows;
    const resolved = isNaming ? await withPeople(ctx.sql, db.accountId, linked, tableOf) : linked;
    const all = resolved.map((row) => ({ row, checked: check(row) }));
    if (isLinked) await links.check(all);
    if (isNaming) await checkNamed(ctx, db, all, options.viewer);
    if (options.dry) await checkKeys(ctx, db, all, seen);
    return all;
  };
  return {
    async take(row: Row): Promise<readonly Outcome[]> {
      if (!isPaged) return [{ row, checked: check(row) }];
      page.push(row);
      size += "fault" in row ? 0 : sizeOf(row.data);
      return page.length >= pageLimits.rows || size >= pageLimits.characters ? flush() : [];
    },
    /** Names that are worked out when read. */
    ignored,
    end: () => (page.length > 0 ? flush() : Promise.resolve([])),
    /** Values of unique fields that a dry run has not compared with those of later rows. */
    isCut: () => seen.size >= pageLimits.keys,
  };
}

const sizeOf = (data: Data) =>
  Object.values(data).reduce((sum: number, value) => sum + (typeof value === "string" ? value.length : 20), 0);

function createRowCheck(db: Database, { reader, asText, tableName }: CheckOptions, ignored: Set<string>) {
  const labels = createLabels();
  return (row: Row): Checked => {
    if ("fault" in row) return { faults: [row.fault], tableName: undefined, data: {} };
    const { place, faults: before = [] } = row;
    try {
      const table = tableForWrite(db, tableName ?? row.tableName);
      const read = asText ? dataFromText(table, row.data) : row.data;
      for (const name of table.computed) if (Object.hasOwn(read, name)) ignored.add(name);
      const given = asStored(table, reader.written ? labels(table, read) : read);
      if (!mayAll(db, "add")) mayName(db, "add", Object.keys(given));
      const data = withDefaults(db, table, given);
      const faults = [...before, ...placed(place, inWords(checkRecord(table, data), table, data, reader), before)];
      if (faults.length > 0) return { faults, tableName: table.name, data: withoutFaulty(data, faults) };
      const { id, json, createdAt } = newRecord(table, data);
      return { record: { id, json, createdAt, place, index: indexValues(table, data) }, tableName: table.name, data };
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error;
      return { faults: [...before, ...placed(place, error.fields)], tableName: undefined, data: {} };
    }
  };
}

/** Without those of links whose fault is known as that of their column `customer:email`. */
function placed(place: Place, faults: Faults, before: readonly RowFault[] = []): RowFault[] {
  const isKnown = (field: string) => before.some((one) => one.field === field || one.field?.startsWith(`${field}:`));
  return Object.entries(faults ?? {}).flatMap(([field, messages]) =>
    isKnown(field) ? [] : [{ ...place, field, message: messages.join(", ") }],
  );
}

function withoutFaulty(data: Data, faults: readonly RowFault[]): Data {
  const fields = new Set(faults.map(({ field }) => field));
  return Object.fromEntries(Object.entries(data).filter(([name]) => !fields.has(name)));
}

/** Adds faults of these fields. */
function accuse(one: Outcome, faults: readonly Omit<RowFault, keyof Place>[]): void {
  const { row, checked } = one;
  if ("fault" in row || faults.length === 0) return;
  const more = faults.map((fault) => ({ ...row.place, ...fault }));
  const all = "faults" in checked ? [...checked.faults, ...more] : more;
  one.checked = { faults: all, tableName: checked.tableName, data: withoutFaulty(checked.data, more) };
}

/** Texts that are labels of choices become their values. */
function createLabels() {
  const known = new Map<Table, readonly (readonly [field: string, read: ChoiceReader])[]>();
  const readersOf = (table: Table) => {
    const fields = [...table.fields].filter(([, { choices }]) => choices);
    return fields.map(([name, field]) => [name, choiceReader(field)] as const);
  };
  return (table: Table, data: Data): Data => {
    const readers = known.get(table) ?? readersOf(table);
    known.set(table, readers);
    const named = readers.filter(([name]) => Object.hasOwn(data, name));
    if (named.length === 0) return data;
    return { ...data, ...Object.fromEntries(named.map(([name, read]) => [name, read(data[name])])) };
  };
}

/** A text that was not read as its field's type is named, with what was expected. */
function inWords(faults: Faults, table: Table, data: Data, { written }: CheckOptions["reader"]): Faults {
  if (!faults) return faults;
  const said = Object.entries(faults).map(([name, messages]): [string, string[]] => {
    const [type, value] = [table.fields.get(name)?.type, data[name]];
    if (table.fields.get(name)?.format === "user" && value !== null && value !== undefined)
      return [
        name,
        [
          `${typeof value === "string" ? quoted(value) : JSON.stringify(value)} must be a person's login, e-mail address, name or id`,
        ],
      ];
    const format = written?.(name);
    if (type === undefined || format === undefined || typeof value !== "string" || fits(type, value))
      return [name, messages];
    return [name, [`${quoted(value)} ${whyUnread(type, value, format)}`]];
  });
  return Object.fromEntries(said);
}

// Links.

interface LinkOptions extends Pick<CheckOptions, "viewer"> {
  readonly tableOf: (row: Row) => Table | undefined;
}

function createLinks(ctx: JsondbContext, db: Database, { tableOf, viewer }: LinkOptions) {
  const references = new Map<string, Promise<References>>();
  const find = createFinder(ctx);
  const referencesIn = (table: Table) => {
    const known = references.get(table.name) ?? referencesOf(ctx, { db, table, viewer });
    references.set(table.name, known);
    return known;
  };
  return {
    /** The rows with the ids of the records that their columns like `customer:email` name. */
    async resolve(rows: readonly Row[]): Promise<readonly Row[]> {
      const asked = new Map<Reference, Set<string>>();
      const each: Named[] = [];
      for (const row of rows) {
        const table = tableOf(row);
        const named = "fault" in row || !table ? nothingNamed : givenIn(row, table, await referencesIn(table));
        each.push(named);
        for (const { reference, values } of named.given) {
          const all = asked.get(reference) ?? new Set();
          asked.set(reference, all);
          for (const value of values) all.add(value);
        }
      }
      const found = new Map<Reference, ReadonlyMap<string, Match>>();
      for (const [reference, values] of asked) found.set(reference, await find(reference, [...values]));
      return rows.map((row, at) => withIds(row, each[at] ?? nothingNamed, found));
    },
    /** Rows whose links lead to no record are faulty. */
    async check(all: readonly Outcome[]): Promise<void> {
      for (const table of db.rules.tables.values())
        for (const [field, link] of linkFields(table)) {
          const named = all.flatMap((one) => {
            if (one.checked.tableName !== table.name) return [];
            const ids = idsIn(one.checked.data[field]);
            return ids.length > 0 ? [{ one, ids }] : [];
          });
          if (named.length === 0) continue;
          const target = await targetOf(ctx, db.accountId, link, viewer);
          const ids = [...new Set(named.flatMap((row) => row.ids))];
          const there = target && (await endsStore.open(ctx.sql, target, tableIn(target, link), ids));
          for (const { one, ids: own } of named) {
            const missing = own.find((id) => !there?.has(id));
            if (missing !== undefined)
              accuse(one, [{ field, message: `${missing} is not the id of a record of ${nameOf(link)}` }]);
          }
        }
    },
  };
}

interface Given {
  readonly reference: Reference;
  readonly values: readonly string[];
}

interface Named {
  readonly given: readonly Given[];
  readonly faults: readonly RowFault[];
}

const nothingNamed: Named = { given: [], faults: [] };

/** What a row's columns like `customer:email` hold; faults for those that no record is found by. */
function givenIn({ data, place }: Exclude<Row, { fault: RowFault }>, table: Table, known: References): Named {
  const given: Given[] = [];
  const faults: RowFault[] = [];
  for (const [name, value] of Object.entries(data)) {
    const colon = name.indexOf(":");
    if (colon < 0 || table.fields.has(name)) continue;
    const field = name.slice(0, colon);
    if (!table.fields.get(field)?.link) continue;
    const wrong = (message: string) => void faults.push({ ...place, field: name, message });
    const reference = known.get(name);
    if (!reference) {
      const names = [...known.values()].filter((one) => one.field === field).map((one) => one.name);
      wrong(names.length > 0 ? `is not known here: use ${names.join(" or ")}` : "is not known here: use ids");
      continue;
    }
    const values = valuesIn(reference, value);
    const isTwice =
      given.some((one) => one.reference.field === field && one.values.length > 0) || !isBlank(data[field]);
    if (!values) wrong("must be a text, or a number");
    else if (values.length > listLimit) wrong(`may name at most ${listLimit} records`);
    else if (isTwice && values.length > 0) wrong(`${field} is given twice`);
    else given.push({ reference, values });
  }
  return { given, faults };
}

const isBlank = (value: unknown) => value === undefined || value === null || value === "";

/** As the field holds them; undefined for what is none. */
export function valuesIn({ isList, type }: Reference, given: unknown): string[] | undefined {
  if (isBlank(given)) return [];
  const all = isList && typeof given === "string" ? valueFromText("list", given) : given;
  const items: unknown[] = Array.isArray(all) ? all : [all];
  if (!isList && Array.isArray(given)) return undefined;
  const texts = items.map((item) => (typeof item === "number" ? String(item) : item));
  if (!texts.every((text) => typeof text === "string")) return undefined;
  const trimmed = texts.map((text) => text.trim().normalize("NFC")).filter((text) => text !== "");
  if (type === "string" || type === "text") return trimmed;
  return trimmed.map((text) => {
    const value = valueFromText(type, text);
    return typeof value === "string" || isNumber(value) ? String(value) : text;
  });
}

function withIds(
  row: Row,
  { given, faults: before }: Named,
  found: ReadonlyMap<Reference, ReadonlyMap<string, Match>>,
): Row {
  if ("fault" in row || given.length + before.length === 0) return row;
  const faults = [...before];
  const ids: [string, unknown][] = [];
  for (const { reference, values } of given) {
    if (values.length === 0) continue;
    const matches = values.map((value) => found.get(reference)?.get(value) ?? { why: "was not looked up" });
    const wrong = matches.find((match) => "why" in match);
    if (wrong && "why" in wrong) {
      faults.push({ ...row.place, field: reference.name, message: wrong.why });
      continue;
    }
    const all = matches.flatMap((match) => ("id" in match ? [match.id] : []));
    ids.push([reference.field, reference.isList ? all : all[0]]);
  }
  const names = new Set([...given.map(({ reference }) => reference.name), ...faults.map(({ field }) => field)]);
  return {
    ...row,
    ...(faults.length > 0 && { faults }),
    data: Object.fromEntries([...Object.entries(row.data).filter(([name]) => !names.has(name)), ...ids]),
  };
}

// Files and people.

/** Rows that name those that are not there are faulty. */
async function checkNamed(ctx: JsondbContext, db: Database, all: readonly Outcome[], who: Namer): Promise<void> {
  const { tables } = db.rules;
  const data = all.map(({ checked }) => checked.data);
  const there = await namedThere(ctx, ctx.sql, db.accountId, tables.values(), data, who);
  for (const one of all) {
    const { tableName = "", data: its } = one.checked;
    const faults = Object.entries(namedFaults(tables.get(tableName) ?? noTable, its, there) ?? {});
    accuse(
      one,
      faults.map(([field, [message = ""]]) => ({ field, message })),
    );
  }
}

// Unique fields.

/** Rows whose values others have, or an earlier row, are faulty, as they would be in an import. */
async function checkKeys(ctx: JsondbContext, db: Database, all: readonly Outcome[], seen: Set<string>): Promise<void> {
  const byId = new Map<string, Outcome>();
  const claims = all.flatMap((one) => {
    const { checked } = one;
    if (checked.tableName === undefined) return [];
    const id = "record" in checked ? checked.record.id : uuidv7();
    byId.set(id, one);
    return newClaims(db, checked.tableName, id, checked.data);
  });
  if (claims.length === 0) return;
  const keys = await keysStore.keysOf(ctx.sql, db, claims);
  for (const [id, own] of Map.groupBy(claims, (claim) => claim.id)) {
    const one = byId.get(id);
    // A faulty row would not be stored, and takes no value from a later one.
    const isGood = one !== undefined && !("faults" in one.checked);
    const known = own.map((claim) => ({ claim, ...keys.get(claim) }));
    const taken = known.filter(({ key = "", isHeld }) => isHeld || seen.has(key));
    if (taken.length === 0 && isGood)
      for (const { key } of known) if (key && seen.size < pageLimits.keys) seen.add(key);
    if (one)
      accuse(
        one,
        taken.map(({ claim }) => ({ field: claim.set.field, message: isTaken })),
      );
  }
}
