import { expect, test } from "bun:test";
import { eventually } from "../../../tests/harness.ts";
import { publicServer } from "./public-fixture.ts";
import { createVisitorTurns, visitorTurns } from "./visitor-turns.ts";

const server = publicServer();
const { atOnce, ofAddress, waitingOfAddress } = visitorTurns;
const most = ofAddress + waitingOfAddress;

test("few lists are read at a time, fewer of one address, and the others wait for their turn", async () => {
  const turns = createVisitorTurns();
  const running: { readonly ip: string; readonly end: () => void }[] = [];
  const { signal } = new AbortController();
  const read = (ip: string, until = signal) =>
    turns(ip, () => new Promise<void>((resolve) => void running.push({ ip, end: resolve })), until);
  const count = (ip: string) => running.filter((one) => one.ip === ip).length;
  const calls = Array.from({ length: 10 }, () => read("192.0.2.1"));
  const others = Array.from({ length: 10 }, () => read("2001:db8::1"));
  await eventually(() => running.length === atOnce);
  expect([count("192.0.2.1"), count("2001:db8::1")]).toEqual([ofAddress, atOnce - ofAddress]);
  const gone = new AbortController();
  const left = read("192.0.2.1", gone.signal);
  gone.abort(new Error("the client is gone"));
  expect(left).rejects.toThrow("the client is gone");
  for (let at = 0; at < 20; at++) {
    await eventually(() => running.length > at);
    running[at]?.end();
  }
  await Promise.all([...calls, ...others]);
  expect(running).toHaveLength(20);
});

test("who waits too long is told to come again, and what runs runs on", async () => {
  const turns = createVisitorTurns(1);
  const { signal } = new AbortController();
  const { promise, resolve } = Promise.withResolvers<string>();
  const running = Array.from({ length: ofAddress }, () => turns("192.0.2.1", () => promise, signal));
  const late = turns("192.0.2.1", async () => "late", signal);
  expect(await late.catch((error: unknown) => error)).toMatchObject({ status: 429 });
  resolve("done");
  expect(await Promise.all(running)).toEqual(Array(ofAddress).fill("done"));
});

test("a visitor who asks for more lists than may wait is told to come again, while the first ones wait", async () => {
  const { app } = server;
  const code = await server.database({ list: true, search: true });
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const locking = app.sql.begin(async (tx) => {
    await tx`lock table records in access exclusive mode`;
    await held;
  });
  await eventually(
    async () => (await app.sql`select from pg_locks where mode = 'AccessExclusiveLock' and granted`).length > 0,
  );
  const statuses: number[] = [];
  const calls = Array.from({ length: most + 5 }, async (_, at) => {
    const answer = await app.get(`/core/db/${code}/${at % 2 ? "list" : "search"}`, { token: null });
    statuses.push(answer.status);
    return answer;
  });
  await eventually(() => statuses.length === 5, "the refusals");
  release();
  await locking;
  const answers = await Promise.all(calls);
  expect(statuses).toEqual([...Array(5).fill(429), ...Array(most).fill(200)]);
  expect(answers.find(({ status }) => status === 429)?.headers.get("retry-after")).toBe("1");
});
