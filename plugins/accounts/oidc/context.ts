/** The context of the functions about providers. */
import type { BaseContext } from "platform";
import type { Mail } from "../../mail/api.ts";
import type { Tokens } from "../../tokens/api.ts";
import type { Accounts } from "../api.ts";
import type { Factors } from "../factors/api.ts";
import type { Passwords } from "../passwords/api.ts";
import type { Sessions } from "../sessions/api.ts";
import type { Peers } from "./peer.ts";

export interface OidcContext extends BaseContext {
  readonly accounts: Accounts;
  readonly factors: Pick<Factors, "endPasskeys" | "kindsOf">;
  readonly mail: Pick<Mail, "tell">;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly tokens: Pick<Tokens, "endSessions" | "switchOff">;
  readonly oidc: Peers;
}
