/** Context of this plugin's functions. */
import type { BaseContext } from "platform";
import type { Accounts } from "../accounts/api.ts";
import type { JsonDatabases } from "../jsondb/api.ts";
import type { Sign } from "./chain.ts";

export interface ActivityContext extends BaseContext {
  readonly accounts: Pick<Accounts, "settingsOf">;
  /** Decides who may read the records that entries are about. */
  readonly later: { readonly databases: Pick<JsonDatabases, "readable"> };
  readonly sign: Sign;
  /** Counts refusals: a program that is refused over and over must not fill the log. */
  readonly refusals: ReturnType<BaseContext["limiter"]>;
}
