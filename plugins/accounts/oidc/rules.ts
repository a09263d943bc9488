/** Reads a provider's claims by the account's rules. Pure. */
import { isObject, roles, type Role } from "platform";
import { isPlainlyWritten } from "../api.ts";
import type { ProviderRow } from "./provider.ts";

export type Claims = Readonly<Record<string, unknown>>;

const maxChars = 255;

/**
 * The values of a claim as texts. `name` is the claim's own name, which may hold dots, else a path of names:
 * `realm_access.roles`. Of an object its keys count.
 */
export function valuesOf(claims: Claims, name: string): readonly string[] {
  const found = Object.hasOwn(claims, name) ? claims[name] : at(claims, name.split("."));
  const all = Array.isArray(found) ? found : isObject(found) ? Object.keys(found) : [found];
  return all.flatMap((value) => (["string", "number", "boolean"].includes(typeof value) ? [String(value)] : []));
}

function at(claims: Claims, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    claims,
  );
}

/** The verified address, or undefined. */
export function verifiedEmail(claims: Claims, verifiedClaim: string): string | undefined {
  const { email } = claims;
  const isVerified = valuesOf(claims, verifiedClaim).some((value) => value === "true" || value === "1");
  return isVerified && typeof email === "string" && isAddress(email) ? email : undefined;
}

function isAddress(email: string): boolean {
  const sign = email.indexOf("@");
  const isOne = sign > 0 && sign === email.lastIndexOf("@") && sign < email.length - 1;
  return isOne && email.length <= maxChars && isPlain(email) && isPlainlyWritten(email);
}

/** Without blanks and control characters, and no half of a character. */
export function isPlain(text: string): boolean {
  return text.isWellFormed() && !/[\s\p{Cc}]/u.test(text);
}

/** Whether the rule lets addresses of this domain in; `*` lets in all. */
export function isOfDomain(email: string, domains: readonly string[]): boolean {
  const domain = email.slice(email.lastIndexOf("@") + 1).toLowerCase();
  return domains.includes("*") || domains.includes(domain);
}

/** The name for a new person. */
export function nameOf(claims: Claims, email: string): string {
  const given = [claims["name"], claims["preferred_username"]].find(
    (name) => typeof name === "string" && name.trim() !== "",
  );
  const name =
    typeof given === "string"
      ? given
          .toWellFormed()
          .replaceAll(/\p{Cc}/gu, " ")
          .trim()
      : "";
  return name.slice(0, maxChars).toWellFormed() || email;
}

type RoleRule = Pick<ProviderRow, "roleClaim" | "roles" | "defaultRole">;

/** The highest of the roles that the claim gives; null = none, so they do not come in; undefined = there is no rule. */
export function roleOf(claims: Claims, { roleClaim, roles: mapping, defaultRole }: RoleRule): Role | null | undefined {
  if (roleClaim === null) return undefined;
  const found = valuesOf(claims, roleClaim).flatMap((value) =>
    Object.hasOwn(mapping, value) ? (mapping[value] ?? []) : [],
  );
  return roles.find((role) => found.includes(role)) ?? defaultRole;
}

type TeamRule = Pick<ProviderRow, "teamClaim" | "teams">;

/** The teams that somebody is in from now on: the rule decides on those that it names and leaves others alone. */
export function teamsOf(
  claims: Claims,
  { teamClaim, teams }: TeamRule,
  now: readonly number[],
): readonly number[] | undefined {
  if (teamClaim === null) return undefined;
  const ruled = new Set(Object.values(teams));
  const given = valuesOf(claims, teamClaim).flatMap((value) =>
    Object.hasOwn(teams, value) ? (teams[value] ?? []) : [],
  );
  return [...new Set([...now.filter((id) => !ruled.has(id)), ...given])].toSorted((a, b) => a - b);
}
