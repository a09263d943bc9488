import type { BaseContext } from "platform";
import type { Accounts, Sessions } from "../accounts/api.ts";
import type { Flows } from "../flows/api.ts";
import type { JsonDatabases } from "../jsondb/api.ts";
import type { Mail } from "../mail/api.ts";

/** What the parts of this plugin share. */
export interface InboxContext extends BaseContext {
  readonly accounts: Accounts;
  readonly databases: JsonDatabases;
  readonly flows: Flows;
  readonly mail: Mail;
  readonly sessions: Sessions;
}
