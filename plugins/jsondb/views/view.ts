/** A view: how a person, or everyone who may read a database, looks at its records. behaviour B.7. */
import { column, field, forbidden, HttpError, invalid, isNumber, isObject, resource, Type } from "platform";
import type { At, Change, DraftOf, Mistakes, RowOf } from "platform";
import { hiddenAlways, may } from "../access/reach.ts";
import { dbAccess } from "../databases/cache.ts";
import { tableNames, type Database } from "../databases/database.ts";
import { measureFault, measureKinds, units } from "../search/aggregate.ts";
import { fieldHintsIn, mustBeStored } from "../search/query.ts";
import { linkBefore } from "../links/links.ts";
import { operators, readFilters, type Condition } from "../search/filters.ts";
import type { Table } from "../databases/schema.ts";
import { countViews, holdViews, viewsOf } from "../databases/store.ts";

const { choice, flag, integer, json, text, usual, uuid } = column;

const kinds = ["table", "board", "calendar", "gallery", "chart", "form"] as const;

export const viewLimits = { shared: 200, own: 100, filterBytes: 20_000, sorts: 5, columns: 200 } as const;

const name = Type.String({ minLength: 1, maxLength: 255 });
const named = field.nullable(name);

const fields = {
  name: text({ ...usual.name, body: field.name(), example: "Open orders" }),
  kind: choice(kinds, {
    label: ["Kind", "Rodzaj", "Art"],
    choices: {
      table: ["Table", "Tabela", "Tabelle"],
      board: ["Board", "Tablica", "Tafel"],
      calendar: ["Calendar", "Kalendarz", "Kalender"],
      gallery: ["Gallery", "Galeria", "Galerie"],
      chart: ["Chart", "Wykres", "Diagramm"],
      form: ["Form", "Formularz", "Formular"],
    },
    blank: "table",
    example: "board",
  }),
  table_name: text({ label: ["Table", "Tabela", "Tabelle"], body: named, orNull: true }),
  filters: json({
    label: ["Filters", "Filtry", "Filter"],
    body: field.object(),
    blank: {},
    doc: "field to value, or to { operator: value }; of times also `{today}`, `{this_week}`, `{last_7_days}` and the like; `any`: a list of such objects, of which one must hold whole",
    example: { status: "open", amount: { gte: 100 } },
  }),
  sort: column.texts({
    label: ["Order", "Kolejność", "Reihenfolge"],
    body: Type.Array(name, { maxItems: viewLimits.sorts, description: "fields; `-` in front = descending" }),
    blank: [],
    example: ["-amount"],
  }),
  columns: column.texts({
    label: ["Columns", "Kolumny", "Spalten"],
    body: field.names(viewLimits.columns),
    blank: [],
    doc: "the fields that are shown, in this order; none: all",
    example: ["title", "amount"],
  }),
  group_by: text({
    label: ["Grouped by", "Grupowanie", "Gruppiert nach"],
    body: named,
    orNull: true,
    example: "status",
  }),
  date_field: text({ label: ["Date", "Data", "Datum"], body: named, orNull: true }),
  cover_field: text({ label: ["Picture", "Obraz", "Bild"], body: named, orNull: true }),
  measure: choice(["count", ...measureKinds], {
    label: ["Measure", "Miara", "Kennzahl"],
    choices: {
      count: ["Count", "Liczba", "Anzahl"],
      sum: ["Sum", "Suma", "Summe"],
      avg: ["Average", "Średnia", "Durchschnitt"],
      min: ["Least", "Najmniejsza wartość", "Kleinster Wert"],
      max: ["Greatest", "Największa wartość", "Größter Wert"],
    },
    blank: "count",
  }),
  measure_field: text({ label: ["Measured field", "Mierzone pole", "Gemessenes Feld"], body: named, orNull: true }),
  unit: choice(units, {
    label: ["Each", "Co", "Je"],
    choices: { day: ["Day", "Dzień", "Tag"], month: ["Month", "Miesiąc", "Monat"], year: ["Year", "Rok", "Jahr"] },
    blank: "month",
  }),
  shared: flag({
    label: ["For everyone", "Dla wszystkich", "Für alle"],
    help: [
      "Everyone who may read the table sees it.",
      "Widzi go każdy, kto może przeglądać tabelę.",
      "Alle, die die Tabelle lesen dürfen, sehen sie.",
    ],
    body: field.flag(),
    blank: false,
  }),
  position: integer({
    label: ["Position", "Pozycja", "Position"],
    body: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
    blank: 0,
  }),
  db_id: uuid({ by: "check", hidden: true }),
  created_by_id: column.id({
    label: ["Author", "Autor", "Angelegt von"],
    by: "server",
    quiet: false,
    orNull: true,
    example: 1,
  }),
};

/** Of a request: the database as the caller may use it. */
export interface ViewAt extends At {
  readonly db: Database;
}

export type ViewRow = RowOf<typeof fields, "uuid">;
type Its = Change<typeof fields, "uuid">;

export const View = resource("view", {
  table: "db_views",
  type: "DbView",
  path: "/core/dbs/:db_id/views",
  id: "uuid",
  privilege: "dbs",
  or: dbAccess.or,
  model: "Core::DbView",
  missing: "there is no such view",
  order: "position, id",
  fields,
  check,
  mayErase: ({ db }: ViewAt, { shared }) => mustShare(db, shared),
  visible: ({ db, caller }, sql) => viewsOf(sql, db, caller.user.id),
  show: ({ db }, _, value) => withoutFields(value, hiddenAlways(db.reach)),
  hints: ({ db }, row) => [...fieldHintsIn(db, row.tableName, new Set(namesIn(row))), ...kindHints(db, row)],
  example: { id: "019a9c1e-0000-7000-8000-000000000004" },
  request: ["name", "kind", "filters", "sort", "columns", "group_by"],
  change: { name: "Orders to send" },
});

async function check(
  { db, caller }: ViewAt,
  { tx, given, before, after }: Its,
  wrong: Mistakes,
): Promise<DraftOf<typeof fields>> {
  mustShare(db, after.shared || (before?.shared ?? false));
  const table = db.schema.tables.get(after.tableName ?? "");
  if (!table)
    wrong.add(
      "table_name",
      db.schema.multiTable
        ? `must be one of ${tableNames(db).join(", ")}`
        : "must be left out: this database has no tables",
    );
  else {
    const isMoved = given.table_name !== undefined;
    if (given.filters !== undefined || isMoved)
      for (const mistake of mistakesInFilters(table, after.filters)) wrong.add("filters", mistake);
    if (given.sort !== undefined || isMoved)
      for (const mistake of mistakesOf(() => mustBeStored(table, after.sort.map(sortedField))))
        wrong.add("sort", mistake);
  }
  const { dateField } = given.date_field === undefined ? { dateField: null } : after;
  const type = table?.fields.get(dateField ?? "")?.type;
  // What is hidden is as if the schema did not have it.
  if (dateField !== null && type !== undefined && !isDay(type) && !hiddenAlways(db.reach).has(dateField))
    wrong.add("date_field", `must be a field of type date or datetime: ${dateField} is ${type}`);
  if (JSON.stringify(after.filters).length > viewLimits.filterBytes)
    wrong.add("filters", `may have at most ${viewLimits.filterBytes} characters as JSON`);
  wrong.check();
  if (!before || after.shared !== before.shared) await mustFit(tx, db, caller.user.id, after.shared);
  return { ...after, dbId: db.id };
}

/** Hints about fields of which nothing is grouped or measured, or no picture shown. */
function kindHints(db: Database, { tableName, groupBy, coverField, measure, measureField }: ViewRow): string[] {
  const table = db.schema.tables.get(tableName ?? "");
  const fieldOf = (one: string | null) =>
    one === null || hiddenAlways(db.reach).has(one) ? undefined : table?.fields.get(one);
  const [group, cover, measured] = [fieldOf(groupBy), fieldOf(coverField), fieldOf(measureField)];
  const kind = measureKinds.find((one) => one === measure);
  const fault = kind && measured && measureFault(kind, measureField ?? "", measured.type);
  const computed = Object.entries({ group_by: group, measure_field: kind && measured }).filter(
    ([, one]) => one?.rollup,
  );
  return [
    ...(fault === undefined ? [] : [`measure_field: ${fault}`]),
    ...(kind && measureField === null ? [`measure: ${kind} is of no field: name one in \`measure_field\``] : []),
    ...computed.map(([at]) => `${at}: a rollup is worked out when it is read: nothing is grouped or measured by it`),
    ...(group && group.type === "text"
      ? [`group_by: ${groupBy} is of type ${group.type}, whose values are too different to group by`]
      : []),
    ...(cover && cover.format !== "file"
      ? [`cover_field: ${coverField} holds no files: its format would have to be \`file\``]
      : []),
  ];
}

const isDay = (type: string) => type === "date" || type === "datetime";

/** 403 for a shared view of who may not manage the database. */
function mustShare(db: Database, shared: boolean): void {
  if (shared && !may(db, "manage"))
    throw forbidden("a shared view needs the level `manage` in the `access` of the database");
}

async function mustFit(tx: Its["tx"], db: Database, userId: number, shared: boolean): Promise<void> {
  await holdViews(tx, db);
  const { all, own } = await countViews(tx, db, userId);
  if (shared && all >= viewLimits.shared)
    throw invalid({ base: [`a database may have at most ${viewLimits.shared} shared views`] });
  if (!shared && own >= viewLimits.own)
    throw invalid({ base: [`you may have at most ${viewLimits.own} views of your own in a database`] });
}

type Named = Pick<
  Its["after"],
  "filters" | "sort" | "columns" | "groupBy" | "dateField" | "coverField" | "measureField"
>;

function namesIn({ filters, sort, columns, groupBy, dateField, coverField, measureField }: Named): string[] {
  const single = [groupBy, dateField, coverField, measureField].filter((one) => one !== null);
  return [...conditionsIn(filters).map(({ field: of }) => of), ...sort.map(sortedField), ...columns, ...single];
}

const sortedField = (sorted: string) => sorted.replace(/^-/, "");

/** A view as somebody sees it from whom these fields are hidden. */
export function withoutFields(value: Record<string, unknown>, hidden: ReadonlySet<string>): Record<string, unknown> {
  if (hidden.size === 0) return value;
  const isShown = (one: unknown) => typeof one !== "string" || !hidden.has(sortedField(one));
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      if (key === "filters") return [key, shownOf(one ?? {}, isShown)];
      if (key === "sort" || key === "columns") return [key, Array.isArray(one) ? one.filter(isShown) : one];
      return [
        key,
        ["group_by", "date_field", "cover_field", "measure_field"].includes(key) && !isShown(one) ? null : one,
      ];
    }),
  );
}

/** Without the conditions on hidden fields, and without the groups that have no others. */
function shownOf(filters: object, isShown: (field: string) => boolean): Record<string, unknown> {
  const shown = Object.entries(filters).flatMap(([key, value]: [string, unknown]) => {
    if (!isAny(key, value)) return isShown(key) ? [[key, value] as const] : [];
    const groups = value.map((one) => Object.fromEntries(Object.entries(one ?? {}).filter(([at]) => isShown(at))));
    const left = groups.filter((one) => Object.keys(one).length > 0);
    return left.length > 0 ? [[key, left] as const] : [];
  });
  return Object.fromEntries(shown);
}

/** What a view looks at, as parameters of a list, and as somebody sees it from whom these fields are hidden. */
export function parametersOf({ filters, sort, columns, tableName }: ViewRow, hidden: ReadonlySet<string>) {
  const isShown = (one: string) => !hidden.has(sortedField(one));
  return {
    table_name: tableName,
    filters: conditionsIn(shownOf(filters, isShown)).flatMap(({ group, field: of, op, value }): [string, string][] => {
      const place = `${group === undefined ? "filter" : `any[${group}]`}[${of}]`;
      const key = op === "eq" ? place : `${place}[${op}]`;
      return typeof value === "string" ? [[key, value]] : value.map((one) => [`${key}[]`, one]);
    }),
    sort: sort.find(isShown),
    columns: columns.filter(isShown),
  };
}

/** Checked as a search would read them; each begins with its place. */
function mistakesInFilters(table: Table, filters: object): string[] {
  const mistakes: string[] = [];
  const conditions = conditionsIn(filters, (message) => void mistakes.push(message));
  for (const { group, field: of } of conditions)
    if (group !== undefined && linkBefore(table, of) !== undefined)
      mistakes.push(`any[${group}].${of.slice(0, 60)}: groups take no field of a link`);
  if (mistakes.length > 0) return mistakes.slice(0, 50);
  return mistakesOf(() => {
    mustBeStored(
      table,
      conditions.map(({ field: of }) => of),
    );
    readFilters(table, conditions);
  });
}

function mistakesOf(read: () => void): string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof HttpError) return [error.message];
    throw error;
  }
  return [];
}

/** A list called `any` has the groups of which one must hold whole; a field of that name has no list. */
function isAny(key: string, value: unknown): value is unknown[] {
  return key === "any" && Array.isArray(value);
}

/** `filters`: field to value, or to { operator: value }, and `any` to a list of the same. */
function conditionsIn(filters: object, say: (message: string) => void = () => {}): Condition[] {
  return Object.entries(filters).flatMap(([key, value]: [string, unknown]) => {
    if (!isAny(key, value)) return conditionsOn(key, value, say);
    if (value.length === 0) say("any has no group");
    return value.flatMap((one, at) => {
      const inside = isObject(one) ? Object.entries(one) : [];
      if (inside.length === 0) say(`any[${at}] must be an object with conditions`);
      return inside
        .flatMap(([of, its]) => conditionsOn(of, its, (message) => say(`any[${at}].${message}`)))
        .map((condition) => ({ ...condition, group: String(at) }));
    });
  });
}

function conditionsOn(key: string, value: unknown, say: (message: string) => void): Condition[] {
  const place = key.slice(0, 60);
  if (!isObject(value)) return conditionOf(key, "eq", value, (message) => say(`${place} ${message}`));
  const entries = Object.entries(value);
  if (entries.length === 0) say(`${place} has no operator`);
  return entries.flatMap(([given, one]) => {
    const op = operators.find((known) => known === given);
    if (op) return conditionOf(key, op, one, (message) => say(`${place}.${op} ${message}`));
    say(`${place}.${given.slice(0, 60)} is no operator: they are ${operators.join(", ")}`);
    return [];
  });
}

function conditionOf(key: string, op: Condition["op"], value: unknown, say: (message: string) => void): Condition[] {
  if (Array.isArray(value) && op !== "in") return (say("must be one value, a list is for `in`"), []);
  const given = Array.isArray(value) ? value : [value];
  const texts = given.map(textOf).filter((one) => one !== undefined);
  if (texts.length < given.length) return (say("must be a text, a number, true or false"), []);
  return [{ field: key, op, value: Array.isArray(value) ? texts : (texts[0] ?? "") }];
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "boolean" || isNumber(value) ? String(value) : undefined;
}
