/** The context of the functions about sessions, and what accounts decide about them. */
import { setting, type BaseContext, type TurnsByKey } from "platform";
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

/** Length of the sessions that begin from now on; only administrators change it. */
export const sessionSettings = {
  hours: setting.adminOnly(
    setting.integer("session_hours", 336, "Hours after which a session ends", { min: 1, max: 8760 }),
  ),
  idleMinutes: setting.adminOnly(
    setting.checked(
      "session_idle_minutes",
      "0",
      "Minutes without a request after which a session ends, 5 or more; 0 = not before its hours are over",
      minutes,
    ),
  ),
};

/** Only administrators change it: whoever has stolen a token must not keep its owner from hearing of it. */
export const alertSettings = {
  isOn: setting.adminOnly(
    setting.flag("sign_in_alerts", true, "Mail people who sign in from a browser that is new, if mail is set up"),
  ),
};

function minutes(text: string): number {
  const number = Number(text);
  if (/^\d{1,6}$/.test(text) && (number === 0 || (number >= 5 && number <= 525_600))) return number;
  throw new Error("must be 0, or a whole number from 5 to 525600");
}
