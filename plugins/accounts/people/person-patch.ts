import type { Role } from "platform";

/** The fields of a request; each may be missing. */
export interface PersonPatch {
  readonly login?: string;
  readonly email?: string | null;
  readonly name?: string;
  readonly role?: Role;
  readonly active?: boolean;
  readonly privileges?: readonly string[];
  /** Null ends the one in use, which no request asks for. */
  readonly password?: string | null;
  readonly team_ids?: readonly number[];
  readonly group_ids?: readonly number[];
  readonly department_ids?: readonly number[];
}
