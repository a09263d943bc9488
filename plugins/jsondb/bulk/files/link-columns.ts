/** Which columns of a file name the records that links lead to, and by which of their fields. No SQL. */
import { invalid, isUuid } from "platform";
import type { JsondbContext } from "../../context.ts";
import { allOpen, viewerOf, type Viewing } from "../../databases/cache.ts";
import type { Database } from "../../databases/database.ts";
import { noTable, parseSchema, type Table } from "../../databases/schema.ts";
import { isQuick } from "../../links/ends-store.ts";
import { nameOf } from "../../links/links.ts";
import type { Viewer } from "../../access/reach.ts";
import {
  createFinder,
  referencesOf,
  titleOf,
  type Match,
  type Reference,
  type References,
} from "../../links/references.ts";
import { valuesIn } from "../imports/check.ts";
import { mostDoubts, type Doubt } from "./guess.ts";
import { planOf } from "./plan.ts";
import type { KnownField, LinkGuess, Preview, PreviewColumn } from "./preview.ts";

/** Of a list. */
const mostItems = 10;

interface Compared {
  readonly db: Database;
  readonly table: Table;
  readonly viewer: Viewer;
}

/** The fields that a file's columns are compared with, and what may stand for links. */
export async function knownFields(ctx: JsondbContext, { db, table, viewer }: Compared) {
  const references = await referencesOf(ctx, { db, table, viewer });
  const all = db.schema.tables.get(table.name)?.fields ?? table.fields;
  const fields = [...all].map(([name, { type: own, format, label = {}, link, choices }]): KnownField => {
    const labels = typeof label === "string" ? [label] : Object.values(label);
    // People are called by texts.
    const type = format === "user" && own === "integer" ? "string" : own;
    return { name, type, labels, choices, isLink: link !== undefined };
  });
  const others = [...references.values()].map(({ name, isList }): KnownField => {
    return { name, type: isList ? "list" : "string", labels: [], isLink: true };
  });
  return { fields: [...fields, ...others], references };
}

const guessLimits = { columns: 12, values: 30, tables: 50, least: 3, share: 0.6 } as const;

/**
 * The columns of a file that becomes a table: links as they were chosen with the values that name no record, and of others
 * the table in which most of the values are titles.
 */
export async function newLinks(
  ctx: JsondbContext,
  viewing: Viewing,
  preview: Preview,
  parameters: Parameters<typeof planOf>[1],
): Promise<PreviewColumn[]> {
  const isChosen = ({ format }: PreviewColumn) => format.link !== undefined;
  const references = preview.columns.some(isChosen) ? await chosenLinks(ctx, viewing, preview, parameters) : new Map();
  const shown = await linkColumns(
    ctx,
    preview.columns.map(({ named, ...column }) => (isChosen(column) && named ? { ...column, named } : column)),
    references,
  );
  const guesses = await linkGuesses(ctx, viewing, preview.columns);
  return shown.map((column, at) => {
    const linked = guesses.get(column.name);
    return { ...column, format: preview.columns[at]?.format ?? {}, ...(linked && { linked }) };
  });
}

async function chosenLinks(
  ctx: JsondbContext,
  viewing: Viewing,
  preview: Preview,
  parameters: Parameters<typeof planOf>[1],
): Promise<References> {
  const parsed = parseSchema(planOf(preview, parameters).schema);
  if ("mistakes" in parsed) throw invalid({ formats: parsed.mistakes });
  const table = parsed.schema.tables.get("") ?? noTable;
  const db = { accountId: viewing.account.id, schema: parsed.schema };
  return referencesOf(ctx, { db, table, viewer: viewerOf(viewing) });
}

/** One statement for each table that is found in quickly. */
async function linkGuesses(ctx: JsondbContext, viewing: Viewing, columns: readonly PreviewColumn[]) {
  const best = new Map<string, LinkGuess>();
  const asked = columns
    .filter(({ type, format: { kind = "choice", link } }) => type === "string" && kind === "choice" && !link)
    .map(({ name, named = [] }) => ({ name, values: named.slice(0, guessLimits.values).map(({ value }) => value) }))
    .filter(({ values }) => values.length >= guessLimits.least)
    .slice(0, guessLimits.columns);
  if (asked.length === 0) return best;
  const all = (await allOpen(ctx, viewing.account.id, viewing)).flatMap((db) =>
    [...db.rules.tables.values()].flatMap((table) => titleOf(db, table) ?? []),
  );
  const find = createFinder(ctx);
  for (const reference of all.filter(isQuick).slice(0, guessLimits.tables)) {
    const found = await find(reference, [...new Set(asked.flatMap(({ values }) => values))]);
    for (const { name, values } of asked) {
      const count = values.filter((value) => whyNot(found.get(value)) === undefined).length;
      const isMost = count >= Math.max(guessLimits.least, values.length * guessLimits.share);
      if (isMost && count > (best.get(name)?.found ?? 0))
        best.set(name, { link: nameOf(reference.link), by: reference.by, found: count, of: values.length });
    }
  }
  return best;
}

/** The columns of links with the field by which most of their values are found, and with those that are not found. */
export async function linkColumns(
  ctx: JsondbContext,
  columns: readonly PreviewColumn[],
  references: References,
): Promise<PreviewColumn[]> {
  const find = createFinder(ctx);
  const taken = new Set<string>();
  const shown: PreviewColumn[] = [];
  for (const { named = [], ...column } of columns) {
    const link = references.get(column.field ?? "")?.field ?? column.field;
    const isTwice = named.length > 0 && link !== null && taken.has(link);
    if (named.length > 0 && link !== null) taken.add(link);
    if (isTwice) shown.push({ ...column, field: null });
    else if (named.every(({ value }) => isUuid(value))) shown.push(column);
    else shown.push({ ...column, ...(await guessed(find, column, named, references)) });
  }
  return shown;
}

async function guessed(
  find: ReturnType<typeof createFinder>,
  { field }: PreviewColumn,
  named: NonNullable<PreviewColumn["named"]>,
  references: References,
): Promise<Partial<PreviewColumn>> {
  const given = references.get(field ?? "");
  const candidates = given ? [given] : [...references.values()].filter((one) => one.field === field);
  let best: { readonly reference: Reference; readonly doubtful: readonly Doubt[] } | undefined;
  for (const reference of candidates) {
    const values = named.map((one) => ({ ...one, items: valuesIn(reference, one.value)?.slice(0, mostItems) ?? [] }));
    const found = await find(reference, [...new Set(values.flatMap(({ items }) => items))]);
    const doubtful = values.flatMap(({ row, value, items }) => {
      const why = items.map((item) => whyNot(found.get(item))).find((one) => one !== undefined);
      return why === undefined ? [] : [{ row, value: value.slice(0, 200).toWellFormed(), why }];
    });
    if (doubtful.length < (best?.doubtful.length ?? (given ? Infinity : named.length))) best = { reference, doubtful };
  }
  if (!best) {
    const why = "is not the id of a record";
    return { doubtful: named.slice(0, mostDoubts).map(({ row, value }) => ({ row, value: value.slice(0, 200), why })) };
  }
  return { field: best.reference.name, format: {}, doubtful: best.doubtful.slice(0, mostDoubts) };
}

function whyNot(match: Match | undefined): string | undefined {
  return match && "why" in match ? match.why : undefined;
}
