/** Context of this plugin's functions. */
import type { BaseContext, Cache, Caller, Files } from "platform";
import type { FileUse, FileUses, Media } from "./api.ts";
import type { MediaRow } from "./store.ts";

export interface MediaContext extends BaseContext {
  readonly contents: Files;
  readonly rows: Cache<MediaRow>;
  /** The largest file. */
  readonly maxBytes: number;
  /** How many bytes an account may have. */
  readonly quota: number;
  readonly hooks: MediaHooks;
}

/** Where other plugins take part. They do so while they are set up. */
export interface MediaHooks extends Pick<Media, "onChanged" | "addUses"> {
  /** Tells those who show an account's files, before a change is answered. */
  changed(accountId: number): Promise<void>;
  /** The records that name a file, of the plugins whose privilege the caller has. */
  usesOf(caller: Caller, file: { readonly id: string; readonly path: string }, most: number): Promise<FileUse[]>;
}

export function createHooks(): MediaHooks {
  const listeners = new Set<(accountId: number) => Promise<void>>();
  const uses = new Set<FileUses>();
  return {
    onChanged: (run) => void listeners.add(run),
    addUses: (one) => void uses.add(one),
    async changed(accountId) {
      for (const run of listeners) await run(accountId);
    },
    async usesOf({ account, privileges }, file, most) {
      const asked = [...uses].filter(({ privilege }) => privileges.has(privilege));
      return (await Promise.all(asked.map((one) => one.find(account.id, file, most)))).flat();
    },
  };
}
