/** The tokens of apps' pages: issued with a page, renewed while it is open, and checked at every request. behaviour B.10. */
import type { Caller } from "platform";
import type { ForeignCredential } from "../../tokens/api.ts";
import { issue, read, type Claims, type IssuedAppToken } from "./app-token.ts";
import type { AppMeta } from "../store.ts";
import * as servedApps from "./served-apps.ts";
import type { AppsContext } from "../context.ts";

/** The token for a page that is being loaded. Without sign-in (`caller` null) only public apps are ever shown. */
export function tokenFor(
  ctx: AppsContext,
  app: Pick<AppMeta, "id" | "accountId">,
  { caller, visitor }: { readonly caller: Caller | null; readonly visitor: string },
): IssuedAppToken {
  const viewer = caller && { userId: caller.user.id, tokenId: caller.tokenId };
  return issue(ctx.secrets, { accountId: app.accountId, appId: app.id, viewer, visitor });
}

/** The same claims for another hour; undefined if the token is none. */
export function renew(ctx: AppsContext, token: string): IssuedAppToken | undefined {
  const claims = read(ctx.secrets, token);
  return claims && issue(ctx.secrets, claims);
}

/** What the token opens now. The caller of this checks the person's own rights. */
export async function verify(ctx: AppsContext, token: string): Promise<ForeignCredential | undefined> {
  const claims = read(ctx.secrets, token);
  const app = claims && (await servedApps.findActive(ctx, claims.accountId, claims.appId));
  return app && (claims.viewer !== null || app.public) ? credentialOf(claims, app) : undefined;
}

/**
 * A viewer's token also opens the private API, if the viewer may use it. jsondb limits it to the app's own databases, and
 * media to the app's own folder.
 */
function credentialOf({ accountId, viewer, visitor }: Claims, { id, dbCodes }: AppMeta): ForeignCredential {
  return { accountId, viewer, privileges: ["dbs", "media"], app: { appId: id, dbCodes, visitor } };
}
