/** Watches processes, for callers that wait for an end and followers of all of an account's processes. */
import { tooMany, type BaseContext } from "platform";
import { toHead } from "./show.ts";
import type { ProcessRow } from "./store.ts";
import { recentHeads, stateOf, type ProcessHead } from "./view-store.ts";

interface WaitFor {
  readonly accountId: number;
  readonly id: string;
  readonly ms: number;
  /** It was started just now, in this server process: the first look at its row can wait. */
  readonly fresh?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ProcessWaits {
  /** Tells every server process that this one has ended; after the commit. */
  tell(row: ProcessRow): void;
  /** The process once it has ended, or as it is after `ms`; undefined if it is unknown. */
  wait(process: WaitFor): Promise<ProcessRow | undefined>;
}

const topic = "flows.ended";
// A message may be lost while a server process is disconnected.
const backstopMs = 1000;

/** The server process that ends a process wakes the others. */
export function createWaiting({ sql, broadcast, stopping }: BaseContext): ProcessWaits {
  const waiters = new Map<string, Set<(row?: ProcessRow) => void>>();
  const wake = (id: string, row?: ProcessRow) => {
    for (const resolve of waiters.get(id) ?? []) resolve(row);
  };
  broadcast.on(topic, (id) => wake(id));

  return {
    tell(row) {
      wake(row.id, row);
      broadcast.publish(topic, row.id);
    },
    async wait({ accountId, id, ms, signal, fresh = false }) {
      const until = performance.now() + ms;
      for (let look = !fresh; ; look = true) {
        // Listening begins before the look at the row: an end in between is not missed.
        const next = listen(waiters, id);
        try {
          const endedSoon = look ? undefined : await next.within(Math.min(ms, backstopMs));
          if (endedSoon) return endedSoon;
          const row = await stateOf(sql, accountId, id);
          const left = until - performance.now();
          if (!row || row.status !== "pending" || left <= 0 || signal?.aborted || stopping.aborted) return row;
          const ended = await next.within(Math.min(left, backstopMs));
          if (ended) return ended;
        } finally {
          next.end();
        }
      }
    },
  };
}

function listen(waiters: Map<string, Set<(row?: ProcessRow) => void>>, id: string) {
  const { promise, resolve } = Promise.withResolvers<ProcessRow | undefined>();
  const set = waiters.get(id) ?? new Set();
  waiters.set(id, set.add(resolve));
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    within(ms: number): Promise<ProcessRow | undefined> {
      timer = setTimeout(resolve, ms);
      return promise;
    },
    end(): void {
      clearTimeout(timer);
      set.delete(resolve);
      if (set.size === 0 && waiters.get(id) === set) waiters.delete(id);
    },
  };
}

interface FollowOptions {
  readonly accountId: number;
  /** Whom the follower counts for. */
  readonly owner: string;
  readonly signal: AbortSignal;
}

const lookMs = 1000;
// Clocks of servers differ, and a row is seen only once it is committed.
const backMs = 10_000;
const mostAtOnce = 200;
// Then the browser connects again, and proves again that it may.
const longestMs = 60_000;
const mostOfOwner = 20;
const mostOfAll = 1000;

/**
 * Somebody has to look while there is a follower: a process that only computes is one statement that tells nobody, and
 * stays so.
 */
export function createFollows(ctx: BaseContext) {
  const groups = new Map<number, FollowerGroup>();
  const owners = new Map<string, number>();
  let all = 0;

  const join = (accountId: number, follower: (text: string) => void): (() => void) => {
    const group = groups.get(accountId) ?? openGroup(ctx, accountId);
    groups.set(accountId, group);
    group.followers.add(follower);
    return () => {
      group.followers.delete(follower);
      if (group.followers.size > 0) return;
      group.close();
      groups.delete(accountId);
    };
  };

  return {
    /** 429 beyond twenty streams of one person. */
    follow({ accountId, owner, signal }: FollowOptions): ReadableStream<Uint8Array> {
      const count = owners.get(owner) ?? 0;
      if (count >= mostOfOwner || all >= mostOfAll) throw tooMany(60);
      owners.set(owner, count + 1);
      all += 1;
      const encoder = new TextEncoder();
      let end = () => {};
      return new ReadableStream<Uint8Array>({
        start(controller) {
          // A client that takes nothing has its events dropped: it reads the list again when it is back.
          const send = (text: string) => {
            if ((controller.desiredSize ?? 0) > -mostAtOnce) controller.enqueue(encoder.encode(text));
          };
          const leave = join(accountId, send);
          const timer = setTimeout(() => end(), longestMs);
          end = () => {
            end = () => {};
            clearTimeout(timer);
            leave();
            all -= 1;
            const left = (owners.get(owner) ?? 1) - 1;
            if (left > 0) owners.set(owner, left);
            else owners.delete(owner);
            for (const one of [signal, ctx.stopping]) one.removeEventListener("abort", stop);
            controller.close();
          };
          const stop = () => end();
          for (const one of [signal, ctx.stopping]) one.addEventListener("abort", stop);
          send("retry: 1000\n: following\n\n");
          if (signal.aborted || ctx.stopping.aborted) end();
        },
        cancel: () => end(),
      });
    },
  };
}

interface FollowerGroup {
  readonly followers: Set<(text: string) => void>;
  close(): void;
}

function openGroup({ sql, log }: BaseContext, accountId: number): FollowerGroup {
  const followers = new Set<(text: string) => void>();
  /** The last known state by id, of the latest processes and of those that were pending. */
  let told = new Map<string, string>();
  let isFirst = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOpen = true;
  const look = async (): Promise<void> => {
    try {
      const pending = [...told].filter(([, state]) => state === "pending").map(([id]) => id);
      const since = new Date(Date.now() - backMs);
      const rows = await recentHeads(sql, accountId, since, pending, mostAtOnce);
      const news = isFirst ? [] : rows.filter(({ id, status }) => told.get(id) !== status);
      isFirst = false;
      told = new Map(rows.map(({ id, status }) => [id, status]));
      const text = news.map(eventText).join("");
      if (text !== "") for (const tell of followers) tell(text);
    } catch (error) {
      log.warn("processes could not be looked at, trying again", { error });
    }
    if (isOpen) timer = setTimeout(() => void look(), lookMs);
  };
  void look();
  return {
    followers,
    close() {
      isOpen = false;
      clearTimeout(timer);
    },
  };
}

function eventText(row: ProcessHead): string {
  return `event: process\ndata: ${JSON.stringify(toHead(row))}\n\n`;
}
