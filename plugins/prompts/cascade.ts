/** The cascade of behaviour 2.1: which of several prompts with one code a person gets. */

export const scopes = ["user", "team", "department", "account"] as const;
export type Scope = (typeof scopes)[number];

/** Where a prompt belongs. `scopeId` is null for `account` alone. */
export interface Place {
  readonly scope: Scope;
  readonly scopeId: number | null;
}

/** Whose prompt it is looked up for. */
export interface Reader {
  readonly id: number;
  readonly teamIds: readonly number[];
  readonly departmentIds: readonly number[];
}

/**
 * The first of `candidates` in the order user, team, department, account that is this reader's; undefined where none
 * is. Who is in several teams (or departments) that each have one gets that of the team with the smallest id.
 */
export function firstOf<P extends Place>(candidates: readonly P[], reader: Reader): P | undefined {
  let best: P | undefined;
  for (const candidate of candidates) {
    if (isOf(candidate, reader) && (!best || isBefore(candidate, best))) best = candidate;
  }
  return best;
}

/** Whether a prompt of this place is for this reader: the account's, or that of the reader or a unit of the reader's. */
export function isOf({ scope, scopeId }: Place, reader: Reader): boolean {
  if (scope === "account") return true;
  if (scopeId === null) return false;
  if (scope === "user") return scopeId === reader.id;
  return (scope === "team" ? reader.teamIds : reader.departmentIds).includes(scopeId);
}

function isBefore(a: Place, b: Place): boolean {
  const order = scopes.indexOf(a.scope) - scopes.indexOf(b.scope);
  return order < 0 || (order === 0 && (a.scopeId ?? 0) < (b.scopeId ?? 0));
}
