import { expect, test } from "bun:test";
import { eventually } from "../../../tests/harness.ts";
import { publicServer } from "../../../tests/fixtures/public-methods.ts";
import { createVisitorTurns, visitorTurns } from "../turns.ts";

const server = publicServer();
const { ofAddress, waitingOfAddress } = visitorTurns;
const ofAccount = 4;
const most = ofAddress + waitingOfAddress;

test("few lists are read at a time, fewer of one address, and the others wait for their turn", async () => {
  const turns = createVisitorTurns();
  const running: { readonly ip: string; readonly end: () => void }[] = [];
  const { signal } = new AbortController();
  const read = (ip: string, until = signal, accountId = 1) =>
    turns(accountId, ip, () => new Promise<void>((resolve) => void running.push({ ip, end: resolve })), until);
  const count = (ip: string) => running.filter((one) => one.ip === ip).length;
  const calls = Array.from({ length: 10 }, () => read("192.0.2.1"));
  const others = Array.from({ length: 10 }, () => read("2001:db8::1"));
  await eventually(() => running.length === ofAccount);
  expect([count("192.0.2.1"), count("2001:db8::1")]).toEqual([ofAddress, ofAccount - ofAddress]);
  const elsewhere = read("192.0.2.9", signal, 2);
  expect(running).toHaveLength(ofAccount + 1);
  const gone = new AbortController();
  const left = read("192.0.2.1", gone.signal);
  gone.abort(new Error("the client is gone"));
  expect(left).rejects.toThrow("the client is gone");
  for (let at = 0; at < 21; at++) {
    await eventually(() => running.length > at);
    running[at]?.end();
  }
  await Promise.all([...calls, ...others, elsewhere]);
  expect(running).toHaveLength(21);
});

test("who waits too long is told to come again, and what runs runs on", async () => {
  const turns = createVisitorTurns(1);
  const { signal } = new AbortController();
  const { promise, resolve } = Promise.withResolvers<string>();
  const running = Array.from({ length: ofAddress }, () => turns(1, "192.0.2.1", () => promise, signal));
  const late = turns(1, "192.0.2.1", async () => "late", signal);
  expect(await late.catch((error: unknown) => error)).toMatchObject({ status: 429 });
  resolve("done");
  expect(await Promise.all(running)).toEqual(Array(ofAddress).fill("done"));
});

test("who asks for more than may wait is told to come again", async () => {
  const turns = createVisitorTurns();
  const { signal } = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  const kept = Array.from({ length: most }, () => turns(1, "192.0.2.1", () => promise, signal));
  const more = turns(1, "192.0.2.1", () => promise, signal).catch((error: unknown) => error);
  expect(await more).toMatchObject({ status: 429, headers: { "retry-after": "1" } });
  expect(await turns(1, "192.0.2.2", async () => "of another address", signal)).toBe("of another address");
  resolve();
  await Promise.all(kept);
});

test("a visitor's lists wait for each other, and all are answered", async () => {
  const { app } = server;
  const code = await server.database({ list: true, search: true });
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const locking = app.sql.begin(async (tx) => {
    await tx`lock table records in access exclusive mode`;
    await held;
  });
  const waiting = async (mode: string, granted: boolean) =>
    (
      await app.sql`select from pg_locks where relation = 'records'::regclass and mode = ${mode} and granted = ${granted}`
    ).length;
  await eventually(async () => (await waiting("AccessExclusiveLock", true)) > 0);
  const calls = Array.from({ length: 40 }, (_, at) =>
    app.get(`/core/db/${code}/${at % 2 ? "list" : "search"}`, { token: null }),
  );
  await eventually(async () => (await waiting("AccessShareLock", false)) === ofAddress);
  release();
  await locking;
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(40).fill(200));
});
