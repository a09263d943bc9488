/** Context of this plugin's functions. */
import type { BaseContext, Cache } from "platform";
import type { Accounts } from "../accounts/api.ts";
import type { MailTemplate } from "./api.ts";
import type { TlsMode } from "../smtp/api.ts";
import type { ServerRow } from "./server-store.ts";

/** The environment's server. */
export interface Standard {
  readonly url: string;
  readonly user: string | null;
  readonly password: string | null;
  readonly from: string;
  readonly replyTo: string | null;
  readonly tls: TlsMode | null;
}

export interface MailContext extends BaseContext {
  readonly accounts: Pick<Accounts, "accountById">;
  /** Templates of all plugins, by code. */
  readonly templates: ReadonlyMap<string, MailTemplate>;
  /** The installation's server. */
  readonly standard: Standard | undefined;
  readonly serverRows: Cache<{ row: ServerRow | undefined }>;
  /** Counts what an account sends. */
  readonly sent: ReturnType<BaseContext["limiter"]>;
}
