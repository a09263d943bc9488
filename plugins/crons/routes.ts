import { answer, created, found, invalid, ok, refOf, resourceRoutes, route, Type } from "platform";
import type { BaseContext, Route } from "platform";
import type { Flows } from "../flows/api.ts";
import { Cron } from "./cron.ts";
import { fireNow } from "./fire.ts";
import { nextOf } from "./schedule.ts";

const CronRun = answer.object("CronRun", { flow_process_id: answer.uuid() });
const NextRuns = answer.object("CronNextRuns", {
  schedule: Type.String(),
  timezone: Type.String(),
  next_runs: answer.list(answer.time()),
});

const access = { privilege: "crons" } as const;
const next_runs = ["2026-02-01T06:00:00.000Z", "2026-02-02T06:00:00.000Z"];
const nextExample = { schedule: "0 7 * * *", timezone: "Europe/Warsaw", next_runs };

/** behaviour 2.6 and B.9. */
export function cronRoutes(ctx: BaseContext & { readonly flows: Flows }): Route[] {
  const { list, ...usual } = resourceRoutes(Cron, ctx);
  return [
    list,
    route(
      "GET",
      "/account/crons/next",
      {
        summary: "The next due times of a schedule, before it is saved",
        access,
        query: {
          schedule: "five fields: minute, hour, day of month, month, day of week",
          timezone: "default: the account's",
          count: Type.Integer({ minimum: 1, maximum: 20, default: 5, description: "1 to 20, default 5" }),
        },
        asks: { schedule: "0 7 * * *" },
        answers: { 200: NextRuns },
        responses: { 200: nextExample, 422: { schedule: ["is not a cron expression: …"] } },
      },
      async ({ caller, query }) => ok(nextOf(query, caller.account.timezone, ctx.now())),
    ),
    ...Object.values(usual),
    route(
      "POST",
      "/account/crons/:id/run",
      {
        summary: "Fire a cron now",
        description: "Its schedule stays as it is. It need not be active.",
        access,
        answers: { 201: CronRun },
        responses: {
          201: { flow_process_id: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e11" },
          422: { target_code: ["names no active flow"] },
        },
      },
      async ({ caller, params }) => {
        const row = await found(Cron, { ...ctx, caller }, refOf(Cron, params.id));
        const id = await fireNow(ctx, row, caller.user.id);
        if (id === undefined) throw invalid({ target_code: ["names no active flow"] });
        return created({ flow_process_id: id });
      },
    ),
  ];
}
