/** Which columns of a file name the records that links lead to, and by which of their fields. No SQL. */
import { isUuid } from "platform";
import type { JsondbContext } from "../../context.ts";
import type { Database } from "../../databases/database.ts";
import type { Table } from "../../databases/schema.ts";
import type { Viewer } from "../../access/reach.ts";
import { createFinder, referencesOf, type Match, type Reference, type References } from "../../links/references.ts";
import { valuesIn } from "../imports/check.ts";
import { mostDoubts, type Doubt } from "./guess.ts";
import type { KnownField, PreviewColumn } from "./preview.ts";

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
