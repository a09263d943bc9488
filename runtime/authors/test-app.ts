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
import { clientOf, requester, type Client } from "./test-client.ts";

export { eventually, type Answer, type Client, type RequestOptions } from "./test-client.ts";

export interface TestApp extends Client {
  readonly origin: string;
  readonly adminToken: string;
  /** Runs a command of the command line beside the server: `app.command("token", "create", "--user", "admin")`. */
  command(...words: string[]): Promise<string>;
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
  const app: TestApp = {
    origin,
    adminToken,
    ...clientOf(requester(origin, adminToken)),
    async command(...words) {
      const child = Bun.spawn([...program, ...words], { cwd, env, stdout: "pipe", stderr: "pipe" });
      const [out, said] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
      if ((await child.exited) !== 0) throw new Error(`corestead ${words.join(" ")}: ${said}`);
      return out;
    },
    async stop() {
      running.delete(app);
      server.kill("SIGTERM");
      await server.exited;
      rmSync(cwd, { recursive: true, force: true });
    },
  };
  running.add(app);
  return app;
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
