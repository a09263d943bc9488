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
  /** When the page was loaded, in seconds. The token cannot be renewed later than a day after that. */
  readonly loadedAt: number;
  readonly expiresAt: number;
}

export interface IssuedAppToken {
  readonly token: string;
  readonly expiresAt: Date;
}

const purpose = "apps.token/1";
const livesSeconds = 3600;
const renewedForSeconds = 24 * 3600;

export type AppTokens = ReturnType<typeof createAppTokens>;

export function createAppTokens(secrets: Pick<Secrets, "sign" | "verify">, clock: () => number = Date.now) {
  const seconds = () => Math.floor(clock() / 1000);
  const issue = (claims: Omit<Claims, "expiresAt">): IssuedAppToken => {
    const expiresAt = Math.min(seconds() + livesSeconds, claims.loadedAt + renewedForSeconds);
    const token = appTokenPrefix + secrets.sign(purpose, written({ ...claims, expiresAt }));
    return { token, expiresAt: new Date(expiresAt * 1000) };
  };

  return {
    /** For a page that is just being loaded. */
    issue: (claims: Omit<Claims, "expiresAt" | "loadedAt">) => issue({ ...claims, loadedAt: seconds() }),
    /** Undefined if its page was loaded more than a day ago. */
    renew: (claims: Claims) => (seconds() < claims.loadedAt + renewedForSeconds ? issue(claims) : undefined),
    /** The claims of a valid, unexpired token. */
    read(token: string): Claims | undefined {
      if (!token.startsWith(appTokenPrefix)) return undefined;
      const payload = secrets.verify(purpose, token.slice(appTokenPrefix.length));
      const claims = payload === undefined ? undefined : readClaims(payload);
      return claims && claims.expiresAt > seconds() ? claims : undefined;
    },
  };
}

/** Without blanks, and without a dot, which separates the signature. */
function written({ accountId, appId, viewer, visitor, loadedAt, expiresAt }: Claims): string {
  return [accountId, appId, viewer?.userId ?? 0, viewer?.tokenId ?? 0, loadedAt, expiresAt, visitor].join("~");
}

function readClaims(payload: string): Claims {
  const [accountId, appId = "", userId, tokenId, loadedAt, expiresAt, visitor = ""] = payload.split("~");
  const viewer = userId === "0" ? null : { userId: Number(userId), tokenId: Number(tokenId) };
  const times = { loadedAt: Number(loadedAt), expiresAt: Number(expiresAt) };
  return { accountId: Number(accountId), appId, viewer, visitor, ...times };
}
