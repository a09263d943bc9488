/** Requests of a handler to this server itself: the answer without what only the network needs. */
import type { Reply } from "./answers/reply.ts";
import type { InnerAnswer } from "./subrequest.ts";
import { withWarnings } from "./refusals/warning.ts";

/** As `finish` does it for the network. */
export async function innerAnswer(
  _request: Request,
  reply: Reply | Response,
  _requestId: string,
  _cors = false,
  hints: readonly string[] = [],
): Promise<InnerAnswer> {
  if (reply instanceof Response)
    return { status: reply.status, headers: Object.fromEntries(reply.headers), body: await reply.text() };
  const { status, body, headers } = reply;
  const warning = withWarnings(headers["warning"], hints);
  return { status, body: body ?? "", headers: warning === undefined ? headers : { ...headers, warning } };
}
