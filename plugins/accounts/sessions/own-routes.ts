import { answer, field, integerId, pageReply, noContent, notFound, pageOf, pageQuery, route, Type } from "platform";
import type { Route } from "platform";
import type { Session } from "../../tokens/api.ts";
import { deviceOf, endedCookie } from "./browser.ts";
import type { SessionsContext } from "./context.ts";

const access = { signedIn: "they are one's own" } as const;

const OwnSession = answer.object("OwnSession", {
  id: Type.Integer(),
  created_at: answer.time(),
  last_used_at: field.nullable(answer.time()),
  address: field.nullable(Type.String()),
  browser: field.nullable(Type.String()),
  device: field.nullable(Type.String()),
  current: Type.Boolean(),
});

const example = {
  id: 12,
  created_at: "2026-01-31T10:00:00.000Z",
  last_used_at: "2026-01-31T11:30:00.000Z",
  address: "203.0.113.7",
  browser: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
  device: "Firefox, Linux",
  current: true,
};

/** `/account/me/sessions`: where one is signed in. Nobody sees another person's; whoever may change them ends them. */
export function ownSessionRoutes({ tokens, accounts }: SessionsContext): Route[] {
  return [
    route(
      "GET",
      "/account/me/sessions",
      {
        summary: "List your own sessions",
        description:
          "Those that work, the newest first. `address` and `browser` (at most 300 characters) are those of the sign-in, `device` is the browser in short, `current` is the session of this request. A narrowed token sees only the sessions that can do no more than it.",
        access,
        query: pageQuery,
        answers: { 200: answer.list(OwnSession) },
        responses: { 200: [example] },
      },
      async ({ caller, query }) => {
        return pageReply(await tokens.sessions(caller, pageOf(query)), (row) => toApi(row, caller.tokenId));
      },
    ),
    route(
      "DELETE",
      "/account/me/sessions",
      {
        summary: "Sign out everywhere else",
        description: "Ends all your sessions but the one of this request.",
        access,
        responses: { 204: null },
      },
      async ({ caller }) => {
        await tokens.endOtherSessions(caller);
        return noContent();
      },
    ),
    route(
      "DELETE",
      "/account/me/sessions/:id",
      {
        summary: "End one of your sessions",
        description: "The one of this request too: its cookie is removed then.",
        access,
        responses: { 204: null },
      },
      async ({ caller, params, secure }) => {
        const id = integerId(params.id);
        if (!(await tokens.endSessionById(caller, id))) throw notFound();
        return noContent(caller.viaCookie && id === caller.tokenId ? { "set-cookie": endedCookie(secure) } : {});
      },
    ),
    route(
      "DELETE",
      "/account/users/:id/sessions",
      {
        summary: "Sign a person out everywhere",
        description: "Ends all their sessions. Their API tokens stay. Only who may change the person may do so (403).",
        access: { privilege: "users" },
        responses: { 204: null },
      },
      async ({ caller, params }) => {
        const person = await accounts.changeable(caller, integerId(params.id));
        await tokens.endSessionsOf(caller.account.id, person.id);
        return noContent();
      },
    ),
  ];
}

function toApi({ id, createdAt, lastUsedAt, address, browser }: Session, current: number) {
  return {
    id,
    created_at: createdAt,
    last_used_at: lastUsedAt,
    address,
    browser,
    device: deviceOf(browser),
    current: id === current,
  };
}
