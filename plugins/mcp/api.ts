/** The service `agent-tools`: the tools of `/mcp` in this process, for a model that works on behalf of a person. */
import { service, type Caller } from "platform";
import type { ToolResult } from "./answer.ts";
import type { ListedTool } from "./tools/flow-tools.ts";

export interface AgentSession {
  readonly caller: Caller;
  /** What the token may use, with JSON Schemas of the arguments and hints such as `readOnlyHint`. */
  tools(): Promise<ListedTool[]>;
  /** What is refused is a result too (`isError`). Undefined if there is no such tool for this token. */
  call(name: string, args: unknown): Promise<ToolResult | undefined>;
}

export interface AgentTools {
  /**
   * A session with the rights of `token`, for as long as `request` is being answered; `host` is the request's. Give a
   * model a token of its own, narrowed to what it needs: each call is a request with that token, and counts as one.
   * Undefined if the token does not work here.
   */
  open(asked: {
    readonly request: Request;
    readonly host: string;
    readonly token: string;
    /** That of the request, so that the log shows what belongs together. */
    readonly requestId?: string;
  }): Promise<AgentSession | undefined>;
}

export const agentTools = service<AgentTools>("agent-tools");
