/**
 * "platform/test", for plugin tests that `corestead test FOLDER` runs. Each `startTestApp` starts a server with the
 * plugins of that folder on an empty database. `stop` ends it, and so does the end of the tests.
 *
 *     import { startTestApp } from "platform/test";
 *     const app = await startTestApp();
 *     expect((await app.post("/items", { item: { title: "Shelf" } })).status).toBe(201);
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPool, type Sql } from "../../db/db.ts";
import { runningPostgres } from "../postgres/running-postgres.ts";
import { clientOf, requester, eventually, type Client } from "./test-client.ts";
import { writeJob } from "../../jobs/job-store.ts";
import { jobOf } from "../../jobs/schedule.ts";

export { eventually, type Answer, type Client, type RequestOptions } from "./test-client.ts";

export interface TestApp extends Client {
  readonly origin: string;
  readonly adminToken: string;
  /** Runs a command of the command line beside the server: `app.command("token", "create", "--user", "admin")`. */
  command(...words: string[]): Promise<string>;
  /** The server's database, e.g. to make rows older. */
  readonly sql: Sql;
  /**
   * Runs a schedule now and waits for its end; throws what it fails with. `dueAt`, the present time by default, is what
   * its `run` gets.
   */
  runSchedule(id: string, dueAt?: Date): Promise<void>;
  /** An address that records what it is sent, e.g. by webhooks, and answers as the test says; it stops with the app. */
  receiver(): Receiver;
  stop(): Promise<void>;
}

export interface TestOptions {
  /** Settings, as environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** The plugin under test. Only the repository's own harness reads it: here the folder's plugins are always loaded. */
  readonly plugin?: unknown;
}

const running = new Set<TestApp>();
process.once("beforeExit", () => void Promise.all([...running].map((app) => app.stop())));

export async function startTestApp(options: TestOptions = {}): Promise<TestApp> {
  const program: string[] = JSON.parse(process.env["CORESTEAD_PROGRAM"] ?? "[]");
  if (program.length === 0) throw new Error("tests of plugins are run by `corestead test FOLDER`");
  const cwd = mkdtempSync(join(tmpdir(), "corestead-plugin-test-"));
  const adminToken = `test-admin-token-${crypto.randomUUID()}`;
  const env = {
    PATH: process.env["PATH"] ?? "",
    PORT: "0",
    LOG_LEVEL: "warn",
    OUTBOUND_ALLOW: "127.0.0.1",
    CORE_ADMIN_PASSWORD: crypto.randomUUID(),
    CORE_ADMIN_TOKEN: adminToken,
    PLUGINS_DIR: process.env["CORESTEAD_TEST_PLUGINS"] ?? "",
    ...options.env,
  };
  // The server's error lines belong to the output of a failed test.
  const server = Bun.spawn([...program, "serve"], { cwd, env, stdout: "pipe", stderr: "inherit" });
  const origin = await addressOf(server.stdout);
  if (!origin) throw new Error(`the server ended (${await server.exited})`);
  const sql = await databaseOf(join(cwd, "data"), env);
  const receivers: Receiver[] = [];
  const app: TestApp = {
    origin,
    adminToken,
    sql,
    runSchedule: (id, dueAt = new Date()) => runSchedule(sql, id, dueAt),
    receiver() {
      const receiver = startReceiver();
      receivers.push(receiver);
      return receiver;
    },
    ...clientOf(requester(origin, adminToken)),
    async command(...words) {
      const child = Bun.spawn([...program, ...words], { cwd, env, stdout: "pipe", stderr: "pipe" });
      const [out, said] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
      if ((await child.exited) !== 0) throw new Error(`corestead ${words.join(" ")}: ${said}`);
      return out;
    },
    async stop() {
      running.delete(app);
      await Promise.all([sql.end({ timeout: 1 }), ...receivers.map(({ stop }) => stop())]);
      server.kill("SIGTERM");
      await server.exited;
      rmSync(cwd, { recursive: true, force: true });
    },
  };
  running.add(app);
  return app;
}

async function databaseOf(folder: string, env: Readonly<Record<string, string>>): Promise<Sql> {
  const { DATABASE_URL: url, DATA_DIR: dataDir = folder } = env;
  const target = url ? { url } : await runningPostgres(dataDir);
  if (!target) throw new Error(`the server's database is not in ${dataDir}`);
  return openPool(target, { max: 2 });
}

export interface OtherAccount extends Client {
  readonly host: string;
  readonly adminToken: string;
}

let otherAccounts = 0;

/** Creates another account. Its requests carry its Host header and its administrator's token. */
export async function otherAccount(app: TestApp): Promise<OtherAccount> {
  const host = `other-${++otherAccounts}.test`;
  const lines = await app.command("account", "create", "--name", "Other", "--host", host);
  const adminToken = /API token: (\S+)/.exec(lines)?.[1];
  if (!adminToken) throw new Error(`the account was not made: ${lines}`);
  const send = requester(app.origin, adminToken);
  const request: Client["request"] = (method, path, body, { headers, ...rest } = {}) =>
    send(method, path, body, { ...rest, headers: { host, ...headers } });
  return { host, adminToken, ...clientOf(request) };
}

/** The address that the server prints; undefined if it ends without one. */
export async function addressOf(stdout: ReadableStream<Uint8Array>): Promise<string | undefined> {
  let text = "";
  const decoder = new TextDecoder();
  const reader = stdout.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += decoder.decode(part.value, { stream: true });
    const address = /serves on (https?:\S+)/.exec(text)?.[1];
    if (address === undefined) continue;
    // Keep reading, so that later output does not fill the pipe.
    void (async () => {
      while (!(await reader.read()).done);
    })();
    return address;
  }
  return undefined;
}

// Runs a schedule of a server under test without waiting for its time.

/** Waits until the schedule `id` has run once, as if it were due at `dueAt`; throws what it has failed with. */
export async function runSchedule(sql: Sql, id: string, dueAt: Date): Promise<void> {
  const payload = { dueAt: dueAt.toISOString() };
  const ended = await writeJob(sql, { name: jobOf(id).id, payload, maxAttempts: 1 });
  const { outcome, error } = await eventually(ended, `a run of the schedule "${id}" (is that its id?)`);
  if (outcome !== "done") throw new Error(`the schedule "${id}" failed: ${error}`);
}

/**
 * A receiver of webhooks on this machine: it records requests, and answers as the test says.
 *
 *     const receiver = app.receiver();
 *     await eventually(() => receiver.requests.length === 1);
 */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
  readonly at: number;
}

export interface Receiver {
  readonly url: string;
  readonly requests: Received[];
  /** The requests to one path. */
  readonly at: (path: string) => Received[];
  /** How requests are answered from now on; default: `ok`. */
  answer: (request: Received) => Response | Promise<Response>;
  readonly stop: () => Promise<void>;
}

export function startReceiver(): Receiver {
  const requests: Received[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const body = await request.text();
      const received = {
        method: request.method,
        path: pathname,
        headers: request.headers,
        body,
        at: performance.now(),
      };
      requests.push(received);
      return receiver.answer(received);
    },
  });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${server.port}`,
    requests,
    at: (path) => requests.filter((request) => request.path === path),
    answer: () => new Response("ok"),
    stop: () => server.stop(true),
  };
  return receiver;
}
