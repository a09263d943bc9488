/** The app that shows what a table shows: its readable source, whose owner changes it afterwards. Pure. */
import { isMap } from "studio/exact";
import { wordsOf, type Choice, type Kind, type Labelled, type Look } from "../look/kinds.ts";
import source from "./list.svelte.txt";

export interface ListColumn {
  readonly name: string;
  /** As the schema has it: in one language or in several. */
  readonly label: unknown;
  readonly kind: Kind;
  readonly choices?: readonly (Omit<Choice, "label"> & { readonly label: unknown })[];
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

export function listColumn({ more }: Labelled, look: Look, title: string | undefined): ListColumn {
  const { name, shown: kind, currency } = look;
  const label = saidIn(more?.["label"], look.label);
  const given: readonly unknown[] = Array.isArray(more?.["choices"]) ? more["choices"] : [];
  const choices = look.choices.map((choice) => {
    const whole = given.find((one) => isMap(one) && one["value"] === choice.value);
    return { ...choice, label: saidIn(isMap(whole) && whole["label"], choice.label) };
  });
  return {
    name,
    label,
    kind,
    ...(choices.length > 0 && { choices }),
    ...(currency !== "" && { currency }),
    ...(title !== undefined && { title }),
  };
}

const saidIn = (given: unknown, otherwise: string) => (wordsOf(given, "") ? given : otherwise);

/** The other databases that the columns show something of, by what links lead to and by what rollups are of. */
export function otherDbs(db: string, columns: readonly Labelled[]): string[] {
  const named = columns.flatMap(({ more }) => {
    const rollup = more?.["rollup"];
    return [more?.["link"], isMap(rollup) ? rollup["of"] : undefined];
  });
  const codes = named.flatMap((one) => (typeof one === "string" ? one.split(".", 1) : []));
  return [...new Set(codes)].filter((one) => one !== db);
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
