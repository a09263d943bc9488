import {
  answer,
  created,
  etag,
  expectedVersion,
  field,
  list,
  pageReply,
  noContent,
  ok,
  pageOf,
  pageQuery,
  route,
  Type,
  usedByRoute,
  warned,
  wildcardPattern,
  type Names,
  type Route,
} from "platform";
import { Connector, ConnectorMethod } from "./answers.ts";
import type { ConnectorKind } from "./api.ts";
import { customKind, fieldHints } from "./check.ts";
import { describedMethods } from "./methods.ts";
import { toApi, type ConnectorRow, type ConnectorStore } from "./store.ts";
import type { ConnectorWriter } from "./writer.ts";

type Kinds = ReadonlyMap<string, ConnectorKind>;

/** Other plugins add kinds until the server starts: what can be chosen is looked up when it is asked for. */
const inputOf = (kinds: Kinds) =>
  Type.Object({
    name: field.name(),
    code: Type.Optional(field.line(100)),
    kind: Type.Optional(field.from(field.name(100), { values: () => [...kinds.keys()] })),
    url: Type.Optional(field.line(2000)),
    secret_token: Type.Optional(field.line(10_000)),
    fields: Type.Optional(
      field.by(field.nullable(field.object()), "kind", () =>
        Object.fromEntries([...kinds].flatMap(([name, { fields }]) => (fields ? [[name, fields]] : []))),
      ),
    ),
    active: Type.Optional(field.flag()),
  });

const requestExample = {
  name: "Weather",
  code: "weather",
  kind: customKind,
  url: "https://api.openweathermap.org/data/2.5",
  secret_token: "0a1b2c3d4e5f6a7b8c9dwxyz",
  fields: {
    auth: { in: "query", name: "appid" },
    methods: {
      current: { method: "GET", path: "/weather", query: { q: "{city}", units: "metric" }, description: "Weather now" },
    },
  },
};
export const connectorExample = {
  id: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e0f",
  name: requestExample.name,
  code: requestExample.code,
  kind: customKind,
  url: requestExample.url,
  secret_token_info: "0a1b...wxyz",
  fields: requestExample.fields,
  active: true,
  created_at: "2026-01-31T10:00:00.000Z",
  updated_at: "2026-01-31T10:00:00.000Z",
};

const model = "Core::Connector";
const access = { privilege: "flows" } as const;

interface Needed {
  readonly names: Names;
  readonly connectorStore: Pick<ConnectorStore, "list">;
  readonly connectorWriter: ConnectorWriter;
  readonly kinds: Kinds;
}

/** behaviour B.9: the usual five calls; `:id` is the id or the code. */
export function connectorRoutes({ names, connectorStore, connectorWriter, kinds }: Needed): Route[] {
  const ConnectorInput = inputOf(kinds);
  const hinted = (row: ConnectorRow, reply: typeof ok, lost: readonly string[] = []) => {
    const kind = kinds.get(row.kind);
    return warned(reply(...shown(row)), [...lost, ...(kind ? fieldHints(kind, row.fields) : [])]);
  };
  const needs = () => ([...kinds.values()].every(({ needsUrl }) => needsUrl) ? [["url"]] : []);
  return [
    route(
      "GET",
      "/connect/connectors",
      {
        summary: "List connectors",
        access,
        query: {
          q: "searches name and code; `*` and `%` are wildcards",
          code: "exact value",
          kind: "exact value",
          ...pageQuery,
        },
        answers: { 200: answer.list(Connector) },
        responses: { 200: [connectorExample] },
      },
      async ({ caller, query }) => {
        const q = query.get("q");
        const filter = {
          q: q ? wildcardPattern(q) : undefined,
          code: query.get("code") || undefined,
          kind: query.get("kind") || undefined,
        };
        return pageReply(await connectorStore.list(caller.account.id, filter, pageOf(query)), toApi);
      },
    ),
    route(
      "GET",
      "/connect/connectors/:id",
      {
        summary: "One connector, by id or code",
        access,
        answers: { 200: Connector },
        responses: { 200: connectorExample, 304: null },
      },
      async ({ caller, params }) => ok(...shown(await connectorWriter.find(caller.account.id, params.id))),
    ),
    route(
      "GET",
      "/connect/connectors/:id/methods",
      {
        summary: "List the methods of a connector",
        description: "Also those that its kind has by itself. `parameters` are the names that a call fills in.",
        access,
        query: pageQuery,
        answers: { 200: answer.list(ConnectorMethod) },
        responses: { 200: [{ name: "current", description: "Weather now", parameters: ["city"], public: false }] },
      },
      async ({ caller, params, query }) => {
        const { kind, fields } = await connectorWriter.find(caller.account.id, params.id);
        const methods = describedMethods(kinds.get(kind)?.methods(fields) ?? [], fields);
        const { limit, offset } = pageOf(query);
        return list(methods.slice(offset, offset + limit), methods.length);
      },
    ),
    route(
      "POST",
      "/connect/connectors",
      {
        summary: "Make a connector",
        description:
          "`secret_token` is encrypted at rest and never shown again. `{name}` in a method's path, query, headers and " +
          "body is filled from the parameters of a call.",
        access,
        body: { key: "connector", schema: field.needs(ConnectorInput, needs) },
        request: requestExample,
        answers: { 201: Connector },
        responses: { 201: connectorExample, 422: { fields: ["methods.current.method must be one of GET, POST, …"] } },
      },
      async ({ caller, body }) => hinted(await connectorWriter.create(caller, body), created),
    ),
    route(
      "PATCH",
      "/connect/connectors/:id",
      {
        summary: "Change a connector",
        description:
          "`fields` replaces the whole object. A `secret_token` of null removes the secret; left out, it stays.",
        access,
        ifMatch: true,
        body: { key: "connector", schema: Type.Partial(ConnectorInput) },
        request: { active: false },
        answers: { 200: Connector },
        responses: { 200: { ...connectorExample, active: false } },
      },
      async ({ request, caller, params, body }) => {
        const { id, code } = await connectorWriter.find(caller.account.id, params.id);
        const row = await connectorWriter.update(caller, id, body, expectedVersion(request, id));
        return hinted(row, ok, row.code === code ? [] : await names.lost(caller, { model, keys: [code] }));
      },
    ),
    usedByRoute(names, { one: "/connect/connectors/:id", noun: "a connector", ...access }, async (accountId, key) => {
      const { code } = await connectorWriter.find(accountId, key);
      return { model, keys: [code] };
    }),
    route(
      "DELETE",
      "/connect/connectors/:id",
      { summary: "Delete a connector", access, ifMatch: true, responses: { 204: null } },
      async ({ request, caller, params }) => {
        const { id, code } = await connectorWriter.find(caller.account.id, params.id);
        await connectorWriter.delete(caller, id, expectedVersion(request, id));
        return warned(noContent(), await names.lost(caller, { model, keys: [code] }));
      },
    ),
  ];
}

function shown(row: ConnectorRow): Parameters<typeof ok> {
  return [toApi(row), { etag: etag(row.id, row.version) }];
}
