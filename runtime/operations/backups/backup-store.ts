/** Where backups are kept: ours by their names (backup-name.ts, wal-names.ts). Whatever else lies there is not ours. */
export interface StoredBackup {
  readonly name: string;
  /** When it was begun. */
  readonly at: Date;
  readonly bytes: number;
}

export interface BackupStore {
  /** For people. */
  readonly place: string;
  /** The newest first. */
  list(): Promise<StoredBackup[]>;
  /** When it resolves, all bytes are durable under the name; if it rejects or the process is killed, none are. */
  write(name: string, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  read(name: string): AsyncIterable<Uint8Array>;
  has(name: string): Promise<boolean>;
  remove(name: string): Promise<void>;
  /** Removes what an interrupted run has left. Only while no run goes on. */
  tidy(): Promise<void>;
}
