import { answer, found, pageOf, pageQuery, pageReply, refOf, resourceRoutes, route } from "platform";
import type { ContextOf, Route } from "platform";
import { FlowVersion } from "../answers.ts";
import { warningsOf } from "../program/warnings.ts";
import { Flow, type FlowAt } from "./flow.ts";
import { newCode, programOf } from "./check.ts";
import { versions } from "./store.ts";

const versionExample = {
  version: 2,
  program: [{ type: "return", value: { greeting: "Hello {{ input.name }}" } }],
  created_by_id: 1,
  created_at: "2026-01-31T10:00:00.000Z",
};

/** behaviour B.9: the usual five calls; `:id` is the id or the code. */
export function flowRoutes(ctx: ContextOf<FlowAt>): Route[] {
  const usual = resourceRoutes(Flow, ctx, {
    async prepare(at, given) {
      const made = given.active === false ? undefined : newCode(given);
      const warnings = await warningsOf(at, at.caller.account.id, programOf(given.fields ?? {}), made);
      return { ...at, warnings };
    },
  });
  return [...Object.values(usual), versionRoute(ctx)];
}

/** Every change of a program is a version: processes go on with the one that they have started with. */
function versionRoute(ctx: ContextOf<FlowAt>): Route {
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
