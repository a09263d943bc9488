/** The tokens of apps' pages: issued with a page, renewed while it is open, and checked at every request. behaviour B.10. */
import * as servedApps from "./served-apps.ts";
import type { Caller, Secrets } from "platform";
import type { ForeignCredential } from "../../tokens/api.ts";
import type { AppMeta } from "../store.ts";
import type { AppsContext } from "../context.ts";
import type { ShownApp } from "./page.ts";
import { App } from "../manage/app.ts";

/** The token for a page that is being loaded. Without sign-in (`caller` null) only public apps are ever shown. */
export function tokenFor(
  ctx: AppsContext,
  app: Pick<ShownApp, "id" | "accountId" | "isDraft">,
  { caller, visitor }: { readonly caller: Caller | null; readonly visitor: string },
): IssuedAppToken {
  const viewer = caller && { userId: caller.user.id, tokenId: caller.tokenId };
  const { id: appId, accountId, isDraft = false } = app;
  return issue(ctx.secrets, { accountId, appId, viewer, visitor, isDraft });
}

/** The same claims for another hour; undefined if the token is none. */
export function renew(ctx: AppsContext, token: string): IssuedAppToken | undefined {
  const claims = read(ctx.secrets, token);
  return claims && issue(ctx.secrets, claims);
}

/**
 * Reads what the token opens now. The caller of this checks the person's own rights. The draft of an app that is off works
 * for its author, as long as they may build apps.
 */
export async function verify(ctx: AppsContext, token: string): Promise<ForeignCredential | undefined> {
  const claims = read(ctx.secrets, token);
  if (!claims) return undefined;
  const { accountId, appId, viewer, isDraft } = claims;
  const app = await servedApps.findActive(ctx, accountId, appId, isDraft);
  if (!app || (viewer === null && !app.public)) return undefined;
  if (!app.active && !(await mayBuild(ctx, viewer))) return undefined;
  return credentialOf(claims, app);
}

async function mayBuild({ accounts }: AppsContext, viewer: Claims["viewer"]): Promise<boolean> {
  return viewer !== null && (await accounts.access(viewer.userId))?.privileges.has(App.privilege) === true;
}

/**
 * A viewer's token also opens the private API, if the viewer may use it. jsondb limits it to the app's own databases, and
 * media to the app's own folder.
 */
function credentialOf(
  { accountId, viewer, visitor, isDraft }: Claims,
  { id: appId, dbCodes }: AppMeta,
): ForeignCredential {
  return { accountId, viewer, privileges: ["dbs", "media"], app: { appId, dbCodes, visitor, isDraft } };
}

// The token that an app's page carries: `capp_`, its claims and our signature. behaviour B.10. It only claims who
// looks at which app; every request checks again what that opens.

export const appTokenPrefix = "capp_";

export interface Claims {
  readonly accountId: number;
  readonly appId: string;
  /** The person who looks at the page, and the token they signed in with; null = nobody. */
  readonly viewer: { readonly userId: number; readonly tokenId: number } | null;
  /** The visitor's value of `{cookie_key}`. */
  readonly visitor: string;
  /** Of the preview of a saved app. */
  readonly isDraft: boolean;
  readonly expiresAt: number;
}

export interface IssuedAppToken {
  readonly token: string;
  readonly expiresAt: Date;
}

const purpose = "apps.token/1";
const livesSeconds = 3600;

/** `now` is in milliseconds. */
export function issue(
  { sign }: Pick<Secrets, "sign">,
  claims: Omit<Claims, "expiresAt">,
  now: number = Date.now(),
): IssuedAppToken {
  const issuedAt = Math.floor(now / 1000);
  const expiresAt = issuedAt + livesSeconds;
  const token = appTokenPrefix + sign(purpose, written({ ...claims, expiresAt }, issuedAt));
  return { token, expiresAt: new Date(expiresAt * 1000) };
}

/** The claims of a valid, unexpired token. */
export function read(secrets: Pick<Secrets, "verify">, token: string, now: number = Date.now()): Claims | undefined {
  if (!token.startsWith(appTokenPrefix)) return undefined;
  const payload = secrets.verify(purpose, token.slice(appTokenPrefix.length));
  const claims = payload === undefined ? undefined : readClaims(payload);
  return claims && claims.expiresAt > Math.floor(now / 1000) ? claims : undefined;
}

/** Without blanks, and without a dot, which separates the signature. */
function written({ accountId, appId, viewer, visitor, isDraft, expiresAt }: Claims, issuedAt: number): string {
  const { userId = 0, tokenId = 0 } = viewer ?? {};
  return [accountId, appId, userId, tokenId, issuedAt, expiresAt, visitor, ...(isDraft ? ["draft"] : [])].join("~");
}

function readClaims(payload: string): Claims {
  const [accountId, appId = "", userId, tokenId, , expiresAt, visitor = "", kind] = payload.split("~");
  const viewer = userId === "0" ? null : { userId: Number(userId), tokenId: Number(tokenId) };
  const isDraft = kind === "draft";
  return { accountId: Number(accountId), appId, viewer, visitor, isDraft, expiresAt: Number(expiresAt) };
}
