/** The app that shows what a table shows: its readable source, whose owner changes it afterwards. Pure. */
import type { Kind, Look } from "../look/kinds.ts";
import source from "./list.svelte.txt";

export interface ListColumn {
  readonly name: string;
  readonly label: string;
  readonly kind: Kind;
  readonly choices?: Look["choices"];
  readonly currency?: string;
  /** Of a link: the field of the other table that records are known by. */
  readonly title?: string;
}

export interface AppList {
  readonly db: string;
  /** As the API takes it: filters, order, table. */
  readonly query: URLSearchParams;
  readonly columns: readonly ListColumn[];
  readonly opens: boolean;
  /** In the language of the one who makes it. */
  readonly words: Readonly<Record<"yes" | "no" | "none" | "more" | "open" | "closed", string>>;
}

export function listColumn(look: Look, title: string | undefined): ListColumn {
  const { name, label, shown: kind, choices, currency } = look;
  return {
    name,
    label,
    kind,
    ...(choices.length > 0 && { choices }),
    ...(currency !== "" && { currency }),
    ...(title !== undefined && { title }),
  };
}

export function listSource({ db, query, columns, opens, words }: AppList): string {
  const expand = columns.flatMap(({ kind, name }) => (kind === "link" ? [name] : []));
  const asked = Object.fromEntries(
    [...new Set(query.keys())].map((key) => [key, key.endsWith("[]") ? query.getAll(key) : query.get(key)]),
  );
  const values: Readonly<Record<string, unknown>> = {
    DB: db,
    QUERY: { ...asked, ...(expand.length > 0 && { expand }) },
    COLUMNS: columns,
    OPENS: opens,
    WORDS: words,
  };
  return source.replaceAll(/\b(?:DB|QUERY|COLUMNS|OPENS|WORDS)\b/g, (word) => json(values[word]));
}

/** In lines of their own where one would be long; nothing in it ends the script that it stands in. */
function json(value: unknown): string {
  const long = JSON.stringify(value, null, 2).replaceAll("</", "<\\/");
  if (!Array.isArray(value)) return long.replaceAll(/\n\s*/g, " ");
  return `[\n${value.map((one) => `    ${json(one)},\n`).join("")}  ]`;
}
