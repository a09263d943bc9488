/** Reads the changes of one database, once for all that follow it in this process. */
import * as liveStore from "./store.ts";
import * as databases from "../databases/cache.ts";
import { notFound, unavailable, uuidv7 } from "platform";
import { eventId, type LogEntry, type ChangePage, type Position } from "./store.ts";
import type { Database } from "../databases/database.ts";
import type { DatabaseContext } from "../databases/cache.ts";

/** A change as it is given to a follower. */
export interface Told extends LogEntry {
  /** The client sends it back to go on after this change. */
  readonly eventId: string;
  /** The version of the database when the change was read. */
  readonly version: number;
}

export interface Person {
  readonly id: number;
  readonly name: string;
}

/** The event `present` of a stream. */
export interface Present {
  readonly record_id: string;
  readonly users: readonly Person[];
}

export interface Listener {
  changes(told: readonly Told[]): void;
  /** Changes may have been missed: everything must be read again. */
  reset(): void;
  /** Somebody has opened a record, or left it. */
  present(present: Present): void;
  /** The database is gone. */
  end(): void;
}

export interface Feed {
  /** Identifies one period of following; positions of another period are useless. */
  readonly epoch: () => string;
  /** The id of the last event that was given, or of what came before the first. */
  readonly lastId: () => string;
  /** From here on the listener hears of changes; gives back the position that the others have reached. 404 database gone. */
  join(listener: Listener): Promise<{ readonly from: string }>;
  leave(listener: Listener): void;
  /** Tells all listeners. */
  present(present: Present): void;
  /** Looks for changes; if that fails, the next call tries again. */
  look(): Promise<void>;
}

export const pageSize = 500;
// Under many writes changes are read together.
const pauseMs = 20;

export async function openFeed(ctx: LiveContext, db: Database): Promise<Feed> {
  const listeners = new Set<Listener>();
  let joining: { listener: Listener; resolve: (at: { from: string }) => void; reject: (error: unknown) => void }[] = [];
  let epoch = "";
  let position: Position = { from: "" };

  const begin = async () => {
    const begun = await beginFollowing(ctx, db);
    if (!begun) throw notFound("there is no such database");
    epoch = begun.epoch;
    position = { from: begun.snapshot };
  };
  const readPage = async (): Promise<boolean> => {
    const page = await liveStore.read(ctx.sql, db, position, pageSize);
    if (!page.present) throw notFound("there is no such database");
    if (page.epoch !== epoch || !page.known) {
      await begin();
      for (const listener of listeners) listener.reset();
      return true;
    }
    position = page.next;
    const told = toldOf(page, epoch);
    if (told.length > 0) for (const listener of listeners) listener.changes(told);
    return page.complete;
  };
  const read = async () => {
    // Only listeners that came before this read may join by it: what is read now is newer than all they know.
    const joiners = joining;
    joining = [];
    try {
      while (!(await readPage()));
      for (const { listener, resolve } of joiners) {
        listeners.add(listener);
        resolve({ from: position.from });
      }
    } catch (error) {
      for (const { reject } of joiners) reject(error);
      if (isNotFound(error)) for (const listener of listeners) listener.end();
      else throw error;
    }
  };
  const look = oneAtATime(read, pauseMs);

  await begin();
  return {
    look,
    epoch: () => epoch,
    lastId: () => eventId(epoch, position),
    join(listener) {
      return new Promise((resolve, reject) => {
        joining.push({ listener, resolve, reject });
        look().catch(() => {}); // the joiner was told already
      });
    },
    present(present) {
      for (const listener of listeners) listener.present(present);
    },
    leave(listener) {
      listeners.delete(listener);
      joining = joining.filter((one) => one.listener !== listener);
    },
  };
}

export function toldOf({ changes, positions, version }: ChangePage, epoch: string): Told[] {
  return changes.map((change, at) => ({ ...change, version, eventId: eventId(epoch, positions[at] ?? { from: "" }) }));
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && "status" in error && error.status === 404;
}

/** Never runs twice at a time; the promise resolves when a run is over that began after the call. */
function oneAtATime(run: () => Promise<void>, pause: number): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const start = () => (running = run().finally(() => (running = undefined)));
  const startNext = () => {
    next = undefined;
    return start();
  };
  return () => {
    if (next) return next;
    if (!running) return start();
    next = running
      .catch(() => {})
      .then(() => new Promise((resolve) => setTimeout(resolve, pause)))
      .then(startNext);
    return next;
  };
}

// Beginning to follow a database: its writers are made to log their changes, and those under way are waited for.

export type LiveContext = Pick<
  DatabaseContext,
  "sql" | "transaction" | "broadcast" | "log" | "stopping" | "databases" | "linking"
>;

const writersMs = 20_000;

/**
 * Every change that is committed after the snapshot that this resolves with is logged. Undefined if the database is
 * gone.
 */
export async function beginFollowing(
  ctx: LiveContext,
  db: Database,
): Promise<{ epoch: string; snapshot: string } | undefined> {
  const { sql } = ctx;
  await liveStore.markWatched(sql, [db.id]);
  const state = await liveStore.state(sql, db);
  if (!state.present) return undefined;
  if (state.epoch === null) {
    await ctx.transaction((tx) => liveStore.follow(tx, db, uuidv7().slice(-12)));
    await databases.forget(ctx, db.accountId, db);
  }
  if (!state.ready) {
    if (!(await writersEnd(ctx))) throw unavailable("a long write is under way, try again");
    await liveStore.markReady(sql, db);
  }
  const { present, epoch, snapshot } = await liveStore.state(sql, db);
  return present && epoch !== null ? { epoch, snapshot } : undefined;
}

/** Waits until every transaction that writes records now is over; false if one takes too long. */
async function writersEnd({ sql, stopping }: LiveContext): Promise<boolean> {
  const end = performance.now() + writersMs;
  let left = await liveStore.writers(sql);
  for (let wait = 2; left.size > 0; wait = Math.min(wait * 2, 200)) {
    if (performance.now() > end || stopping.aborted) return false;
    await new Promise((resolve) => setTimeout(resolve, wait));
    const now = await liveStore.writers(sql);
    left = new Set([...left].filter((transaction) => now.has(transaction)));
  }
  return true;
}
