/** What a token opens: its tables, between JSON and what is chosen, and all of it in words. Pure. */
import { isMap, levels, type Level } from "studio/exact";

export type Databases = Readonly<Record<string, Level>>;

/** Of an answer, or of the text that a form keeps. Null: all tables. */
export function databasesIn(value: unknown): Databases | null {
  const given: unknown = typeof value === "string" ? parsed(value) : value;
  if (!isMap(given)) return null;
  const known = Object.entries(given).flatMap(([key, level]) => {
    const found = levels.find((one) => one === level);
    return found ? [[key, found] as const] : [];
  });
  return Object.fromEntries(known);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

interface Narrow {
  readonly privileges?: unknown;
  readonly databases?: unknown;
  readonly read_only?: unknown;
}

interface Words {
  readonly everything: string;
  readonly tables: string;
  readonly noTable: string;
  readonly onlyReads: string;
  readonly right: (name: string) => string;
  readonly level: (level: Level) => string;
  /** By id or code. */
  readonly table: (key: string) => string;
}

const mostNamed = 4;

/** "Orders: Can view, Prompts, only reads": what a token may do, at most, beside the rights of its owner. */
export function mayDo({ privileges, databases, read_only: readsOnly }: Narrow, words: Words): string {
  const rights = Array.isArray(privileges) ? privileges.map(String) : [];
  const tables = databasesIn(databases);
  const opened = Object.entries(tables ?? {}).map(([key, level]) => `${words.table(key)}: ${words.level(level)}`);
  const further = opened.length > mostNamed ? [`+${opened.length - mostNamed}`] : [];
  const shown = opened.length === 0 ? [words.noTable] : [...opened.slice(0, mostNamed), ...further];
  // A right of tables is said by the tables that it opens.
  const said = rights.flatMap((name) => (name === "dbs" && tables ? shown : [words.right(name)]));
  const whole =
    rights.length === 0 ? [words.everything, ...(tables ? [`${words.tables} ${shown.join(", ")}`] : [])] : said;
  return [...whole, ...(readsOnly === true ? [words.onlyReads] : [])].join(", ");
}
