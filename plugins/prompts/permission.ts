import { isOf, type Place, type Reader } from "./cascade.ts";
import type { Role } from "platform";

export interface Writer extends Reader {
  readonly role: Role;
}

export interface Owned extends Place {
  readonly code: string;
  readonly createdById: number;
}

/** A stored prompt with the code that `<code>_extra` adds to. */
export type Base = Place & Pick<Owned, "createdById">;

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
  prompt: Owned,
  person: Writer,
  isBuiltIn: (code: string) => boolean,
  bases: readonly Base[],
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
function addsToOwn(place: Place, personId: number, bases: readonly Base[]): boolean {
  const shared = bases.filter(({ scope }) => scope !== "user");
  const near = shared.filter(({ scope, scopeId }) => scope === place.scope && scopeId === place.scopeId);
  const ofAccount = shared.filter(({ scope }) => scope === "account");
  const reached = place.scope === "account" ? (near.length > 0 ? shared : []) : near.length > 0 ? near : ofAccount;
  return reached.length > 0 && reached.every(({ createdById }) => createdById === personId);
}
