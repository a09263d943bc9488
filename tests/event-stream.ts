/** Follows Server-Sent Events as a browser does: `const follower = await followStream(address, { token })`. */
import { adminToken } from "./harness.ts";

export interface Event {
  readonly id: string;
  readonly event: string;
  // Tests read answers as an outside client does: the assertion is the check.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly data: any;
}

export interface Follower {
  readonly status: number;
  readonly headers: Headers;
  readonly events: Event[];
  readonly text: () => string;
  /** As an EventSource keeps it. */
  readonly lastId: () => string;
  readonly ended: () => boolean;
  close(): Promise<void>;
}

export interface Following {
  /** "" = none; default: the administrator's. */
  readonly token?: string;
  readonly lastId?: string | undefined;
  readonly headers?: Record<string, string>;
}

export async function followStream(
  address: string,
  { token = adminToken, lastId, headers }: Following = {},
): Promise<Follower> {
  const abort = new AbortController();
  const response = await fetch(address, {
    signal: abort.signal,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(lastId && { "last-event-id": lastId }),
      ...headers,
    },
  });
  const events: Event[] = [];
  const state = { text: "", rest: "", lastId: lastId ?? "", ended: false };
  const take = (block: string) => {
    const lines = block
      .split("\n")
      .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)] as const);
    const fields = new Map(lines);
    state.lastId = fields.get("id") ?? state.lastId;
    const data = fields.get("data");
    if (data !== undefined)
      events.push({ id: state.lastId, event: fields.get("event") ?? "message", data: JSON.parse(data) });
  };
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      const piece = decoder.decode(chunk, { stream: true });
      state.text += piece;
      const blocks = (state.rest + piece).split("\n\n");
      state.rest = blocks.pop() ?? "";
      blocks.forEach(take);
    }
  };
  const reading = read()
    .catch(() => {})
    .finally(() => (state.ended = true));
  return {
    status: response.status,
    headers: response.headers,
    events,
    text: () => state.text,
    lastId: () => state.lastId,
    ended: () => state.ended,
    async close() {
      abort.abort();
      await reading;
    },
  };
}
