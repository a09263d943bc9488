import {
  answer,
  badRequest,
  created,
  field,
  invalid,
  isObject,
  list,
  notFound,
  ok,
  pageOf,
  pageQuery,
  route,
  Type,
} from "platform";
import { unknownNames, warned, type Route } from "platform";
import { isUuid } from "../../connectors/api.ts";
import { FlowRun, FlowStats, FlowTest, StepTrial, StepTypeAnswer } from "../answers.ts";
import type { FlowContext } from "../context.ts";
import type { StepTypes } from "../program/step-types.ts";
import { includedOf, processExample } from "./routes.ts";
import { shownTo, toRun } from "./show.ts";
import { startProcess } from "./start.ts";
import { statsOf } from "./view-store.ts";
import { tryFlow, tryStep } from "./trial.ts";

const access = { privilege: "flows" } as const;
/** For forms and documentation. */
const TestBody = Type.Object({
  input: Type.Optional(field.object()),
  answers: Type.Optional(field.object()),
});
const StepBody = Type.Object({
  step: Type.Record(Type.String(), Type.Unknown(), {
    description: "a step `http` or `mail.send`, without expressions",
  }),
});
const runWaitMs = 1000;
const mostCounted = 100_000;
const mostWaitSeconds = 25;

/** behaviour B.9: starting a flow, and trying one without any effect. */
export function runRoutes(ctx: FlowContext): Route[] {
  return [
    route(
      "GET",
      "/connect/flows/:code/stats",
      {
        summary: "How a flow has run lately",
        description: `By days of the account's time zone, or by hours where \`days\` is 1 or 2: of the latest 100,000 processes how many were started, how many of them failed, and how long they took, waits included.`,
        access,
        query: { days: Type.Integer({ minimum: 1, maximum: 90, default: 14, description: "1 to 90, default 14" }) },
        answers: { 200: answer.list(FlowStats) },
        responses: { 200: [{ from: "2026-01-31T00:00:00.000Z", runs: 40, failed: 2, p50_ms: 12, p99_ms: 480 }] },
      },
      async ({ caller, params, query }) => {
        const { code } = await ctx.flowLookup.find(caller.account.id, params.code);
        const { id, timezone } = caller.account;
        const days = daysOf(query.get("days"));
        const asked = { unit: days <= 2 ? "hour" : "day", days, timezone, most: mostCounted } as const;
        const rows = await statsOf(ctx.sql, id, code, asked);
        const shown = rows.map(({ from, runs, failed, times }) => ({
          from,
          runs,
          failed,
          p50_ms: times ? Math.round(times[0]) : null,
          p99_ms: times ? Math.round(times[1]) : null,
        }));
        return list(shown, shown.length);
      },
    ),
    route(
      "POST",
      "/connect/flows/:code/run",
      {
        summary: "Start a flow, with the body as its input",
        description:
          "Answers with the process: ended if that took at most a second (`wait=` sets another time), else `pending`.",
        access,
        when: { active: ["true"] },
        input: "any",
        query: {
          wait: Type.Number({ description: `seconds to wait for its end, 0 to ${mostWaitSeconds}, default 1` }),
        },
        request: { city: "Kraków" },
        answers: { 201: FlowRun },
        responses: { 201: { ...processExample, flow_process_id: processExample.id } },
      },
      async ({ caller, params, query, body, request, settle }) => {
        const input = inputOf(body);
        const { id: accountId } = caller.account;
        const { code } = isUuid(params.code)
          ? await ctx.flowLookup.find(accountId, params.code)
          : { code: params.code };
        const started = await startProcess(ctx, { accountId, code, input });
        if (!started) throw notFound("no active flow has this code");
        if (started.process.status !== "pending") return created(await toRun(ctx, caller, started));
        await settle(created(await toRun(ctx, caller, started)));
        const ms = waitOf(query) ?? runWaitMs;
        const row = await ctx.waiting.wait({
          accountId,
          id: started.process.id,
          ms,
          fresh: true,
          signal: request.signal,
        });
        const shown = await shownTo(ctx, ctx.sql, caller, started.process.id);
        return created({ ...shown, flow_process_id: row?.id });
      },
    ),
    route(
      "POST",
      "/connect/flows/:code/test",
      {
        summary: "Test a flow without any effect",
        description:
          "`answers` replace connectors and databases, by step id, `<connector code>.<method>`, " +
          "`<database code>.<op>` or the type of a plugin's own step: the data, or `{ status, data }`, or `{ error }`. An answer that no step uses is " +
          "422. `program` replaces the stored one, `app` sets who asks. Waits take no time.",
        access,
        input: "any",
        takes: [TestBody],
        query: { include: "`inputs`: what each step was given" },
        request: { input: { city: "Kraków" }, answers: { "weather.current": { main: { temp: 24 } } } },
        answers: { 200: FlowTest },
        responses: {
          200: {
            status: "finished",
            data: { temp: 24, advice: "Take a hat" },
            error: null,
            steps: processExample.steps,
          },
        },
      },
      async ({ caller, params, body, query }) => {
        const tried = await tryFlow(ctx, caller.account, params.code, body, includedOf(query));
        const given = isObject(body) ? Object.keys(body) : [];
        return warned(
          ok(tried),
          unknownNames(
            given,
            [...Object.keys(TestBody.properties), "program", "app"],
            (name) => `unknown field "${name}"`,
          ),
        );
      },
    ),
    route(
      "POST",
      "/connect/flow_steps/try",
      {
        summary: "Run one step for real",
        description:
          "A request of a step `http` is sent as in a run. A mail of `mail.send` (privilege `mails`) goes to your own address alone. What the other side refuses is an answer too.",
        access,
        body: { schema: StepBody },
        idempotency: "claim",
        request: { step: { type: "http", method: "GET", url: "https://api.example.com/orders/7" } },
        answers: { 200: StepTrial },
        responses: {
          200: { ok: true, status: 200, headers: { "content-type": "application/json" }, data: { id: 7 }, error: null },
          422: { url: ["is required"] },
        },
      },
      async ({ caller, body }) => ok(await tryStep(ctx, caller, body.step)),
    ),
  ];
}

const stepExample = {
  type: "shopping-list.notify",
  doc: "notifies everyone on a list that something was bought",
  params: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  privilege: "shopping_list",
};

/** The step types that plugins add. */
export function stepRoutes(types: StepTypes): Route[] {
  return [
    route(
      "GET",
      "/connect/flow_steps",
      {
        summary: "List the step types that plugins add to flows",
        description: "`params` is a JSON Schema; saving a flow with such a step needs its `privilege`.",
        access,
        query: pageQuery,
        answers: { 200: answer.list(StepTypeAnswer) },
        responses: { 200: [stepExample] },
      },
      async ({ query }) => {
        const { limit, offset } = pageOf(query);
        const all = [...types.values()].toSorted((a, b) => (a.type < b.type ? -1 : 1));
        const shown = all.map(({ type, doc, params, privilege }) => ({
          type,
          doc,
          params,
          privilege: typeof privilege === "string" ? privilege : null,
        }));
        return list(shown.slice(offset, offset + limit), shown.length);
      },
    ),
  ];
}

function daysOf(given: string | null): number {
  const days = given === null ? 14 : Number(given);
  if (!Number.isInteger(days) || days < 1 || days > 90)
    throw invalid({ days: ["must be a whole number from 1 to 90"] });
  return days;
}

function inputOf(body: unknown): Record<string, unknown> {
  if (!isObject(body)) throw badRequest("the body must be a JSON object, the flow's input");
  return body;
}

/** In milliseconds; anything but a number is ignored. */
function waitOf(query: URLSearchParams): number | undefined {
  const given = query.get("wait") ?? "";
  return /^\d+(\.\d+)?$/.test(given) ? Math.min(Number(given), mostWaitSeconds) * 1000 : undefined;
}
