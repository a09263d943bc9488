import {
  answer,
  created,
  etag,
  expectedVersion,
  field,
  integerId,
  invalid,
  pageReply,
  mustMatch,
  noContent,
  notFound,
  ok,
  pageOf,
  pageQuery,
  route,
  Type,
} from "platform";
import type { BaseContext, Caller, Route, Static, Tx } from "platform";
import type { Flows } from "../flows/api.ts";
import { Cron, CronRun, ListedCron, NextRuns } from "./answers.ts";
import type { Firing } from "./fire.ts";
import { checkedInput } from "./input.ts";
import { nextOf } from "./next.ts";
import { nextRuns } from "./schedule.ts";
import { toApi, type CronRow, type CronStore } from "./store.ts";

const Input = Type.Object({
  name: Type.Optional(field.line()),
  kind: Type.Optional(field.oneOf(["flow"])),
  target_code: field.from(field.name(100), { path: "/connect/flows.json", value: "code" }),
  schedule: field.name(200),
  timezone: Type.Optional(field.line(64)),
  active: Type.Optional(field.flag()),
  missed: Type.Optional(field.oneOf(["skip", "latest"])),
});

const requestExample = { name: "Every morning", kind: "flow", target_code: "weather-advice", schedule: "0 7 * * *" };
const cronExample = {
  id: 7,
  ...requestExample,
  timezone: "Europe/Warsaw",
  active: true,
  missed: "skip",
  last_run_at: null,
  next_run_at: "2026-02-01T06:00:00.000Z",
  last_error: null,
  created_at: "2026-01-31T10:00:00.000Z",
  updated_at: "2026-01-31T10:00:00.000Z",
};
const shownExample = { ...cronExample, next_runs: ["2026-02-01T06:00:00.000Z", "2026-02-02T06:00:00.000Z"] };
const nextExample = { schedule: "0 7 * * *", timezone: "Europe/Warsaw", next_runs: shownExample.next_runs };
const access = { privilege: "crons" } as const;

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "now">;
  readonly cronStore: CronStore;
  readonly flows: Flows;
  readonly firing: Firing;
}

/** behaviour 2.6 and B.9. */
export function cronRoutes({ ctx, cronStore, flows, firing }: Needed): Route[] {
  const find = async (accountId: number, id: string): Promise<CronRow> => {
    const row = await cronStore.byId(accountId, integerId(id));
    if (!row) throw notFound();
    return row;
  };
  /** Held until the transaction ends, in the version that the request names. */
  const locked = async (tx: Tx, { account }: Caller, id: number, request: Request): Promise<CronRow> => {
    const row = await cronStore.lock(tx, account.id, id);
    if (!row) throw notFound();
    mustMatch(row, expectedVersion(request, id));
    return row;
  };
  return [
    route(
      "GET",
      "/account/crons",
      {
        summary: "List crons",
        access,
        query: { target_code: "exact value", ...pageQuery },
        answers: { 200: answer.list(ListedCron) },
        responses: { 200: [cronExample] },
      },
      async ({ caller, query }) => {
        return pageReply(
          await cronStore.list(caller.account.id, query.get("target_code") || undefined, pageOf(query)),
          toApi,
        );
      },
    ),
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
    route(
      "GET",
      "/account/crons/:id",
      {
        summary: "One cron, with its next five due times",
        access,
        answers: { 200: Cron },
        responses: { 200: shownExample, 304: null },
      },
      async ({ caller, params }) => ok(...shown(await find(caller.account.id, params.id), ctx.now())),
    ),
    route(
      "POST",
      "/account/crons",
      {
        summary: "Make a cron",
        description:
          'Starts the flow `target_code` with the input { kind: "cron", cron_id }. `schedule` has five fields, in ' +
          "`timezone` (default: the account's). `missed` is for due times while no server ran: `skip` leaves them out, " +
          "`latest` fires the latest one. Naming a flow needs the privilege `flows`.",
        access,
        body: { key: "cron", schema: Input },
        request: requestExample,
        answers: { 201: Cron },
        responses: { 201: shownExample, 422: { schedule: ["is not a cron expression: …"] } },
      },
      async ({ caller, body }) => {
        const input = await checkedInput(flows, caller, ctx.now(), body);
        return created(
          ...shown(
            await ctx.transaction((tx) => cronStore.insert(tx, caller.account.id, caller.user.id, input)),
            ctx.now(),
          ),
        );
      },
    ),
    route(
      "PATCH",
      "/account/crons/:id",
      {
        summary: "Change a cron",
        description: "A run of the cron is no change of it: `If-Match` compares what people have set.",
        access,
        ifMatch: true,
        body: { key: "cron", schema: Type.Partial(Input) },
        request: { active: false },
        answers: { 200: Cron },
        responses: { 200: { ...shownExample, active: false, next_run_at: null, next_runs: [] } },
      },
      async ({ request, caller, params, body }) => {
        const { account, user } = caller;
        const row = await ctx.transaction(async (tx) => {
          const before = await locked(tx, caller, integerId(params.id), request);
          return cronStore.update(
            tx,
            account.id,
            before.id,
            user.id,
            await checkedInput(flows, caller, ctx.now(), body, before),
          );
        });
        return ok(...shown(row, ctx.now()));
      },
    ),
    route(
      "DELETE",
      "/account/crons/:id",
      { summary: "Delete a cron", access, ifMatch: true, responses: { 204: null } },
      async ({ request, caller, params }) => {
        await ctx.transaction(async (tx) => {
          const { id } = await locked(tx, caller, integerId(params.id), request);
          await cronStore.delete(tx, caller.account.id, id);
        });
        return noContent();
      },
    ),
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
        const row = await find(caller.account.id, params.id);
        const id = await firing.now(row, caller.user.id);
        if (id === undefined) throw invalid({ target_code: ["names no active flow"] });
        return created({ flow_process_id: id });
      },
    ),
  ];
}

function shown(row: CronRow, now: Date): Parameters<typeof ok> {
  const cron: Static<typeof Cron> = { ...toApi(row), next_runs: row.active ? nextRuns(row, 5, now) : [] };
  return [cron, { etag: etag(row.id, row.version, cron) }];
}
