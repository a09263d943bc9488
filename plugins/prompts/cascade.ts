/** The cascade of behaviour 2.1: which of several prompts with one code a person gets. */
import { invalid } from "platform";

export const scopes = ["user", "team", "department", "account"] as const;
export type Scope = (typeof scopes)[number];

/** Where a prompt belongs. `scopeId` is null for `account` alone. */
export interface Place {
  readonly scope: Scope;
  readonly scopeId: number | null;
}

/** The person that a prompt is looked up for. */
export interface Reader {
  readonly id: number;
  readonly teamIds: readonly number[];
  readonly departmentIds: readonly number[];
}

/**
 * The reader's first candidate in the order user, team, department, account; undefined if there is none. Among several
 * teams (or departments) of the reader the smallest id wins.
 */
export function firstOf<P extends Place>(candidates: readonly P[], reader: Reader): P | undefined {
  let best: P | undefined;
  for (const candidate of candidates) {
    if (isOf(candidate, reader) && (!best || isBefore(candidate, best))) best = candidate;
  }
  return best;
}

/** Whether a prompt in this place is for this reader: the account's, the reader's own, or that of a unit of theirs. */
export function isOf({ scope, scopeId }: Place, reader: Reader): boolean {
  if (scope === "account") return true;
  if (scopeId === null) return false;
  if (scope === "user") return scopeId === reader.id;
  return (scope === "team" ? reader.teamIds : reader.departmentIds).includes(scopeId);
}

function isBefore(a: Place, b: Place): boolean {
  return inOrder(a, b) < 0;
}

/** Compares two places of one reader: negative if a prompt in the first one wins. */
export function inOrder(a: Place, b: Place): number {
  const order = scopes.indexOf(a.scope) - scopes.indexOf(b.scope);
  return order === 0 ? (a.scopeId ?? 0) - (b.scopeId ?? 0) : order;
}

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
