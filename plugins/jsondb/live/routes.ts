import * as databases from "../databases/cache.ts";
import { answer, flagOf, forbidden, limitKey, notFound, ok, route, tooMany, Type, uuidOf } from "platform";
import type { Caller, RequestInput, Route } from "platform";
import { openRecords } from "../comments/store.ts";
import { missingRecord } from "../records/record.ts";
import type { Tokens } from "../../tokens/api.ts";
import { UnknownTable, recordExample, unknownTable } from "../records/routes.ts";
import { tryOpen, tableForSearch, type Database } from "../databases/database.ts";
import { printPrivate, printPublic } from "./stream.ts";
import { dbAccess, databaseAt, identityNow, openAt, type Asking } from "../databases/cache.ts";
import { cookieHeader, visitorOf } from "../public/visitor.ts";
import type { JsondbContext } from "../context.ts";

const { id, data, created_at, updated_at } = recordExample;
const publicExample = { id, data, created_at, updated_at };
const Stream = answer.text("text/event-stream");
const Here = answer.object("PersonHere", { id: Type.Integer(), name: Type.String() });
const resume = "for clients that cannot send the header Last-Event-ID";

/** Live changes as Server-Sent Events. `:id` of a database is an id or a code. */
export function eventRoutes(ctx: JsondbContext): Route[] {
  const { rateLimitRequests: limit, rateLimitWindowSeconds: windowSeconds } = ctx.config;
  const limiter = ctx.limiter("jsondb.follows", { limit, windowSeconds });
  return [
    route(
      "PUT",
      "/core/dbs/:db_id/records/:id/present",
      {
        summary: "Say that you have a record open",
        description:
          "Answers who has it open, yourself too. Whoever does not say it again within 45 seconds has left. Nothing of it is stored.",
        access: dbAccess,
        query: { open: Type.Boolean({ description: "`false`: not any more" }) },
        answers: { 200: answer.list(Here) },
        responses: { 200: [{ id: 7, name: "Ann Example" }], 404: { error: missingRecord } },
      },
      async (input) => {
        const { caller, params, query } = input;
        const isOpen = flagOf(query, "open") ?? true;
        const db = await openAt(ctx, input, params.db_id);
        const recordId = uuidOf(params.id, missingRecord).toLowerCase();
        if (!(await openRecords(ctx.sql, db, [recordId], "read")).has(recordId)) throw notFound(missingRecord);
        const { user } = caller;
        const who = { id: user.id, name: user.name || user.login };
        return ok(ctx.live.here({ dbId: db.id, recordId }, who, isOpen));
      },
    ),
    route(
      "GET",
      "/core/dbs/:db_id/events",
      {
        summary: "Follow the changes of records",
        description:
          "Server-Sent Events `create`, `update` and `destroy`; their data is the record after the change (the deleted one at `destroy`). With `Last-Event-ID` the stream resumes where it broke off, for up to 24 hours; later it begins with an event `reset`: read all records again. `present` { record_id, users: [{ id, name }] } says who has a record open, to whoever may read all records; it has no id. A comment comes every 15 seconds. The stream ends when the token no longer works or the database is deleted.",
        access: dbAccess,
        apps: "the records of its own databases, for a viewer with `dbs`",
        query: {
          table_name: "only this table; a record that moves to another one is a `destroy`",
          last_event_id: resume,
        },
        answers: { 200: Stream, 400: UnknownTable },
        responses: {
          200: `id: 5f2a.812:815:\nevent: create\ndata: ${JSON.stringify(recordExample)}\n\n`,
          ...unknownTable,
          429: { error: "too many requests, try again in 60 s" },
        },
      },
      async (input) => {
        const { caller, app, params, query, request, host } = input;
        const db = await openAt(ctx, input, params.db_id);
        const opened = () => openNow(ctx, caller, { request, host, app, db });
        const tableName = query.get("table_name");
        const table = tableName !== null && db.schema.multiTable ? tableForSearch(db, tableName) : undefined;
        if (request.method === "HEAD") return new Response(null, { headers });
        const body = await ctx.live.follow(db, {
          owner: `token:${caller.tokenId}`,
          isPublic: false,
          print: printPrivate(table?.name),
          lastEventId: lastEventId({ request, query }),
          signal: request.signal,
          isAllowed: async () => (await opened()) !== undefined,
          opened,
        });
        return new Response(body, { headers });
      },
    ),
    route(
      "GET",
      "/core/db/:db_code/events",
      {
        summary: "Follow what the public method list shows",
        description:
          "Server-Sent Events as of `GET /core/dbs/:db_id/events`, if `list` is open: records within its `scope_by`, with their visible fields. The stream ends when the database is changed.",
        access: { open: "shows what the public method `list` shows, and only where that is configured", partly: true },
        cors: true,
        apps: "what the public method `list` of any database shows its viewer and visitor",
        onSites: true,
        query: { last_event_id: resume },
        answers: { 200: Stream },
        responses: {
          200: `id: 5f2a.812:815:\nevent: create\ndata: ${JSON.stringify(publicExample)}\n\n`,
          403: { error: "`list` is not open to the public" },
          429: { error: "too many requests, try again in 60 s" },
        },
      },
      async (input) => {
        const { account, params, ip, request, secure } = input;
        const { allowed, retryAfterSeconds } = await limiter.take(limitKey(ip));
        if (!allowed) throw tooMany(retryAfterSeconds);
        const db = await databaseAt(ctx, account.id, params.db_code);
        const list = db.publicMethods.methods.get("list");
        if (!list) throw forbidden("`list` is not open to the public");
        const visitor = visitorOf(ctx.secrets, input);
        const cookie = list.usesCookie ? cookieHeader(visitor, secure) : {};
        if (request.method === "HEAD") return new Response(null, { headers });
        const body = await ctx.live.follow(db, {
          owner: limitKey(ip),
          isPublic: true,
          print: printPublic(list, visitor.variables),
          version: db.version,
          lastEventId: lastEventId(input),
          signal: request.signal,
          isAllowed: async () =>
            (await databases.find(ctx, account.id, db.id))?.version === db.version &&
            (await isSamePerson(ctx.tokens, input)),
        });
        return new Response(body, { headers: { ...headers, ...cookie } });
      },
    ),
  ];
}

function lastEventId({ request, query }: Pick<RequestInput, "request" | "query">): string | undefined {
  return request.headers.get("last-event-id") || query.get("last_event_id") || undefined;
}

const headers = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // A proxy that collects answers would keep events back.
  "x-accel-buffering": "no",
};

/** The database as the follower may use it now; undefined once it no longer opens for them. */
async function openNow(
  ctx: JsondbContext,
  { account, tokenId }: Caller,
  follower: Asking & { readonly db: Database },
): Promise<Database | undefined> {
  const now = await identityNow(ctx.tokens, follower);
  if (now?.caller?.account.id !== account.id || now.caller.tokenId !== tokenId) return undefined;
  const stored = await databases.find(ctx, account.id, follower.db.id);
  return stored && tryOpen(stored, { ...now.caller, app: now.app });
}

/** A visitor's scope may be the person who was signed in. */
async function isSamePerson(tokens: Tokens, follower: Asking & Pick<RequestInput, "caller">): Promise<boolean> {
  const now = await identityNow(tokens, follower);
  return now !== undefined && now.caller?.user.id === follower.caller?.user.id;
}
