/** The context of the functions about links in mails. */
import type { BaseContext } from "platform";
import type { Mail } from "../../mail/api.ts";
import type { Accounts } from "../api.ts";
import type { Providers } from "../rooms.ts";
import type { Sessions } from "../sessions/api.ts";

export interface PasswordsContext extends BaseContext {
  readonly accounts: Accounts;
  readonly mail: Mail;
  readonly sessions: Pick<Sessions, "pageHeaders">;
  readonly later: { readonly providers: Pick<Providers, "invitationLinks"> };
  /** Counts requests for a new password from one address. */
  readonly resets: ReturnType<BaseContext["limiter"]>;
}
