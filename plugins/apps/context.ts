/** The context that the functions of this plugin share. */
import type { BaseContext, Cache, Names, TurnsByKey } from "platform";
import type { Accounts } from "../accounts/api.ts";
import type { Flows } from "../flows/api.ts";
import type { JsonDatabases } from "../jsondb/api.ts";
import type { Compiler } from "./build/compile.ts";
import type { AppRuntimes } from "./build/runtimes.ts";
import type { PreviewApp } from "./serve/page.ts";
import type { AppMeta, ServedRow } from "./store.ts";

type Limit = ReturnType<BaseContext["limiter"]>;

export interface AppsContext extends BaseContext {
  readonly names: Names;
  readonly accounts: Accounts;
  readonly databases: JsonDatabases;
  readonly flows: Flows;
  readonly compiler: Compiler;
  readonly runtimes: AppRuntimes;
  /** The apps that pages and the runtime read at every request. */
  readonly pages: Cache<ServedRow>;
  readonly metas: Cache<AppMeta>;
  /** A page keeps a template per object, so this must return the same one. A preview never changes. */
  readonly previews: Cache<PreviewApp>;
  /** By app: of simultaneous changes of one, all but one would have to be built again. */
  readonly saving: TurnsByKey<string>;
  /** For visitors without sign-in, by address: starts, requests for the status, and writes of stored values. */
  readonly limits: { readonly runs: Limit; readonly polls: Limit; readonly stored: Limit };
}
