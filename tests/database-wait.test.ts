/** A start while the server of DATABASE_URL is unavailable. */
import { afterAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { createDatabase, eventually } from "./harness.ts";
import { cleanUp, folderWith, fromSource, run, startServer } from "./server-process.ts";
import { startProxy } from "./standby.ts";

setDefaultTimeout(600_000);
afterAll(cleanUp);

let socket: string;
let port: number;
let url: string;

/** A database behind a port on which nothing listens yet. */
beforeEach(async () => {
  const target = await createDatabase();
  if ("url" in target) throw new Error("tests run on the embedded PostgreSQL");
  socket = `${target.socketDir}/.s.PGSQL.${target.port}`;
  const proxy = await startProxy(socket);
  ({ port } = proxy);
  await proxy.close();
  url = `postgres://${target.user}@127.0.0.1:${port}/${target.database}`;
});

/** Starts a process whose output can be read while it waits. */
function start(env: Record<string, string>) {
  const child = Bun.spawn(fromSource, {
    cwd: folderWith(),
    env: { PATH: process.env["PATH"], PORT: "0", DATABASE_URL: url, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  let said = "";
  const reading = [child.stdout, child.stderr].map(async (stream) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) said += text;
  });
  const says = (words: string) => eventually(() => said.includes(words), words);
  return { child, says, exited: Promise.all([child.exited, ...reading]).then(([code]) => ({ code, said })) };
}

test("it waits, says so once, and serves when the database is there", async () => {
  const { child, says, exited } = start({});
  await says("the database does not answer yet, waiting for it");
  const proxy = await startProxy(socket, port);
  await says("Corestead serves on");
  child.kill("SIGTERM");
  const { code, said } = await exited;
  expect([code, said.split("does not answer yet").length]).toEqual([0, 2]);
  await proxy.close();
});

test("SIGTERM ends the wait", async () => {
  const { child, says, exited } = start({ DATABASE_WAIT_SECONDS: "600" });
  await says("waiting for it");
  child.kill("SIGTERM");
  expect((await exited).code).toBe(0);
});

test("after DATABASE_WAIT_SECONDS it ends with one line, commands too", async () => {
  for (const command of [[], ["migrate"]]) {
    const env = { DATABASE_URL: url, DATABASE_WAIT_SECONDS: "0" };
    const { code, stderr } = await run([...fromSource, ...command], { cwd: folderWith(), env });
    expect([code, stderr.trim().split("\n").length]).toEqual([1, 1]);
    expect(stderr).toContain("corestead: the database of DATABASE_URL does not answer");
    // A busy machine may be out of time before it hears the refusal.
    expect(stderr).toMatch(/ECONNREFUSED|no answer/);
  }
});

test("a server that takes connections and says nothing is not waited for longer", async () => {
  const silent = await startProxy(socket, port);
  silent.silence();
  const env = { DATABASE_URL: url, DATABASE_WAIT_SECONDS: "1" };
  const { code, stderr } = await run(fromSource, { cwd: folderWith(), env });
  expect([code, stderr]).toEqual([1, expect.stringContaining("does not answer")]);
  await silent.close();
});

test("what waiting cannot mend ends the start at once: here, a database that does not exist", async () => {
  const proxy = await startProxy(socket, port);
  const env = { DATABASE_URL: `${url}_of_nobody`, DATABASE_WAIT_SECONDS: "3600" };
  const { code, stderr } = await run(fromSource, { cwd: folderWith(), env });
  expect([code, stderr]).toEqual([1, expect.stringContaining("does not exist")]);
  await proxy.close();
});

test("a start that has its database waits for nothing", async () => {
  const proxy = await startProxy(socket, port);
  const server = await startServer(fromSource, {
    cwd: folderWith(),
    env: { DATABASE_URL: url },
  });
  expect(server.stderr()).toBe("");
  expect(await server.stop()).toBe(0);
  await proxy.close();
});
