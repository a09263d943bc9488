/** One operation on `/docs`: its parameters, its body, its answers and examples. */
import { escapeHtml } from "../../base/text.ts";
import { fieldTable, inside, listOf, resolved, schemaHtml, wordsHtml, type Json } from "./docs-tables.ts";
import type { DocsWords } from "./docs-words.ts";
import { isObject } from "../../base/values.ts";

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly told: Json;
}

export interface Frame {
  /** Schemas that the operations refer to. */
  readonly components: Json;
  /** Where the examples call. */
  readonly server: string;
  readonly words: DocsWords;
}

export function operationHtml({ method, path, told }: Operation, frame: Frame): string {
  const shown = [
    ...(typeof told["description"] === "string" ? [`<p lang="en">${wordsHtml(told["description"])}</p>`] : []),
    accessHtml(told, frame),
    parametersHtml(told, frame),
    bodyHtml(told, frame),
    answersHtml(told, frame),
    examplesHtml({ method, path, told }, frame),
  ];
  const id = escapeHtml(worded(told["operationId"], `${method} ${path}`));
  return `<details class="operation" id="${id}" data-method="${method}" data-path="${escapeHtml(path)}"><summary><b>${method}</b> <code>${escapeHtml(path)}</code> <span lang="en">${escapeHtml(worded(told["summary"]))}</span></summary>
${shown.join("\n")}</details>`;
}

function worded(value: unknown, otherwise = ""): string {
  return typeof value === "string" ? value : otherwise;
}

function accessHtml(told: Json, { words }: Frame): string {
  const access = told["x-access"];
  return typeof access === "string"
    ? `<p class="note">${words.access}: <span lang="en">${wordsHtml(access)}</span></p>`
    : "";
}

function parametersHtml(told: Json, { components, words }: Frame): string {
  const fields = listOf(told["parameters"])
    .filter(isObject)
    .map((one) => resolved(one, components))
    .map((one) => ({
      name: String(one["name"]),
      schema: { ...inside(one, "schema"), description: one["description"] },
      isRequired: one["required"] === true,
      place: String(one["in"]),
    }));
  const parts = ["path", "query", "header"].map((place) => {
    const table = fieldTable(
      fields.filter((one) => one.place === place),
      words,
    );
    return table && `<h3>${{ path: words.path, query: words.query, header: words.headers }[place]}</h3>${table}`;
  });
  return parts.join("");
}

function bodyHtml(told: Json, { words }: Frame): string {
  const media = Object.entries(inside(inside(told, "requestBody"), "content"));
  const parts = media.map(([type, content], at) => {
    const example = isObject(content) ? content["example"] : undefined;
    const marks = at === 0 ? ` class="body" data-type="${escapeHtml(type)}"` : "";
    return `<p><code>${escapeHtml(type)}</code></p>${schemaHtml(inside(content, "schema"), words)}${printed(example, marks)}`;
  });
  return parts.length > 0 ? `<h3 class="of-body">${words.body}</h3>${parts.join("")}` : "";
}

function answersHtml(told: Json, { words }: Frame): string {
  const usual: string[] = [];
  const own = Object.entries(inside(told, "responses")).flatMap(([status, response]) => {
    if (!isObject(response)) return [];
    if ("$ref" in response) {
      usual.push(`<a href="#answer-${escapeHtml(status)}">${escapeHtml(status)}</a>`);
      return [];
    }
    return [answerHtml(status, response, words)];
  });
  const others = usual.length > 0 ? `<p>${words.usualOnes} ${usual.join(" ")}</p>` : "";
  return `<h3>${words.answers}</h3>${own.join("")}${others}`;
}

/** Also for the list of the usual answers. */
export function answerHtml(status: string, response: Json, words: DocsWords): string {
  const headers = Object.keys(inside(response, "headers")).filter((name) => name !== "Warning");
  const shown =
    headers.length > 0 ? ` <span class="note">${words.headers}: ${headers.map(escapeHtml).join(", ")}</span>` : "";
  const contents = Object.entries(inside(response, "content")).map(([type, content]) => {
    const example = isObject(content) ? content["example"] : undefined;
    return `<p><code>${escapeHtml(type)}</code></p>${schemaHtml(inside(content, "schema"), words)}${printed(example)}`;
  });
  return `<p><strong>${escapeHtml(status)}</strong> <span lang="en">${wordsHtml(worded(response["description"]))}</span>${shown}</p>${contents.join("")}`;
}

function examplesHtml(operation: Operation, { components, server, words }: Frame): string {
  const query = exampleQuery(operation.told, components);
  const note = operation.path.includes("{") ? words.variablesAndPath : words.variables;
  return `<h3>${words.examples}</h3><p class="note">${wordsHtml(note)}</p>${printed(curl(operation, query, server), ' class="example" data-of="curl"')}${printed(typescript(operation, query), ' class="example" data-of="TypeScript"')}`;
}

/** What a call is refused without. */
function exampleQuery(told: Json, components: Json): Json {
  const all = listOf(told["parameters"]).filter(isObject);
  const asked = all.map((one) => resolved(one, components)).filter((one) => one["in"] === "query" && "example" in one);
  return Object.fromEntries(asked.map(({ name, example }) => [String(name), example]));
}

function queryText(query: Json): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    isObject(value)
      ? Object.entries(value).map(([key, one]) => [`${name}[${key}]`, String(one)])
      : [[name, String(value)]],
  );
  return pairs.length > 0 ? `?${new URLSearchParams(pairs)}` : "";
}

interface ExampleBody {
  readonly type: string;
  readonly example: unknown;
}

function exampleBody(told: Json): ExampleBody | undefined {
  const [first] = Object.entries(inside(inside(told, "requestBody"), "content"));
  return first && { type: first[0], example: isObject(first[1]) ? first[1]["example"] : undefined };
}

function curl({ method, path, told }: Operation, query: Json, server: string): string {
  const body = exampleBody(told);
  const [credential] = listOf(told["security"]);
  const isOpen = isObject(credential) && Object.keys(credential).length === 0;
  return [
    `curl${method === "GET" ? "" : ` -X ${method}`} ${shellAddress(server, path, queryText(query))}`,
    ...(isOpen || told["x-access"] === undefined ? [] : ['-H "Authorization: Bearer $TOKEN"']),
    ...(body ? curlBody(body) : []),
  ].join(" \\\n  ");
}

function curlBody({ type, example }: ExampleBody): string[] {
  if (type === formType)
    return formFields(example).map(
      ([name, value]) => `-F ${quoted(`${name}=${value}${name === "file" ? fileName : ""}`)}`,
    );
  return [`-H ${quoted(`Content-Type: ${type}`)}`, `--data-binary ${quoted(asText(example ?? {}))}`];
}

/** The field `file` of a form is a file, here one with a short text. */
const formType = "multipart/form-data";
const fileName = ";filename=hello.txt";

function formFields(example: unknown): [string, string][] {
  return isObject(example) ? Object.entries(example).map(([name, value]) => [name, String(value)]) : [];
}

/** `{id}` is a variable of the shell, as the token is. One named `path` would be where zsh looks for its commands. */
function shellAddress(server: string, path: string, query: string): string {
  if (!path.includes("{")) return quoted(`${server}${path}${query}`);
  const literal = `${server}${path}${query}`.replaceAll(/["$`\\]/g, "\\$&");
  return `"${literal.replaceAll(/\{(\w+)\}/g, (_, name) => `\${${name === "path" ? "rest" : name}}`)}"`;
}

/** As a shell takes it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function typescript({ method, path, told }: Operation, query: Json): string {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const body = exampleBody(told);
  const isForm = body?.type === formType;
  const options = [
    ...(names.length > 0 ? [`  path: { ${names.join(", ")} },`] : []),
    ...(Object.keys(query).length > 0 ? [`  query: ${JSON.stringify(query)},`] : []),
    ...(body && body.type !== "application/json" && !isForm
      ? [`  headers: { "content-type": ${JSON.stringify(body.type)} },`]
      : []),
    ...(isForm ? ["  body: form,"] : []),
    ...(body && !isForm ? [`  body: ${asText(body.example ?? {}, true).replaceAll("\n", "\n  ")},`] : []),
  ];
  const given = options.length > 0 ? `, {\n${options.join("\n")}\n}` : "";
  return `${isForm ? typescriptForm(body.example) : ""}const { data } = await client.${method.toLowerCase()}(${JSON.stringify(path)}${given});`;
}

function typescriptForm(example: unknown): string {
  const lines = formFields(example).map(([name, value]) => {
    const given = name === "file" ? `new Blob([${JSON.stringify(value)}]), "hello.txt"` : JSON.stringify(value);
    return `form.append(${JSON.stringify(name)}, ${given});\n`;
  });
  return `const form = new FormData();\n${lines.join("")}`;
}

function asText(example: unknown, quotes = false): string {
  if (typeof example === "string" && !quotes) return example;
  return JSON.stringify(example, null, 2) ?? "";
}

/** A `<pre>`; nothing if there is no example, or if the body is empty. */
function printed(example: unknown, marks = ""): string {
  return example === undefined || example === null ? "" : `<pre${marks}>${escapeHtml(asText(example))}</pre>`;
}
