/** Which of several prompts with one code a person gets (the cascade of behaviour 2.1), and who may write them. */
import { invalid, type Role } from "platform";

export const scopes = ["user", "team", "department", "account"] as const;
export type Scope = (typeof scopes)[number];

/** Where a prompt belongs. `scopeId` is null for `account` alone. */
export interface PromptScope {
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
export function firstOf<P extends PromptScope>(candidates: readonly P[], reader: Reader): P | undefined {
  let best: P | undefined;
  for (const candidate of candidates) {
    if (isOf(candidate, reader) && (!best || isBefore(candidate, best))) best = candidate;
  }
  return best;
}

/** Whether a prompt in this place is for this reader: the account's, the reader's own, or that of a unit of theirs. */
export function isOf({ scope, scopeId }: PromptScope, reader: Reader): boolean {
  if (scope === "account") return true;
  if (scopeId === null) return false;
  if (scope === "user") return scopeId === reader.id;
  return (scope === "team" ? reader.teamIds : reader.departmentIds).includes(scopeId);
}

function isBefore(a: PromptScope, b: PromptScope): boolean {
  return inOrder(a, b) < 0;
}

/** Compares two places of one reader: negative if a prompt in the first one wins. */
export function inOrder(a: PromptScope, b: PromptScope): number {
  const order = scopes.indexOf(a.scope) - scopes.indexOf(b.scope);
  return order === 0 ? (a.scopeId ?? 0) - (b.scopeId ?? 0) : order;
}

export interface ScopePatch {
  readonly scope?: Scope | undefined;
  readonly scope_id?: number | null | undefined;
}

/**
 * Where a prompt belongs after a save. behaviour 2.1: `user` without a `scope_id` is the current user's, `account` has none;
 * behaviour B.5: `team` and `department` without one are 422. An id goes with its scope: another scope needs a new one.
 */
export function scopeAfter(current: PromptScope | undefined, given: ScopePatch, userId: number): PromptScope {
  const scope = given.scope ?? current?.scope ?? "account";
  if (scope === "account") return { scope, scopeId: null };
  const kept = current?.scope === scope ? current.scopeId : null;
  const scopeId = given.scope_id === undefined ? kept : given.scope_id;
  if (scopeId !== null) return { scope, scopeId };
  if (scope === "user") return { scope, scopeId: userId };
  throw invalid({ scope_id: [`is required for the scope \`${scope}\``] });
}

export function isSameScope(a: PromptScope, b: PromptScope): boolean {
  return a.scope === b.scope && a.scopeId === b.scopeId;
}

export interface Writer extends Reader {
  readonly role: Role;
}

export interface OwnedPrompt extends PromptScope {
  readonly code: string;
  readonly createdById: number;
}

/** A stored prompt with the code that `<code>_extra` adds to. */
export type OwnedScope = PromptScope & Pick<OwnedPrompt, "createdById">;

/**
 * Whether this person, who has the privilege `prompts`, may write (create, change, delete) that prompt: own `user`
 * prompts, those of one's teams and departments, and of the account's what one created; `manager` all of the account's;
 * `admin` all.
 *
 * Every agent in the account obeys an account prompt that replaces a built-in one, with the token of the person who
 * starts it. Writing one therefore takes a manager, even for its creator. So does an `_extra` that others get, unless
 * it adds only to prompts that this person made: `bases` are those stored under the code that it adds to.
 */
export function mayWrite(
  prompt: OwnedPrompt,
  person: Writer,
  isBuiltIn: (code: string) => boolean,
  bases: readonly OwnedScope[],
): boolean {
  if (person.role === "admin") return true;
  const { scope, code } = prompt;
  if (!isOf(prompt, person)) return false;
  if (scope === "user" || person.role === "manager") return true;
  const extended = extendedCode(code);
  if (extended !== undefined && !addsToOwn(prompt, person.id, bases)) return false;
  if (scope !== "account") return true;
  const made = extended !== undefined || prompt.createdById === person.id;
  return made && !isBuiltIn(code) && (extended === undefined || !isBuiltIn(extended));
}

/** The code that a prompt with this code is appended to; undefined if it is not an `_extra`. */
export function extendedCode(code: string): string | undefined {
  return code.endsWith(suffix) ? code.slice(0, -suffix.length) : undefined;
}

export const suffix = "_extra";

/**
 * Whether this person made every prompt that it is appended to for others: the team's or department's own prompt if it
 * has one, else the account's. Prompts in the scope `user` do not count.
 */
function addsToOwn(scoped: PromptScope, personId: number, bases: readonly OwnedScope[]): boolean {
  const shared = bases.filter(({ scope }) => scope !== "user");
  const near = shared.filter(({ scope, scopeId }) => scope === scoped.scope && scopeId === scoped.scopeId);
  const ofAccount = shared.filter(({ scope }) => scope === "account");
  const reached = scoped.scope === "account" ? (near.length > 0 ? shared : []) : near.length > 0 ? near : ofAccount;
  return reached.length > 0 && reached.every(({ createdById }) => createdById === personId);
}
