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
import { startReceiver, type Receiver } from "./test-receiver.ts";
import { clientOf, requester, type Client } from "./test-client.ts";
import { runSchedule } from "./test-schedule.ts";

export type { Received, Receiver } from "./test-receiver.ts";
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
