/** Answers one message of either revision, 2026-07-28 or the older ones, with JSON. */
import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
  type Server,
} from "@modelcontextprotocol/server";
import type { Log } from "platform";

/** `serve` makes the server that answers this request. */
type Transport = (request: Request, message: object, serve: () => Server) => Promise<Response>;

export function createTransport(log: Log): Transport {
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
