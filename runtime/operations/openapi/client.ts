/** `@corestead/client`: one TypeScript module without dependencies, with a type for each call of an OpenAPI document. */
import manifest from "../../../package.json" with { type: "json" };
import core from "./client-core.txt" with { type: "text" };
import tables from "./client-tables.txt" with { type: "text" };
import { isObject } from "../../base/values.ts";
import { inside, resolved, type Json } from "./docs-tables.ts";

/** What an OpenAPI document has, as far as the client is made of it. */
export interface Description {
  readonly paths: Json;
  readonly components: Json;
}

const methods = ["get", "post", "patch", "put", "delete"] as const;

/** The text of the module. */
export function clientModule(description: Description): string {
  const calls = methods.map((method) => `  readonly ${method}: {\n${callsOf(description, method).join("")}  };\n`);
  const schemas = Object.entries(inside(description.components, "schemas"));
  const shapes = schemas.map(([name, schema]) => field(name, schema, true, "  "));
  return `/** The typed client of Corestead ${manifest.version}. Generated from its OpenAPI description: do not edit. */

/** The objects of the API by name: \`Schemas["Prompt"]\`. */
export interface Schemas {
${shapes.join("")}}

/** Every call: what it takes in its path, query and body, and what it answers. */
export interface Routes {
${calls.join("")}}

/** These take no Idempotency-Key, so they are sent once. */
const unkeyed: ReadonlySet<string> = new Set<string>(${JSON.stringify(unkeyed(description))});

${core}${tables}`;
}

function callsOf({ paths, components }: Description, method: string): string[] {
  return Object.entries(paths).flatMap(([path, operations]) => {
    const operation = inside(operations, method);
    if (Object.keys(operation).length === 0) return [];
    const parts = [
      ...parameters(operation, components, "path"),
      ...parameters(operation, components, "query"),
      ...body(operation),
      `      readonly answer: ${answer(operation)};\n`,
    ];
    const told = [operation["summary"], operation["x-access"]].filter(Boolean).join("; ");
    return [`${comment(told, "    ")}    readonly ${text(path)}: {\n${parts.join("")}    };\n`];
  });
}

/** Headers have options of their own. */
function parameters(operation: Json, components: Json, place: "path" | "query"): string[] {
  const all = listed(operation["parameters"]).map((one) => resolved(one, components));
  const here = all.filter((one) => one["in"] === place);
  if (here.length === 0) return [];
  const fields = here.map((one) => {
    // Some ids are numbers, and all are words of an address.
    const schema = place === "path" ? { type: ["string", "number"] } : inside(one, "schema");
    return field(
      String(one["name"]),
      { ...schema, description: one["description"] },
      one["required"] === true,
      "        ",
    );
  });
  const optional = here.some((one) => one["required"] === true) ? "" : "?";
  return [`      readonly ${place}${optional}: {\n${fields.join("")}      };\n`];
}

const otherBodies: Readonly<Record<string, string>> = { "multipart/form-data": "FormData" };

function body(operation: Json): string[] {
  const request = operation["requestBody"];
  if (!isObject(request)) return [];
  const types = Object.entries(inside(request, "content")).map(([media, content]) =>
    media === "application/json" ? typeOf(inside(content, "schema"), "      ") : (otherBodies[media] ?? "string"),
  );
  const isOptional = request["required"] !== true;
  // A form is another way to write the same fields.
  const json = inside(request, "content")["application/json"] === undefined ? types : types.slice(0, 1);
  return [`      readonly body${isOptional ? "?" : ""}: ${[...new Set(json)].join(" | ")};\n`];
}

/** What a call resolves to: other answers than of 2xx and 3xx are thrown. */
function answer(operation: Json): string {
  const types = new Set<string>();
  for (const [status, response] of Object.entries(inside(operation, "responses"))) {
    if (!/^[23]/.test(status) || status === "304") continue;
    const contents = Object.entries(inside(response, "content"));
    if (contents.length === 0) types.add("undefined");
    for (const [media, content] of contents) {
      if (media === "application/json") types.add(typeOf(inside(content, "schema"), "      "));
      else types.add(media === "text/event-stream" ? "Response" : "string");
    }
  }
  return [...types].join(" | ") || "undefined";
}

function unkeyed({ paths, components }: Description): string[] {
  return Object.entries(paths).flatMap(([path, operations]) => {
    const post = inside(operations, "post");
    const takesKey = listed(post["parameters"]).some((one) => resolved(one, components)["name"] === "Idempotency-Key");
    return Object.keys(post).length > 0 && !takesKey ? [path] : [];
  });
}

function typeOf(schema: unknown, indent: string): string {
  if (!isObject(schema)) return "unknown";
  const reference = schema["$ref"];
  if (typeof reference === "string") return `Schemas[${text(reference.slice(reference.lastIndexOf("/") + 1))}]`;
  if ("const" in schema) return text(schema["const"]);
  if (Array.isArray(schema["enum"])) return union(schema["enum"].map(text));
  const choices = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(choices)) return union(choices.map((one) => typeOf(one, indent)));
  if (Array.isArray(schema["allOf"])) return schema["allOf"].map((one) => `(${typeOf(one, indent)})`).join(" & ");
  const { type } = schema;
  if (Array.isArray(type)) return union(type.map((one) => typeOf({ ...schema, type: one }, indent)));
  if (type === "array") return `readonly (${typeOf(schema["items"], indent)})[]`;
  if (type === "object") return objectType(schema, indent);
  if (type === "integer" || type === "number") return "number";
  return type === "string" || type === "boolean" || type === "null" ? type : "unknown";
}

function objectType(schema: Json, indent: string): string {
  const properties = Object.entries(inside(schema, "properties"));
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const { additionalProperties: more } = schema;
  if (properties.length === 0) {
    if (more === false) return "Readonly<Record<string, never>>";
    return `{ readonly [key: string]: ${isObject(more) ? typeOf(more, indent) : "unknown"} }`;
  }
  const inner = `${indent}  `;
  const fields = properties.map(([name, one]) => field(name, one, required.has(name), inner));
  // An index signature must hold for the named fields too.
  const others = more === true || isObject(more) ? [`${inner}readonly [key: string]: unknown;\n`] : [];
  return `{\n${[...fields, ...others].join("")}${indent}}`;
}

function field(name: string, schema: unknown, isRequired: boolean, indent: string): string {
  const told = isObject(schema) && typeof schema["description"] === "string" ? schema["description"] : "";
  const type = typeOf(schema, indent);
  // A caller under exactOptionalPropertyTypes may have undefined in hand.
  const optional = isRequired ? `: ${type}` : `?: ${type === "unknown" ? type : `${type} | undefined`}`;
  return `${comment(told, indent)}${indent}readonly ${text(name)}${optional};\n`;
}

function union(types: readonly string[]): string {
  return [...new Set(types)].map((one) => (one.startsWith("readonly ") ? `(${one})` : one)).join(" | ") || "never";
}

/** One line; a plugin's words cannot end it. */
function comment(words: string, indent: string): string {
  const line = words
    .replaceAll("*/", "* /")
    .replaceAll(/[\r\n\u2028\u2029]/g, " ")
    .trim();
  return line === "" ? "" : `${indent}/** ${line} */\n`;
}

/** A name or value as TypeScript writes it. */
function text(value: unknown): string {
  return JSON.stringify(value) ?? "undefined";
}

function listed(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
