/** Starts plugins on a database: order by needs -> migrate, setup and mount -> prepare -> seed -> listen -> stop. */
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { openPool, readOn, reportCallbackErrorsTo, transaction } from "../../db/db.ts";
import type { PoolOptions, Read, Sql, Tx } from "../../db/db.ts";
import { requestTransaction } from "../../scope/keyed.ts";
import { createKernel, type Kernel, type KernelContext } from "./kernel.ts";
import { openAnchor } from "../../lineage/home.ts";
import { standingOf } from "../../lineage/lineage.ts";
import { isUpToDate, migrate } from "../../db/migrate.ts";
import type { Description } from "../openapi/client.ts";
import { openapi } from "../openapi/openapi.ts";
import { inOrder } from "./order.ts";
import { isPooled } from "../../db/connections.ts";
import type { BaseContext, Command, Plugin, Running } from "../../plugin/plugin.ts";
import { openReplicas, type Replicas } from "../replicas/replicas.ts";
import type { ServiceRef } from "../../base/references.ts";
import type { Route } from "../../http/route.ts";
import { migrationSets } from "../../db/runtime-migrations.ts";
import { databaseSecretKey, keepSecretKey } from "../../db/secret-key.ts";
import { draftOfSecretKey } from "../../base/secrets.ts";
import { withBundledPages } from "../../plugin/studio-pages.ts";
import { settingHints } from "../../settings/config.ts";
import { unknownNames } from "../../http/refusals/unknown.ts";
import { runningOrigin } from "../../http/answers/etag.ts";
import type { Environment } from "../../settings/settings.ts";

export interface BootContext extends Omit<KernelContext, "secretKey" | "servedAt"> {
  readonly env: Environment;
  readonly plugins: readonly Plugin[];
  /** `serve` listens and works on jobs; `command` does neither. */
  readonly role: "serve" | "command";
  /** Receives the lines to show once, after an empty database has been filled. */
  readonly announce: (lines: readonly string[]) => void;
  /**
   * Resolves when the database answers: it still starts, and the plugins, which must not ask it then, are set up
   * meanwhile.
   */
  readonly ready?: Promise<void> | undefined;
  /** Waited for before anybody is told that something is kept (whole-folder.ts). */
  readonly synced?: Promise<void> | undefined;
}

/** Connections left over when one plugin uses all that it may. */
const sparePool = 2;

/** A running Corestead. */
export interface App {
  /** Where it listens, e.g. `http://127.0.0.1:3000`. */
  readonly origin: string;
  readonly port: number;
  /** The ports of https and of the one that leads there, if it serves https. */
  readonly httpsPort: number | undefined;
  readonly httpPort: number | undefined;
  /** Nothing acts on the outside. */
  readonly rehearses: boolean;
  readonly sql: Sql;
  readonly routes: readonly Route[];
  readonly commands: readonly Command[];
  readonly service: <T>(ref: ServiceRef<T>) => T;
  /** Says at /ready that it stops, and serves on for DRAIN_SECONDS: a load balancer sends its requests elsewhere. */
  readonly drain: () => Promise<void>;
  /** Finishes what is running, within ten seconds. */
  readonly stop: () => Promise<void>;
}

export async function boot(ctx: BootContext): Promise<App> {
  const { config, log, target } = ctx;
  reportCallbackErrorsTo((message, error) => log.error(message, { error }));
  // A command serves no pages.
  const plugins = inOrder(ctx.role === "serve" ? await withBundledPages(ctx.plugins) : ctx.plugins);
  const pooled = await isPooled(target, config.databaseConnectSeconds * 1000);
  const sql = openPool(target, { prepare: config.databasePrepare, pooled, ...limitsOf(ctx) });
  const undo: Undo = [() => sql.end({ timeout: 2 })];
  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= undoAll(undo));
  try {
    const { opened, secretKey } = await beginOpening(ctx, sql, plugins, pooled);
    const replicas = replicasFor(ctx, sql);
    if (replicas) undo.push(replicas.stop);
    const more = { pooled, replicas, secretKey, servedAt: await servedAt(sql, ctx) };
    const kernel = createKernel({ ...ctx, ...more }, sql, plugins);
    undo.push(kernel.stop);

    const { started, services } = await startPlugins(kernel, plugins, ctx, undo, replicas);
    const routes = routesIn(started);
    mustBeDeclared(plugins, routes);
    const serve = ctx.role === "serve" ? kernel.mount(started, routes) : undefined;
    await opened;
    await kernel.hear();
    await keepSecretKey(sql, { ...config, key: secretKey }, (text) => ctx.role === "serve" && log.warn(text));
    if (ctx.role === "serve") for (const hint of settingHints(plugins, ctx.env)) log.warn(hint);
    const { lineage, rehearses } = await standingOf(sql, ctx);
    if (rehearses !== undefined) kernel.rehearse();
    if (rehearses !== undefined && ctx.role === "serve") log.warn(rehearses);
    for (const running of started) await running.prepare?.();
    const lines = await seed(sql, started);
    await ctx.synced;
    if (lines.length > 0) ctx.announce(lines);
    const listener = await serve?.(lineage);
    // Requests and jobs finish side by side: in sequence they could exceed the time allowed.
    undo.push(() => Promise.all([listener?.stop(), kernel.drain()]));
    undo.push(async () => kernel.beginStop());

    return {
      origin: kernel.context.origin(),
      port: listener?.port ?? 0,
      httpsPort: listener?.httpsPort,
      httpPort: listener?.httpPort,
      rehearses: rehearses !== undefined,
      sql,
      routes,
      commands: started.flatMap((running) => running.commands ?? []),
      // `provides` and `service` of one plugin are of one type, and the reference carries it.
      service: <T>(ref: ServiceRef<T>) => services.get(ref.id) as T,
      drain: () => {
        kernel.beginDrain();
        return sleep(config.drainSeconds * 1000);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * The key of the database's secrets, and when the database is up to date. While an embedded server starts, the key is
 * the one that this process would make, and `opened` rejects if the database has another.
 */
async function beginOpening(ctx: BootContext, sql: Sql, plugins: readonly Plugin[], pooled: boolean) {
  const { config, ready } = ctx;
  const draft = draftOfSecretKey(config);
  const open = async () => {
    await ready;
    if (!(await isUpToDate(sql, migrationSets(plugins)))) await bringUpToDate(ctx, plugins, pooled);
    return databaseSecretKey(sql, { ...config, draft });
  };
  if (!ready) return { opened: Promise.resolve(), secretKey: await open() };
  const opened = open().then((key) => {
    if (key !== draft) throw new Error("another process has just made the secret key: start again");
  });
  opened.catch(() => {}); // whoever waits for it gets the error
  return { opened, secretKey: draft };
}

/**
 * What /openapi.json of these plugins would be, without a database: a plugin that asks while it starts finds no rows.
 */
export async function describe(ctx: Pick<BootContext, "config" | "env" | "plugins" | "log">): Promise<Description> {
  // Never connected to: the statements are answered here.
  const target = { url: "postgres://127.0.0.1:1/none" };
  const sql = withoutRows(openPool(target));
  const undo: Undo = [() => sql.end({ timeout: 0 })];
  try {
    const without = { target, solo: true, servedAt: undefined, secretKey: crypto.randomUUID() };
    const plugins = inOrder(ctx.plugins);
    const kernel = createKernel({ ...ctx, ...without }, sql, plugins);
    undo.push(async () => kernel.beginStop());
    const routes = routesIn((await startPlugins(kernel, plugins, ctx, undo)).started);
    return openapi(routes, kernel.system(routes), kernel.context.origin());
  } finally {
    await undoAll(undo);
  }
}

/** Answers every statement with no rows. */
function withoutRows(sql: Sql): Sql {
  return new Proxy(sql, {
    apply: async () => [],
    get: (of, name) => {
      if (name === "lane") return (lane: string) => withoutRows(of.lane(lane));
      return name === "unsafe" ? async () => [] : Reflect.get(of, name);
    },
  });
}

type Undo = (() => Promise<unknown>)[];

async function startPlugins(
  kernel: Kernel,
  plugins: readonly Plugin[],
  { env, config: { dataDir } }: Pick<BootContext, "env" | "config">,
  undo: Undo,
  replicas?: Replicas,
) {
  const services = new Map<string, unknown>();
  const started: Running[] = [];
  for (const plugin of plugins) {
    const anchor = openAnchor(dataDir, plugin.name);
    const context = { ...inLane(kernel.context, plugin.name, replicas), anchor };
    const running = await plugin.start(context, env, ({ id }) => services.get(id));
    if (plugin.provides) services.set(plugin.provides.id, running.service);
    if (running.stop) undo.push(async () => running.stop?.());
    started.push({ ...running, plugin: plugin.name });
    kernel.add({ ...running, plugin: plugin.name });
    await setImmediate(); // the database may have become ready
  }
  return { started, services };
}

function routesIn(started: readonly Running[]): Route[] {
  return started.flatMap(({ plugin, routes = [] }) => routes.map((route) => ({ ...route, plugin })));
}

/** Throws one line: a privilege that nobody has would refuse its route to everybody. */
function mustBeDeclared(plugins: readonly Plugin[], routes: readonly Route[]): void {
  const known = plugins.flatMap(({ privileges }) => privileges.map(({ name }) => name));
  for (const { plugin, method, path, spec } of routes) {
    const asked = "privilege" in spec.access ? [spec.access.privilege] : [];
    const [hint] = unknownNames(asked, known, (name) => `needs the privilege "${name}", which no plugin declares`);
    if (hint !== undefined) throw new Error(`plugin "${plugin}": ${method} ${path} ${hint}`);
  }
}

/** A command that runs beside a server prints that server's address. */
async function servedAt(sql: Sql, { role }: BootContext): Promise<string | undefined> {
  return role === "command" ? runningOrigin(sql) : undefined;
}

/** A plugin whose table is locked uses up the connections of its own lane only. */
function inLane(context: BaseContext, plugin: string, replicas: Replicas | undefined): BaseContext {
  const sql = context.sql.lane(plugin);
  const onPrimary = readOn(sql);
  const read: Read = replicas ? (run) => replicas.read(plugin, onPrimary, run) : onPrimary;
  return { ...context, sql, read, transaction: (run) => requestTransaction(sql, run) };
}

/** A command reads from the primary. */
function replicasFor(ctx: BootContext, sql: Sql): Replicas | undefined {
  const { config, target, log, role } = ctx;
  if (role === "command" || config.databaseReadUrl === "") return undefined;
  return openReplicas({ config, target, sql, log, limits: limitsOf(ctx) });
}

/** A server answers 503 when the database is too slow; a command such as a backup has no time limit. */
function limitsOf({ config, role }: BootContext): PoolOptions {
  const { databasePool: laneMax, databaseConnectSeconds } = config;
  const connections = { max: laneMax + sparePool, laneMax, connectTimeoutMs: databaseConnectSeconds * 1000 };
  if (role === "command") return connections;
  const statementTimeoutMs = config.databaseAnswerSeconds * 1000;
  return {
    ...connections,
    statementTimeoutMs,
    // Longer than the statement's own limit, so that PostgreSQL reports the timeout first.
    silenceTimeoutMs: statementTimeoutMs + 2_000,
    waitTimeoutMs: config.databaseQueueSeconds * 1000,
    maxWaiting: config.databaseQueue,
  };
}

/** Uses a connection of its own without a silence limit: PostgreSQL sends nothing during a long migration. */
async function bringUpToDate({ config, log, target }: BootContext, plugins: readonly Plugin[], pooled: boolean) {
  const connectTimeoutMs = config.databaseConnectSeconds * 1000;
  const sql = openPool(target, { max: 1, prepare: config.databasePrepare, pooled, connectTimeoutMs });
  try {
    await migrate(sql, migrationSets(plugins), log);
  } finally {
    await sql.end({ timeout: 2 });
  }
}

/** Stops in the reverse order of starting. */
async function undoAll(undo: Readonly<Undo>): Promise<void> {
  for (const step of undo.toReversed()) await step();
}

/**
 * Runs all plugins' seeds in one transaction, unless they have already run on this database. The lines to show once.
 */
async function seed(sql: Sql, started: readonly Running[]): Promise<readonly string[]> {
  const seeded = async (tx: Sql | Tx) => (await tx`select 1 from runtime_state where key = 'seeded'`).length > 0;
  if (await seeded(sql)) return [];
  return transaction(sql, async (tx) => {
    await tx`lock table runtime_state in exclusive mode`;
    if (await seeded(tx)) return [];
    const all: string[] = [];
    for (const running of started) all.push(...((await running.seed?.(tx)) ?? []));
    await tx`insert into runtime_state (key, value) values ('seeded', now()::text)`;
    return all;
  });
}
