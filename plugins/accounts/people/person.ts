/** A person's fields: read from a request, merged with what is stored, and checked. */
import { mistakes, type Tx } from "platform";
import type { AccessTable } from "./access.ts";
import type { UnitKind } from "../api.ts";
import type { PersonPatch } from "./person-patch.ts";
import { isPlainlyWritten } from "./rules.ts";
import type { UnitStore } from "./unit-store.ts";
import type { UserInput, UserStore } from "./user-store.ts";

/** The fields that people may change in their own record. */
export interface OwnPatch {
  readonly name?: string;
  readonly email?: string | null;
  readonly password?: string;
  readonly current_password?: string;
  /** Null gives up an address that waits for its confirmation. */
  readonly pending_email?: null;
}

interface Needed {
  readonly access: Pick<AccessTable, "isPrivilege">;
  readonly userStore: UserStore;
  readonly unitStore: UnitStore;
}

/** The check that needs the database. It throws the 422 for the person with this id (0 = new) as changed. */
export function createCheck({ access, userStore, unitStore }: Needed) {
  return async (tx: Tx, accountId: number, id: number, person: UserInput, change: PersonPatch): Promise<void> => {
    const wrong = mistakes();
    for (const name of change.privileges ?? []) {
      if (!access.isPrivilege(name)) wrong.add("privileges", `${name} is not a privilege`);
    }
    for (const [field, kind] of unitFields) {
      const ids = change[field] ?? [];
      const known = ids.length > 0 ? await unitStore.known(tx, accountId, kind, ids) : new Set<number>();
      for (const unknown of ids.filter((unit) => !known.has(unit))) wrong.add(field, `there is no ${kind} ${unknown}`);
    }
    if (change.email && !isEmail(change.email)) wrong.add("email", "must be an e-mail address");
    for (const field of ["login", "email"] as const)
      if (!isPlainlyWritten(change[field] ?? ""))
        wrong.add(field, "has characters that look like others, or that nobody sees");
    const clash = await userStore.clash(tx, accountId, id, person.login, person.email);
    if (clash.login) wrong.add("login", "is another person's e-mail address");
    if (clash.email) wrong.add("email", "is another person's login");
    if (clash.taken) wrong.add("email", "is already taken");
    wrong.check();
  };
}

export const unitFields = [
  ["team_ids", "team"],
  ["group_ids", "group"],
  ["department_ids", "department"],
] as const satisfies readonly (readonly [keyof PersonPatch, UnitKind])[];

type Stored = Omit<UserInput, "passwordHash">;

export function merged(before: Stored, change: PersonPatch, passwordHash: string | null | undefined): UserInput {
  const { login = before.login, email = before.email, name = before.name, role = before.role } = change;
  const { active = before.active, privileges = before.privileges } = change;
  return {
    login: login.normalize("NFC"),
    email: email?.normalize("NFC") || null,
    name,
    role,
    active,
    privileges: [...new Set(privileges)],
    passwordHash,
  };
}

export function isEmail(value: string): boolean {
  return /^[^\s@]+@[^\s@]+$/.test(value);
}
