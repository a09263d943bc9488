/** Changes of a schema: each gives back a new draft. Pure. */
import { draftOf, orderField, type FieldDraft, type SchemaDraft, type SortDraft, type TableDraft } from "../schema.ts";
import type { Definition } from "./kind-words.ts";

/** A field as the server would show it. */
export function fieldFrom(name: string, definition: Definition): FieldDraft {
  const [field] = draftOf({ fields: { [name]: definition } }).tables[0]?.fields ?? [];
  return field ?? { name, type: "string", required: false };
}

export function inTable(draft: SchemaDraft, name: string, change: (table: TableDraft) => TableDraft): SchemaDraft {
  return { ...draft, tables: draft.tables.map((one) => (one.name === name ? change(one) : one)) };
}

/** A table with one field more, last or at a place. */
export function withField(
  draft: SchemaDraft,
  table: string,
  name: string,
  definition: Definition,
  at = Number.POSITIVE_INFINITY,
): SchemaDraft {
  return inTable(draft, table, (one) => ({
    ...one,
    fields: one.fields.toSpliced(at, 0, fieldFrom(name, definition)),
  }));
}

/** A field, and its name where else the table has it: in its indexes, its sorts and its title. */
export function changeField(table: TableDraft, name: string, after: FieldDraft): TableDraft {
  const now = (one: string) => (one === name ? after.name : one);
  const columns = Object.fromEntries(Object.entries(table.columns).map(([field, column]) => [now(field), column]));
  const sorts = table.sorts.map((sort): SortDraft => {
    const order = orderField(sort);
    return [now(sort[0]), sort[1] === order ? now(order) : `-${now(order)}`];
  });
  const fields = table.fields.map((field) => (field.name === name ? after : field));
  return { ...titled(table, name, after.name), fields, indexed: table.indexed.map(now), columns, sorts };
}

/** The field that people know a record by is named among what nothing here reads. */
function titled(table: TableDraft, name: string, now: string | null): TableDraft {
  return table.more?.["title_field"] === name ? withOption(table, "title_field", now) : table;
}

/** What a table says beside its fields. */
export function withOption<T extends Pick<TableDraft, "more">>(table: T, name: string, value: unknown): T {
  return { ...table, more: { ...table.more, [name]: value } };
}

/** The fields of a sort must have an index. */
function sortsWithout({ sorts }: TableDraft, name: string): readonly SortDraft[] {
  return sorts.filter((sort) => sort[0] !== name && orderField(sort) !== name);
}

export function addSort(table: TableDraft, sort: SortDraft): TableDraft {
  const isThere = table.sorts.some((one) => one[0] === sort[0] && one[1] === sort[1]);
  return isThere ? table : { ...table, sorts: [...table.sorts, sort] };
}

export function removeField(table: TableDraft, name: string): TableDraft {
  return {
    ...titled(setIndexed(table, name, false), name, null),
    fields: table.fields.filter((field) => field.name !== name),
  };
}

/** A field that was removed from `before` is back at its place, with its index, its sorts and as the title. */
export function restoreField(now: TableDraft, before: TableDraft, name: string): TableDraft {
  const at = before.fields.findIndex((field) => field.name === name);
  const field = before.fields[at];
  if (!field || now.fields.some((one) => one.name === name)) return now;
  const title = before.more?.["title_field"] === name && (now.more?.["title_field"] ?? null) === null;
  const column = before.columns[name];
  const back: TableDraft = {
    ...now,
    fields: now.fields.toSpliced(at, 0, field),
    indexed: before.indexed.includes(name) ? now.indexed.toSpliced(before.indexed.indexOf(name), 0, name) : now.indexed,
    columns: column === undefined ? now.columns : { ...now.columns, [name]: column },
    sorts: [...now.sorts, ...before.sorts.filter((sort) => sort[0] === name || orderField(sort) === name)],
  };
  return title ? withOption(back, "title_field", name) : back;
}

/** In the order of these names; others come after them. */
export function arranged(table: TableDraft, names: readonly string[]): TableDraft {
  const place = ({ name }: FieldDraft) => (names.includes(name) ? names.indexOf(name) : names.length);
  return { ...table, fields: table.fields.toSorted((a, b) => place(a) - place(b)) };
}

/** The same with one moved to another place. */
export function moved<T>(all: readonly T[], from: number, to: number): readonly T[] {
  const one = all[from];
  if (one === undefined || to < 0 || to >= all.length) return all;
  return all.toSpliced(from, 1).toSpliced(to, 0, one);
}

/** The last one that is indexed gets the last free column. */
export function setIndexed(table: TableDraft, name: string, indexed: boolean): TableDraft {
  if (table.indexed.includes(name) === indexed) return table;
  if (indexed) return { ...table, indexed: [...table.indexed, name] };
  const columns = Object.fromEntries(Object.entries(table.columns).filter(([other]) => other !== name));
  const others = table.indexed.filter((other) => other !== name);
  return { ...table, indexed: others, columns, sorts: sortsWithout(table, name) };
}

/** A database with one table more; its only table has a name from then on. */
export function addTable(draft: SchemaDraft, name: string, first: string): SchemaDraft {
  const named = draft.multiTable ? draft.tables : draft.tables.map((table) => ({ ...table, name: first }));
  return {
    ...draft,
    multiTable: true,
    tables: [...named, { name, fields: [], indexed: [], columns: {}, sorts: [] }],
  };
}
