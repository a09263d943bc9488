import { event } from "../base/references.ts";
import type { Actor } from "../scope/actor.ts";

/** Something that the log of activity names though no record has changed. */
export interface Notice {
  readonly accountId: number;
  readonly action: "sign-in refused" | "refused" | "export" | "secret shown" | "backup" | "backup failed";
  readonly model?: string;
  readonly recordId?: string;
  readonly name?: string;
  readonly actor?: Actor | undefined;
}

export const noticed = event<Notice>("core.activity.noticed");
