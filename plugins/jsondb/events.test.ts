import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually, startTestApp, type TestApp } from "../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

interface Event {
  readonly id: string;
  readonly event: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly data: any;
}

interface Follower {
  readonly status: number;
  readonly headers: Headers;
  readonly events: Event[];
  readonly text: () => string;
  /** As an EventSource keeps it. */
  readonly lastId: () => string;
  readonly ended: () => boolean;
  close(): Promise<void>;
}

/** Follows as a browser does. */
async function follow(
  path: string,
  {
    origin = app.origin,
    token = "test-admin-token-0123456789abcdefghijklmnop",
    lastId,
  }: { origin?: string; token?: string; lastId?: string } = {},
): Promise<Follower> {
  const abort = new AbortController();
  const response = await fetch(`${origin}${path}`, {
    signal: abort.signal,
    headers: { authorization: `Bearer ${token}`, ...(lastId !== undefined && { "last-event-id": lastId }) },
  });
  const events: Event[] = [];
  let text = "";
  let rest = "";
  let last = lastId ?? "";
  let ended = false;
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      const piece = decoder.decode(chunk, { stream: true });
      text += piece;
      const blocks = (rest + piece).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const fields = new Map(
          block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
        );
        last = fields.get("id") ?? last;
        if (fields.has("data"))
          events.push({
            id: last,
            event: fields.get("event") ?? "message",
            data: JSON.parse(fields.get("data") ?? ""),
          });
      }
    }
  })()
    .catch(() => {})
    .finally(() => (ended = true));
  return {
    status: response.status,
    headers: response.headers,
    events,
    text: () => text,
    lastId: () => last,
    ended: () => ended,
    async close() {
      abort.abort();
      await reading;
    },
  };
}

let made = 0;
async function newDb(schema?: object): Promise<string> {
  const answer = await app.post("/core/dbs.json", { db: { name: `Live ${++made}`, schema } });
  return answer.json.code;
}
const create = async (db: string, data: object, table_name?: string) =>
  (await app.post(`/core/dbs/${db}/records.json`, { record: { data, table_name } })).json;

test("smoke", async () => {
  const db = await newDb();
  const t0 = performance.now();
  const f = await follow(`/core/dbs/${db}/events`);
  console.log(f.status, performance.now() - t0, f.headers);
  const r = await create(db, { a: 1 });
  await app.patch(`/core/dbs/${db}/records/${r.id}.json`, { record: { data: { b: "x\ny" } } });
  await app.delete(`/core/dbs/${db}/records/${r.id}.json`);
  await eventually(() => f.events.length >= 3);
  console.log(f.text());
  await f.close();
  await create(db, { a: 2 });
  const g = await follow(`/core/dbs/${db}/events`, { lastId: f.events[0]!.id });
  await eventually(() => g.events.length >= 3);
  console.log(g.text());
  await g.close();
  const h = await follow(`/core/dbs/${db}/events`, { lastId: "xx" });
  await eventually(() => h.events.length >= 1);
  console.log(h.text());
  await h.close();
});
