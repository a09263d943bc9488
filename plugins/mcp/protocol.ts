/** What needs the package. It takes a sixth of a second to load, so this file is imported at the first message. */
import { isObject, type BaseContext, type Log } from "platform";
import { serverOf } from "./server.ts";
import type { Session } from "./tools/tool.ts";
import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
  type Server,
} from "@modelcontextprotocol/server";
/** Answers a message of this session. */
export type Protocol = (request: Request, message: object, session: Session) => Promise<Response>;

export function createProtocol({ log, liquid }: Pick<BaseContext, "log" | "liquid">): Protocol {
  const transport = createTransport(log);
  return (request, message, session) => transport(request, withTextCursor(message), () => serverOf(session, liquid));
}

/** The package would call a cursor of another type an internal error (-32603); as a text it is an unknown one (-32602). */
function withTextCursor(message: object): object {
  const params = "params" in message ? message.params : undefined;
  if (!isObject(params) || !("cursor" in params) || typeof params["cursor"] === "string") return message;
  return { ...message, params: { ...params, cursor: "" } };
}

/** `serve` makes the server that answers this request. */
type Transport = (request: Request, message: object, serve: () => Server) => Promise<Response>;

function createTransport(log: Log): Transport {
  const servers = new WeakMap<Request, () => Server>();
  const onerror = (error: Error) => log.debug("a message of an agent was refused", { error: error.message });
  const modern = createMcpHandler(
    ({ requestInfo }) => {
      const serve = requestInfo && servers.get(requestInfo);
      if (!serve) throw new Error("a request has no server");
      return serve();
    },
    // Nothing is told that has not been asked for.
    { legacy: "reject", responseMode: "auto", maxSubscriptions: 0, onerror },
  );
  return async (request, message, serve) => {
    const arrived = withHeaders(request);
    if (!(await isLegacyRequest(arrived, message))) {
      servers.set(arrived, serve);
      return modern.fetch(arrived, { parsedBody: message });
    }
    // Without the option it has no sessions.
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    const server = serve();
    await server.connect(transport);
    try {
      return await transport.handleRequest(arrived, { parsedBody: message });
    } finally {
      await server.close();
    }
  };
}

/** The body has been read; and every client takes JSON, whether it says so or not. */
function withHeaders({ url, headers: given, signal }: Request): Request {
  const headers = new Headers(given);
  headers.set("accept", "application/json, text/event-stream");
  headers.set("content-type", "application/json");
  headers.delete("content-length");
  return new Request(url, { method: "POST", headers, signal });
}
