import { answer, list, notFound, ok, pageOf, pageQuery, route, Type, uuidOf, type Route } from "platform";
import { FlowProcess } from "../answers.ts";
import type { Processes } from "./processes.ts";
import type { ProcessViewStore } from "./process-view-store.ts";
import type { Follows } from "./follow.ts";
import { filterOf, includedOf, isOn } from "./query.ts";
import { toListed } from "./show.ts";
import { starterKinds } from "./starter.ts";

const at = "2026-01-31T10:00:00.000Z";
export const processExample = {
  id: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e11",
  flow_code: "weather-advice",
  status: "finished",
  input: { city: "Kraków" },
  data: { temp: 24, advice: "Take a hat" },
  error: null,
  steps: [
    {
      id: "0",
      type: "connector",
      status: "finished",
      started_at: at,
      finished_at: at,
      output: { main: { temp: 24 } },
      error: null,
    },
  ],
  created_at: at,
  finished_at: at,
};
const failed = { ...processExample, status: "error", data: null, error: "cancelled" };
const access = { privilege: "flows" } as const;
const statuses = ["pending", "finished", "error"];

const { input: _input, data: _data, steps: _steps, ...head } = processExample;
const headExample = { ...head, started_by: { kind: "cron", id: "7", name: "Every morning" }, trace_id: null };
const include =
  "separated by commas: `started_by` adds what started it and `trace_id`, the change at its root; `inputs` adds to each step its `input` and `attempts`";
const streamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // A proxy that collects answers would keep events back.
  "x-accel-buffering": "no",
};

interface Needed {
  readonly processViewStore: Pick<ProcessViewStore, "list" | "count">;
  readonly processes: Processes;
  readonly follows: Follows;
}

/** behaviour B.9. */
export function processRoutes({ processViewStore, processes, follows }: Needed): Route[] {
  return [
    route(
      "GET",
      "/connect/flow_processes",
      {
        summary: "List flow processes, the latest first",
        description:
          "Each with its first hundred steps and previews of outputs above 1,000 characters; a single process has them all. A page ends early after 8 MB; `X-Next-Cursor` is the `before` of the next page.",
        access,
        query: {
          flow_code: "exact value",
          status: statuses.join(", "),
          started_by: `${starterKinds.join(", ")}; or one of them by its id: \`cron:7\``,
          from: Type.String({ format: "date-time", description: "made at this time (ISO 8601) or later, or a day" }),
          to: Type.String({ format: "date-time", description: "made before this time" }),
          record_id: "started by a webhook that follows this record",
          made_record_id:
            "which has made this record, by a step: looked for among the latest thousand that had begun before it",
          trace_id: "this process, or those that follow from the same change",
          before: "only processes before the one with this id",
          include,
          steps: Type.Boolean({ description: "`false` leaves the steps out" }),
          count: Type.Boolean({
            description: "`false` leaves `X-Total-Count` out, which takes long where there are many",
          }),
          ...pageQuery,
        },
        answers: { 200: answer.list(FlowProcess) },
        responses: { 200: [processExample] },
      },
      async ({ caller, query }) => {
        const [filter, page, included] = [filterOf(query), pageOf(query), includedOf(query)];
        const [withSteps, withCount] = [isOn(query, "steps"), isOn(query, "count")];
        const { id } = caller.account;
        const rows = await processViewStore.list(id, filter, { ...page, limit: page.limit + 1 }, withSteps);
        const shown = rows.slice(0, page.limit);
        const last = (rows[0]?.found ?? 0) > shown.length ? shown.at(-1) : undefined;
        const next = last ? { "x-next-cursor": last.id } : {};
        const processesShown = shown.map((row) => toListed(row, included));
        if (!withCount) return ok(processesShown, next);
        return list(processesShown, await processViewStore.count(id, { ...filter, before: undefined }), next);
      },
    ),
    route(
      "GET",
      "/connect/flow_processes/events",
      {
        summary: "Follow flow processes",
        description:
          "Server-Sent Events `process` when one is made, ends or is tried again, within about two seconds; their data is the process without its input, data and steps, with `started_by` and `trace_id`. The stream ends after a minute: connect again. What happened in between is not told.",
        access,
        answers: { 200: answer.text("text/event-stream") },
        responses: {
          200: `event: process\ndata: ${JSON.stringify(headExample)}\n\n`,
          429: { error: "too many requests, try again in 60 s" },
        },
      },
      async ({ caller, request }) => {
        if (request.method === "HEAD") return new Response(null, { headers: streamHeaders });
        const asked = { accountId: caller.account.id, owner: `token:${caller.tokenId}`, signal: request.signal };
        return new Response(follows.follow(asked), { headers: streamHeaders });
      },
    ),
    route(
      "GET",
      "/connect/flow_processes/:id",
      {
        summary: "One flow process with its steps",
        access,
        query: { include },
        answers: { 200: FlowProcess },
        responses: { 200: processExample },
      },
      async ({ caller, params, query }) => {
        const process = await processes.show(caller.account.id, uuidOf(params.id), includedOf(query));
        if (!process) throw notFound();
        return ok(process);
      },
    ),
    route(
      "POST",
      "/connect/flow_processes/:id/retry",
      {
        summary: "Continue from the failed step",
        description: "With the program that the process started with. Only after an error (409).",
        access,
        when: { status: ["error"] },
        answers: { 200: FlowProcess },
        responses: { 200: { ...processExample, status: "pending", data: null, finished_at: null } },
      },
      async ({ caller, params }) => {
        return ok(await processes.retry(caller.account.id, uuidOf(params.id)));
      },
    ),
    route(
      "POST",
      "/connect/flow_processes/:id/cancel",
      {
        summary: "Cancel a pending process",
        description: "A call under way is aborted. A process that has ended already is 409.",
        access,
        when: { status: ["pending"] },
        answers: { 200: FlowProcess },
        responses: { 200: failed },
      },
      async ({ caller, params }) => {
        return ok(await processes.cancel(caller.account.id, uuidOf(params.id)));
      },
    ),
  ];
}
