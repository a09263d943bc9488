import {
  answer,
  etag,
  field,
  found,
  isKnownTag,
  list,
  pageOf,
  pageQuery,
  pageReply,
  preconditionFailed,
  refOf,
  resourceRoutes,
  route,
  Type,
  warned,
} from "platform";
import type { Route } from "platform";
import { FlowVersion, TriggerAnswer } from "../answers.ts";
import type { FlowContext } from "../context.ts";
import { warningsOf } from "../program/warnings.ts";
import { loopHints, mostTriggers, putTriggers, triggersFor } from "../triggers/triggers.ts";
import type { Trigger } from "../triggers/source.ts";
import { Flow, type FlowRow } from "./flow.ts";
import { newCode, programOf } from "./check.ts";
import { versions } from "./store.ts";

const versionExample = {
  version: 2,
  program: [{ type: "return", value: { greeting: "Hello {{ input.name }}" } }],
  created_by_id: 1,
  created_at: "2026-01-31T10:00:00.000Z",
};

/** behaviour B.9: the usual five calls; `:id` is the id or the code. */
export function flowRoutes(ctx: FlowContext): Route[] {
  const usual = resourceRoutes(
    Flow,
    {
      ...ctx,
      loops: async (caller, row) => loopHints(ctx, row, await triggersFor(ctx, caller, row.code)),
    },
    {
      async prepare(at, given) {
        const made = given.active === false ? undefined : newCode(given);
        const warnings = await warningsOf(at, at.caller.account.id, programOf(given.fields ?? {}), made);
        return { ...at, warnings };
      },
    },
  );
  return [...Object.values(usual), versionRoute(ctx), ...triggerRoutes(ctx)];
}

/** Every change of a program is a version: processes go on with the one that they have started with. */
function versionRoute(ctx: FlowContext): Route {
  return route(
    "GET",
    "/connect/flows/:id/versions",
    {
      summary: "List the programs that a flow has had, latest first",
      description: "The first one is the current program. To restore another, save it as `fields.program`.",
      access: { privilege: "flows" },
      query: pageQuery,
      answers: { 200: answer.list(FlowVersion) },
      responses: { 200: [versionExample] },
    },
    async ({ caller, params, query }) => {
      const { id, accountId } = await found(Flow, { ...ctx, caller }, refOf(Flow, params.id));
      const page = pageOf(query);
      const read = await versions(ctx.sql, accountId, id, page);
      const rows = read.rows.map(({ program, createdById, createdAt }, at) => ({
        version: read.total - page.offset - at,
        program,
        created_by_id: createdById,
        created_at: createdAt,
      }));
      return pageReply({ ...read, rows }, (row) => row);
    },
  );
}

const triggerExample = {
  id: "webhook-3",
  kind: "record",
  db: "orders",
  table: null,
  on: "update",
  filter: { status: "paid" },
  changed: ["status"],
  active: true,
  trouble: null,
  path: "/account/webhooks/3.json",
};

const GivenTrigger = Type.Object(
  {
    id: Type.Optional(Type.String({ maxLength: 100, description: "of one that stands: what is left out of it stays" })),
    kind: field.name(100),
    active: Type.Optional(field.flag()),
    db: Type.Optional(field.code()),
    table: Type.Optional(field.nullable(field.line(100))),
    on: Type.Optional(field.line(100)),
    source_type: Type.Optional(field.line(200)),
    filter: Type.Optional(field.nullable(field.object())),
    changed: Type.Optional(field.nullable(Type.Array(Type.String(), { maxItems: 20 }))),
  },
  { additionalProperties: true },
);

/** What starts a flow: webhooks, crons and hooks as they are, seen in both places. */
function triggerRoutes(ctx: FlowContext): Route[] {
  const access = { privilege: "flows" } as const;
  return [
    route(
      "GET",
      "/connect/flows/:id/triggers",
      {
        summary: "List what starts a flow",
        description:
          "`record` { db, table, on, filter, changed } and `event` { source_type, on, filter } are webhooks, `cron` { schedule, " +
          "timezone, missed } crons, `hook` hooks, `action` { app, action } actions of apps; `path` is the thing itself. Those of " +
          "kinds whose privilege you lack are left out.",
        access,
        answers: { 200: answer.list(TriggerAnswer) },
        responses: { 200: [triggerExample] },
      },
      async ({ caller, params }) => {
        const flow = await found(Flow, { ...ctx, caller }, refOf(Flow, params.id));
        const triggers = await triggersFor(ctx, caller, flow.code);
        return list(triggers, triggers.length, { etag: tagOf(flow, triggers) });
      },
    ),
    route(
      "PUT",
      "/connect/flows/:id/triggers",
      {
        summary: "Replace what starts a flow",
        description:
          `The whole list, at most ${mostTriggers}, all or none: one without \`id\` is made, one with it is changed, any other is ` +
          "deleted. Of kinds whose privilege you lack, and `action`s, nothing changes. Each needs the rights that its thing needs. " +
          "The header `Warning` names steps that do what starts the flow.",
        ifMatch: true,
        access,
        body: { schema: Type.Object({ triggers: Type.Array(GivenTrigger, { maxItems: mostTriggers }) }) },
        request: {
          triggers: [{ kind: "record", db: "orders", on: "update", filter: { status: "paid" }, changed: ["status"] }],
        },
        answers: { 200: answer.list(TriggerAnswer) },
        responses: { 200: [triggerExample], 422: { triggers: ["triggers[0].schedule is not a cron expression: …"] } },
      },
      async ({ caller, params, body, request }) => {
        const flow = await found(Flow, { ...ctx, caller }, refOf(Flow, params.id));
        const expected = request.headers.get("if-match");
        const stands = await triggersFor(ctx, caller, flow.code);
        if (expected && !isKnownTag(expected, tagOf(flow, stands))) throw preconditionFailed();
        const { triggers, hints } = await putTriggers(ctx, caller, { flow, stands }, body.triggers);
        return warned(list(triggers, triggers.length, { etag: tagOf(flow, triggers) }), hints);
      },
    ),
  ];
}

/** What people have set, in any order. */
function tagOf({ id }: FlowRow, triggers: readonly Trigger[]): string {
  const set = triggers.map((one) => ({ ...one, next_run_at: undefined, trouble: undefined }));
  return etag(
    id,
    triggers.length,
    set.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  );
}
