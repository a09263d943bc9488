/** What the functions about sessions share. */
import type { BaseContext, TurnsByKey } from "platform";
import type { Mail } from "../../mail/api.ts";
import type { Tokens } from "../../tokens/api.ts";
import type { Accounts } from "../api.ts";
import type { Factors } from "../factors/api.ts";
import type { Providers } from "../rooms.ts";

export interface SessionsContext extends BaseContext {
  readonly accounts: Accounts;
  readonly factors: Factors;
  readonly mail: Pick<Mail, "isSetUp" | "send">;
  readonly tokens: Tokens;
  readonly later: { readonly providers: Pick<Providers, "leaving" | "loginLinks"> };
  /** Tries with one login from one address come one after another. */
  readonly turns: TurnsByKey<string>;
  /** The hash of the pages' style, as a Content-Security-Policy writes it. */
  readonly styleHash: string;
}
