/**
 * The token that an app's page carries: `capp_`, its claims and our signature. behaviour B.10. It only claims who looks at
 * which app; every request checks again what that opens.
 */
import type { Secrets } from "platform";

export const appTokenPrefix = "capp_";

export interface Claims {
  readonly accountId: number;
  readonly appId: string;
  /** The person who looks at the page, and the token they signed in with; null = nobody. */
  readonly viewer: { readonly userId: number; readonly tokenId: number } | null;
  /** The visitor's value of `{cookie_key}`. */
  readonly visitor: string;
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
export function read({ verify }: Pick<Secrets, "verify">, token: string, now: number = Date.now()): Claims | undefined {
  if (!token.startsWith(appTokenPrefix)) return undefined;
  const payload = verify(purpose, token.slice(appTokenPrefix.length));
  const claims = payload === undefined ? undefined : readClaims(payload);
  return claims && claims.expiresAt > Math.floor(now / 1000) ? claims : undefined;
}

/** Without blanks, and without a dot, which separates the signature. */
function written({ accountId, appId, viewer, visitor, expiresAt }: Claims, issuedAt: number): string {
  return [accountId, appId, viewer?.userId ?? 0, viewer?.tokenId ?? 0, issuedAt, expiresAt, visitor].join("~");
}

function readClaims(payload: string): Claims {
  const [accountId, appId = "", userId, tokenId, , expiresAt, visitor = ""] = payload.split("~");
  const viewer = userId === "0" ? null : { userId: Number(userId), tokenId: Number(tokenId) };
  return { accountId: Number(accountId), appId, viewer, visitor, expiresAt: Number(expiresAt) };
}
