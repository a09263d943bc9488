/** What the log of activity is told of a request: who makes it, and what is of note though no record changes. */
import type { Actor } from "../scope/actor.ts";
import type { Notice } from "../events/notices.ts";
import { HttpError } from "../base/errors.ts";
import { pathOf, type Client } from "./arrival.ts";
import type { Identity } from "./auth.ts";
import type { Reply } from "./answers/reply.ts";
import type { Route } from "./route.ts";

export interface Asked {
  readonly request: Request;
  readonly requestId: string;
  readonly identity: Identity;
  readonly client: Client;
  readonly spec: Route["spec"];
}

type Tell = (notice: Notice) => void;

const maxChars = 300;

export function actorOf({ request, requestId, identity, client }: Asked): Actor {
  const { account, caller, app } = identity;
  return {
    kind: app ? "app" : "person",
    account: account.id,
    user: caller?.user.id,
    login: caller?.user.login,
    token: caller?.tokenId,
    ip: client.ip,
    agent: request.headers.get("user-agent")?.slice(0, maxChars),
    request: requestId,
    app: app?.appId,
  };
}

/** An export, or an answer that shows somebody a secret. A sign-in, whose cookie is one too, has an entry of its own. */
export function noteReply(tell: Tell, asked: Asked, reply: Reply | Response): void {
  if (asked.spec.exports) tell(noticeOf("export", asked));
  else if (!(reply instanceof Response) && reply.secret && !("open" in asked.spec.access))
    tell(noticeOf("secret shown", asked));
}

/** A person who may not do what they tried. */
export function noteRefusal(tell: Tell, asked: Asked, error: unknown): void {
  if (asked.identity.caller && error instanceof HttpError && error.status === 403) tell(noticeOf("refused", asked));
}

/** Without the query: it may hold a secret. */
function noticeOf(action: Notice["action"], asked: Asked): Notice {
  const { method, url } = asked.request;
  const path = pathOf(url).split("?", 1)[0] ?? "";
  const name = `${method} ${path}`.slice(0, maxChars);
  return { accountId: asked.identity.account.id, action, name, actor: actorOf(asked) };
}
