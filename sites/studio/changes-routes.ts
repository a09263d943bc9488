import { answer, forbidden, invalid, route, type Caller, type Route } from "platform";
import type { Changes } from "./changes.ts";
import { mayRead } from "./search.ts";

const headers = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // A proxy that collects answers would keep events back.
  "x-accel-buffering": "no",
};

interface Needed {
  readonly changes: Changes;
  /** The paths of the lists that can be followed. */
  readonly paths: () => readonly string[];
  readonly routes: () => readonly Route[];
}

export function changesRoutes({ changes, paths, routes }: Needed): Route[] {
  const mayFollow = (path: string, caller: Caller) =>
    routes().some((one) => one.method === "GET" && one.path === path && mayRead(one, caller));
  return [
    route(
      "GET",
      "/core/events",
      {
        summary: "Follow a list",
        description:
          "Server-Sent Events `changed` when something in the list was made, changed or deleted, at most four a second. They do not say what: read the list again. The stream ends within a minute: connect again, and read again, for what happened in between is not told. Records of databases and processes of flows have streams of their own.",
        access: { signedIn: "the list asks for its own privilege" },
        query: { path: "of the list: `/core/prompts`" },
        asks: { path: "/core/prompts" },
        answers: { 200: answer.text("text/event-stream") },
        responses: {
          200: 'event: changed\ndata: {"path":"/core/prompts"}\n\n',
          403: { error: "you may not read this list" },
          422: { path: ["must be one of /core/prompts, …"] },
          429: { error: "too many requests, try again in 60 s" },
        },
      },
      ({ caller, query, request }) => {
        const path = query.get("path") ?? "";
        if (!paths().includes(path)) throw invalid({ path: [`must be one of ${paths().join(", ")}`] });
        if (!mayFollow(path, caller)) throw forbidden("you may not read this list");
        if (request.method === "HEAD") return new Response(null, { headers });
        const asked = { accountId: caller.account.id, path, owner: `token:${caller.tokenId}`, signal: request.signal };
        return new Response(changes.follow(asked), { headers });
      },
    ),
  ];
}
