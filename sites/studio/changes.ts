/**
 * Tells those who follow a list that something in it was made, changed or deleted. Not what: they read the list again,
 * which shows each of them what they may see.
 */
import { modelChanged, tooMany, type BaseContext, type Model, type Route } from "platform";

interface Subscription {
  readonly accountId: number;
  /** The path of the list. */
  readonly path: string;
  /** Whom the follower counts for. */
  readonly owner: string;
  readonly signal: AbortSignal;
}

export type Changes = ReturnType<typeof createChanges>;

const topic = "changed";
/** A change of many is told a few times a second. */
const gatherMs = 250;
// Then the browser connects again, and proves again that it may. A connection without news is closed after a minute.
const longestMs = 50_000;
const mostOfOwner = 20;
const mostOfAll = 1000;
const mostWaiting = 50;

/** `paths` are those of the lists that can be followed, by their model. */
export function createChanges(
  ctx: Pick<BaseContext, "listen" | "broadcast" | "stopping">,
  paths: () => ReadonlyMap<string, string>,
) {
  const groups = new Map<string, FollowerGroup>();
  const owners = new Map<string, number>();
  let all = 0;
  const roomOf = (accountId: number, path: string) => `${accountId} ${path}`;
  ctx.listen(modelChanged, ({ accountId, sourceType }) => {
    const path = paths().get(sourceType);
    if (path !== undefined) ctx.broadcast.publish(topic, roomOf(accountId, path));
  });
  ctx.broadcast.on(topic, (key) => groups.get(key)?.tell());
  ctx.broadcast.onReset(() => groups.forEach((group) => group.tell()));

  const enter = (key: string, owner: string, send: () => void): (() => void) => {
    const group = groups.get(key) ?? createGroup();
    groups.set(key, group);
    group.followers.add(send);
    owners.set(owner, (owners.get(owner) ?? 0) + 1);
    all += 1;
    return () => {
      all -= 1;
      const left = (owners.get(owner) ?? 1) - 1;
      if (left > 0) owners.set(owner, left);
      else owners.delete(owner);
      group.followers.delete(send);
      if (group.followers.size === 0) groups.delete(key);
    };
  };

  return {
    /** 429 beyond twenty streams of one token. */
    follow({ accountId, path, owner, signal }: Subscription): ReadableStream<Uint8Array> {
      if ((owners.get(owner) ?? 0) >= mostOfOwner || all >= mostOfAll) throw tooMany(60);
      return streamUntil([signal, ctx.stopping], (send) =>
        enter(roomOf(accountId, path), owner, () => send(`event: changed\ndata: ${JSON.stringify({ path })}\n\n`)),
      );
    },
  };
}

interface FollowerGroup {
  readonly followers: Set<() => void>;
  tell(): void;
}

function createGroup(): FollowerGroup {
  const followers = new Set<() => void>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    followers,
    tell() {
      timer ??= setTimeout(() => {
        timer = undefined;
        for (const send of followers) send();
      }, gatherMs);
    },
  };
}

/** `begin` gets what sends a text, and gives back what ends that. */
function streamUntil(
  signals: readonly AbortSignal[],
  begin: (send: (text: string) => void) => () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let end = () => {};
  return new ReadableStream<Uint8Array>({
    start(controller) {
      // Who takes nothing needs no second word that something has changed.
      const send = (text: string) => {
        if ((controller.desiredSize ?? 0) > -mostWaiting) controller.enqueue(encoder.encode(text));
      };
      const leave = begin(send);
      const stop = () => end();
      const timer = setTimeout(stop, longestMs);
      end = () => {
        end = () => {};
        clearTimeout(timer);
        leave();
        for (const signal of signals) signal.removeEventListener("abort", stop);
        controller.close();
      };
      for (const signal of signals) signal.addEventListener("abort", stop);
      send("retry: 1000\n: following\n\n");
      if (signals.some(({ aborted }) => aborted)) end();
    },
    cancel: () => end(),
  });
}

/** The paths of the lists whose every change is an event, by their model: `/account/api_tokens` by `Account::ApiToken`. */
export function followedLists(models: readonly Model[], routes: readonly Route[]): ReadonlyMap<string, string> {
  const lists = new Set(routes.flatMap(({ method, path }) => (method === "GET" ? [path] : [])));
  return new Map(
    models.flatMap(({ name }): [string, string][] => {
      const path = `/${name
        .replace("::", "/")
        .replaceAll(/(?<=[a-z])[A-Z]/g, "_$&")
        .toLowerCase()}s`;
      // One with a stream of its own tells there what it does not tell everywhere.
      return lists.has(path) && !lists.has(`${path}/events`) ? [[name, path]] : [];
    }),
  );
}
