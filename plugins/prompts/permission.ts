import { isOf, type Place, type Reader } from "./cascade.ts";
import type { Role } from "platform";

export interface Writer extends Reader {
  readonly role: Role;
}

export interface Owned extends Place {
  readonly code: string;
  readonly createdById: number;
}

/**
 * Whether this person, who has the privilege `prompts`, may write (create, change, delete) that prompt. CONTRACT 5: own
 * `user` prompts, those of one's teams and departments, and of the account's what one created; `manager` all of the
 * account's; `admin` all.
 *
 * An account prompt that takes the place of a built-in one (or adds to it by `_extra`) is what every agent of the
 * account obeys, with the token of whoever starts it: that takes a manager, whoever created it.
 */
export function mayWrite(prompt: Owned, person: Writer, isBuiltIn: (code: string) => boolean): boolean {
  if (person.role === "admin") return true;
  if (prompt.scope !== "account") return isOf(prompt, person);
  if (person.role === "manager") return true;
  return prompt.createdById === person.id && !isBuiltIn(prompt.code.replace(/_extra$/, "")) && !isBuiltIn(prompt.code);
}
