/** What needs the package. It takes a sixth of a second to load, so this file is imported at the first message. */
import { isObject, type BaseContext } from "platform";
import { serverOf } from "./server.ts";
import type { Session } from "./tools/tool.ts";
import { createTransport } from "./transport.ts";

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
