/** Starts plugins on a database: order by needs -> migrate -> setup -> seed -> mount -> listen -> stop. */
import { createBroadcast } from "./broadcast.ts";
import { createCache } from "./cache.ts";
import type { Config } from "./config.ts";
import { openPool, transaction, type DatabaseTarget, type Sql, type Tx } from "./db.ts";
import { createEvents } from "./events.ts";
import { createHttp } from "./http.ts";
import { createIdempotency } from "./idempotency.ts";
import { createQueue } from "./jobs.ts";
import { createLiquid } from "./liquid.ts";
import type { Log } from "./log.ts";
import { createMetrics } from "./metrics.ts";
import { migrate } from "./migrate.ts";
import { modelChanged } from "./models.ts";
import { inOrder } from "./order.ts";
import { createOutbound } from "./outbound.ts";
import type { BaseContext, Command, Plugin, Started } from "./plugin.ts";
import type { ServiceRef } from "./references.ts";
import { runtimeMigrations } from "./runtime-migrations.ts";
import { createSchedules } from "./schedule.ts";
import { createSecrets, loadSecretKey } from "./secrets.ts";
import { listen, type Listener } from "./serve.ts";
import type { Environment } from "./settings.ts";
import { localLimits, type Limits } from "./shared-limits.ts";
import { systemRoutes } from "./system-routes.ts";

export interface BootOptions {
  readonly config: Config;
  readonly env: Environment;
  readonly plugins: readonly Plugin[];
  readonly target: DatabaseTarget;
  readonly log: Log;
  /** `serve` listens and works on jobs; `command` does neither. */
  readonly role: "serve" | "command";
  /** No other process uses this database: nobody needs to be told of changes. */
  readonly solo: boolean;
  /** Who counts for rate limits; left out = this process. */
  readonly limits?: Limits;
  /** Gets the lines that are shown once, after an empty database was filled. */
  readonly announce: (lines: readonly string[]) => void;
}

/** A running Corestead. */
export interface App {
  /** Where it listens, e.g. `http://127.0.0.1:3000`. */
  readonly origin: string;
  readonly port: number;
  readonly sql: Sql;
  readonly routes: readonly import("./route.ts").Route[];
  readonly commands: readonly Command[];
  readonly service: <T>(ref: ServiceRef<T>) => T;
  /** Finishes what is running, within ten seconds. */
  readonly stop: () => Promise<void>;
}

export async function boot(options: BootOptions): Promise<App> {
  const { config, log, target } = options;
  const plugins = inOrder(options.plugins);
  const sql = openPool(target, { max: config.databasePool, prepare: config.databasePrepare });
  const sets = plugins.map(({ name, migrations }) => ({ plugin: name, migrations }));
  try {
    await migrate(sql, [{ plugin: "runtime", migrations: runtimeMigrations }, ...sets], log);
  } catch (error) {
    await sql.end({ timeout: 1 });
    throw error;
  }
  const kernel = await createKernel(options, plugins, sql);
  const services = new Map<string, unknown>();
  const serviceOf = (ref: ServiceRef<unknown>) => services.get(ref.id);
  const started: Started<unknown>[] = [];
  for (const plugin of plugins) {
    const running = await plugin.start(kernel.context, options.env, serviceOf);
    if (plugin.provides) services.set(plugin.provides.id, running.service);
    started.push(running);
  }
  await seed(sql, started, options.announce);
  const routes = started.flatMap((running) => running.routes ?? []);
  const listener = options.role === "serve" ? await kernel.serve(started, routes) : undefined;

  let stopped: Promise<void> | undefined;
  const stop = async () => {
    kernel.stopping.abort();
    await listener?.stop();
    for (const running of started.toReversed()) await running.stop?.();
    await kernel.stop();
    await sql.end({ timeout: 2 });
    log.flush();
  };
  return {
    origin: kernel.context.origin(),
    port: listener?.port ?? 0,
    sql,
    routes,
    commands: started.flatMap((running) => running.commands ?? []),
    // `provides` and `service` of one plugin are of one type, and the reference carries it.
    service: <T>(ref: ServiceRef<T>) => serviceOf(ref) as T,
    stop: () => (stopped ??= stop()),
  };
}

async function createKernel(options: BootOptions, plugins: readonly Plugin[], sql: Sql) {
  const { config, log, target, role, solo } = options;
  const processId = crypto.randomUUID();
  const stopping = new AbortController();
  const metrics = createMetrics();
  const pool = { max: 1, prepare: false, applicationName: "corestead listen" };
  const broadcast = createBroadcast({
    sql,
    listen: () => openPool(target, pool),
    processId,
    log,
    solo,
  });
  const queue = createQueue({ sql, broadcast, log, processId });
  const events = createEvents({ queue, log });
  const schedules = createSchedules({ sql, queue, log });
  const idempotency = createIdempotency(sql);
  const secretKey = loadSecretKey(config.dataDir, config.secretKey || undefined);
  const outbound = createOutbound({ allow: config.outboundAllow, log });
  let origin = config.baseUrl || localOrigin(config.host, config.port);

  const context: BaseContext = {
    sql,
    transaction: (run) => transaction(sql, run),
    log,
    emit: events.emit,
    wanted: events.wanted,
    listen: events.listen,
    changed: (change, tx) => events.emit(modelChanged, change, tx),
    enqueue: async (ref, payload, enqueueOptions) => {
      await queue.enqueue(ref, payload, enqueueOptions);
    },
    fetch: outbound.fetchOutside,
    liquid: createLiquid(),
    secrets: createSecrets(secretKey),
    metrics,
    cache: (cacheOptions) => createCache({ ...cacheOptions, broadcast }),
    broadcast,
    limiter: options.limits ?? localLimits,
    origin: () => origin,
    maxImportBytes: config.maxImportBytes,
    plugins,
    stopping: stopping.signal,
  };
  await broadcast.start();

  const serve = async (started: readonly Started<unknown>[], routes: App["routes"]): Promise<Listener> => {
    const [identify, ...others] = started.flatMap((running) => running.identify ?? []);
    if (!identify || others.length > 0) throw new Error("exactly one plugin must identify requests");
    for (const running of started) await register(running, queue, events, schedules);
    await schedules.register({ id: "runtime.prune-idempotency", cron: "17 * * * *", run: idempotency.prune });
    const { maxBodyBytes, trustedProxies } = config;
    const system = systemRoutes({ sql, metrics, routes, origin: () => origin, stopping: stopping.signal });
    const listener = listen(config, (peer) =>
      createHttp({ routes, identify, idempotency, log, metrics, maxBodyBytes, trustedProxies, peer }, system),
    );
    origin = config.baseUrl || localOrigin(config.host, listener.port);
    await queue.start();
    schedules.start();
    return listener;
  };
  const stop = async () => {
    await schedules.stop();
    await queue.stop();
    await broadcast.stop();
  };
  if (role === "serve") queueGauges(metrics, queue);
  return { context, serve, stop, stopping };
}

type Queue = ReturnType<typeof createQueue>;

function queueGauges(metrics: ReturnType<typeof createMetrics>, queue: Queue): void {
  metrics.gauge("corestead_jobs_waiting", "Jobs that wait, counted up to 10,000 a name", async () =>
    (await queue.stats()).names.reduce((sum, { waiting }) => sum + waiting, 0),
  );
}

async function register(
  running: Started<unknown>,
  queue: Queue,
  events: ReturnType<typeof createEvents>,
  schedules: ReturnType<typeof createSchedules>,
): Promise<void> {
  for (const handler of running.handlers ?? []) {
    if ("job" in handler) queue.handle(handler.job, handler.run, handler.options);
    else events.on(handler.event, handler.id, handler.run, handler.options);
  }
  for (const schedule of running.schedules ?? []) await schedules.register(schedule);
}

/** Fills an empty database, all plugins' seeds in one transaction; a database that was filled once is left alone. */
async function seed(sql: Sql, started: readonly Started<unknown>[], announce: BootOptions["announce"]): Promise<void> {
  const seeded = async (tx: Sql | Tx) => (await tx`select 1 from runtime_state where key = 'seeded'`).length > 0;
  if (await seeded(sql)) return;
  const lines = await transaction(sql, async (tx) => {
    await tx`lock table runtime_state in exclusive mode`;
    if (await seeded(tx)) return [];
    const all: string[] = [];
    for (const running of started) all.push(...((await running.seed?.(tx)) ?? []));
    await tx`insert into runtime_state (key, value) values ('seeded', now()::text)`;
    return all;
  });
  if (lines.length > 0) announce(lines);
}

function localOrigin(host: string, port: number): string {
  const name = host === "0.0.0.0" || host === "::" ? "localhost" : host.includes(":") ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
