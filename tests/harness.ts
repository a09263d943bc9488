/**
 * Starts a real Corestead for a test file: its own database on one PostgreSQL of the test run, a free port, real HTTP.
 *
 *     const app = await startTestApp();
 *     const answer = await app.post("/core/prompts.json", { prompt: { … } });
 *     expect(answer.status).toBe(201);
 */
import { setDefaultTimeout } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accounts } from "../plugins/accounts/api.ts";
import { plugins as builtIn } from "../plugins/index.ts";
import { tokens } from "../plugins/tokens/api.ts";
import {
  clientOf,
  eventually as eventuallyWithin,
  requester as plainRequester,
  type Answer,
  type Client,
  type RequestOptions,
} from "../runtime/operations/authors/test-client.ts";
import { parseArguments } from "../runtime/operations/command/arguments.ts";
import { startReceiver, runSchedule, addressOf, type Receiver } from "../runtime/operations/authors/test-app.ts";
import { boot, type App } from "../runtime/operations/start/boot.ts";
import { denoEnv, fromSourceByDeno } from "./deno-process.ts";
import { documented, type Documented } from "./documented.ts";
import { recorded } from "./recorder.ts";
import { readConfig } from "../runtime/settings/config.ts";
import { openPool, type DatabaseTarget, type SocketTarget, type Sql } from "../runtime/db/db.ts";
import { inOrder } from "../runtime/operations/start/order.ts";
import { migrate } from "../runtime/db/migrate.ts";
import { migrationSets } from "../runtime/db/runtime-migrations.ts";
import { startEmbeddedPostgres } from "../runtime/operations/postgres/embedded-postgres.ts";
import { createLog } from "../runtime/system/log.ts";
import type { Role } from "../runtime/http/auth.ts";
import type { NameLookup } from "../runtime/outbound/name-lookup.ts";
import type { Plugin } from "../runtime/plugin/plugin.ts";
import type { ServiceRef } from "../runtime/base/references.ts";

// Generous, because the machine may be busy: tests fail by their assertions, and this only ends a test that hangs. Bun
// then kills what the process has started, PostgreSQL and Chromium too, so that all tests after it fail.
setDefaultTimeout(600_000);

export const adminToken = "test-admin-token-0123456789abcdefghijklmnop";
export const adminPassword = "correct horse battery staple";
export const secretKey = "a secret key of the tests, 32 characters or more";

export type { Answer, RequestOptions };

/** Waits until `check` returns something truthy. Six times as long as tests of authors do, because the machine may be busy. */
export function eventually<T>(check: () => T | Promise<T>, what?: string, withinMs = 60_000): Promise<NonNullable<T>> {
  return eventuallyWithin(check, what, withinMs);
}

export interface TestApp extends Client {
  readonly app: App;
  readonly origin: string;
  readonly sql: Sql;
  readonly target: DatabaseTarget;
  readonly logged: string[];
  service<T>(ref: ServiceRef<T>): T;
  /** What a plugin's command of the command line prints: `app.command("token", "create", "--user", "admin")`. */
  command(...words: string[]): Promise<string>;
  /** As in "platform/test". */
  runSchedule(id: string, dueAt?: Date): Promise<void>;
  receiver(): Receiver;
  /** Approves a site's pending domain, as the operator does. */
  approve(domain: string): Promise<void>;
  stop(): Promise<void>;
}

export interface TestOptions {
  readonly env?: Record<string, string>;
  /** Instead of the built-in plugins. */
  readonly plugins?: readonly Plugin[];
  /** In addition to the built-in plugins, unless it is one of them. */
  readonly plugin?: Plugin;
  /** An existing database, e.g. to start a second process on it. */
  readonly target?: DatabaseTarget;
  /** The answers of DNS. */
  readonly names?: NameLookup;
}

interface Server {
  readonly target: SocketTarget;
  readonly admin: Sql;
  databases: number;
  migrated?: Promise<SocketTarget>;
}

/** Test files may each have their own copy of this module; the PostgreSQL of the run is one. */
const shared: { corestead?: Promise<Server>; documents?: Map<string, Documented>; builtIn?: Documented } = ((
  globalThis as { coresteadTests?: {} }
).coresteadTests ??= {});

async function startServer(): Promise<Server> {
  const given = process.env["TEST_POSTGRES"]; // of another version (scripts/try-postgres.ts)
  if (given) {
    const target: SocketTarget = JSON.parse(given);
    return { target, admin: openPool(target, { max: 2 }), databases: 0 };
  }
  const dataDir = mkdtempSync(join(tmpdir(), "corestead-test-"));
  removeAfterwards(dataDir);
  const { target } = await startEmbeddedPostgres({ dataDir, log: createLog("error") });
  const admin = openPool(target, { max: 2 });
  // Servers are killed in tests, and machines are not.
  await admin.unsafe("alter system set fsync = off");
  // Its workers wake up for every database of the run, and tests that need statistics make them.
  await admin.unsafe("alter system set autovacuum = off");
  await admin`select pg_reload_conf()`;
  return { target, admin, databases: 0 };
}

/** Bun's test runner tells nobody that it ends, and it may be killed: a shell waits for that, and for what it started to stop. */
export function removeAfterwards(folder: string): void {
  const script = 'while kill -0 "$1" 2>/dev/null; do sleep 1; done; sleep 15; rm -rf "$2"';
  const words = ["sh", "-c", script, "sh", `${process.pid}`, folder];
  Bun.spawn(words, { stdin: "ignore", stdout: "ignore", stderr: "ignore", detached: true }).unref();
}

/** A new, empty database on the PostgreSQL of this test run. */
export async function createDatabase(): Promise<SocketTarget> {
  const server = await (shared.corestead ??= startServer());
  return addDatabase(server, "template1");
}

/** One with the tables of the built-in plugins and nothing in them: a copy, as migrating takes much longer. */
async function createMigrated(): Promise<SocketTarget> {
  const server = await (shared.corestead ??= startServer());
  const { database } = await (server.migrated ??= migrateOne(server));
  return addDatabase(server, database);
}

async function migrateOne(server: Server): Promise<SocketTarget> {
  const target = await addDatabase(server, "template1");
  const sql = openPool(target, { max: 1 });
  await migrate(sql, migrationSets(inOrder(builtIn)), createLog("error"));
  // Others can copy it only while nobody is connected.
  await sql.end();
  return target;
}

async function addDatabase(server: Server, template: string): Promise<SocketTarget> {
  const database = `test_${process.pid}_${++server.databases}`;
  await server.admin.unsafe(`create database ${database} template ${template} strategy file_copy`);
  return { ...server.target, database };
}

export async function startTestApp(options: TestOptions = {}): Promise<TestApp> {
  const plugins = options.plugins ?? [...new Set([...builtIn, ...(options.plugin ? [options.plugin] : [])])];
  const hasBuiltIn = builtIn.every((plugin) => plugins.includes(plugin));
  const target = await recorded(options.target ?? (await (hasBuiltIn ? createMigrated() : createDatabase())));
  const dataDir = mkdtempSync(join(tmpdir(), "corestead-data-"));
  const env = {
    PORT: "0",
    DATA_DIR: dataDir,
    SECRET_KEY: secretKey,
    OUTBOUND_ALLOW: "127.0.0.1",
    CORE_ADMIN_LOGIN: "admin",
    CORE_ADMIN_PASSWORD: adminPassword,
    CORE_ADMIN_TOKEN: adminToken,
    DATABASE_POOL: "5",
    LOG_LEVEL: "warn",
    ...options.env,
  };
  const logged: string[] = [];
  const log = createLog("warn", (text) => logged.push(text));
  const running = await boot({
    config: readConfig(env),
    env,
    plugins,
    target,
    log,
    role: "serve",
    solo: false,
    ...(options.names && { names: options.names }),
    announce: () => {},
  });
  const deno = process.env["TEST_RUNTIME"] === "deno" ? await startDeno(target, env) : undefined;
  // Not `app.origin`, which is BASE_URL if a test sets it.
  const origin = deno?.origin ?? `http://127.0.0.1:${running.port}`;
  const held = holder(running);
  const receivers: Receiver[] = [];
  return {
    get app() {
      return held.app();
    },
    origin,
    get sql() {
      return held.app().sql;
    },
    target,
    get logged() {
      log.flush();
      return logged;
    },
    ...clientOf(requester(origin, hasBuiltIn && plugins.length === builtIn.length)),
    service: (ref) => held.app().service(ref),
    command: async (...words) => {
      const given = parseArguments(words);
      const found = held.app().commands.find(({ name }) => given.words.join(" ").startsWith(name));
      if (!found) throw new Error(`there is no command "${words.join(" ")}"`);
      return (await found.run(given.options, given.words.slice(found.name.split(" ").length))).join("\n");
    },
    approve: (domain) => approve(held.app(), domain),
    runSchedule: (id, dueAt = new Date()) => runSchedule(held.app().sql, id, dueAt),
    receiver() {
      const receiver = startReceiver();
      receivers.push(receiver);
      return receiver;
    },
    stop: async () => {
      await Promise.all(receivers.map(({ stop }) => stop()));
      await deno?.stop();
      await held.stop();
      byOrigin.delete(origin);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * Forgets the app once it has stopped. Modules of test files live as long as the run and their variables with them: 9 MB
 * of each of hundreds of apps, which the garbage collector walks through again and again.
 */
function holder(running: App) {
  let app: App | undefined = running;
  return {
    app: (): App => {
      if (!app) throw new Error("the app has stopped");
      return app;
    },
    stop: async () => {
      await app?.stop();
      app = undefined;
    },
  };
}

/** Settings by which a server process uses a database of the run: one with its own PostgreSQL starts twice as long. */
export async function databaseSettings(target?: DatabaseTarget): Promise<Record<string, string>> {
  const used = target ?? (await createMigrated());
  if ("url" in used) throw new Error("tests run on the embedded PostgreSQL");
  const { socketDir, port, database, user } = used;
  return { DATABASE_URL: `postgres:///${database}`, PGHOST: socketDir, PGPORT: `${port}`, PGUSER: user };
}

/** A second process on the same database, under Deno, which answers the test's requests (TEST_RUNTIME=deno). */
async function startDeno(target: DatabaseTarget, env: Record<string, string>): Promise<DenoServer> {
  const place = await databaseSettings(target);
  // It prints BASE_URL, if a test sets it, in place of its port.
  const PORT = env["BASE_URL"] === undefined ? "0" : `${await freePort()}`;
  const child = Bun.spawn([...fromSourceByDeno(), "serve"], {
    env: { PATH: process.env["PATH"] ?? "", ...denoEnv, ...env, ...place, PORT },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const printed = await addressOf(child.stdout);
  if (printed === undefined) throw new Error(`the server under Deno ended (${await child.exited})`);
  const origin = PORT === "0" ? printed : `http://127.0.0.1:${PORT}`;
  const stop = async () => {
    child.kill("SIGTERM");
    await child.exited;
  };
  return { origin, stop };
}

export async function freePort(): Promise<number> {
  const probe = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port = 0 } = probe;
  await probe.stop(true);
  return port;
}

interface DenoServer {
  readonly origin: string;
  readonly stop: () => Promise<void>;
}

async function approve({ commands }: App, domain: string): Promise<void> {
  await commands.find(({ name }) => name === "domain approve")?.run({}, [domain]);
}

/**
 * Sends requests to one address and compares each answer with what the server documents. All that have the built-in
 * plugins alone document the same: the first one tells.
 */
export function requester(origin: string, isBuiltIn = false): Client["request"] {
  const send = plainRequester(origin, adminToken);
  return async (method, path, body, options = {}) => {
    const answer = await send(method, path, body, options);
    // On a site's host a page's path wins: there only JSON is certain to come from the API.
    const isJson = answer.headers.get("content-type")?.startsWith("application/json");
    if (isJson || !("host" in (options.headers ?? {})))
      (await documentedAt(origin, isBuiltIn))?.check({ method, path }, answer);
    return answer;
  };
}

/** By the document's text without its server, and by origin: many servers of a run have the same document. */
const documents = (shared.documents ??= new Map<string, Documented>());
const byOrigin = new Map<string, Promise<Documented | undefined>>();

/** Undefined if the server no longer answers, or answers something else: then there is nothing to compare with. */
async function documentedAt(origin: string, isBuiltIn: boolean): Promise<Documented | undefined> {
  if (isBuiltIn && shared.builtIn) return shared.builtIn;
  const known = byOrigin.get(origin) ?? readDocument(origin);
  byOrigin.set(origin, known);
  const read = await known;
  if (!read) byOrigin.delete(origin);
  else if (isBuiltIn) shared.builtIn = read;
  return read;
}

/** The server would compress a megabyte for this one reader. */
const plain = { headers: { "accept-encoding": "identity" } };

async function readDocument(origin: string): Promise<Documented | undefined> {
  const response = await fetch(`${origin}/openapi.json`, plain).catch(() => undefined);
  if (response?.status !== 200) return undefined;
  const text = await response.text();
  const key = text.replace(/"servers":\[[^\]]*\]/, "");
  const made = documents.get(key) ?? documented(JSON.parse(text));
  documents.set(key, made);
  return made;
}

export interface TestPerson {
  readonly id: number;
  readonly login: string;
  /** An API token of this person, narrowed if `narrowedTo` is given. */
  readonly token: string;
}

export interface PersonOptions {
  readonly role?: Role;
  readonly login?: string;
  readonly password?: string;
  readonly email?: string;
  readonly privileges?: readonly string[];
  readonly teamIds?: readonly number[];
  readonly groupIds?: readonly number[];
  readonly departmentIds?: readonly number[];
  /** The token's own list. */
  readonly narrowedTo?: readonly string[];
  /** The person's account, if it is an `otherAccount`. */
  readonly of?: Pick<OtherAccount, "id" | "adminToken">;
}

/** Creates a person with a token, e.g. `await person(app, { role: "guest" })`. */
export async function person(app: TestApp, options: PersonOptions = {}): Promise<TestPerson> {
  const { role = "user", password, email, privileges = [], narrowedTo = [], of } = options;
  const login = options.login ?? `${role}-${crypto.randomUUID().slice(0, 8)}`;
  const units = {
    team_ids: options.teamIds ?? [],
    group_ids: options.groupIds ?? [],
    department_ids: options.departmentIds ?? [],
  };
  const user = { login, role, privileges, ...units, ...(password && { password }), ...(email && { email }) };
  const answer = await app.post("/account/users.json", { user }, { token: of?.adminToken ?? adminToken });
  if (answer.status !== 201) throw new Error(`the person was not made: ${answer.text}`);
  const { id } = answer.json;
  const accountId = of?.id ?? (await app.service(accounts).defaultAccount()).id;
  const issued = await app.service(tokens).issue({ accountId, userId: id, privileges: narrowedTo });
  if (!issued) throw new Error("the person has no token");
  return { id, login, token: issued.token };
}

/** Creates another account. Its requests carry its Host header and its administrator's token. */
export interface OtherAccount extends Client, Pick<TestApp, "approve"> {
  readonly id: number;
  readonly host: string;
  readonly adminToken: string;
}

let otherAccounts = 0;

export async function otherAccount(app: TestApp, options: Record<string, string> = {}): Promise<OtherAccount> {
  const host = `other-${++otherAccounts}.test`;
  const command = app.app.commands.find(({ name }) => name === "account create");
  const lines = (await command?.run({ name: "Other", host, ...options })) ?? [];
  const token = /API token: (\S+)/.exec(lines.join("\n"))?.[1];
  const account = await app.service(accounts).accountForHost(host);
  if (!token || !account) throw new Error(`the account was not made: ${lines.join("; ")}`);
  const request: Client["request"] = (method, path, body, { headers, ...rest } = {}) =>
    app.request(method, path, body, { token, ...rest, headers: { host, ...headers } });
  return {
    approve: app.approve,
    id: account.id,
    host,
    adminToken: token,
    ...clientOf(request),
  };
}
