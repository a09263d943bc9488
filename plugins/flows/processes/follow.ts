/**
 * Followers of an account's processes. Somebody has to look while there is one: a process that only computes is one
 * statement that tells nobody, and stays so.
 */
import { tooMany, type BaseContext } from "platform";
import type { ProcessHead, ProcessViewStore } from "./process-view-store.ts";
import { toHead } from "./show.ts";

interface Needed {
  readonly ctx: Pick<BaseContext, "log" | "stopping">;
  readonly processViewStore: Pick<ProcessViewStore, "recent">;
}

interface Asked {
  readonly accountId: number;
  /** Whom the follower counts for. */
  readonly owner: string;
  readonly signal: AbortSignal;
}

export type Follows = ReturnType<typeof createFollows>;

const lookMs = 1000;
// Clocks of servers differ, and a row is seen only once it is committed.
const backMs = 10_000;
const mostAtOnce = 200;
// Then the browser connects again, and proves again that it may.
const longestMs = 60_000;
const mostOfOwner = 20;
const mostOfAll = 1000;

export function createFollows({ ctx, processViewStore }: Needed) {
  const rooms = new Map<number, Room>();
  const owners = new Map<string, number>();
  let all = 0;

  const join = (accountId: number, follower: (text: string) => void): (() => void) => {
    const room = rooms.get(accountId) ?? openRoom(accountId, { ctx, processViewStore });
    rooms.set(accountId, room);
    room.followers.add(follower);
    return () => {
      room.followers.delete(follower);
      if (room.followers.size > 0) return;
      room.close();
      rooms.delete(accountId);
    };
  };

  return {
    /** 429 beyond twenty streams of one person. */
    follow({ accountId, owner, signal }: Asked): ReadableStream<Uint8Array> {
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

interface Room {
  readonly followers: Set<(text: string) => void>;
  close(): void;
}

function openRoom(accountId: number, { ctx, processViewStore }: Needed): Room {
  const followers = new Set<(text: string) => void>();
  /** What was told last, by id: of the latest processes and of those that were pending. */
  let told = new Map<string, string>();
  let isFirst = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOpen = true;
  const look = async (): Promise<void> => {
    try {
      const pending = [...told].filter(([, state]) => state === "pending").map(([id]) => id);
      const since = new Date(Date.now() - backMs);
      const rows = await processViewStore.recent(accountId, since, pending, mostAtOnce);
      const news = isFirst ? [] : rows.filter(({ id, status }) => told.get(id) !== status);
      isFirst = false;
      told = new Map(rows.map(({ id, status }) => [id, status]));
      const text = news.map(eventText).join("");
      if (text !== "") for (const tell of followers) tell(text);
    } catch (error) {
      ctx.log.warn("processes could not be looked at, trying again", { error });
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
