/** Identifies who uses an app: a signed-in person, or the visitor of a page or browser. */
import { notFound, type RequestInput } from "platform";
import type { AppsContext } from "../context.ts";
import { findActive } from "./served-apps.ts";
import type { AppMeta } from "../store.ts";

type Input = Pick<RequestInput, "request" | "account" | "caller" | "app" | "ip" | "secure">;

/** The active app with this id or url_code; 404 if there is none, or if an app's token asks for another app. */
export async function appFor(
  ctx: AppsContext,
  { account, app }: Pick<RequestInput, "account" | "app">,
  codeOrId: string,
): Promise<AppMeta> {
  const found = await findActive(ctx, account.id, codeOrId);
  if (!found || (app && app.appId !== found.id)) throw notFound("there is no such app");
  return found;
}

/** The owner of stored values, and the header that identifies a browser without an app's token. */
export function ownerOf({ databases }: Pick<AppsContext, "databases">, input: Input) {
  if (input.caller) return { owner: `user:${input.caller.user.id}`, headers: {} };
  const { cookieKey, headers } = databases.visitor(input);
  return { owner: `visitor:${cookieKey}`, headers };
}
