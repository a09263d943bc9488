/** An agent's connection for one request: whose token it is, and its way to the routes. */
import { noticed, withSource, type BaseContext, type Caller } from "platform";
import type { Tokens } from "../tokens/api.ts";
import { thingsOf, type ApiResources } from "./things.ts";
import type { Session } from "./tools/tool.ts";

interface McpContext extends Pick<BaseContext, "emit" | "log" | "routes" | "subrequest"> {
  readonly tokens: Pick<Tokens, "mayDeleteOverMcp">;
}

/** The request that is being answered, and the token with which its tools work. */
export interface Connection {
  readonly request: Request;
  readonly caller: Caller;
  readonly token: string;
  readonly ip?: string | undefined;
  /** Of the request: what its tools do has the same in the log. */
  readonly requestId?: string | undefined;
}

export type SessionOf = (connection: Connection) => Session;

// The routes are all there once the server serves, and do not change.
const known = new WeakMap<McpContext, ApiResources>();

export function sessionOf(ctx: McpContext, connection: Connection): Session {
  const { request, caller, token, requestId } = connection;
  const agent = {
    "user-agent": `mcp ${request.headers.get("user-agent") ?? ""}`.trim(),
    ...(requestId !== undefined && { "x-request-id": requestId }),
  };
  let mayDelete: Promise<boolean> | undefined;
  return {
    caller,
    routes: ctx.routes(),
    get things() {
      const things = known.get(ctx) ?? thingsOf(ctx.routes());
      known.set(ctx, things);
      return things;
    },
    ask: ({ headers = {}, ...asking }) =>
      withSource("mcp", () => ctx.subrequest(request, { ...asking, token, headers: { ...agent, ...headers } })),
    mayDelete: () => (mayDelete ??= ctx.tokens.mayDeleteOverMcp(caller)),
    refused: (what) => noteRefusal(ctx, connection, agent["user-agent"], what),
    withoutToken: (text) => text.replaceAll(token, "<your token>"),
  };
}

/** As the runtime notes a refused request. */
function noteRefusal(
  { emit, log }: McpContext,
  { caller: { account, user, tokenId }, requestId, ip }: Connection,
  agent: string,
  name: string,
): void {
  const actor = {
    kind: "person",
    account: account.id,
    user: user.id,
    login: user.login,
    token: tokenId,
    ip,
    agent,
    request: requestId,
  } as const;
  emit(noticed, { accountId: account.id, action: "refused", name, actor }).catch((error: unknown) =>
    log.error("a refusal was not noted", { error }),
  );
}
