import type { BaseContext } from "platform";
import type { Accounts } from "../accounts/api.ts";
import type { Mail } from "../mail/api.ts";

export interface BackupsContext extends Pick<BaseContext, "sql" | "transaction" | "changed" | "emit" | "log"> {
  readonly services: {
    readonly accounts: Pick<Accounts, "defaultAccount" | "administrators">;
    readonly mail: Pick<Mail, "isSetUp" | "send">;
  };
  /** `to` is BACKUP_MAIL. */
  readonly config: { readonly to: string };
}
