/** Tools for everything that the API has lists of. */
import { invalid, isObject, parseExactly, Type, unknownNames } from "platform";
import type { Caller, InnerAnswer, Route } from "platform";
import { resultOf, shortened, type ToolResult } from "../answer.ts";
import { elsewhere, isElsewhere, isOpen, pathIn, type ApiResource } from "../things.ts";
import { mustMayDelete, mustMayMake, mustMayReplace } from "./deletions.ts";
import { addParameters } from "./filters.ts";
import { idInput, segment, tool, type Session, type Tool } from "./tool.ts";

const what = {
  resource: Type.String({ minLength: 1, maxLength: 100, description: "as `guide` lists them: apps, dbs" }),
  in: Type.Optional(idInput("id or code of what it belongs to: of records their database")),
};
const id = idInput("id or code");
const fields = Type.Record(Type.String(), Type.Unknown(), {
  description: "by name; `guide` with the resource as topic tells them",
});
const tag = Type.Optional(
  Type.String({ maxLength: 200, description: "of `get`: refused (412) if it has changed since" }),
);
const longestShown = 500;
const longList = 8_000;

type Part = "list" | "get" | "create" | "update" | "remove" | "replace";
interface ResourceRef {
  readonly resource: string;
  readonly in?: string | number;
}

const has = (part: Part) => (session: Session) =>
  [...session.things.values()].some((thing) => isOpen(thing[part], session.caller));

export const genericTools: readonly Tool[] = [
  tool({
    name: "list",
    title: "List things",
    description:
      "Lists things of a resource. Long texts are cut: `get` shows one whole. Records are better found by search_records.",
    reads: true,
    input: Type.Object({
      ...what,
      q: Type.Optional(Type.String({ maxLength: 1000, description: "searches names and codes" })),
      filter: Type.Optional(
        Type.Record(Type.String({ maxLength: 100 }), Type.Unknown(), {
          description:
            "other parameters, e.g. site_code; `guide` tells them. Of records also fields, as in search_records",
        }),
      ),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
      offset: Type.Optional(Type.Integer({ minimum: 0 })),
      after: Type.Optional(
        Type.String({ maxLength: 2000, description: "the `next` of the page before, in place of offset" }),
      ),
    }),
    routes: has("list"),
    run: async (args, session) => {
      const { path, route } = found(args, "list", session);
      const query = new URLSearchParams({ limit: `${args.limit ?? 20}` });
      if (args.after !== undefined) query.set("after", args.after);
      else query.set("offset", `${args.offset ?? 0}`);
      if (args.q !== undefined) query.set("q", args.q);
      addParameters(query, route, args.filter ?? {});
      const answer = await session.ask({ method: "GET", path: `${path}?${query}` });
      return briefly(answer);
    },
  }),
  tool({
    name: "get",
    title: "Read one thing",
    description: "One thing, whole, with its `etag` for `update` where it has one.",
    reads: true,
    input: Type.Object({ ...what, id }),
    routes: has("get"),
    run: async (args, session) => {
      return resultOf(await askOne(session, args, "get", (one) => ({ method: "GET", path: one })));
    },
  }),
  tool({
    name: "create",
    title: "Make a thing",
    description: "Makes a thing and answers with it, long texts cut. What is wrong is named by field.",
    input: Type.Object({
      ...what,
      fields,
      idempotency_key: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 255,
          pattern: "^[!-~]+$",
          description: "any word: the same key and fields make no second thing",
        }),
      ),
    }),
    routes: has("create"),
    run: async (args, session) => {
      const { path, route } = found(args, "create", session);
      await mustMayMake(session, args);
      const key = args.idempotency_key;
      const headers = key === undefined ? {} : { "idempotency-key": key };
      return briefly(await session.ask({ method: "POST", path, headers, body: wrapped(route, args.fields) }));
    },
  }),
  tool({
    name: "update",
    title: "Change a thing",
    description:
      "Changes the given fields and leaves the others. An object field is replaced whole, unless its guide says otherwise.",
    destroys: true,
    repeats: true,
    input: Type.Object({ ...what, id, fields, etag: tag }),
    routes: has("update"),
    run: async (args, session) => {
      const { route } = found(args, "update", session);
      await mustMayMake(session, args);
      // Of records: what does not name a table leaves it as it is.
      const kept = route.spec.query?.["keep_table"] === undefined ? "" : "?keep_table=true";
      const more = { headers: match(args.etag), body: wrapped(route, args.fields) };
      return briefly(
        await askOne(session, args, "update", (one) => ({ method: "PATCH", path: `${one}${kept}`, ...more })),
      );
    },
  }),
  tool({
    name: "replace_text",
    title: "Replace text in a thing",
    description:
      "Replaces text in a long field, such as `source_code` of apps or `schema` of dbs, without sending it whole. `old_string` must be there exactly: in JSON as compact text, else as text indented by two.",
    destroys: true,
    input: Type.Object({
      ...what,
      id,
      field: Type.String({ minLength: 1, maxLength: 100 }),
      old_string: Type.String({ minLength: 1 }),
      new_string: Type.String(),
      replace_all: Type.Optional(Type.Boolean()),
      etag: tag,
    }),
    routes: has("replace"),
    run: async ({ resource, in: parent, id: of, etag, ...body }, session) => {
      const ref = { resource, id: of, ...(parent !== undefined && { in: parent }) };
      if (resource === "dbs" && body.field === "public_methods") await mustMayReplace(session, of, body);
      const more = { headers: match(etag), body };
      return resultOf(
        await askOne(session, ref, "replace", (one) => ({ method: "PATCH", path: `${one}/replace`, ...more })),
      );
    },
  }),
  tool({
    name: "delete",
    title: "Delete a thing",
    description:
      "Deletes one thing, with what belongs to it. Of records and databases `restore` brings it back for 30 days.",
    destroys: true,
    input: Type.Object({ ...what, id, etag: tag }),
    routes: async (session) => has("remove")(session) && (await session.mayDelete()),
    run: async (args, session) => {
      await mustMayDelete(session);
      const headers = match(args.etag);
      return resultOf(await askOne(session, args, "remove", (one) => ({ method: "DELETE", path: one, headers })));
    },
  }),
];

/** The address and the route. Privileges are the route's matter; here is only what the resource cannot do at all. */
function found(args: ResourceRef, part: Part, { things, caller }: Session): { path: `/${string}`; route: Route } {
  const thing = things.get(args.resource);
  const route = thing?.[part];
  if (!thing || !route) {
    if (isElsewhere(args.resource)) throw invalid({ resource: [elsewhere] });
    const names = namesWith(part, things.values(), caller).join(", ");
    throw invalid({ resource: [`has no "${args.resource.slice(0, 100)}" for this: there are ${names || "none"}`] });
  }
  if (thing.isInner && args.in === undefined) throw invalid({ in: [`is required: whose ${thing.name}?`] });
  if (!thing.isInner && args.in !== undefined)
    throw invalid({ in: [`must be left out: ${thing.name} belong to nothing`] });
  if (args.in !== undefined) segment("in", args.in);
  return { path: pathIn(thing, args.in === undefined ? undefined : String(args.in)), route };
}

type Asking = Parameters<Session["ask"]>[0];

/** Where a thing is not found by this id, by this code: that of prompts is none of their addresses. */
async function askOne(
  session: Session,
  args: ResourceRef & { readonly id: string | number },
  part: Part,
  asking: (one: `/${string}`) => Asking,
): Promise<InnerAnswer> {
  const { path } = found(args, part, session);
  const answer = named(args, await session.ask(asking(`${path}/${segment("id", args.id)}`)));
  if (answer.status !== 404 || session.things.get(args.resource)?.list.spec.query?.["code"] === undefined)
    return answer;
  const query = new URLSearchParams({ code: String(args.id), limit: "10" });
  const { status, body } = await session.ask({ method: "GET", path: `${path}?${query}` });
  const rows: unknown = status === 200 ? parseExactly(body) : [];
  const ids = Array.isArray(rows)
    ? rows.flatMap((row: unknown) => (isObject(row) && row["code"] === args.id ? [String(row["id"])] : []))
    : [];
  if (ids.length > 1) throw invalid({ id: [`is the code of several: ${ids.join(", ")}`] });
  return ids[0] === undefined ? answer : session.ask(asking(`${path}/${segment("id", ids[0])}`));
}

/** A route that does not say what is missing. */
function named({ resource, id: of }: ResourceRef & { readonly id: string | number }, answer: InnerAnswer): InnerAnswer {
  if (answer.body !== '{"error":"not found"}') return answer;
  return {
    ...answer,
    body: JSON.stringify({ error: `${resource} has none with the id ${shortened(String(of), 100)}` }),
  };
}

function namesWith(part: Part, things: Iterable<ApiResource>, caller: Caller): string[] {
  return [...things].filter((thing) => isOpen(thing[part], caller)).map(({ name }) => name);
}

/** The body. A misspelt field would be left out and the thing be made without it: it is refused. */
function wrapped({ spec }: Route, given: Readonly<Record<string, unknown>>): unknown {
  const { key, beside = [], schema } = spec.body ?? {};
  const known = Object.keys(schema?.properties ?? {});
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  const hints = unknownNames(unknown, known, () => "is no field");
  if (schema?.additionalProperties !== true && unknown.length > 0)
    throw invalid(Object.fromEntries(unknown.map((name, at) => [name.slice(0, 100), [hints[at] ?? "is no field"]])));
  if (key === undefined) return given;
  const entries = Object.entries(given);
  const isBeside = ([name]: [string, unknown]) => beside.includes(name);
  return {
    ...Object.fromEntries(entries.filter(isBeside)),
    [key]: Object.fromEntries(entries.filter((one) => !isBeside(one))),
  };
}

function match(etag: string | undefined): Readonly<Record<string, string>> {
  if (etag === undefined) return {};
  if (!/^[ -~]*$/.test(etag)) throw invalid({ etag: ["is no etag"] });
  return { "if-match": etag };
}

/** With long texts cut: the caller has just sent them, or can `get` them. */
function briefly(answer: InnerAnswer): ToolResult {
  const isLong = answer.status < 300 && answer.body.length > longList;
  return resultOf(answer, isLong ? withShortTexts(answer.body) : answer.body);
}

function withShortTexts(body: string): string {
  const cut = (_: string, value: unknown) => (typeof value === "string" ? shortened(value, longestShown) : value);
  return JSON.stringify(parseExactly(body), cut);
}
