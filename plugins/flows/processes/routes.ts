import {
  answer,
  badRequest,
  field,
  isDateTime,
  isDay,
  list,
  notFound,
  ok,
  pageOf,
  pageQuery,
  route,
  Type,
} from "platform";
import { uuidOf, type Route } from "platform";
import { FlowProcess } from "../answers.ts";
import type { FlowContext } from "../context.ts";
import { cancelProcess } from "./ends.ts";
import { closedTo, shownTo, toListed, type Included } from "./show.ts";
import { retryProcess } from "./start.ts";
import { countProcesses, listProcesses, type ProcessFilter } from "./view-store.ts";
import { createFollows } from "./watch.ts";

const starterKinds = ["person", "app", "cron", "webhook", "flow", "hook", "command"];

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

/** behaviour B.9. */
export function processRoutes(ctx: FlowContext): Route[] {
  const follows = createFollows(ctx);
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
          status: field.oneOf(["pending", "finished", "error"]),
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
        const rows = await listProcesses(ctx, id, filter, { ...page, limit: page.limit + 1 }, withSteps);
        const shown = rows.slice(0, page.limit);
        const last = (rows[0]?.found ?? 0) > shown.length ? shown.at(-1) : undefined;
        const next = last ? { "x-next-cursor": last.id } : {};
        const closed = await closedTo(ctx, caller, shown);
        const processesShown = shown.map((row) => toListed(row, { ...included, closed }));
        if (!withCount) return ok(processesShown, next);
        return list(processesShown, await countProcesses(ctx, id, { ...filter, before: undefined }), next);
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
        const follower = { accountId: caller.account.id, owner: `token:${caller.tokenId}`, signal: request.signal };
        return new Response(follows.follow(follower), { headers: streamHeaders });
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
        const shown = await shownTo(ctx, ctx.sql, caller, uuidOf(params.id), includedOf(query));
        if (!shown) throw notFound();
        return ok(shown);
      },
    ),
    route(
      "POST",
      "/connect/flow_processes/:id/retry",
      {
        summary: "Continue from the failed step",
        description:
          "With the programs that the process started with, or with `program=current` those of its flows as they are now: 409 where the steps so far are others. Only after an error (409).",
        access,
        query: { program: Type.String({ enum: ["current"], description: "the flows as they are now" }) },
        when: { status: ["error"] },
        answers: { 200: FlowProcess },
        responses: { 200: { ...processExample, status: "pending", data: null, finished_at: null } },
      },
      async ({ caller, params, query }) =>
        ok(await retryProcess(ctx, caller, uuidOf(params.id), query.get("program") === "current")),
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
      async ({ caller, params }) => ok(await cancelProcess(ctx, caller, uuidOf(params.id))),
    ),
  ];
}

const mostText = 200;

function filterOf(query: URLSearchParams): ProcessFilter {
  const [starterKind, starterId] = starterOf(textOf(query, "started_by"));
  const before = textOf(query, "before");
  return {
    flowCode: query.get("flow_code") || undefined,
    status: query.get("status") || undefined,
    starterKind,
    starterId,
    from: timeOf(query, "from"),
    to: timeOf(query, "to"),
    before: before === undefined ? undefined : idOf("before", before),
    trace: textOf(query, "trace_id"),
    recordId: textOf(query, "record_id"),
    madeRecordId: recordOf(textOf(query, "made_record_id")),
  };
}

export function includedOf(query: URLSearchParams): Included {
  const names = (query.get("include") ?? "").slice(0, mostText).split(",").filter(Boolean);
  const unknown = names.find((name) => name !== "started_by" && name !== "inputs");
  if (unknown !== undefined) throw badRequest("`include` may name `started_by` and `inputs`");
  return { startedBy: names.includes("started_by"), inputs: names.includes("inputs") };
}

/** Whether something stays in the answer that is there by default. */
function isOn(query: URLSearchParams, name: string): boolean {
  const text = query.get(name) || "true";
  if (text !== "true" && text !== "false") throw badRequest(`\`${name}\` must be true or false`);
  return text === "true";
}

/** `cron` or `cron:7`. */
function starterOf(text: string | undefined): [string?, string?] {
  if (text === undefined) return [];
  const colon = text.indexOf(":");
  const kind = colon < 0 ? text : text.slice(0, colon);
  if (!starterKinds.some((one) => one === kind))
    throw badRequest(`\`started_by\` must be one of ${starterKinds.join(", ")}, or one with an id: cron:7`);
  return colon < 0 ? [kind] : [kind, text.slice(colon + 1)];
}

function recordOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    return uuidOf(text);
  } catch {
    throw badRequest("`made_record_id` must be the id of a record");
  }
}

function idOf(name: string, text: string): string {
  try {
    return uuidOf(text);
  } catch {
    throw badRequest(`\`${name}\` must be the id of a process`);
  }
}

function textOf(query: URLSearchParams, name: string): string | undefined {
  const value = query.get(name) || undefined;
  if (value !== undefined && value.length > mostText)
    throw badRequest(`\`${name}\` may have at most ${mostText} characters`);
  if (value?.includes("\0")) throw badRequest(`\`${name}\` cannot hold the character U+0000`);
  return value;
}

function timeOf(query: URLSearchParams, name: string): Date | undefined {
  const text = textOf(query, name);
  if (text === undefined) return undefined;
  if (!isDateTime(text) && !isDay(text))
    throw badRequest(`\`${name}\` must be a time such as 2026-01-31T10:00:00Z, or a day`);
  return new Date(text);
}
