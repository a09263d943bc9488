/** What the functions of this plugin share. */
import type { BaseContext, Names } from "platform";
import type { Accounts } from "../accounts/api.ts";
import type { Tokens } from "../tokens/api.ts";
import type { Database } from "./databases/database.ts";
import type { DatabaseStore, Databases } from "./databases/database-store.ts";
import type { Dbs } from "./databases/dbs.ts";
import type { Events } from "./live/events.ts";
import type { ImportStore } from "./bulk/imports/import-store.ts";
import type { Room } from "./public/room.ts";
import type { RecordEvents } from "./records/record-events.ts";
import type { RecordActor } from "./records/logged.ts";
import type { Records } from "./records/records.ts";
import type { RecordStore } from "./records/record-store.ts";
import type { Together } from "./records/together.ts";
import type { SearchStore } from "./search/search-store.ts";

interface PublicSettings {
  readonly rateLimitRequests: number;
  readonly rateLimitCreates: number;
  readonly rateLimitWindowSeconds: number;
}

export interface JsondbContext extends BaseContext {
  readonly config: PublicSettings;
  readonly names: Names;
  readonly accounts: Accounts;
  readonly tokens: Tokens;
  readonly databases: Databases;
  readonly databaseStore: DatabaseStore;
  readonly dbs: Dbs;
  readonly recordStore: RecordStore;
  readonly together: Together;
  readonly records: Records;
  readonly recordEvents: RecordEvents;
  readonly actorOf: RecordActor;
  /** To be called after the commit of a write. */
  readonly written: (db: Database) => void;
  readonly searchStore: SearchStore;
  /** How much visitors may store. */
  readonly visitorRoom: Room;
  readonly importStore: ImportStore;
  readonly live: Events;
}
