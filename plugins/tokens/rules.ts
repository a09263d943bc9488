/** The rules for a token's fields, and for who may set them. behaviour B.4 and B.6. */
import { forbidden, invalid, mistakes, type Caller } from "platform";
import type { Access } from "../accounts/api.ts";
import { parseExpiry } from "./expiry.ts";
import type { TokenInput, TokenRow } from "./store.ts";

/** The fields of a request; each may be missing. */
export interface TokenPatch {
  readonly name?: string | null;
  readonly code?: string | null;
  readonly active?: boolean;
  readonly expires_at?: string | null;
  readonly kind?: string | null;
  readonly integration_app_code?: string | null;
  readonly for_account?: boolean;
  readonly privileges?: readonly string[] | null;
}

export const blankToken: TokenInput = {
  name: null,
  code: null,
  kind: null,
  integrationAppCode: null,
  forAccount: false,
  active: true,
  privileges: [],
  expiresAt: null,
};

/** The token after the change, its privileges unchecked. Throws the 422. */
export function merged(before: TokenInput, patch: TokenPatch, timezone: string): TokenInput {
  const wrong = mistakes();
  const kind = patch.kind === undefined ? before.kind : patch.kind || null;
  if (kind !== null && kind !== "web_token") wrong.add("kind", "must be empty or web_token");
  let { expiresAt } = before;
  if (patch.expires_at !== undefined) {
    const given = patch.expires_at?.trim();
    expiresAt = given ? (parseExpiry(given, timezone) ?? null) : null;
    if (given && !expiresAt) wrong.add("expires_at", "must be a date (2030-12-31) or a time (2030-12-31T12:00:00Z)");
  }
  wrong.check();
  return {
    name: line(patch.name, before.name),
    code: line(patch.code, before.code),
    kind: kind === "web_token" ? kind : null,
    integrationAppCode: line(patch.integration_app_code, before.integrationAppCode),
    forAccount: patch.for_account ?? before.forAccount,
    active: patch.active ?? before.active,
    privileges: patch.privileges === undefined ? before.privileges : [...new Set(patch.privileges)],
    expiresAt,
  };
}

/** Throws the 422 if the list names a privilege that no plugin declares or that the owner lacks. */
export function mustBeOwners(list: readonly string[], owner: Access, isPrivilege: (name: string) => boolean): void {
  const wrong = mistakes();
  for (const name of list) {
    if (!isPrivilege(name)) wrong.add("privileges", `${name} is not a privilege`);
    else if (!owner.privileges.has(name)) wrong.add("privileges", `${name} is one that the owner lacks`);
  }
  wrong.check();
}

/** Throws the 422 if a narrowed token would make or change a token with more rights than its own. */
export function mustStayWithin(caller: Caller, list: readonly string[]): void {
  if (caller.narrowedTo.length === 0) return;
  if (list.length === 0) throw invalid({ privileges: ["can't be empty: your own token is narrowed"] });
  const wider = list.filter((name) => !caller.narrowedTo.includes(name));
  if (wider.length > 0) throw invalid({ privileges: wider.map((name) => `${name} is beyond your own token`) });
}

/** Throws the 422 if a token would make or change one that expires later than itself: it would outlive its own end. */
export function mustEndWithin(ends: Date | null, { expiresAt }: Pick<TokenInput, "expiresAt">): void {
  if (ends === null || (expiresAt !== null && expiresAt <= ends)) return;
  throw invalid({ expires_at: [`must not be later than ${ends.toISOString()}, when your own token ends`] });
}

/** Throws the 403 if the caller may not change this token. */
export function mustManage(caller: Caller, token: Pick<TokenInput, "forAccount">): void {
  if (token.forAccount && !isAdmin(caller)) throw forbidden("tokens of the whole account are for administrators");
}

export function isAdmin(caller: Caller): boolean {
  return caller.user.role === "admin";
}

/** People see their own tokens, an administrator all of the account's. */
export function maySee(caller: Caller, token: TokenRow): boolean {
  return token.userId === caller.user.id || isAdmin(caller);
}

/** Whether this change ends the tokens that were made from it. */
export function endsChildren(patch: TokenPatch): boolean {
  const { active, kind, privileges, expires_at } = patch;
  return active !== undefined || kind !== undefined || privileges !== undefined || expires_at !== undefined;
}

function line(given: string | null | undefined, before: string | null): string | null {
  if (given === undefined) return before;
  return given?.trim() ? given : null;
}
