/** Changes of a schema by hand: each gives back a new draft. Pure. */
import { draftOf, orderField, type FieldDraft, type SchemaDraft, type SortDraft, type TableDraft } from "../schema.ts";

export function addField(table: TableDraft): TableDraft {
  const taken = new Set(table.fields.map(({ name }) => name));
  let at = table.fields.length + 1;
  while (taken.has(`field_${at}`)) at++;
  return { ...table, fields: [...table.fields, { name: `field_${at}`, type: "string", required: false }] };
}

/** A field keeps its index and its sorts under its new name. */
export function changeField(table: TableDraft, at: number, part: Partial<FieldDraft>): TableDraft {
  const before = table.fields[at];
  if (!before) return table;
  const after = { ...before, ...part };
  const rename = (name: string) => (name === before.name ? after.name : name);
  const columns = Object.fromEntries(Object.entries(table.columns).map(([name, column]) => [rename(name), column]));
  const sorts = table.sorts.map((sort): SortDraft => {
    const order = orderField(sort);
    return [rename(sort[0]), sort[1] === order ? rename(order) : `-${rename(order)}`];
  });
  const fields = table.fields.with(at, after);
  return { ...titled(table, before.name, after.name), fields, indexed: table.indexed.map(rename), columns, sorts };
}

/** The field that people know a record by is named among what nothing here reads. */
function titled(table: TableDraft, name: string | undefined, now: string | null): TableDraft {
  return name !== undefined && table.more?.["title_field"] === name
    ? { ...table, more: { ...table.more, title_field: now } }
    : table;
}

/** The fields of a sort must have an index. */
function sortsWithout({ sorts }: TableDraft, name: string | undefined): readonly SortDraft[] {
  return sorts.filter((sort) => sort[0] !== name && orderField(sort) !== name);
}

export function addSort(table: TableDraft, sort: SortDraft): TableDraft {
  const isThere = table.sorts.some((one) => one[0] === sort[0] && one[1] === sort[1]);
  return isThere ? table : { ...table, sorts: [...table.sorts, sort] };
}

export function removeSort(table: TableDraft, at: number): TableDraft {
  return { ...table, sorts: table.sorts.filter((_, index) => index !== at) };
}

export function removeField(table: TableDraft, at: number): TableDraft {
  const gone = table.fields[at]?.name;
  const columns = Object.fromEntries(Object.entries(table.columns).filter(([name]) => name !== gone));
  return {
    ...titled(table, gone, null),
    fields: table.fields.filter((_, index) => index !== at),
    indexed: table.indexed.filter((name) => name !== gone),
    columns,
    sorts: sortsWithout(table, gone),
  };
}

export function moveField(table: TableDraft, at: number, by: -1 | 1): TableDraft {
  const [one, other] = [table.fields[at], table.fields[at + by]];
  return one && other ? { ...table, fields: table.fields.with(at, other).with(at + by, one) } : table;
}

/** The last one that is indexed gets the last free column. */
export function setIndexed(table: TableDraft, name: string, indexed: boolean): TableDraft {
  const others = table.indexed.filter((other) => other !== name);
  if (indexed) return { ...table, indexed: [...others, name] };
  const columns = Object.fromEntries(Object.entries(table.columns).filter(([other]) => other !== name));
  return { ...table, indexed: others, columns, sorts: sortsWithout(table, name) };
}

export function addTable(draft: SchemaDraft): SchemaDraft {
  const { tables, multiTable } = draft;
  const taken = new Set(tables.map(({ name }) => name));
  let at = tables.length + 1;
  while (taken.has(`table_${at}`)) at++;
  // The only table needs a name now.
  const named = multiTable ? tables : tables.map((table) => ({ ...table, name: "table_1" }));
  return {
    ...draft,
    multiTable: true,
    tables: [...named, { name: `table_${at}`, fields: [], indexed: [], columns: {}, sorts: [] }],
  };
}

/** A name that is typed twice would be lost in JSON. */
export function repeatedNames({ tables }: SchemaDraft): string[] {
  const twice = (names: readonly string[]) => names.filter((name, at) => names.indexOf(name) !== at);
  return [
    ...twice(tables.map(({ name }) => name)),
    ...tables.flatMap(({ fields }) => twice(fields.map(({ name }) => name))),
  ];
}

/** The fields that records keep in their data though the schema has them no longer. */
export function droppedFields(before: SchemaDraft, after: SchemaDraft): string[] {
  return before.tables.flatMap(({ name, fields }) => {
    const now = after.tables.find((table) => table.name === name);
    return fields.filter((field) => !now?.fields.some((other) => other.name === field.name)).map((field) => field.name);
  });
}

/** A table with one field more. */
export function withField(
  draft: SchemaDraft,
  table: string,
  name: string,
  definition: Readonly<Record<string, unknown>>,
): SchemaDraft {
  // Read as the server would show it.
  const [field] = draftOf({ fields: { [name]: definition } }).tables[0]?.fields ?? [];
  if (!field) return draft;
  const add = (one: TableDraft): TableDraft => ({ ...one, fields: [...one.fields, field] });
  return { ...draft, tables: draft.tables.map((one) => (one.name === table ? add(one) : one)) };
}
