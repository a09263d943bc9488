/**
 * What the API has, found in its own description: lists of things that can be made, read, changed and deleted, what else
 * can be done with one, and what belongs to one. A folder plugin's resources are found like any others.
 */
import { isMap, textOf } from "./values.ts";
import { resolved, type OperationDoc, type Document, type FieldWords, type Schema } from "./openapi.ts";
import { same } from "../forms/merge.ts";

export interface Parameter {
  readonly name: string;
  readonly help: string;
  readonly schema: Schema;
}

export interface Operation {
  readonly method: string;
  /** As documented: `/core/prompts/{id}.json`. */
  readonly path: string;
  readonly summary: string;
  readonly help: string;
  readonly query: readonly Parameter[];
  /** The fields of the body, and the key that wraps them. */
  readonly body?: { readonly key?: string; readonly schema: Schema; readonly example?: unknown };
  /** Of a good answer. */
  readonly answer?: Schema;
  readonly ifMatch: boolean;
  readonly privilege: string | undefined;
  /** Where a person sees what is answered: `/w/{site_code}/{path}`. */
  readonly shownAt?: string;
  /** The values of the thing's fields with which it can succeed. */
  readonly when?: Readonly<Record<string, readonly string[]>>;
}

export interface Resource {
  /** `/core/dbs/{db_id}/records` */
  readonly path: string;
  /** The plugin's name. */
  readonly plugin: string;
  readonly privilege: string | undefined;
  readonly list: Operation;
  readonly create?: Operation;
  readonly read?: Operation;
  readonly update?: Operation;
  readonly remove?: Operation;
  /** What else can be done with one: `POST /account/crons/{id}/run`. */
  readonly actions: readonly Operation[];
  /** Its fields in words, and what the log of activity calls one. */
  readonly fields: Readonly<Record<string, FieldWords>>;
  readonly model?: string;
  /** The paths of the resources that belong to one. */
  readonly children: readonly string[];
}

/** Lists that only answer a question about another resource, or belong to a record's own page. */
const questions = /\/(search|aggregate|views|preview|export|trash|linked|comments|history)$/;

export function resourcesOf(document: Document): Resource[] {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, described]) =>
      described ? [operationOf(method, path, described, document)] : [],
    ),
  );
  const lists = operations.filter((one) => one.method === "GET" && isList(one));
  const paths = lists.map(({ path }) => bare(path)).filter((path) => !questions.test(path));
  return lists
    .filter(({ path }) => paths.includes(bare(path)))
    .map((list) => resourceOf(list, operations, paths, document));
}

/** Every privilege that a route asks for. */
export function privilegesOf(document: Document): string[] {
  const all = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map((one) => one?.["x-privilege"]),
  );
  return [...new Set(all.flatMap((name) => name ?? []))].toSorted();
}

function resourceOf(
  list: Operation,
  operations: readonly Operation[],
  paths: readonly string[],
  document: Document,
): Resource {
  const path = bare(list.path);
  const ofOne = operations.filter((one) => isOne(bare(one.path), path));
  const find = (method: string) => ofOne.find((one) => one.method === method);
  const create = operations.find((one) => one.method === "POST" && bare(one.path) === path && one.body);
  const [read, update, remove] = [find("GET"), find("PATCH"), find("DELETE")];
  const { "x-fields": fields = {}, "x-model": model } = read?.answer ?? list.answer?.items ?? {};
  return {
    path,
    fields,
    ...(model !== undefined && { model }),
    plugin: document.paths[list.path]?.["get"]?.tags?.[0] ?? "",
    privilege: list.privilege,
    list,
    ...(create && { create }),
    ...(read && { read }),
    ...(update && { update }),
    ...(remove && { remove }),
    actions: operations.filter((one) => isActionOf(one, path) && !paths.includes(bare(one.path))),
    children: paths.filter((other) => isChildOf(other, path)),
  };
}

function operationOf(method: string, path: string, described: OperationDoc, document: Document): Operation {
  const query = (described.parameters ?? []).flatMap(({ name, in: place, description = "", schema = {} }) =>
    place === "query" && name !== undefined ? [{ name, help: description, schema }] : [],
  );
  const body = bodyOf(described, document);
  const { "x-when": when } = described;
  const good = described.responses["200"] ?? described.responses["201"];
  const answer = good?.content?.["application/json"]?.schema;
  return {
    method: method.toUpperCase(),
    path,
    summary: described.summary,
    help: described.description ?? "",
    query,
    ...(body && { body }),
    ...(answer && { answer: withItems(resolved(answer, document), document) }),
    ifMatch: (described.parameters ?? []).some(({ $ref }) => $ref?.endsWith("/IfMatch")),
    privilege: described["x-privilege"],
    ...(described["x-shown-at"] !== undefined && { shownAt: described["x-shown-at"] }),
    ...(when && { when }),
  };
}

function withItems(schema: Schema, document: Document): Schema {
  return schema.items ? { ...schema, items: resolved(schema.items, document) } : schema;
}

/** The fields of a body, out of the key that wraps them. */
function bodyOf({ requestBody }: OperationDoc, document: Document): Operation["body"] {
  const media = requestBody?.content?.["application/json"];
  if (!media?.schema) return undefined;
  const whole = resolved(media.schema, document);
  const [[key, inner] = []] = Object.entries(whole.properties ?? {});
  // Others may stand beside the key, which alone is required.
  const isAlone = Object.keys(whole.properties ?? {}).length === 1 || whole.required?.join() === key;
  const wraps = key !== undefined && inner && isAlone;
  const fields = wraps ? resolved(inner, document) : whole;
  if (!wraps || !fields.properties) return { schema: whole, example: media.example };
  return { key, schema: fields, example: isMap(media.example) ? media.example[key] : undefined };
}

function isList({ path, answer }: Operation): boolean {
  return answer?.type === "array" && !/\}(\.json)?$/.test(path);
}

/** `/core/prompts/{id}.json` is one of `/core/prompts`. */
function isOne(path: string, list: string): boolean {
  return path.startsWith(`${list}/{`) && path.indexOf("/", list.length + 1) === -1 && path.endsWith("}");
}

/**
 * What follows the id is one word: `/account/crons/{id}/run`. Imports, batches and conversations are no forms. The word may be a
 * parameter (`/connect/connectors/{code}/{method_name}`), and what is only read is shown.
 */
function isActionOf({ method, path, answer }: Operation, list: string): boolean {
  if (!path.startsWith(`${list}/{`)) return false;
  const [word = "", ...more] = bare(path)
    .slice(list.length + 1)
    .split("/")
    .slice(1);
  if (word === "" || more.length > 0) return false;
  if (method === "POST") return !/^(import|batch|bulk|token|plan|migrate|chat|views)$/.test(word);
  return method === "GET" && !word.startsWith("{") && answer !== undefined && answer.type !== "array";
}

/** `/core/dbs/{db_id}/records` belongs to one of `/core/dbs`. */
function isChildOf(path: string, list: string): boolean {
  if (!path.startsWith(`${list}/{`)) return false;
  return path.slice(list.length + 1).split("/").length === 2;
}

function bare(path: string): string {
  return path.replace(/\.json$/, "");
}

/** `/core/dbs/{db_id}/records.json` with the values of `{…}` in their order. */
export function filled(path: string, values: readonly string[]): string {
  let at = 0;
  return path.replace(/\{\w+\}/g, () => encodeURIComponent(values[at++] ?? ""));
}

/** An address with the fields of a record in braces, empty for null; undefined if one of them is missing. */
export function filledFrom(template: string, record: Readonly<Record<string, unknown>>): string | undefined {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  if (names.some((name) => record[name] === undefined)) return undefined;
  return template.replace(/\{(\w+)\}/g, (_, name: string) =>
    textOf(record[name]).split("/").map(encodeURIComponent).join("/"),
  );
}

/** What has changed in a list since it was read. Pure. */
type Key = (row: unknown) => string | undefined;

export interface ListDiff {
  /** As they are now, each where it was. */
  readonly rows: readonly unknown[];
  readonly changed: readonly string[];
  /** No longer in the list. */
  readonly gone: readonly string[];
  readonly fresh: readonly string[];
}

/** `rows` are shown, `latest` is what the same request answers now; `isFull`: further rows may follow on the next page. */
export function newsOf(rows: readonly unknown[], latest: readonly unknown[], key: Key, isFull: boolean): ListDiff {
  const keysOf = (list: readonly unknown[]) => list.flatMap((row) => key(row) ?? []);
  const [before, after] = [keysOf(rows), keysOf(latest)];
  const [known, current] = [new Set(before), new Map(latest.map((row) => [key(row), row]))];
  // A new row pushes the last one to the next page, and a deleted one lets the first of that page in.
  const lastLeft = isFull ? before.findLastIndex((id) => current.has(id)) : before.length;
  const lastKnown = isFull ? after.findLastIndex((id) => known.has(id)) : after.length;
  return {
    rows: rows.map((row) => current.get(key(row)) ?? row),
    changed: rows.flatMap((row) => {
      const [id, now] = [key(row), current.get(key(row))];
      return id === undefined || now === undefined || same(row, now) ? [] : [id];
    }),
    gone: before.filter((id, at) => !current.has(id) && at <= lastLeft),
    fresh: after.filter((id, at) => !known.has(id) && at <= lastKnown),
  };
}
