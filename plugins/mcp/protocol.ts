/** What needs the package. It takes a sixth of a second to load, so this file is imported at the first message. */
import type { BaseContext } from "platform";
import { serverOf } from "./server.ts";
import type { Session } from "./tools/tool.ts";
import { createTransport } from "./transport.ts";

/** Answers a message of this session. */
export type Protocol = (request: Request, message: object, session: Session) => Promise<Response>;

export function createProtocol({ log, liquid }: Pick<BaseContext, "log" | "liquid">): Protocol {
  const transport = createTransport(log);
  return (request, message, session) => transport(request, message, () => serverOf(session, liquid));
}
