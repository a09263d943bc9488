/** Follows what others change in a list: one stream for all on a page that follow the same one. */

interface Stream {
  readonly followers: Set<() => void>;
  close(): void;
}

const retryMs = 15_000;
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
    stream.followers.delete(follower);
    if (stream.followers.size > 0) return;
    stream.close();
    streams.delete(path);
  };
}

function openStream(path: string): Stream {
  const followers = new Set<() => void>();
  const tell = () => followers.forEach((follower) => follower());
  let source: EventSource | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  let wasOpen = false;
  const open = () => {
    source = new EventSource(`/core/events?path=${encodeURIComponent(path)}`);
    source.addEventListener("changed", tell);
    source.addEventListener("open", () => {
      // The stream ends every minute: something may have been missed.
      if (wasOpen) tell();
      wasOpen = true;
    });
    // The browser tries again by itself, but not after a refusal.
    source.addEventListener("error", () => {
      if (source?.readyState === EventSource.CLOSED) again = setTimeout(open, retryMs);
    });
  };
  open();
  return {
    followers,
    close() {
      source?.close();
      clearTimeout(again);
    },
  };
}

/** Called while it runs, it runs once more. */
function oneAtATime(run: () => Promise<void> | void): () => void {
  let isRunning = false;
  let isWanted = false;
  const begin = async (): Promise<void> => {
    isRunning = true;
    do {
      isWanted = false;
      await run();
    } while (isWanted);
    isRunning = false;
  };
  return () => {
    if (isRunning) isWanted = true;
    else void begin();
  };
}
