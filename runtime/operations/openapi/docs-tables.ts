/** Schemas of an OpenAPI document as tables of HTML: name, type, limits and meaning of each field. */
import { escapeHtml } from "../../base/text.ts";
import type { DocsWords } from "./docs-words.ts";
import { isObject } from "../../base/values.ts";

export type Json = Readonly<Record<string, unknown>>;

interface Field {
  readonly name: string;
  readonly schema: Json;
  readonly isRequired: boolean;
  /** Where a parameter goes; the page's script makes an input of it. */
  readonly place?: string;
}

/** Objects within objects are listed with dots, to this depth. */
const maxDepth = 4;

export function fieldTable(fields: readonly Field[], words: DocsWords): string {
  if (fields.length === 0) return "";
  const rows = fields.map(({ name, schema, isRequired, place }) => {
    const marks = place ? ` data-in="${escapeHtml(place)}" data-name="${escapeHtml(name)}"` : "";
    const many = place && schema["type"] === "object" ? " data-many" : "";
    const need = isRequired ? ` <strong>${words.required}</strong>` : "";
    return `<tr${marks}${many}><td><code>${escapeHtml(name)}</code>${need}</td><td>${typeHtml(schema, words)}</td><td>${meaning(schema, words)}</td></tr>`;
  });
  return `<div class="scroll"><table><thead><tr><th>${words.name}</th><th>${words.type}</th><th>${words.meaning}</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
}

/** The table of an object, or of the items of a list; what is neither is told in words alone. */
export function schemaHtml(schema: Json, words: DocsWords): string {
  return `<p>${typeHtml(schema, words)}</p>${fieldTable(fieldsOf(schema, "", 0), words)}`;
}

function fieldsOf(schema: Json, before: string, depth: number): Field[] {
  // What the writer asks for, unless another field will do.
  const alone = listOf(schema["x-needs"]).flatMap((group) => (listOf(group).length === 1 ? listOf(group) : []));
  const required = new Set([...listOf(schema["required"]), ...alone]);
  return Object.entries(inside(schema, "properties")).flatMap(([key, value]) => {
    const own = isObject(value) ? value : {};
    const name = `${before}${key}`;
    const field = { name, schema: own, isRequired: required.has(key) };
    if (depth >= maxDepth) return [field];
    const items = inside(own, "items");
    return [field, ...fieldsOf(own, `${name}.`, depth + 1), ...fieldsOf(items, `${name}[].`, depth + 1)];
  });
}

/** `string (uuid)`, `array of <a href="#type-Prompt">Prompt</a>` */
function typeHtml(schema: Json, words: DocsWords): string {
  const { $ref: reference, type } = schema;
  if (typeof reference === "string") {
    const name = escapeHtml(reference.slice(reference.lastIndexOf("/") + 1));
    return `<a href="#type-${name}">${name}</a>`;
  }
  if ("const" in schema) return coded(schema["const"]);
  const choices = listOf(schema["enum"]);
  if (choices.length > 0) return `${words.oneOf} ${choices.map(coded).join(", ")}`;
  const others = listOf(schema["anyOf"] ?? schema["oneOf"]).filter(isObject);
  if (others.length > 0) return others.map((one) => typeHtml(one, words)).join(` ${words.or} `);
  if (type === "array") return `${words.arrayOf} ${typeHtml(inside(schema, "items"), words)}`;
  const format = typeof schema["format"] === "string" ? ` (${escapeHtml(schema["format"])})` : "";
  const names = (Array.isArray(type) ? type : [type ?? words.anything]).map((one) => escapeHtml(String(one)));
  return `${names.join(` ${words.or} `)}${format}`;
}

function meaning(schema: Json, words: DocsWords): string {
  const { description } = schema;
  const told = typeof description === "string" ? [`<span lang="en">${wordsHtml(description)}</span>`] : [];
  return [...told, ...limits(schema, words)].join("; ");
}

/** Constraints that the server checks. */
function limits(schema: Json, words: DocsWords): string[] {
  const is = (key: string) => schema[key] !== undefined;
  const shown = (key: string) => escapeHtml(JSON.stringify(schema[key]) ?? "");
  const counted = (message: string, key: string) => message.replace("{n}", () => shown(key));
  // The largest whole number that JavaScript is exact with is no limit that anyone asks about.
  const hasMost = is("maximum") && schema["maximum"] !== Number.MAX_SAFE_INTEGER;
  return [
    ...(is("minimum") ? [counted(words.atLeast, "minimum")] : []),
    ...(hasMost ? [counted(words.atMost, "maximum")] : []),
    ...(is("minLength") ? [counted(words.minLength, "minLength")] : []),
    ...(is("maxLength") ? [counted(words.maxLength, "maxLength")] : []),
    ...(is("maxItems") ? [counted(words.maxItems, "maxItems")] : []),
    ...(is("pattern") ? [`${words.matches} <code>${escapeHtml(String(schema["pattern"]))}</code>`] : []),
    ...(is("default") ? [`${words.default} <code>${shown("default")}</code>`] : []),
  ];
}

/** Escaped, and `code` as code. */
export function wordsHtml(words: string): string {
  const parts = words.split("`");
  // An odd number of marks: the last one is only a mark.
  const isClosed = parts.length % 2 === 1;
  return parts
    .map((part, at) =>
      at % 2 === 1 && (isClosed || at < parts.length - 1) ? `<code>${escapeHtml(part)}</code>` : escapeHtml(part),
    )
    .join("");
}

function coded(value: unknown): string {
  return `<code>${escapeHtml(JSON.stringify(value) ?? "")}</code>`;
}

/** The object at `key`; empty if there is none. */
export function inside(of: unknown, key: string): Json {
  const value = isObject(of) && Object.hasOwn(of, key) ? of[key] : undefined;
  return isObject(value) ? value : {};
}

/** `#/components/parameters/IfMatch` */
export function resolved(one: Json, components: Json): Json {
  const [, , kind = "", name = ""] = typeof one["$ref"] === "string" ? one["$ref"].split("/") : [];
  return kind === "" ? one : inside(inside(components, kind), name);
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
