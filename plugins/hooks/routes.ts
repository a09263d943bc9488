import {
  answer,
  created,
  found,
  invalid,
  isUuid,
  notFound,
  ok,
  pageOf,
  pageQuery,
  pageReply,
  refOf,
  resourceRoutes,
  route,
  text,
  Type,
  uuidOf,
} from "platform";
import type { Caller, Route } from "platform";
import { arrive, bytesOf, hookAt, replay, type Hooks } from "./arrive.ts";
import { Hook, maxBodyBytes } from "./hook.ts";
import { isSame } from "./schemes.ts";
import * as hookStore from "./store.ts";
import type { ArrivalRow } from "./store.ts";

const statuses = ["waiting", "started", "failed", "refused"] as const;
const access = { privilege: "flows" } as const;
const open = { open: "the hook's secret, by which each message proves where it comes from" } as const;

const arrival = {
  id: answer.uuid(),
  message_id: Type.Union([Type.String(), Type.Null()]),
  status: Type.Union(statuses.map((status) => Type.Literal(status))),
  error: Type.Union([Type.String(), Type.Null()]),
  content_type: Type.Union([Type.String(), Type.Null()]),
  bytes: Type.Integer(),
  repeats: Type.Integer({ description: "how often the sender sent it again" }),
  flow_process_id: Type.Union([answer.uuid(), Type.Null()]),
  replay_of: Type.Union([answer.uuid(), Type.Null()]),
  created_at: answer.time(),
};
const Arrival = answer.object("HookArrival", arrival);
const WholeArrival = answer.object("HookArrivalWithBody", {
  ...arrival,
  headers: answer.json(),
  query: answer.json(),
  body: Type.String(),
});
const Accepted = answer.object("HookAccepted", { id: answer.uuid(), repeated: Type.Optional(Type.Boolean()) });

const example = {
  id: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e21",
  message_id: "evt_1",
  status: "started",
  error: null,
  content_type: "application/json",
  bytes: 17,
  repeats: 0,
  flow_process_id: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e11",
  replay_of: null,
  created_at: "2026-01-31T10:00:00.000Z",
};

/** behaviour B.9. */
export function hookRoutes(ctx: Hooks): Route[] {
  return [
    ...Object.values(resourceRoutes(Hook, ctx, { forms: { needs: [["secret"]] } })),
    ...arrivalRoutes(ctx),
    ...openRoutes(ctx),
  ];
}

/** What other services call. */
function openRoutes(ctx: Hooks): Route[] {
  return [
    route(
      "POST",
      "/hooks/:code",
      {
        summary: "Send a message to a hook",
        description:
          "Answers when the message is stored: its flow starts after that. A message whose id is known is answered with the id of " +
          "the first one, and starts nothing.",
        access: open,
        input: "stream",
        takes: [Type.Object({}, { description: "JSON of any kind, a form, or text" })],
        maxBytes: maxBodyBytes,
        strangerBytes: maxBodyBytes,
        query: { "*": "given to the flow" },
        idempotency: "own",
        request: { order: 17 },
        answers: { 200: Type.Union([Accepted, answer.text("text/plain")]) },
        responses: {
          200: { id: example.id },
          401: { error: "the signature does not match" },
          404: { error: "not found" },
          429: { error: "too many requests, try again in 4 s" },
        },
      },
      async ({ account, params, request, query }) => {
        const hook = await hookAt(ctx, account.id, params.code);
        const bytes = await bytesOf(hook, request);
        const { id, isRepeated, challenge } = await arrive(ctx, hook, { request, query, bytes });
        if (challenge !== undefined) return text(200, challenge, "text/plain; charset=utf-8");
        // Slack shows people whatever a command is answered with.
        if (hook.scheme === "slack") return text(200, "", "text/plain; charset=utf-8");
        return ok({ id, ...(isRepeated && { repeated: true }) });
      },
    ),
    route(
      "GET",
      "/hooks/:code",
      {
        summary: "Confirm a hook's address, as Meta asks for it",
        access: open,
        query: {
          "hub.mode": "subscribe",
          "hub.verify_token": "the hook's `verify_token`",
          "hub.challenge": "what to answer",
        },
        asks: { "hub.mode": "subscribe", "hub.verify_token": "a word", "hub.challenge": "1158201444" },
        answers: { 200: answer.text("text/plain") },
        responses: { 200: "1158201444", 404: { error: "not found" } },
      },
      async ({ account, params, query }) => {
        const hook = await hookAt(ctx, account.id, params.code);
        if (!hook.active) throw notFound();
        const token = hook.verifyToken && ctx.secrets.open(hook.verifyToken, `hook:${hook.id}:verify_token`);
        const challenge = query.get("hub.challenge");
        const given = query.get("hub.verify_token");
        if (!token || given === null || challenge === null || query.get("hub.mode") !== "subscribe") throw notFound();
        if (challenge.length > 200 || !(await isSame(given, token))) throw notFound();
        return text(200, challenge, "text/plain; charset=utf-8");
      },
    ),
  ];
}

/** The log of what arrived. */
function arrivalRoutes(ctx: Hooks): Route[] {
  const hookOf = (caller: Caller, id: string) => found(Hook, { ...ctx, caller }, refOf(Hook, id));
  const placeOf = async (caller: Caller, id: string) => {
    const { accountId, id: hookId } = await hookOf(caller, id);
    return { accountId, hookId };
  };
  return [
    route(
      "GET",
      "/connect/hooks/:id/arrivals",
      {
        summary: "List what arrived at a hook, the newest first",
        access,
        query: {
          status: `one of ${statuses.join(", ")}`,
          before: "only what came before the arrival with this id",
          ...pageQuery,
        },
        answers: { 200: answer.list(Arrival) },
        responses: { 200: [example] },
      },
      async ({ caller, params, query }) => {
        const status = query.get("status") || undefined;
        const before = query.get("before") || undefined;
        if (status !== undefined && !statuses.some((one) => one === status))
          throw invalid({ status: [`must be one of ${statuses.join(", ")}`] });
        if (before !== undefined && !isUuid(before)) throw invalid({ before: ["must be the id of an arrival"] });
        const place = await placeOf(caller, params.id);
        return pageReply(await hookStore.listed(ctx.sql, place, { status, before }, pageOf(query)), toApi);
      },
    ),
    route(
      "GET",
      "/connect/hooks/:id/arrivals/:arrival_id",
      {
        summary: "One arrival, with what was sent",
        access,
        answers: { 200: WholeArrival },
        responses: { 200: { ...example, headers: { "user-agent": "Stripe/1.0" }, query: {}, body: '{"id":"evt_1"}' } },
      },
      async ({ caller, params }) => {
        const row = await hookStore.one(ctx.sql, await placeOf(caller, params.id), uuidOf(params.arrival_id));
        if (!row) throw notFound();
        const { headers, query, body } = row;
        return ok({ ...toApi(row), headers, query, body });
      },
    ),
    route(
      "POST",
      "/connect/hooks/:id/arrivals/:arrival_id/replay",
      {
        summary: "Give a message to the flow once more",
        description:
          "As it was sent; a new arrival with `replay_of`. One that was refused is proved anew, by the secret as it is now and " +
          "the time at which it came: so what was sent while the secret was wrong is not lost.",
        access,
        answers: { 201: Arrival },
        responses: {
          201: { ...example, status: "waiting", message_id: null, flow_process_id: null, replay_of: example.id },
          422: { base: ["the signature does not match"] },
        },
      },
      async ({ caller, params }) => {
        const hook = await hookOf(caller, params.id);
        const place = { accountId: hook.accountId, hookId: hook.id };
        const row = await hookStore.one(ctx.sql, place, uuidOf(params.arrival_id));
        if (!row) throw notFound();
        const written = await ctx.transaction((tx) => replay(ctx, tx, hook, row));
        if (!written) throw notFound();
        return created(toApi(written));
      },
    ),
  ];
}

function toApi(row: ArrivalRow) {
  return {
    id: row.id,
    message_id: row.messageId,
    status: row.status,
    error: row.error,
    content_type: row.contentType,
    bytes: row.bytes,
    repeats: row.repeats,
    flow_process_id: row.flowProcessId,
    replay_of: row.replayOf,
    created_at: row.createdAt,
  };
}
