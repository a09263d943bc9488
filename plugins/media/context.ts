/** What the functions of this plugin share. */
import type { BaseContext, Cache, Files } from "platform";
import type { FileUses } from "./api.ts";
import type { MediaRow } from "./store.ts";

export interface MediaContext extends BaseContext {
  readonly contents: Files;
  readonly rows: Cache<MediaRow>;
  /** The largest file. */
  readonly maxBytes: number;
  /** How many bytes an account may have. */
  readonly quota: number;
  /** Tells those who show an account's files, before a change is answered. */
  readonly notify: (accountId: number) => Promise<void>;
  readonly listeners: Set<(accountId: number) => Promise<void>>;
  readonly uses: FileUses[];
}
