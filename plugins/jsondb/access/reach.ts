/** What somebody may do in a database: the one decision that every statement about records takes. behaviour B.7. Pure. */
import type { AppGrant, Caller } from "platform";
import { grantFor, isAtLeast, levels, subjectsOf, type Access, type Level, type OpenGrant } from "./access.ts";

/**
 * Grants add up for each record: with one that fulfils the `where` of a grant one may do what that grant allows, and
 * see the fields that one such grant does not hide.
 */
export interface Reach {
  readonly grants: readonly OpenGrant[];
  /** Who it is; undefined is a program. */
  readonly viewer: Viewer | undefined;
}

/** A database as somebody may use it. */
interface Reaching {
  readonly reach: Reach;
}

/** What is known of somebody who opens a database. */
export type Viewer = Pick<Caller, "user" | "privileges" | "within"> & {
  /** The app whose page asks: it opens only the databases that the app names now. behaviour B.10. */
  readonly app?: AppGrant | null | undefined;
};

const everything: OpenGrant = { may: "manage", where: [], hide: new Set() };

/** Of a public method or another plugin's program. */
export const whole: Reach = { grants: [everything], viewer: undefined };

/** Undefined where nothing is open. */
export function reachIn({ id, access }: Openable, viewer: Viewer): Reach | undefined {
  const reach = ofPerson(access, viewer);
  const own = viewer.within?.[model];
  if (!reach || !own) return reach;
  const most = Object.hasOwn(own, id) ? levels.find((level) => level === own[id]) : undefined;
  return most && narrowedTo(most, reach, viewer);
}

/** The databases of a token, each up to a level (`Caller.within`). */
export const model = "Core::Db";

interface Openable {
  readonly id: string;
  readonly access: Access;
}

function narrowedTo(most: Level, { grants }: Reach, viewer: Viewer): Reach {
  if (most === "manage" && grants.includes(everything)) return whole;
  return { viewer, grants: grants.map((grant) => ({ ...grant, may: isAtLeast(grant.may, most) ? most : grant.may })) };
}

function ofPerson(access: Access, viewer: Viewer): Reach | undefined {
  const { user, privileges } = viewer;
  if (access === null) return privileges.has("dbs") ? whole : undefined;
  if (user.role === "admin") return whole;
  const subjects = new Set(subjectsOf(user));
  const grants = access.filter(({ to }) => subjects.has(to)).map((grant) => grantFor(user, grant));
  if (grants.some(({ may: level }) => level === "manage")) return whole;
  return grants.length > 0 ? { grants, viewer } : undefined;
}

/** Whether some records are open so far. */
export function may({ reach }: Reaching, level: Level): boolean {
  return reach.grants.some((grant) => isAtLeast(grant.may, level));
}

/** Whether all records are, with all their fields. */
export function mayAll({ reach }: Reaching, level: Level): boolean {
  if (reach === whole) return true; // nearly always
  return grantsAt(reach, level).some(isWhole);
}

function isWhole({ where, hide }: OpenGrant): boolean {
  return where.length === 0 && hide.size === 0;
}

/** The grants that allow it, for records of which none of these fields is hidden. */
export function grantsAt({ grants }: Reach, level: Level, names: Iterable<string> = []): readonly OpenGrant[] {
  const named = [...names];
  return grants.filter(({ may: most, hide }) => isAtLeast(most, level) && !named.some((name) => hide.has(name)));
}

/** The fields that no grant shows: as if the schema did not have them. */
export function hiddenAlways({ grants }: Reach): ReadonlySet<string> {
  const [first, ...others] = grants;
  return new Set([...(first?.hide ?? [])].filter((name) => others.every(({ hide }) => hide.has(name))));
}

/** The fields that some grant hides. */
export function hiddenSometimes({ grants }: Reach): ReadonlySet<string> {
  return new Set(grants.flatMap(({ hide }) => [...hide]));
}

/** The highest level of anything in the database. */
export function levelOf({ reach }: Reaching): Level {
  return levels.findLast((level) => may({ reach }, level)) ?? "read";
}
