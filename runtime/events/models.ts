import { event, type EventRef } from "../base/references.ts";
import type { Actor } from "../scope/actor.ts";

/** A kind of record whose changes others may follow, named `Module::Model` (behaviour 6, B.8). */
export interface Model {
  readonly name: `${string}::${string}`;
  /** Kinds beyond `create`, `update` and `destroy`. */
  readonly kinds?: readonly string[];
  /** The privilege that a webhook on it needs; without one, only administrators follow it. */
  readonly privilege?: string;
  /** Of a record that the API shows to few: then only webhooks that an administrator made get it. */
  readonly confidential?: (data: Readonly<Record<string, unknown>>) => boolean;
  /**
   * Its records are parts of something nameable, whose code or id they have under `key`: only who may read all of that
   * gets them (`Nameable.opens`).
   */
  readonly partOf?: { readonly model: string; readonly key: string };
  /** One record as it is delivered. */
  readonly sample: Readonly<Record<string, unknown>>;
  /** Records have further keys than the sample: those of what people keep in them. */
  readonly anyKeys?: true;
}

/** News of one record of a model. */
export interface ModelEvent {
  readonly accountId: number;
  readonly sourceType: string;
  readonly kind: string;
  readonly id: string | number;
  readonly data: Readonly<Record<string, unknown>>; // the record's JSON as it is delivered
  readonly changed?: readonly string[]; // of an update in a table: fields with other values, or that may have, before it
}

/** Every create, update and destroy of every registered model, after the hooks of `before` have let it pass, written in the transaction of the change. */
export const modelChanged = event<ModelEvent>("core.model.changed");

export function isModelEvent<T>(ref: EventRef<T>, payload: T): payload is T & ModelEvent {
  return payload !== undefined && ref.id === modelChanged.id;
}

/** A backup of the schedule that ended, well or not. */
export interface BackupEnd {
  /** Its row in backup_runs. */
  readonly id: number;
  /** `base`: for point-in-time recovery. `wal`: changes are not archived, or are again. Absent in older events. */
  readonly kind?: "backup" | "base" | "wal";
  readonly startedAt: string;
  readonly endedAt: string;
  /** Null if none was written. */
  readonly file: string | null;
  readonly bytes: number | null;
  readonly verified: boolean;
  /** Null if all went well. */
  readonly error: string | null;
}

export const backupEnded = event<BackupEnd>("core.backup.ended");

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
