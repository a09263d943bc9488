/** Changes of a database's schema as requests, fields that go and come, and the tables that a field may lead to. */
import { ApiError, get, isMap, mapsIn, ownOf, questions, request, text, toasts, words } from "studio";
import type { Database } from "../database.svelte.ts";
import { folded } from "../../databases/choices.ts";
import { rowOf } from "../cells.ts";
import { itemsOf, kindOf, titleField, wordsOf } from "../look/kinds.ts";
import { batchPath, bulkPath, dbPath, recordsPath, taskPath } from "../paths.ts";
import { draftOf, schemaOf, type FieldDraft, type SchemaDraft } from "../schema.ts";
import { taskOf } from "../transfer/tasks.ts";
import { changeField, inTable, removeField, restoreField, withField } from "./changes.ts";
import { say, texts } from "./words.ts";

const mostAttempts = 4;

/**
 * Changes what the server has, after whatever others have changed of it meanwhile. `rename`: old names of fields, in a
 * database with tables as `table.old`, to new ones.
 */
export async function changeSchema(
  database: Database,
  change: (draft: SchemaDraft) => SchemaDraft,
  rename?: Readonly<Record<string, string>>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await writeSchema(database, schemaOf(change(draftOf(database.db?.schema))), rename);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 412) || attempt === mostAttempts) throw error;
      await database.load();
    }
  }
}

/** 412 if somebody else has changed it since it was read. */
export async function writeSchema(
  database: Database,
  schema: unknown,
  rename?: Readonly<Record<string, string>>,
): Promise<void> {
  const body = { db: { schema }, ...(rename && { rename }) };
  const { json, headers } = await request("PATCH", dbPath(database.key), { body, ifMatch: database.tag });
  database.show(json, headers);
}

/** The parameters that find the records of a table that have something in a field. */
const having = ({ schema }: Database, table: string, name: string) =>
  new URLSearchParams({ [`filter[${name}][ne]`]: "", ...(schema.multiTable && { table_name: table }) });

/** How many records have something in a field; undefined where that cannot be told. */
export async function usesOf(
  database: Database,
  table: string,
  name: string,
  signal?: AbortSignal,
): Promise<number | undefined> {
  const fields = database.schema.tables.find((one) => one.name === table)?.fields;
  // No record has what is worked out.
  if (fields?.find((one) => one.name === name)?.more?.["rollup"]) return undefined;
  try {
    const path = `${recordsPath(database.key)}?${having(database, table, name)}&count=true&limit=1&fields=id`;
    const { headers } = await get(path, signal);
    return Number(headers.get("x-total-count") ?? undefined) || 0;
  } catch {
    return undefined;
  }
}

/** A table as a link names it: `orders`, or `shop.orders` of a database with tables. */
export interface OtherTable {
  readonly value: string;
  readonly label: string;
  readonly fields: readonly FieldDraft[];
  /** By which people know its records. */
  readonly title: string | undefined;
}

export async function allTables(): Promise<readonly OtherTable[]> {
  const { json } = await get("/core/dbs.json?limit=200");
  return mapsIn(json).flatMap(({ code, name, schema }) => {
    const draft = draftOf(isMap(schema) ? schema : null);
    return draft.tables.map((table): OtherTable => {
      const isPart = draft.multiTable;
      return {
        value: isPart ? `${String(code)}.${table.name}` : String(code),
        label: isPart ? `${String(name)}: ${table.name}` : String(name),
        fields: table.fields,
        title: titleField(table),
      };
    });
  });
}

/** What people call a field. */
export function labelOf({ name, more }: Pick<FieldDraft, "name" | "more">): string {
  return wordsOf(more?.["label"], text.language) || words(name);
}

/** Says what goes and what stays. Records keep what they have in the field, so that it comes back whole. */
export async function removeWithUndo(database: Database, table: string, name: string, label: string): Promise<boolean> {
  const before = database.schema.tables.find((one) => one.name === table);
  const used = await usesOf(database, table, name);
  try {
    await changeSchema(database, (draft) => inTable(draft, table, (one) => removeField(one, name)));
  } catch (error) {
    toasts.fail(error);
    return false;
  }
  const back = () =>
    changeSchema(database, (draft) => inTable(draft, table, (one) => (before ? restoreField(one, before, name) : one)));
  const stays = used ? text.count(texts().valuesStay, used) : "";
  toasts.offerUndo(
    `${say("fieldDeleted", { name: label })} ${stays}`.trim(),
    () => void back().catch((error: unknown) => toasts.fail(error)),
  );
  return true;
}

/** From where one does not see what a field has: says first what goes, and what stays. */
export async function askAndRemove(database: Database, table: string, name: string): Promise<boolean> {
  const field = database.schema.tables.find((one) => one.name === table)?.fields.find((one) => one.name === name);
  if (!field) return false;
  const label = labelOf(field);
  const used = await usesOf(database, table, name);
  const about = {
    says: say("fieldGoes"),
    lines: [used ? text.count(texts().valuesStay, used) : say("nothingStays"), say("fieldComesBack")],
  };
  const isSure = await questions.ask(say("deleteFieldSure", { name: label }), about);
  return isSure && removeWithUndo(database, table, name, label);
}

/** Another field like it, without its values and without being unique. */
export async function duplicateField(database: Database, table: string, name: string, next: string): Promise<void> {
  const all = database.schema.tables.find((one) => one.name === table)?.fields ?? [];
  const field = all.find((one) => one.name === name);
  if (!field) return;
  const full = { ...field.more, type: field.type, required: field.required };
  const label = { [text.language]: say("copyOf", { name: labelOf(field) }) };
  try {
    await changeSchema(database, (draft) =>
      withField(draft, table, next, { ...full, label, unique: undefined }, all.indexOf(field) + 1),
    );
    toasts.say(say("fieldAdded"));
  } catch (error) {
    toasts.fail(error);
  }
}

const askAgainMs = 500;

/** Deletes what records have in a field that is gone, and waits for the end. */
export async function deleteValues(database: Database, table: string, name: string): Promise<void> {
  const { key } = database;
  const body = { op: "update", data: { [name]: null } };
  let task = taskOf((await request("POST", `${bulkPath(key)}?${having(database, table, name)}`, { body })).json);
  while (task?.status === "running") {
    await new Promise((resolve) => setTimeout(resolve, askAgainMs));
    task = taskOf((await get(taskPath(key, task.id))).json);
  }
  if (task?.error) throw new Error(task.error);
}

// What a rollup may be of: the links that lead to its table, and what can be worked out of the linking records.

interface Incoming {
  /** As `rollup.of` names the linking field. */
  readonly of: string;
  readonly label: string;
  /** Those of the linking table. */
  readonly fields: readonly FieldDraft[];
}

/** `self`: the table, as links may name it. */
export function incoming(tables: readonly OtherTable[], self: readonly string[]): readonly Incoming[] {
  return tables.flatMap(({ value, label, fields }) =>
    fields
      .filter(({ more }) => self.includes(String(more?.["link"])))
      .map((field) => ({ of: `${value}.${field.name}`, label: `${label} · ${labelOf(field)}`, fields })),
  );
}

/** Times have a first and a last one, but no sum. */
export function measurable(fields: readonly FieldDraft[], op: string): readonly FieldDraft[] {
  const types = op === "min" || op === "max" ? ["number", "integer", "date", "datetime"] : ["number", "integer"];
  return fields.filter((field) => types.includes(field.type) && kindOf(field) !== "rollup");
}

/** The options of a field that shows this: an amount is shown as one. */
export function rollupFrom(
  { of, op = "count", field }: Readonly<Record<string, unknown>>,
  links: readonly Incoming[],
): Readonly<Record<string, unknown>> {
  const measured = links.find((one) => one.of === of)?.fields.find(({ name }) => name === field && op !== "count");
  const isTime = measured?.type === "date" || measured?.type === "datetime";
  const isMoney = measured?.more?.["format"] === "money";
  return {
    type: isTime ? "datetime" : "number",
    rollup: { of, op, ...(op !== "count" && typeof field === "string" && field !== "" && { field }) },
    format: isMoney ? "money" : undefined,
    currency: isMoney ? measured.more?.["currency"] : undefined,
  };
}

// A field of texts becomes one of links, where its values are what the records of another table are called.

/** As many as a batch takes. */
const atOnce = 1000;

/** The form of the field that becomes a link. */
interface Relinked {
  readonly database: Database;
  readonly table: string;
  readonly stored: string;
  readonly definition: Readonly<Record<string, unknown>>;
}

/** `to`: the field of links that comes after the one of texts. Whether any value was found. If all were, the texts go with their field; else it stays, and says that it has them. */
export async function relink({ database, table, stored: from, definition }: Relinked, to: string): Promise<boolean> {
  const ids = await idsByTitle(String(definition["link"]));
  const isList = definition["type"] === "list";
  const rows = await valuesOf(database.key, from, database.schema.multiTable ? table : undefined);
  const operations = [...rows].flatMap(([id, value]) => {
    const found = itemsOf(value).map((one) => ids.get(folded(String(one))));
    const isFound = found.every((one) => one !== undefined) && (isList || found.length === 1);
    return isFound ? [{ op: "update", id, data: { [to]: isList ? found : found[0] } }] : [];
  });
  if (operations.length === 0) return false;
  const before = database.schema.tables.find(({ name }) => name === table);
  const field = before?.fields.find(({ name }) => name === from);
  if (!before || !field) return false;
  const isAll = operations.length === rows.size;
  const label = labelOf(field);
  const old = { ...field, required: false, more: { ...field.more, label: say("oldTexts", { name: label }) } };
  await changeSchema(database, (draft) =>
    withField(
      draft,
      table,
      to,
      { label: { [text.language]: label }, ...definition, required: definition["required"] === true && isAll },
      before.fields.indexOf(field) + 1,
    ),
  );
  for (let at = 0; at < operations.length; at += atOnce)
    await request("POST", batchPath(database.key), { body: { operations: operations.slice(at, at + atOnce) } });
  await changeSchema(database, (draft) =>
    inTable(draft, table, (one) => (isAll ? removeField(one, from) : changeField(one, from, old))),
  );
  const back = async () =>
    changeSchema(database, (draft) =>
      inTable(draft, table, (one) => restoreField(removeField(changeField(one, from, field), to), before, from)),
    );
  const said = say(isAll ? "linkedAll" : "linkedSome", {
    done: text.number(operations.length),
    count: text.number(rows.size),
    name: say("oldTexts", { name: label }),
  });
  toasts.offerUndo(said, () => void back().catch((error: unknown) => toasts.fail(error)));
  return true;
}

/** The record of each title; undefined for one that several have. */
async function idsByTitle(link: string): Promise<ReadonlyMap<string, string | undefined>> {
  const [db = "", name] = link.split(".", 2);
  const { json } = await get(dbPath(db));
  const { tables } = draftOf(isMap(json) ? json["schema"] : undefined);
  const title = titleField(name === undefined ? tables[0] : tables.find((one) => one.name === name));
  const found = new Map<string, string | undefined>();
  if (title === undefined) return found;
  for (const [id, value] of await valuesOf(db, title, name))
    found.set(folded(String(value)), found.has(folded(String(value))) ? undefined : id);
  return found;
}

/** What each record has in a field, if it has something. */
async function valuesOf(db: string, field: string, table: string | undefined): Promise<ReadonlyMap<string, unknown>> {
  const found = new Map<string, unknown>();
  const query = new URLSearchParams({
    [`filter[${field}][ne]`]: "",
    limit: "100",
    ...(table && { table_name: table }),
  });
  for (;;) {
    const { json, headers } = await get(`${recordsPath(db)}?${query}`);
    for (const row of mapsIn(json).flatMap((one) => rowOf(one) ?? [])) found.set(row.id, ownOf(row.data, field));
    const next = headers.get("x-next-cursor");
    if (next === null) return found;
    query.set("after", next);
  }
}
