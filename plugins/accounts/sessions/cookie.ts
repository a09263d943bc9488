import { sessionCookieName } from "platform";

/** The Set-Cookie of a session. `Secure` only if the client used https: otherwise a browser would drop it. */
export function sessionCookieOf(token: string, expiresAt: Date | null, secure: boolean, now = Date.now()): string {
  const seconds = expiresAt ? Math.max(0, Math.floor((expiresAt.getTime() - now) / 1000)) : 0;
  return `${sessionCookieName(secure)}=${token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}${secure ? "; Secure" : ""}`;
}

export function endedCookie(secure: boolean): string {
  return sessionCookieOf("", null, secure);
}
