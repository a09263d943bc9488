/** Who may do what with whom. CONTRACT 1 and 4. */
import { forbidden, invalid, type Caller, type Role, roles } from "platform";

/** What makes a person powerful. */
export interface Power {
  readonly role: Role;
  /** Beyond those of the role. */
  readonly privileges: readonly string[];
}

/**
 * Throws the 403 where the caller may not touch this person: whoever sets a password can sign in with it, so nobody
 * touches people who can do more than they themselves.
 */
export function mustReach(caller: Caller, person: Power): void {
  if (tooHigh(caller, person.role))
    throw forbidden(`a person with the role \`${person.role}\` is above what you may change`);
  const lacked = person.privileges.find((name) => !caller.privileges.has(name));
  if (lacked !== undefined) throw forbidden(`a person with the privilege \`${lacked}\` is above what you may change`);
}

/** Throws the 422 where the caller would give more than they have. */
export function mustNotExceed(caller: Caller, person: Power): void {
  if (tooHigh(caller, person.role)) throw invalid({ role: ["is above your own"] });
  const lacked = person.privileges.filter((name) => !caller.privileges.has(name));
  if (lacked.length > 0) throw invalid({ privileges: lacked.map((name) => `${name} is one that you lack`) });
}

/** Administrators are only for administrators, and with a token that is not narrowed: else it could widen itself. */
function tooHigh(caller: Caller, role: Role): boolean {
  if (role === "admin" && caller.narrowedTo.length > 0) return true;
  return roles.indexOf(role) < roles.indexOf(caller.user.role); // the highest role comes first
}

/** Whether the account would have to have another active administrator for this change. */
export function stopsBeingAdmin(before: Power & { active: boolean }, after?: Power & { active: boolean }): boolean {
  const was = before.role === "admin" && before.active;
  return was && !(after?.role === "admin" && after.active);
}
