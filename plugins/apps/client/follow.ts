/** Live changes: Server-Sent Events read through `fetch`, because an EventSource cannot send the app token. */

export interface Change {
  /** `reset`: changes were missed, so read everything again. */
  readonly event: "create" | "update" | "destroy" | "reset";
  /** The record after the change; for `destroy` the deleted one, for `reset` undefined. */
  readonly record: unknown;
}

type Fetch = (path: string, init: RequestInit) => Promise<Response>;

const firstPauseMs = 1000;
const longestPauseMs = 30_000;

export function follow(fetch: Fetch, path: string, run: (change: Change) => void): () => void {
  const stop = new AbortController();
  void keepFollowing({ fetch, path, run, signal: stop.signal });
  return () => stop.abort();
}

interface FollowOptions {
  readonly fetch: Fetch;
  readonly path: string;
  readonly run: (change: Change) => void;
  readonly signal: AbortSignal;
}

/** Reconnects when the stream ends and continues after the last event; gives up for good if the server refuses. */
async function keepFollowing({ fetch, path, run, signal }: FollowOptions): Promise<void> {
  let lastId = "";
  let pauseMs = firstPauseMs;
  while (!signal.aborted) {
    try {
      const joint = path.includes("?") ? "&" : "?";
      const from = lastId === "" ? path : `${path}${joint}last_event_id=${encodeURIComponent(lastId)}`;
      const response = await fetch(from, { signal, headers: { accept: "text/event-stream" } });
      if (response.status >= 400 && response.status < 500 && response.status !== 429) {
        console.error(`changes cannot be followed: the server answered ${response.status}`);
        return;
      }
      if (response.ok && response.body) {
        pauseMs = firstPauseMs;
        await readEvents(response.body, ({ id, event, data }) => {
          if (id !== undefined) lastId = id;
          if (isChange(event)) run({ event, record: data === "" ? undefined : JSON.parse(data) });
        });
      }
    } catch {
      if (signal.aborted) return;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
}

interface ServerEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

async function readEvents(body: ReadableStream<Uint8Array>, run: (event: ServerEvent) => void): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + decoder.decode(value, { stream: true })).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) run(eventOf(block));
  }
}

function eventOf(block: string): ServerEvent {
  const lines = block.split("\n");
  const valueOf = (name: string) =>
    lines
      .find((line) => line.startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim();
  return { id: valueOf("id"), event: valueOf("event") ?? "", data: valueOf("data") ?? "" };
}

function isChange(event: string): event is Change["event"] {
  return event === "create" || event === "update" || event === "destroy" || event === "reset";
}
