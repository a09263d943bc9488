import { invalid } from "platform";
import type { Place, Scope } from "./cascade.ts";

export interface GivenPlace {
  readonly scope?: Scope | undefined;
  readonly scope_id?: number | null | undefined;
}

/**
 * Where a prompt belongs after a save. behaviour 2.1: `user` without a `scope_id` is the current user's, `account` has none;
 * behaviour B.5: `team` and `department` without one are 422. An id goes with its scope: another scope needs a new one.
 */
export function placeAfter(current: Place | undefined, given: GivenPlace, userId: number): Place {
  const scope = given.scope ?? current?.scope ?? "account";
  if (scope === "account") return { scope, scopeId: null };
  const kept = current?.scope === scope ? current.scopeId : null;
  const scopeId = given.scope_id === undefined ? kept : given.scope_id;
  if (scopeId !== null) return { scope, scopeId };
  if (scope === "user") return { scope, scopeId: userId };
  throw invalid({ scope_id: [`is required for the scope \`${scope}\``] });
}

export function samePlace(a: Place, b: Place): boolean {
  return a.scope === b.scope && a.scopeId === b.scopeId;
}
