/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
import {
  answer,
  badRequest,
  created,
  field,
  invalid,
  list,
  noContent,
  notFound,
  ok,
  pageOf,
  pageQuery,
  route,
} from "platform";
import { isObject, Type, wildcardPattern, type Account, type Route } from "platform";
import { isUuid } from "../connectors/api.ts";
import { Flow, FlowRun, FlowTest } from "./answers.ts";
import { checkProgram } from "./check.ts";
import { dryRun, type DryRun } from "./dry-run.ts";
import { toApi, type FlowRow, type FlowStore } from "./flow-store.ts";
import { flowKind, newCode, programOf, type Managing } from "./manage.ts";
import { processExample } from "./process-routes.ts";
import type { Processes } from "./processes.ts";
import type { Program } from "./program.ts";
import { shownSteps, toRun } from "./show.ts";
import { answerMistakes } from "./test-answers.ts";
import type { StepTypes } from "./step-types.ts";
import type { Templates } from "./template.ts";
import type { Waiting } from "./waiting.ts";

const FlowInput = Type.Object({
  name: field.name(),
  code: Type.Optional(field.line(100)),
  kind: Type.Optional(field.name(100)),
  fields: Type.Optional(field.nullable(field.object())),
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
const warned = { ...flowExample, warnings: [] };
const access = { privilege: "flows" } as const;
const runWaitMs = 1000;
const mostWaitSeconds = 25;

export interface FlowRoutes {
  readonly store: FlowStore;
  readonly managing: Managing;
  readonly processes: Processes;
  readonly waiting: Waiting;
  readonly templates: Templates;
  readonly stepTypes: StepTypes;
}

/** behaviour B.9: the usual five calls; `:id` is the id or the code. */
export function flowRoutes({ store, managing, processes, waiting, templates, stepTypes }: FlowRoutes): Route[] {
  const shown = async (row: FlowRow) => toApi(row, await managing.warnings(row.accountId, programOf(row.fields)));
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
          ...pageQuery,
        },
        answers: { 200: answer.list(Flow) },
        responses: { 200: [flowExample] },
      },
      async ({ caller, query }) => {
        const q = query.get("q");
        const filter = { q: q ? wildcardPattern(q) : undefined, code: query.get("code") || undefined };
        const { rows, total } = await store.list(caller.account.id, filter, pageOf(query));
        return list(
          rows.map((row) => toApi(row)),
          total,
        );
      },
    ),
    route(
      "GET",
      "/connect/flows/:id",
      { summary: "One flow, by id or code", access, answers: { 200: Flow }, responses: { 200: warned } },
      async ({ caller, params }) => ok(await shown(await managing.find(caller.account.id, params.id))),
    ),
    route(
      "POST",
      "/connect/flows",
      {
        summary: "Make a flow",
        description:
          "A mistake in `fields.program` is 422 under `program`, with its step and key. `warnings` name what is " +
          "not there yet (connectors, methods, flows, databases, tables) and records that would be in no table. " +
          "A `db` step, also in a flow that is called, needs the privilege `dbs`.",
        access,
        body: { key: "flow", schema: FlowInput },
        request: requestExample,
        answers: { 201: Flow },
        responses: { 201: warned, 422: { program: ["program[2].then[0].connector is required"] } },
      },
      async ({ caller, body }) => {
        const { id: accountId } = caller.account;
        // Asked for first: what the flow's own transaction has written is not seen from outside of it.
        const made = body.active === false ? undefined : newCode(body);
        const warnings = await managing.warnings(accountId, programOf(body.fields ?? {}), made);
        const row = await managing.create(caller, body);
        return created(toApi(row, warnings));
      },
    ),
    route(
      "PATCH",
      "/connect/flows/:id",
      {
        summary: "Change a flow",
        description: "`fields` replaces the whole object. Processes that run go on with the program they started with.",
        access,
        body: { key: "flow", schema: Type.Partial(FlowInput) },
        request: { active: false },
        answers: { 200: Flow },
        responses: { 200: { ...warned, active: false } },
      },
      async ({ caller, params, body }) => {
        const { id } = await managing.find(caller.account.id, params.id);
        return ok(await shown(await managing.update(caller, id, body)));
      },
    ),
    route(
      "DELETE",
      "/connect/flows/:id",
      { summary: "Delete a flow; its processes stay", access, responses: { 204: null } },
      async ({ caller, params }) => {
        const { id } = await managing.find(caller.account.id, params.id);
        await managing.delete(caller, id);
        return noContent();
      },
    ),
    route(
      "POST",
      "/connect/flows/:code/run",
      {
        summary: "Start a flow, with the body as its input",
        description:
          "Answers with the process: ended where it ends within a second (`wait=` asks for another time), else `pending`.",
        access,
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
        const { code } = isUuid(params.code) ? await managing.find(accountId, params.code) : { code: params.code };
        const started = await processes.start({ accountId, code, input });
        if (!started) throw notFound("there is no active flow of this code");
        if (started.process.status !== "pending") return created(toRun(started));
        await settle(created(toRun(started)));
        const ms = waitOf(query) ?? runWaitMs;
        const row = await waiting.wait({ accountId, id: started.process.id, ms, fresh: true, signal: request.signal });
        return created({ ...(await processes.show(accountId, started.process.id)), flow_process_id: row?.id });
      },
    ),
    route(
      "POST",
      "/connect/flows/:code/test",
      {
        summary: "Try a flow without any effect",
        description:
          "Connectors and databases answer what `answers` says, by step id, `<connector code>.<method>`, " +
          "`<database code>.<op>` or the type of a plugin's own step: the data, or `{ status, data }`, or `{ error }`. An answer that no step asks for is " +
          "422. `program` stands in for the stored one, `app` for who asks. Waits take no time.",
        access,
        input: "any",
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
      async ({ caller, params, body }) => ok(await test(caller.account, params.code, body)),
    ),
  ];

  async function test(account: Account, code: string, body: unknown) {
    const flow = await managing.find(account.id, code);
    if (!isObject(body)) throw badRequest("the body must be a JSON object");
    const { input = {}, app = null, answers = {}, program: given = programOf(flow.fields) } = body;
    if (!isObject(input)) throw invalid({ input: ["must be an object"] });
    if (app !== null && !isObject(app)) throw invalid({ app: ["must be an object { id, action, user }"] });
    if (!isObject(answers))
      throw invalid({
        answers: [
          "must be an object of step id, <connector code>.<method>, <database code>.<op> or step type to answer",
        ],
      });
    const { mistakes } = checkProgram(given, templates, stepTypes);
    if (mistakes.length > 0) throw invalid({ program: [...mistakes] });
    const dry: DryRun = {
      code: flow.code,
      program: given as Program, // it was checked
      input,
      app,
      answers,
      templates: templates.at(account),
      accountUrl: account.baseUrl,
      flowOf: (called) => managing.current(account.id, called),
    };
    const unknown = await answerMistakes(dry);
    if (unknown.length > 0) throw invalid({ answers: unknown });
    const { end, steps, cursor } = await dryRun(dry);
    const error = end.kind === "error" ? end.message : null;
    return {
      status: end.kind === "finished" ? "finished" : "error",
      data: end.kind === "finished" ? (end.data ?? null) : null,
      error,
      steps: shownSteps(steps, cursor, error),
    };
  }
}

function inputOf(body: unknown): Record<string, unknown> {
  if (!isObject(body)) throw badRequest("the body must be a JSON object: it is the flow's input");
  return body;
}

/** Milliseconds; what is no number is ignored. */
export function waitOf(query: URLSearchParams): number | undefined {
  const given = query.get("wait") ?? "";
  return /^\d+(\.\d+)?$/.test(given) ? Math.min(Number(given), mostWaitSeconds) * 1000 : undefined;
}
