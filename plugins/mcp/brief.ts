/** What agents read, without what tells them nothing: each of its bytes is read by a model. Pure. */
import { isObject } from "platform";

/** A JSON Schema in fewer words: what the description says already, and what only checks and forms need, is left out. */
export function briefSchema(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const { anyOf, pattern, patternProperties, properties, items, ...rest } = schema;
  const own = Object.fromEntries(Object.entries(rest).filter(([name, value]) => isTold(name, value)));
  const isDescribed = own["description"] !== undefined;
  const [others] = isObject(patternProperties) ? Object.values(patternProperties).map(briefSchema) : [];
  const fields = isObject(properties) ? Object.entries(properties).map(([name, one]) => [name, briefSchema(one)]) : [];
  return {
    ...own,
    ...(pattern !== undefined && !isDescribed && { pattern }),
    ...(fields.length > 0 && { properties: Object.fromEntries(fields) }),
    ...(isObject(others) && Object.keys(others).length > 0 && !isDescribed && { additionalProperties: others }),
    ...(items !== undefined && { items: briefSchema(items) }),
    ...(Array.isArray(anyOf) && briefChoice(anyOf.flatMap(choicesIn))),
  };
}

/** A length that is wrong is named by the refusal. */
function isTold(name: string, value: unknown): boolean {
  if (name === "additionalProperties") return value !== true;
  return !/^(x-.*|m(ax|in)Length)$/.test(name);
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
  const brief = others.map(briefSchema);
  const [only] = brief;
  if (brief.length === 1 && isObject(only) && typeof only["type"] === "string")
    return none.length > 0 ? { ...only, type: [only["type"], "null"] } : only;
  if (brief.every((one) => isObject(one) && Object.keys(one).join() === "type"))
    return { type: [...brief.map((one) => isObject(one) && one["type"]), ...none.map(() => "null")] };
  return { anyOf: choices.map(briefSchema) };
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
