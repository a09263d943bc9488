/** TypeScript types of the records of databases, for the typed client: `corestead client --dbs`. behaviour B.7. Pure. */
import type { Database } from "./database.ts";
import type { Choice, Field, Words } from "./kinds.ts";
import type { Table } from "./schema.ts";

type Typed = Pick<Database, "id" | "code" | "schema">;

/** The text of a module that imports nothing: a type for each table, and `Dbs`, which names them by code. */
export function rowTypes(databases: readonly Typed[]): string {
  const names = namesOf(databases);
  const rows = databases.flatMap((db) => tablesOf(db).map((table) => rowType(db, table, names)));
  const all = [...databases].flatMap((db) =>
    tablesOf(db).map((table) => `  readonly ${text(placeOf(db.code, table.name))}: ${names.get(keyOf(db, table))};\n`),
  );
  return `/** The records of this account's databases. Generated from their schemas: do not edit. */

${rows.join("\n")}
/** By the code of the database, with tables \`code.table\`. */
export interface Dbs {
${all.join("")}}
`;
}

function rowType(db: Typed, table: Table, names: ReadonlyMap<string, string>): string {
  const fields = [...table.fields].map(([name, field]) => fieldType(name, field));
  const links = [...table.fields].flatMap(([name, { link, type }]) => {
    const end = link && names.get(`${link.db}.${link.table ?? ""}`);
    return end === undefined ? [] : [`readonly ${text(name)}: ${type === "list" ? `readonly ${end}[]` : end}`];
  });
  const union = (all: readonly string[]) => all.map(text).join(" | ") || "never";
  const facts = [
    `readonly links: { ${links.join("; ")} }`,
    `readonly computed: ${union(table.computed.filter((name) => table.fields.has(name)))}`,
    `readonly defaults: ${union(table.defaults.map(([name]) => name).filter((name) => table.fields.has(name)))}`,
  ];
  const use = table.name === "" ? text(db.code) : `${text(db.code)}, { table: ${text(table.name)} }`;
  const type = names.get(keyOf(db, table));
  return `/** \`client.db<${type}>(${comment(use)})\` */
export interface ${type} {
${fields.join("")}  /** For the types of the client: no record has it. */
  readonly "~row"?: { ${facts.join("; ")} };
}
`;
}

function fieldType(name: string, field: Field): string {
  const words = [wordsOf(field.label), wordsOf(field.help), factsOf(field)].filter((one) => one !== "").join("; ");
  const told = words === "" ? "" : `  /** ${comment(words)} */\n`;
  const { required } = field;
  return `${told}  readonly ${text(name)}${required ? "" : "?"}: ${valueType(field)}${required ? "" : " | null"};\n`;
}

/** What the type does not say. */
function factsOf({ type, format, currency, link, rollup, unique }: Field): string {
  const kind = ["date", "time", "datetime", "integer"].includes(type) ? type : "";
  const end = link && `the id of a record of ${placeOf(link.db, link.table ?? "")}`;
  const computed = rollup && `${rollup.op} of ${rollup.db}.${rollup.link}, worked out when read`;
  return [kind, format, currency, end, computed, unique && "unique"].filter(Boolean).join(", ");
}

function valueType({ type, choices, link }: Field): string {
  const one = choices ? choices.map(({ value }: Choice) => text(value)).join(" | ") : link ? "string" : undefined;
  if (type === "list") return `readonly ${one?.includes("|") ? `(${one})` : (one ?? "(string | number)")}[]`;
  if (one !== undefined) return one;
  if (type === "integer" || type === "number") return "number";
  return type === "boolean" ? "boolean" : "string";
}

/** The names of the types: `customers` -> `Customer`, `shop.order-lines` -> `ShopOrderLine`. By code and by id. */
function namesOf(databases: readonly Typed[]): ReadonlyMap<string, string> {
  const taken = new Set(["Dbs"]);
  const names = new Map<string, string>();
  for (const db of databases)
    for (const table of tablesOf(db)) {
      const wanted = typeName(table.name === "" ? [singular(db.code)] : [db.code, singular(table.name)]);
      let name = wanted;
      for (let n = 2; taken.has(name); n++) name = `${wanted}${n}`;
      taken.add(name);
      for (const key of [db.code, db.id]) names.set(`${key}.${table.name}`, name);
    }
  return names;
}

function typeName(parts: readonly string[]): string {
  const words = parts.flatMap((part) => part.split(/[^A-Za-z0-9]/)).filter((word) => word !== "");
  const name = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join("");
  return /^[A-Z]/.test(name) ? name : `Row${name}`;
}

/** English alone has a plural that is worth taking away. */
function singular(name: string): string {
  if (name === "people") return "person";
  if (/ies$/.test(name)) return `${name.slice(0, -3)}y`;
  if (/(?:ss|x|ch|sh)es$/.test(name)) return name.slice(0, -2);
  return /[^sui]s$/.test(name) ? name.slice(0, -1) : name;
}

const tablesOf = ({ schema }: Typed) =>
  [...schema.tables.values()].filter(({ name }) => (name === "") !== schema.multiTable);
const keyOf = ({ id }: Typed, { name }: Table) => `${id}.${name}`;
const placeOf = (db: string, table: string) => (table === "" ? db : `${db}.${table}`);

function wordsOf(words: Words | undefined): string {
  if (words === undefined || typeof words === "string") return words ?? "";
  return words["en"] ?? Object.values(words)[0] ?? "";
}

/** One line, which words cannot end. */
function comment(words: string): string {
  return words
    .replaceAll("*/", "* /")
    .replaceAll(/[\r\n\u2028\u2029]/g, " ")
    .trim();
}

/** A name or value as TypeScript writes it. */
function text(value: string | number): string {
  return JSON.stringify(value).replaceAll(/[\u2028\u2029]/g, " ");
}
