/** Decides who may change whom, what they may give, and how logins, addresses and passwords are written. behaviour B.1 and B.4. */
import { forbidden, mistakes, type Caller, type Role, roles, setting } from "platform";

/** The parts of a person that decide what they may do. */
export interface Power {
  readonly role: Role;
  /** In addition to the role's. */
  readonly privileges: readonly string[];
}

export type PrivilegesOfRole = (role: Role) => Iterable<string>;

/**
 * Throws the 403 if the caller may not change this person: whoever sets a password can sign in with it, so nobody
 * touches people who can do more than they themselves. A narrowed token can do less than its owner's role.
 */
export function mustReach(caller: Caller, person: Power, ofRole: PrivilegesOfRole): void {
  if (tooHigh(caller, person.role))
    throw forbidden(`a person with the role \`${person.role}\` is above what you may change`);
  const lacked = [...person.privileges, ...given(caller, person.role, ofRole)].find((name) => lacks(caller, name));
  if (lacked !== undefined) throw forbidden(`a person with the privilege \`${lacked}\` is above what you may change`);
}

/** Throws the 422 if the caller would give more than they have. */
export function mustNotExceed(caller: Caller, person: Power, ofRole: PrivilegesOfRole): void {
  const wrong = mistakes();
  const beyond = given(caller, person.role, ofRole).filter((name) => lacks(caller, name));
  if (tooHigh(caller, person.role)) wrong.add("role", "is above your own");
  else if (beyond.length > 0) wrong.add("role", `gives what your own token lacks: ${beyond.join(", ")}`);
  for (const name of person.privileges)
    if (lacks(caller, name)) wrong.add("privileges", `${name} is one that you lack`);
  wrong.check();
}

/** A token that is not narrowed has the privileges of its owner's role, and so those of the roles below it. */
function given(caller: Caller, role: Role, ofRole: PrivilegesOfRole): string[] {
  return caller.narrowedTo.length === 0 ? [] : [...ofRole(role)];
}

function lacks(caller: Caller, name: string): boolean {
  return !caller.privileges.has(name);
}

/** Only administrators touch administrators, with a token that is not narrowed: otherwise it could widen itself. */
function tooHigh(caller: Caller, role: Role): boolean {
  if (role === "admin" && caller.narrowedTo.length > 0) return true;
  return roles.indexOf(role) < roles.indexOf(caller.user.role); // the highest role comes first
}

/** Whether this change is allowed only if the account has another active administrator. */
export function stopsBeingAdmin(before: Power & { active: boolean }, after?: Power & { active: boolean }): boolean {
  const was = before.role === "admin" && before.active;
  return was && !(after?.role === "admin" && after.active);
}

export function isEmail(value: string): boolean {
  return /^[^\s@]+@[^\s@]+$/.test(value);
}

/**
 * Whether a login or an address cannot be taken for another one: written with the sign for kelvin, or with letters of
 * full width, `kate@…` would be one address to whoever folds letters, and another mailbox.
 */
export function isPlainlyWritten(text: string): boolean {
  return (
    text.isWellFormed() && !/\p{Cf}/u.test(text) && Array.from(text).every((char) => char.normalize("NFKC") === char)
  );
}

/** Whether two addresses are one, however their letters are written. */
export function isSameAddress(one: string | null, other: string | null): boolean {
  return one?.normalize("NFC").toLowerCase() === other?.normalize("NFC").toLowerCase();
}

/** The account's own settings; only administrators change them. */
export const passwordSettings = {
  minLength: setting.adminOnly(
    setting.integer("password_min_length", 8, "Least characters of a new password", { min: 8, max: 128 }),
  ),
  breachedUrl: setting.adminOnly(
    setting.checked(
      "breached_passwords_url",
      "",
      "List of stolen passwords that new ones are looked up in, by the first 5 digits of their SHA-1, e.g. https://api.pwnedpasswords.com/range/; empty = none",
      rangeAddress,
    ),
  ),
};

function rangeAddress(text: string): string {
  if (text === "") return "";
  const url = URL.parse(text);
  if (!url || !["http:", "https:"].includes(url.protocol))
    throw new Error("must be an http or https address, or empty");
  return text.endsWith("/") ? text : `${text}/`;
}
