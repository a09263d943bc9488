/** What agents read, without what tells them nothing: each of its bytes is read by a model. Pure. */
import { isObject } from "platform";

/** A JSON Schema in fewer words: what the description says already, and what only forms need, is left out. */
export function briefSchema(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const { anyOf, pattern, properties, items, ...rest } = schema;
  const own = Object.fromEntries(Object.entries(rest).filter(([name]) => !name.startsWith("x-")));
  const fields = isObject(properties) ? Object.entries(properties).map(([name, one]) => [name, briefSchema(one)]) : [];
  return {
    ...own,
    ...(pattern !== undefined && own["description"] === undefined && { pattern }),
    ...(fields.length > 0 && { properties: Object.fromEntries(fields) }),
    ...(items !== undefined && { items: briefSchema(items) }),
    ...(Array.isArray(anyOf) && briefChoice(anyOf.flatMap(choicesIn))),
  };
}

/** A choice inside of a choice is one of its own. */
function choicesIn(schema: unknown): unknown[] {
  const inner = isObject(schema) && Object.keys(schema).length === 1 ? schema["anyOf"] : undefined;
  return Array.isArray(inner) ? inner.flatMap(choicesIn) : [schema];
}

function briefChoice(choices: readonly unknown[]): object {
  const isNull = (one: unknown) => isObject(one) && one["type"] === "null";
  const isWord = (one: unknown) => isObject(one) && "const" in one;
  const none = choices.some(isNull) ? [null] : [];
  const others = choices.filter((one) => !isNull(one));
  if (others.every(isWord)) return { enum: [...others.map((one) => isObject(one) && one["const"]), ...none] };
  const [first] = others;
  const only = others.length === 1 ? briefSchema(first) : undefined;
  if (isObject(only) && typeof only["type"] === "string")
    return none.length > 0 ? { ...only, type: [only["type"], "null"] } : only;
  return { anyOf: choices.map(briefSchema) };
}

/** An instruction without what the connection does by itself (headers), and without the blanks that align tables. */
export function briefInstruction(text: string): string {
  return text
    .replace(/^Every request carries these headers:\n\n```\n[^`]*```\n/m, "")
    .replaceAll(/ -H "(?:Authorization|Content-Type): [^"\n]*"/g, "")
    .replaceAll(/^\|.*\|$/gm, (row) =>
      (/^[| :-]+$/.test(row) ? row.replaceAll(/-+/g, "-") : row).replaceAll(/ {2,}/g, " "),
    );
}

/** The headings of an instruction's parts. */
export function sectionsOf(text: string): string[] {
  return [...text.matchAll(/^## (.+)$/gm)].map(([, name = ""]) => name);
}

/** One part of an instruction; undefined if it has none of this name. */
export function sectionOf(text: string, name: string): string | undefined {
  const parts = text.split(/^(?=## )/m).slice(1);
  return parts.find((one) => sectionsOf(one)[0]?.toLowerCase() === name.toLowerCase());
}
