/** Tells this process of records that have changed, after the commit. For live changes; durable handlers use events. */

/** What has happened to a record. */
export type RecordEventKind = "create" | "update" | "destroy";

export interface RecordChange {
  readonly kind: RecordEventKind;
  readonly accountId: number;
  readonly dbId: string;
  readonly id: string;
  /** The change was told of for those who follow the database. */
  readonly live: boolean;
}

export interface Changes {
  tell(change: RecordChange): void;
  /** Gives back how to end that. */
  on(run: (change: RecordChange) => void): () => void;
}

export function createChanges(): Changes {
  const listeners = new Set<(change: RecordChange) => void>();
  return {
    tell(change) {
      for (const run of listeners) run(change);
    },
    on(run) {
      listeners.add(run);
      return () => listeners.delete(run);
    },
  };
}
