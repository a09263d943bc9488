/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
import {
  answer,
  created,
  etag,
  expectedVersion,
  field,
  flagOf,
  pageReply,
  noContent,
  ok,
  pageOf,
  pageQuery,
  route,
  unknownNames,
  usedByRoute,
  warned,
} from "platform";
import { Type, wildcardPattern, type Names, type Route } from "platform";
import { Flow } from "../answers.ts";
import { flowKind, newCode, programOf } from "./flow-check.ts";
import type { FlowLookup } from "./flow-lookup.ts";
import { toApi, type FlowRow, type FlowStore } from "./flow-store.ts";
import type { FlowWriter } from "./flow-writer.ts";

/** For forms and documentation: the program is checked with its places. */
const Fields = Type.Object({ program: Type.Array(Type.Unknown(), { description: "the steps, one after another" }) });

const FlowInput = Type.Object({
  name: field.name(),
  code: Type.Optional(field.line(100)),
  kind: Type.Optional(field.from(field.name(100), { values: () => [flowKind] })),
  fields: Type.Optional(field.by(field.nullable(field.object()), "kind", () => ({ [flowKind]: Fields }))),
  active: Type.Optional(field.flag()),
});

const program = [
  { type: "connector", connector: "weather", method: "current", params: { city: "{{ city }}" }, as: "weather" },
  { type: "mutation", set: { temp: "{{ weather.main.temp }}" } },
  { type: "if", condition: "temp > 20", then: [{ type: "mutation", set: { advice: "Take a hat" } }] },
];
const requestExample = { name: "Weather advice", code: "weather-advice", kind: flowKind, fields: { program } };
const flowExample = {
  id: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e10",
  ...requestExample,
  active: true,
  created_at: "2026-01-31T10:00:00.000Z",
  updated_at: "2026-01-31T10:00:00.000Z",
};
const shownExample = { ...flowExample, warnings: [] };
const model = "Core::Flow";
const access = { privilege: "flows" } as const;

interface Needed {
  readonly names: Names;
  readonly flowStore: Pick<FlowStore, "list">;
  readonly flowLookup: Pick<FlowLookup, "find">;
  readonly flowWriter: FlowWriter;
  readonly warnings: (accountId: number, program: unknown, made?: string) => Promise<string[]>;
}

/** behaviour B.9: the usual five calls; `:id` is the id or the code. */
export function flowRoutes({ names, flowStore, flowLookup, flowWriter, warnings }: Needed): Route[] {
  const shown = async (row: FlowRow) => tagged(row, await warnings(row.accountId, programOf(row.fields)));
  return [
    route(
      "GET",
      "/connect/flows",
      {
        summary: "List flows",
        access,
        query: {
          q: "searches name and code; `*` and `%` are wildcards",
          code: "exact value",
          tool: Type.Boolean({
            description: "true: only those that agents call as a tool of their own (`fields.tool`)",
          }),
          ...pageQuery,
        },
        answers: { 200: answer.list(Flow) },
        responses: { 200: [flowExample] },
      },
      async ({ caller, query }) => {
        const q = query.get("q");
        const filter = {
          q: q ? wildcardPattern(q) : undefined,
          code: query.get("code") || undefined,
          tool: flagOf(query, "tool"),
        };
        return pageReply(await flowStore.list(caller.account.id, filter, pageOf(query)), (row) => toApi(row));
      },
    ),
    route(
      "GET",
      "/connect/flows/:id",
      {
        summary: "One flow, by id or code",
        access,
        answers: { 200: Flow },
        responses: { 200: shownExample, 304: null },
      },
      async ({ caller, params }) => ok(...(await shown(await flowLookup.find(caller.account.id, params.id)))),
    ),
    route(
      "POST",
      "/connect/flows",
      {
        summary: "Make a flow",
        description:
          "A mistake in `fields.program` is 422 under `program`, with its step and key. `warnings` name connectors, " +
          "methods, flows, databases and tables that do not exist yet, and records that would be in no table. " +
          "A `db` step, also in a called flow, needs the privilege `dbs`.",
        access,
        body: { key: "flow", schema: FlowInput },
        request: requestExample,
        answers: { 201: Flow },
        responses: { 201: shownExample, 422: { program: ["program[2].then[0].connector is required"] } },
      },
      async ({ caller, body }) => {
        const { id: accountId } = caller.account;
        // Before the write: with an Idempotency-Key the flow is not committed yet, and nobody else sees it.
        const made = body.active === false ? undefined : newCode(body);
        const found = await warnings(accountId, programOf(body.fields ?? {}), made);
        return warned(created(...tagged(await flowWriter.create(caller, body), found)), fieldHints(body.fields));
      },
    ),
    route(
      "PATCH",
      "/connect/flows/:id",
      {
        summary: "Change a flow",
        description: "`fields` replaces the whole object. A running process keeps the program it started with.",
        access,
        ifMatch: true,
        body: { key: "flow", schema: Type.Partial(FlowInput) },
        request: { active: false },
        answers: { 200: Flow },
        responses: { 200: { ...shownExample, active: false } },
      },
      async ({ request, caller, params, body }) => {
        const { id, code } = await flowLookup.find(caller.account.id, params.id);
        const row = await flowWriter.update(caller, id, body, expectedVersion(request, id));
        const lost = row.code === code ? [] : await names.lost(caller, { model, keys: [code] });
        return warned(ok(...(await shown(row))), [...lost, ...fieldHints(body.fields)]);
      },
    ),
    usedByRoute(names, { one: "/connect/flows/:id", noun: "a flow", ...access }, async ({ account }, key) => {
      const { code } = await flowLookup.find(account.id, key);
      return { model, keys: [code] };
    }),
    route(
      "DELETE",
      "/connect/flows/:id",
      { summary: "Delete a flow; its processes stay", access, ifMatch: true, responses: { 204: null } },
      async ({ request, caller, params }) => {
        const { id, code } = await flowLookup.find(caller.account.id, params.id);
        await flowWriter.delete(caller, id, expectedVersion(request, id));
        return warned(noContent(), await names.lost(caller, { model, keys: [code] }));
      },
    ),
  ];
}

/** Names the keys that neither the engine nor agents read. */
function fieldHints(fields: Readonly<Record<string, unknown>> | null | undefined): string[] {
  const known = ["program", "tool", "description", "input"];
  return unknownNames(Object.keys(fields ?? {}), known, (name) => `unknown field "${name}" in "fields"`);
}

/** The warnings change with what the flow names, without a new version of the flow. */
function tagged(row: FlowRow, found: readonly string[]): Parameters<typeof ok> {
  const shown = toApi(row, found);
  return [shown, { etag: etag(row.id, row.version, shown) }];
}
