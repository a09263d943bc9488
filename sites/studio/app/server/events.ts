/** Follows what others change: a stream of the server's events, and what of it concerns a list. */

type EventHandler = (event: MessageEvent<string>) => void;

const retryMs = 15_000;

/**
 * Takes each event of a stream by its name. `reopened` is called when the stream was open before: the server ends each
 * after a while, so something may have been missed. Gives back what ends it.
 */
export function followEvents(
  address: string,
  events: Readonly<Record<string, EventHandler>>,
  reopened = () => {},
): () => void {
  let source: EventSource | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  let wasOpen = false;
  const open = () => {
    source = new EventSource(address);
    for (const [name, take] of Object.entries(events)) source.addEventListener(name, take);
    source.addEventListener("open", () => {
      if (wasOpen) reopened();
      wasOpen = true;
    });
    // The browser tries again by itself, but not after a refusal.
    source.addEventListener("error", () => {
      if (source?.readyState === EventSource.CLOSED) again = setTimeout(open, retryMs);
    });
  };
  open();
  return () => {
    source?.close();
    clearTimeout(again);
  };
}

/** Asks now and then, while somebody sees the page. Gives back what ends it. */
export function repeatedly(everyMs: number, look: () => void): () => void {
  const timer = setInterval(() => {
    if (!document.hidden) look();
  }, everyMs);
  return () => clearInterval(timer);
}

/** One for all on a page that follow the same list. */
interface Stream {
  readonly followers: Set<Follower>;
  close(): void;
}

const streams = new Map<string, Stream>();

/**
 * Calls `changed` when something in the list at `path` (`/core/prompts`) may have changed, never twice at once. Gives back
 * what ends that.
 */
export function followChanges(path: string, changed: () => Promise<void> | void): () => void {
  const stream = streams.get(path) ?? openStream(path);
  streams.set(path, stream);
  const follower = oneAtATime(changed);
  stream.followers.add(follower);
  return () => {
    follower.end();
    stream.followers.delete(follower);
    if (stream.followers.size > 0) return;
    stream.close();
    streams.delete(path);
  };
}

function openStream(path: string): Stream {
  const followers = new Set<Follower>();
  const tell = () => followers.forEach((follower) => follower.run());
  const close = followEvents(`/core/events?path=${encodeURIComponent(path)}`, { changed: tell }, tell);
  return { followers, close };
}

interface Follower {
  run(): void;
  end(): void;
}

/** Called while it runs, it runs once more, unless it has ended. */
function oneAtATime(run: () => Promise<void> | void): Follower {
  let isRunning = false;
  let isWanted = false;
  const ended = new AbortController();
  const begin = async (): Promise<void> => {
    isRunning = true;
    do {
      isWanted = false;
      await run();
    } while (isWanted && !ended.signal.aborted);
    isRunning = false;
  };
  return {
    run() {
      if (isRunning) isWanted = true;
      else void begin();
    },
    end: () => ended.abort(),
  };
}
