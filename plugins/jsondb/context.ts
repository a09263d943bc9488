/** The context that the functions of this plugin share. */
import type { BaseContext, Child, Names } from "platform";
import type { Mail } from "../mail/api.ts";
import type { Tokens } from "../tokens/api.ts";
import type { InboxSource } from "./api.ts";
import type { ImportPlaces } from "./bulk/imports/body.ts";
import type { Events } from "./live/events.ts";
import type { RoomContext } from "./public/room.ts";
import type { NamedContext } from "./records/named.ts";
import type { SearchContext } from "./search/store.ts";

interface PublicSettings {
  readonly rateLimitRequests: number;
  readonly rateLimitCreates: number;
  readonly rateLimitWindowSeconds: number;
}

interface HistorySettings {
  readonly historyDays: number;
  readonly historyEntries: number;
  readonly historyBytes: number;
}

export interface JsondbContext extends SearchContext, RoomContext, NamedContext {
  readonly config: PublicSettings & HistorySettings & RoomContext["config"];
  readonly names: Names;
  readonly tokens: Tokens;
  readonly mail: Pick<Mail, "isSetUp" | "tell">;
  /** Counts the mails that an author's mentions cause. */
  readonly mentionMails: ReturnType<BaseContext["limiter"]>;
  /** What else stands in people's inboxes. */
  readonly inboxSources: InboxSource[];
  readonly live: Events;
  /** The guarded process that looks into files of people. */
  readonly fileReader: Child;
  readonly importPlaces: ImportPlaces;
}
