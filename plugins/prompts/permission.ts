import { isOf, type Place, type Reader } from "./cascade.ts";
import type { Role } from "platform";

export interface Writer extends Reader {
  readonly role: Role;
}

export interface Owned extends Place {
  readonly code: string;
  readonly createdById: number;
}

/** What `<code>_extra` is appended to, a stored prompt of the code. */
export type Base = Place & Pick<Owned, "createdById">;

/**
 * Whether this person, who has the privilege `prompts`, may write (create, change, delete) that prompt: own `user`
 * prompts, those of one's teams and departments, and of the account's what one created; `manager` all of the account's;
 * `admin` all.
 *
 * An account prompt that takes the place of a built-in one is what every agent of the account obeys, with the token of
 * whoever starts it: that takes a manager, whoever created it. So does an `_extra` that others get, unless it adds to
 * prompts that this person made: `bases` are those stored under the code that it adds to.
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

/** The code of the prompt that one of this code is appended to; undefined where it is no `_extra`. */
export function extendedCode(code: string): string | undefined {
  return code.endsWith(suffix) ? code.slice(0, -suffix.length) : undefined;
}

export const suffix = "_extra";

/**
 * Whether all that it is appended to for others is this person's: of a team's or department's own prompt that one, else
 * the account's. What a single person keeps for themselves is nobody's business here.
 */
function addsToOwn(place: Place, personId: number, bases: readonly Base[]): boolean {
  const shared = bases.filter(({ scope }) => scope !== "user");
  const near = shared.filter(({ scope, scopeId }) => scope === place.scope && scopeId === place.scopeId);
  const ofAccount = shared.filter(({ scope }) => scope === "account");
  const reached = place.scope === "account" ? (near.length > 0 ? shared : []) : near.length > 0 ? near : ofAccount;
  return reached.length > 0 && reached.every(({ createdById }) => createdById === personId);
}
