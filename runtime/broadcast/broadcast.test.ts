import { afterAll, beforeAll, expect, test } from "bun:test";
import { cutListening, startProcess, startTestDatabase, until, type TestDatabase } from "../../tests/job-fixtures.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database.stop());

test("a message is delivered here at once and there once, and flush waits until it was sent", async () => {
  await using a = await startProcess(database.target);
  await using b = await startProcess(database.target);
  const heard: string[] = [];
  a.broadcast.on("topic", (payload, fromOtherProcess) => heard.push(`a ${payload} ${fromOtherProcess}`));
  b.broadcast.on("topic", (payload, fromOtherProcess) => heard.push(`b ${payload} ${fromOtherProcess}`));
  b.broadcast.on("other", () => heard.push("wrong topic"));
  a.broadcast.publish("topic", "x");
  expect(heard).toEqual(["a x false"]);
  await a.broadcast.flush();
  await until(() => heard.length === 2);
  // What comes later proves that nothing came in between.
  a.broadcast.publish("topic", "last");
  await until(() => heard.includes("b last true"));
  expect(heard).toEqual(["a x false", "b x true", "a last false", "b last true"]);
});

test("messages keep their order, the same one is sent once, and many are split over several notifications", async () => {
  await using a = await startProcess(database.target);
  await using b = await startProcess(database.target);
  const heard: string[] = [];
  b.broadcast.on("t", (payload) => heard.push(payload));
  const long = Array.from({ length: 50 }, (_, n) => `${n} ${"\u00e9\u0000".repeat(300)}`);
  for (const payload of long) a.broadcast.publish("t", payload);
  for (let i = 0; i < 100; i++) a.broadcast.publish("t", "same");
  await a.broadcast.flush();
  await until(() => heard.includes("same"));
  expect(heard).toEqual([...long, "same"]);
  expect(() => a.broadcast.publish("t", "x".repeat(8000))).toThrow("larger than");
});

test("a listener that throws does not keep the message from the next one", async () => {
  await using a = await startProcess(database.target);
  const heard: string[] = [];
  a.broadcast.on("t", () => {
    throw new Error("broken");
  });
  const off = a.broadcast.on("t", (payload) => heard.push(payload));
  a.broadcast.publish("t", "1");
  off();
  a.broadcast.publish("t", "2");
  expect(heard).toEqual(["1"]);
});

test("a lost listening connection is noticed, comes back and says that messages may be missing", async () => {
  await using a = await startProcess(database.target);
  await using b = await startProcess(database.target);
  let resets = 0;
  let lost = false;
  const heard: string[] = [];
  b.broadcast.onReset(() => {
    lost ||= !b.broadcast.healthy();
    resets++;
  });
  b.broadcast.on("t", (payload) => heard.push(payload));
  for (let round = 1; round <= 3; round++) {
    expect(b.broadcast.healthy()).toBe(true);
    await cutListening(database.sql, b.processId);
    await until(() => resets === round, "the reset");
    a.broadcast.publish("t", String(round));
    await until(() => heard.includes(String(round)), "a message after the reset");
  }
  expect(lost).toBe(false);
  await b.broadcast.flush();
});

test("a process that never listens can publish: its flush waits for the sending", async () => {
  await using a = await startProcess(database.target);
  await using quiet = await startProcess(database.target);
  await quiet.broadcast.stop();
  const heard: string[] = [];
  a.broadcast.on("t", (payload) => heard.push(payload));
  quiet.broadcast.publish("t", "from the command line");
  await quiet.broadcast.flush();
  await until(() => heard.length === 1);
});

test("flush waits until a process that is slow to hear has heard, and does not wait for one that is gone", async () => {
  // Longer than any test: who is gone is known by its session.
  await using a = await startProcess(database.target, { maxFlushMs: 600_000 });
  const fixture = [
    process.execPath,
    `${import.meta.dir}/../../tests/fixtures/broadcast.ts`,
    JSON.stringify(database.target),
  ];
  const slow = Bun.spawn(fixture, { stdout: "inherit", stderr: "inherit" });
  try {
    const heard: string[] = [];
    a.broadcast.on("heard", (payload) => heard.push(payload));
    await until(() => heard.includes("started"));
    for (let round = 0; round < 5; round++) {
      slow.kill("SIGSTOP"); // it stands still while the message comes
      a.broadcast.publish("t", `${round}`);
      const flushed = a.broadcast.flush();
      await a.sql`select 1`;
      slow.kill("SIGCONT");
      await flushed;
      // It said so before it said that it had heard what was asked of it.
      expect(heard).toContain(`heard ${round}`);
    }
    slow.kill("SIGKILL");
    await slow.exited;
    a.broadcast.publish("t", "to nobody");
    await a.broadcast.flush();
  } finally {
    slow.kill("SIGKILL");
  }
});
