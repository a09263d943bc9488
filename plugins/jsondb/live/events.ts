/** Live changes: the followers of each database in this process, and their limits. */
import { isObject, tooMany, type BaseContext } from "platform";
import { openFeed, type LiveContext, type Feed, type Person, type Present } from "./feed.ts";
import * as liveStore from "./store.ts";
import type { Database } from "../databases/database.ts";
import { streamTo, type Follow } from "./stream.ts";

export interface FollowLimits {
  readonly followers: number;
  /** The part of them that may be visitors without sign-in. */
  readonly publicFollowers: number;
  readonly perOwner: number;
  readonly heartbeatMs: number;
}

const topic = "jsondb.changed";
const standardLimits: FollowLimits = { followers: 1000, publicFollowers: 500, perOwner: 20, heartbeatMs: 15_000 };
// A message to this process may be lost.
const lookMs = 2000;
const watchedMs = 600_000;

export type Events = ReturnType<typeof createEvents>;

export function createEvents(ctx: LiveContext, limits = standardLimits) {
  const feeds = new Map<string, { feed: Promise<Feed>; users: number }>();
  const followers = new Set<Follow>();
  const looked = (error: unknown) => ctx.log.warn("changes could not be read, trying again", { error });
  const lookAt = (dbId: string) =>
    void feeds
      .get(dbId)
      ?.feed.then((feed) => feed.look())
      .catch(looked);

  const wake = (dbId: string) => ctx.broadcast.publish(topic, dbId);
  ctx.broadcast.on(topic, lookAt);
  ctx.broadcast.onReset(() => [...feeds.keys()].forEach(lookAt));
  const looking = setInterval(() => [...feeds.keys()].forEach(lookAt), lookMs);
  const watching = setInterval(() => {
    if (feeds.size > 0) void liveStore.markWatched(ctx.sql, [...feeds.keys()]).catch(looked);
  }, watchedMs);

  const here = presenceIn(ctx, (dbId, present) => {
    void feeds.get(dbId)?.feed.then((feed) => feed.present(present), looked);
  });

  const enterFeed = (db: Database): Promise<Feed> => {
    const open = feeds.get(db.id) ?? { feed: openFeed(ctx, db), users: 0 };
    feeds.set(db.id, open);
    open.users += 1;
    return open.feed;
  };
  const leaveFeed = (dbId: string) => {
    const open = feeds.get(dbId);
    if (open && --open.users === 0) feeds.delete(dbId);
  };

  const isFull = ({ owner, isPublic }: Follow): boolean => {
    const count = (is: (other: Follow) => boolean) => [...followers].filter(is).length;
    if (followers.size >= limits.followers || count((other) => other.owner === owner) >= limits.perOwner) return true;
    return isPublic && count((other) => other.isPublic) >= limits.publicFollowers;
  };

  return {
    wake,
    here,

    /** The stream of events. 404 database gone, 429 too many followers, 503 it cannot be followed now. */
    async follow(db: Database, asked: Follow): Promise<ReadableStream<Uint8Array>> {
      if (isFull(asked)) throw tooMany(60);
      followers.add(asked);
      const leave = () => {
        if (followers.delete(asked)) leaveFeed(db.id);
      };
      try {
        const feed = await enterFeed(db);
        const { heartbeatMs } = limits;
        return await streamTo(asked, { db, feed, sql: ctx.sql, heartbeatMs, stopping: ctx.stopping, ended: leave });
      } catch (error) {
        leave();
        throw error;
      }
    },

    stop(): void {
      clearInterval(looking);
      clearInterval(watching);
    },
  };
}

// Who has a record open: in the memory of each process, told to the others, and forgotten after a while.

interface Place {
  readonly dbId: string;
  readonly recordId: string;
}

const presentTopic = "jsondb.present";
/** Whoever says nothing for so long has left. */
const keptMs = 45_000;
const mostRecords = 10_000;

/** `tell` is called when somebody came or left. */
export function presenceIn(
  { broadcast }: { readonly broadcast: Pick<BaseContext["broadcast"], "publish" | "on"> },
  tell: (dbId: string, present: Present) => void,
  now = Date.now,
) {
  const records = new Map<string, Map<number, { readonly name: string; readonly until: number }>>();

  const usersOf = (key: string): Person[] =>
    [...(records.get(key) ?? [])].flatMap(([id, { name, until }]) => (until > now() ? [{ id, name }] : []));
  const sweep = () => {
    for (const key of records.keys()) if (usersOf(key).length === 0) records.delete(key);
  };
  broadcast.on(presentTopic, (payload) => {
    const told: unknown = JSON.parse(payload);
    if (!isObject(told)) return;
    const { dbId, recordId, id, name, isOpen } = told;
    if (typeof dbId !== "string" || typeof recordId !== "string" || typeof id !== "number") return;
    const key = `${dbId} ${recordId}`;
    const before = usersOf(key);
    if (!records.has(key) && records.size >= mostRecords) sweep();
    if (!records.has(key) && (!isOpen || records.size >= mostRecords)) return;
    const users = records.get(key) ?? new Map();
    if (isOpen) users.set(id, { name: String(name), until: now() + keptMs });
    else users.delete(id);
    records.set(key, users);
    const after = usersOf(key);
    if (after.length === 0) records.delete(key);
    if (before.length !== after.length) tell(dbId, { record_id: recordId, users: after });
  });

  /** Somebody has a record open, or no longer; gives back who has it open. */
  return ({ dbId, recordId }: Place, { id, name }: Person, isOpen: boolean): Person[] => {
    broadcast.publish(presentTopic, JSON.stringify({ dbId, recordId, id, name: name.slice(0, 100), isOpen }));
    return usersOf(`${dbId} ${recordId}`);
  };
}
