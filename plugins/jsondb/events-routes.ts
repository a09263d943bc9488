import { credentialOf, route, type Caller, type RequestInput, type Route } from "platform";
import type { Tokens } from "../tokens/api.ts";
import { tableForSearch } from "./database.ts";
import type { Events } from "./events.ts";
import { databaseAt, recordExample } from "./record-routes.ts";
import type { Databases } from "./store.ts";

const privilege = "dbs";

interface Needed {
  readonly databases: Databases;
  readonly events: Events;
  readonly tokens: Tokens;
}

/** Live changes as Server-Sent Events. `:id` of a database is an id or a code. */
export function eventRoutes({ databases, events, tokens }: Needed): Route[] {
  return [
    route(
      "GET",
      "/core/dbs/:id/events",
      {
        summary: "Follow the changes of records",
        description:
          "Server-Sent Events `create`, `update` and `destroy`; their data is the record after the change (the deleted one at `destroy`). With `Last-Event-ID` the stream goes on where it broke off, for 24 hours; after that it begins with an event `reset`: read all records anew. A comment comes every 15 seconds. The stream ends when the token no longer works or the database is deleted.",
        access: { privilege },
        query: {
          table_name: "only this table; a record that moves to another one is a `destroy`",
          last_event_id: "for clients that cannot send the header Last-Event-ID",
        },
        responses: {
          200: `id: 5f2a.812:815:\nevent: create\ndata: ${JSON.stringify(recordExample)}\n\n`,
          429: { error: "too many requests, try again in 60 s" },
        },
      },
      async ({ account, caller, params, query, request, host }) => {
        const db = await databaseAt(databases, account.id, params.id);
        const tableName = query.get("table_name");
        const table = tableName !== null && db.schema.multiTable ? tableForSearch(db, tableName) : undefined;
        if (request.method === "HEAD") return new Response(null, { headers });
        const body = await events.follow(db, {
          tokenId: caller.tokenId,
          tableName: table?.name,
          lastEventId: request.headers.get("last-event-id") || query.get("last_event_id") || undefined,
          signal: request.signal,
          isAllowed: () => isStillAllowed(tokens, caller, { request, host }),
        });
        return new Response(body, { headers });
      },
    ),
  ];
}

const headers = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // A proxy that collects answers would keep events back.
  "x-accel-buffering": "no",
};

async function isStillAllowed(
  tokens: Tokens,
  { account, tokenId }: Caller,
  { request, host }: Pick<RequestInput, "request" | "host">,
): Promise<boolean> {
  const { caller } = await tokens.identify(host, credentialOf(request.headers));
  return caller?.account.id === account.id && caller.tokenId === tokenId && caller.privileges.has(privilege);
}
