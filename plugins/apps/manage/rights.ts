/** Who may write an app, beyond the privilege `apps`. Pure. */
import { credentialOf, forbidden, type Caller } from "platform";
import { sameAction, sameCode } from "./patch.ts";
import { databasesOf, type AppRow, type Saved } from "../store.ts";

/** Who writes, and the rights that they may lend to an app. */
export interface Author {
  readonly accountId: number;
  /** Null = the command line. */
  readonly userId: number | null;
  readonly mayTrust: boolean;
  readonly mayOpenDatabases: boolean;
  readonly mayNameFlows: boolean;
  /** The token of the request. */
  readonly token?: string;
}

export function authorOf({ account, user, narrowedTo, privileges }: Caller, request: Request): Author {
  return {
    accountId: account.id,
    userId: user.id,
    // A narrowed token could widen itself: its app would run with the full session of an administrator.
    mayTrust: user.role === "admin" && narrowedTo.length === 0,
    mayOpenDatabases: privileges.has("dbs"),
    mayNameFlows: privileges.has("flows"),
    token: credentialOf(request.headers)?.token ?? "",
  };
}

interface Write {
  /** Undefined = the app is new. */
  readonly before: (Saved & Pick<AppRow, "trusted">) | undefined;
  readonly after: Saved;
  readonly trusted: boolean;
}

type Rights = Pick<Author, "mayTrust" | "mayOpenDatabases" | "mayNameFlows">;

/**
 * Throws the 403. Everyone with `apps` may write every app in the account, except for three things that would lend them
 * others' rights: a trusted app runs with its viewer's session, an app with a database opens it to every viewer with
 * `dbs`, and an action runs its flow for anyone who asks.
 */
export function mustBeAllowed({ mayTrust, mayOpenDatabases, mayNameFlows }: Rights, write: Write): void {
  const { before, after, trusted } = write;
  if ((trusted || before?.trusted) && !mayTrust)
    throw forbidden("`trusted`: only an admin may create or change a trusted app, with a token that is not narrowed");
  const [known, named] = [before ? databasesOf(before) : [], databasesOf(after)];
  const isNew = named.some((code) => !known.includes(code));
  const opens = isNew || (named.length > 0 && before !== undefined && !sameCode(before, after));
  if (opens && !mayOpenDatabases)
    throw forbidden("`db_code`, `fields.dbs`: the code of an app with a database needs the privilege `dbs`");
  // Existing actions stay allowed, also when they are sent along with other changes.
  const names = after.actions.some((action) => !before?.actions.some((one) => sameAction(one, action)));
  if (names && !mayNameFlows) throw forbidden("`actions`: naming a flow needs the privilege `flows`");
}

/** Throws the 403. A draft runs in its sandbox with the saved app's database and actions, for whoever opens its page. */
export function mustBeAllowedToDraft({ privileges }: Pick<Caller, "privileges">, saved: Saved, after: Saved): void {
  const rights = { mayTrust: false, mayOpenDatabases: privileges.has("dbs"), mayNameFlows: false };
  const { dbCode, fields, actions } = saved;
  mustBeAllowed(rights, {
    before: { ...saved, trusted: false },
    after: { ...after, dbCode, fields, actions },
    trusted: false,
  });
}
