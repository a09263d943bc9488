/** What the replicas are compared with: how far the primary has written, and which primary it is. */
import type { Sql } from "../../db/db.ts";
import { sharedAsk } from "./progress.ts";

export interface Position {
  /** Every acknowledged commit is before it: PostgreSQL answers a commit once it is on disk. */
  readonly lsn: number;
  /** Another one since a standby was promoted. */
  readonly timeline: string;
  /** Its clock, to the microsecond. */
  readonly now: string;
}

export interface Watched extends Position {
  /** Where this word has arrived, the writes of this primary arrive. */
  readonly word: string;
}

export const wordKey = "primary_word";

/** `own`: a pool for this purpose only, because the others may be full. */
export function followPrimary(sql: Sql, own: Sql) {
  let markedTimeline: string | undefined;

  const position = sharedAsk(async (): Promise<Position> => {
    const [row] = await own<Position[]>`
      select (case when current_setting('synchronous_commit') = 'off' then pg_current_wal_insert_lsn()
        else pg_current_wal_flush_lsn() end - '0/0')::bigint as lsn,
        left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline, clock_timestamp()::text as now`;
    if (!row) throw new Error("the primary does not say how far it has written");
    return row;
  });
  /** A replica of a copy of this database, or of a primary that has been replaced, never gets a new word. */
  const mark = async (timeline: string): Promise<void> => {
    if (markedTimeline === timeline) return;
    const word = crypto.randomUUID();
    await sql`
      insert into runtime_state (key, value) values (${wordKey}, ${word})
      on conflict (key) do update set value = excluded.value`;
    markedTimeline = timeline;
  };
  let isWriting = false;

  return {
    position,
    async watch(): Promise<Watched> {
      const { timeline } = await position();
      await mark(timeline);
      const word = await wordAt(own);
      return { ...(await position()), word: word ?? "" };
    },
    /**
     * The primary may have written a record up to the end of a page and no further, when nobody has committed since:
     * a replica waits for the rest. A message for nobody is committed, and so brings the rest to the disk.
     */
    completeRecord(): void {
      if (isWriting) return;
      isWriting = true;
      sql`select pg_logical_emit_message(true, 'corestead', '')`
        .catch(() => {}) // then the read goes to the primary
        .finally(() => (isWriting = false));
    },
  };
}

/** The primary's word, as far as it has arrived here. */
export async function wordAt(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ value: string }[]>`select value from runtime_state where key = ${wordKey}`;
  return row?.value;
}
