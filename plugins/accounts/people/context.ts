/** The context of the functions about people. */
import type { BaseContext, Tx } from "platform";
import type { Mail } from "../../mail/api.ts";
import type { Tokens } from "../../tokens/api.ts";
import type { NewAccount } from "../api.ts";
import type { Access } from "./access.ts";
import type { AccountSettings } from "./account-settings.ts";

export interface PeopleContext extends BaseContext {
  readonly access: Access;
  readonly settings: AccountSettings;
  readonly founders: readonly Founder[];
  /** Counts guesses of one's own password. */
  readonly guesses: ReturnType<BaseContext["limiter"]>;
  /** Counts addresses that people give for themselves. */
  readonly addresses: ReturnType<BaseContext["limiter"]>;
  readonly later: {
    readonly tokens: Pick<Tokens, "passwordChanged" | "standingOf">;
    readonly mail: Pick<Mail, "isSetUp" | "send" | "tell">;
  };
}

/** Runs in the transaction that creates an account; returns lines to show once. */
export type Founder = (account: NewAccount, tx: Tx) => Promise<readonly string[]>;

export interface PersonRef {
  readonly accountId: number;
  readonly id: number;
}
