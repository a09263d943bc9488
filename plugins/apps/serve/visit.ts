/** Identifies who uses an app: a signed-in person, or the visitor of a page or browser. */
import { notFound, type RequestInput } from "platform";
import type { JsonDatabases } from "../../jsondb/api.ts";
import type { AppMeta, ServedApps } from "./served-apps.ts";

type Input = Pick<RequestInput, "request" | "account" | "caller" | "app" | "ip" | "secure">;

/** The active app with this id or url_code; 404 if there is none, or if an app's token asks for another app. */
export async function appFor(
  servedApps: ServedApps,
  { account, app }: Pick<RequestInput, "account" | "app">,
  codeOrId: string,
): Promise<AppMeta> {
  const found = await servedApps.findActive(account.id, codeOrId);
  if (!found || (app && app.appId !== found.id)) throw notFound("there is no such app");
  return found;
}

/** The owner of stored values, and the header that identifies a browser without an app's token. */
export function ownerOf(databases: JsonDatabases, input: Input) {
  if (input.caller) return { owner: `user:${input.caller.user.id}`, headers: {} };
  const { cookieKey, headers } = databases.visitor(input);
  return { owner: `visitor:${cookieKey}`, headers };
}
