/** Assembles the parts that all plugins share: queue, events, schedules, caches, and the context that offers them. */
import { scheduleBackups } from "../backups/backup-schedule.ts";
import { createBroadcast, type Broadcast } from "../../broadcast/broadcast.ts";
import { createCache } from "../../broadcast/cache.ts";
import { sealed } from "../../scope/causation.ts";
import { resolve } from "node:path";
import { createChild, type Child, type ChildOptions } from "../../child/child.ts";
import type { Config } from "../../settings/config.ts";
import { openPool, readOn, type DatabaseTarget, type Sql } from "../../db/db.ts";
import { createEvents } from "../../events/events.ts";
import { generatedProgram } from "../../system/generated.ts";
import { openFiles } from "../s3/open-files.ts";
import { createHooks } from "../../events/hooks.ts";
import { noticed, type Notice } from "../../events/models.ts";
import { createNames } from "../../plugin/naming.ts";
import { createOwnCertificates } from "../https/own-certificates.ts";
import { answerInside, mountHttp, routerOf, type Router, type SystemRoute } from "../../http/http.ts";
import * as idempotencyStore from "../../http/idempotency/idempotency-store.ts";
import { once, type Idempotency } from "../../http/idempotency/idempotency.ts";
import { createQueue } from "../../jobs/jobs.ts";
import { createLiquid } from "../../liquid/liquid.ts";
import { openAnchor } from "../../lineage/home.ts";
import type { Lineage } from "../../lineage/lineage.ts";
import { committed, currentScope, requestTransaction } from "../../scope/keyed.ts";
import type { Log } from "../../system/log.ts";
import { createMetrics } from "../../system/metrics.ts";
import { isModelEvent, modelChanged } from "../../events/models.ts";
import { fetchOutside, warnOfProxy } from "../../outbound/outbound.ts";
import { connectOutside } from "../../outbound/outbound-socket.ts";
import { lookupTxt, type NameLookup } from "../../outbound/name-lookup.ts";
import type { BaseContext, PluginFacts, Running } from "../../plugin/plugin.ts";
import type { Route } from "../../http/route.ts";
import { routeTable } from "../../http/route-table.ts";
import { freeIn, roomOfDatabase, stateOfDisk } from "../../system/room.ts";
import { watchDescriptors } from "./descriptors.ts";
import { peersOf } from "../../db/peers-store.ts";
import { createReadiness } from "./readiness.ts";
import { subrequestOf } from "../../http/subrequest.ts";
import { replicaMetrics } from "../replicas/replicas.ts";
import type { Replicas } from "../replicas/replicas.ts";
import { createDatabaseClock, createSchedules } from "../../jobs/schedule.ts";
import { databaseTime } from "../../jobs/schedule-store.ts";
import { createSecrets } from "../../base/secrets.ts";
import type { HttpContext, Peer } from "../../http/context.ts";
import { mount, type Listener } from "./serve.ts";
import { rememberOrigin } from "../../http/answers/etag.ts";
import { ConfigError } from "../../settings/settings.ts";
import * as limitStore from "../../http/limits/limit-store.ts";
import { localCounting, type LimitCounting, type LimitUse } from "../../http/limits/shared-limits.ts";
import { spreadLimits } from "../../http/limits/spread-limits.ts";
import { systemRoutes } from "./system-routes.ts";

/** How long running jobs may take when the process stops; requests get the same time (serve.ts). */
const graceMs = 7_000;

/** What a process has before the parts that plugins share. */
export interface KernelContext {
  readonly config: Config;
  readonly target: DatabaseTarget;
  readonly log: Log;
  readonly secretKey: string;
  /** The address of another process that serves, if there is one. */
  readonly servedAt: string | undefined;
  /** No other process uses this database, so changes need not be announced. */
  readonly solo: boolean;
  /** Whether the target leads through a pooler. */
  readonly pooled?: boolean;
  /** Where reads go, if not to the primary. */
  readonly replicas?: Replicas | undefined;
  /** Counts for rate limits; default: this process. */
  readonly counting?: LimitCounting;
  /** Answers DNS questions; default: this machine. */
  readonly names?: NameLookup;
}

export interface Kernel {
  /** Puts a plugin's hooks and names in force, for commands too, because they also change things. */
  readonly add: (running: Running) => void;
  readonly context: BaseContext;
  /** From now on nothing is sent to other machines, and nothing else acts on the outside. */
  readonly rehearse: () => void;
  /** Hears from now on what other processes change. Throws a ConfigError if it cannot. */
  readonly hear: () => Promise<void>;
  /** Mounts the routes; the result registers the plugins' handlers, listens, and starts to work on jobs. */
  readonly mount: (started: readonly Running[], routes: readonly Route[]) => (lineage: Lineage) => Promise<Listener>;
  /** The routes that are not a plugin's. */
  readonly system: (routes: readonly Route[]) => SystemRoute[];
  /** Says so at /ready and ends each connection with its answer; everything is still served. */
  readonly beginDrain: () => void;
  /** Tells streams to end; `stop` ends everything else. */
  readonly beginStop: () => void;
  /** Starts no more jobs, and waits for those that are running. */
  readonly drain: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Asks nothing of the database. */
export function createKernel(ctx: KernelContext, sql: Sql, plugins: readonly PluginFacts[]): Kernel {
  const { config, log } = ctx;
  let isRehearsal = false;
  const rehearses = () => isRehearsal;
  const parts = createParts(ctx, sql, rehearses);
  const { broadcast, queue, events, schedules, idempotency, metrics, readiness, secrets } = parts;
  const hooks = createHooks();
  const names = createNames();
  const [draining, stopping] = [new AbortController(), new AbortController()];
  let origin = config.baseUrl || (ctx.servedAt ?? localOrigin(config.host, config.port));
  const lookup = ctx.names?.addresses;
  const ca = config.outboundCa === "" ? {} : { ca: config.outboundCa };
  const outside = { allow: config.outboundAllow, log, rehearses, ...ca, ...(lookup && { lookup }) };
  warnOfProxy(log);
  let served: readonly Route[] = [];
  let serving: HttpContext | undefined;
  /** Only plugins that ask this server itself need it. */
  let router: Router | undefined;
  let archive: ReturnType<typeof scheduleBackups>;
  const ownCertificates = createOwnCertificates(config.https === "on" ? config.tlsDir : "", log);
  const context: BaseContext = {
    sql,
    connections: config.databasePool,
    log,
    plugins,
    names,
    metrics,
    broadcast,
    read: readOn(sql),
    transaction: (run) => requestTransaction(sql, run),
    committed,
    keyed: () => currentScope() !== undefined,
    now: parts.clock.now,
    emit: events.emit,
    wanted: (ref, payload) => events.wanted(ref, payload) || (isModelEvent(ref, payload) && hooks.has(payload)),
    listen: events.listen,
    changed: async (event, tx) => {
      await hooks.run(event, tx);
      await events.emit(modelChanged, event, tx, { accountId: event.accountId });
    },
    enqueue: async (ref, payload, enqueueOptions) => void (await queue.enqueue(ref, payload, enqueueOptions)),
    fetch: (url, request = {}) => fetchOutside(outside, url, sealed(secrets, request)),
    connect: (to) => connectOutside(outside, to),
    resolveTxt: ctx.names?.txt ?? lookupTxt,
    liquid: createLiquid(),
    secrets,
    cache: (cacheOptions) => createCache({ ...cacheOptions, broadcast }),
    child: (qualified, childOptions = {}) => childOf(qualified, childOptions, ctx),
    files: openFiles(config, log),
    room: roomOfDatabase(config),
    peers: parts.peers,
    limiter: parts.limits,
    origin: () => origin,
    https: {
      isOn: config.https === "on",
      answersHttp: config.httpPort !== 0,
      hasOwn: async (host) => (await ownCertificates.find(host)) !== undefined,
    },
    baseUrl: config.baseUrl,
    maxImportBytes: config.maxImportBytes,
    rehearses,
    anchor: openAnchor(config.dataDir, "runtime"),
    routes: () => served,
    subrequest: (of, asking) => {
      if (!serving) throw new Error("this server does not serve yet");
      router ??= routerOf(routeTable(served));
      return answerInside(serving, router, subrequestOf(of, asking));
    },
    stopping: stopping.signal,
  };
  const hear = async () => {
    // The embedded server's connection opens meanwhile, so that the first question at /ready does not wait for one.
    // Elsewhere a session that is opened late knows better whether the database takes writes.
    if (ctx.solo) readiness.check().catch(() => {});
    await broadcast.start();
    if (ctx.pooled || config.databaseListenUrl) await checkListening(broadcast, config);
  };

  const system: Kernel["system"] = (routes) =>
    systemRoutes({ readiness, metrics, routes, origin: () => origin, draining: draining.signal });
  const mountRoutes: Kernel["mount"] = (started, routes) => {
    served = routes;
    const { hstsSeconds, maxBodyBytes, trustedProxies } = config;
    const door = doorOf(started);
    const http = {
      routes,
      identify: identifier(started),
      door,
      idempotency,
      log,
      metrics,
      notice: (notice: Notice) => void events.emit(noticed, notice),
      hstsSeconds,
      baseUrl: config.baseUrl,
      maxBodyBytes,
      secrets,
      trustedProxies,
      draining: draining.signal,
    };
    const [certificates] = started.flatMap(({ certificates: known }) => known ?? []);
    const fetchFor = (peer: (request: Request) => Peer) => {
      serving = { ...http, peer };
      return mountHttp(serving, system(routes));
    };
    const listen = mount({ config, log, own: ownCertificates, certificates }, fetchFor);
    return async (lineage) => {
      for (const running of started) register(running, parts);
      schedules.register({
        id: "runtime.prune-idempotency",
        cron: "17 * * * *",
        run: () => idempotencyStore.prune(sql),
      });
      schedules.register({ id: "runtime.prune-limits", cron: "27 * * * *", run: () => limitStore.prune(sql) });
      if (!isRehearsal) archive = scheduleBackups({ ...ctx, lineage, sql, plugins, metrics, schedules, events });
      const listener = await listen();
      origin = config.baseUrl || localOrigin(config.host, listener.port);
      // Side by side they would open another connection, which takes longer than both.
      await rememberOrigin(sql, origin);
      if (isRehearsal) return listener;
      await queue.start();
      schedules.start();
      for (const running of started) running.begin?.();
      return listener;
    };
  };
  let drained: Promise<void> | undefined;
  const drain = () => (drained ??= schedules.stop().then(queue.stop));
  const stop = async () => {
    await drain();
    await archive?.stop();
    ownCertificates.stop();
    parts.stopLimits();
    await Promise.all([broadcast.stop(), readiness.close()]);
  };
  const add: Kernel["add"] = (running) => {
    running.hooks?.forEach(hooks.add);
    names.add(running);
  };
  const beginDrain = () => draining.abort();
  const beginStop = () => {
    beginDrain();
    stopping.abort();
  };
  const rehearse = () => void (isRehearsal = true);
  return { context, add, rehearse, hear, mount: mountRoutes, system, drain, stop, beginDrain, beginStop };
}

/** Behind a pooler, LISTEN may end with its transaction; every change would then wait for answers that never come. */
async function checkListening(broadcast: Broadcast, { databaseListenUrl }: Config): Promise<void> {
  if (await broadcast.hearsItself()) return;
  await broadcast.stop();
  throw new ConfigError([
    databaseListenUrl
      ? "DATABASE_LISTEN_URL: notifications sent through DATABASE_URL do not arrive there; it must be the address of the same database, without a pooler"
      : "DATABASE_URL leads through a pooler that does not keep LISTEN (pgbouncer in transaction mode): set DATABASE_LISTEN_URL to the address of the database itself",
  ]);
}

type Parts = ReturnType<typeof createParts>;

function createParts(
  { config, target, log, secretKey, solo, replicas, counting = localCounting() }: KernelContext,
  sql: Sql,
  rehearses: () => boolean,
) {
  const processId = crypto.randomUUID();
  const peers = peersOf(sql, processId, solo);
  const secrets = createSecrets(secretKey);
  const hash = (content: string) => secrets.derive("idempotency", content);
  const keys = { sql, log, peers, hash, running: new Set<string>() };
  // One connection each, without the session settings that a pooler would refuse.
  const single = {
    max: 1,
    prepare: false,
    pooled: true,
    arrays: false,
    connectTimeoutMs: config.databaseConnectSeconds * 1000,
  };
  const listenAt = config.databaseListenUrl ? { url: config.databaseListenUrl } : target;
  const forListening = () => openPool(listenAt, { ...single, applicationName: `corestead listen ${processId}` });
  const broadcast = createBroadcast({ sql, listen: forListening, processId, log, solo });
  const readiness = createReadiness({
    open: () => openPool(target, { ...single, applicationName: "corestead ready" }),
    listening: broadcast.healthy,
    rehearses,
    disk: () => stateOfDisk(config),
    isHere: config.databaseUrl === "",
    ...(replicas && { replicas: replicas.facts }),
  });
  const takeExact = (taken: LimitUse) => limitStore.take(sql, taken);
  const queue = createQueue({ sql, broadcast, log, processId, graceMs, alone: solo });
  // The embedded PostgreSQL serves this machine alone.
  const spread = "url" in target ? spreadLimits(counting, broadcast, processId, takeExact) : undefined;
  const metrics = createMetrics();
  metrics.gauge("corestead_jobs_waiting", "Jobs that wait, counted up to 10,000 a name", async () =>
    (await queue.stats()).names.reduce((sum, { waiting }) => sum + waiting, 0),
  );
  metrics.gauge("corestead_jobs_unhandled", "Those of them that no plugin of this process handles", async () => {
    const { names, handled } = await queue.stats();
    return names.reduce((sum, { name, waiting }) => sum + (handled.includes(name) ? 0 : waiting), 0);
  });
  metrics.gauge("corestead_data_dir_free_bytes", "Room on the disk of DATA_DIR", () => freeIn(config.dataDir));
  watchDescriptors(log, metrics);
  if (replicas) replicaMetrics(metrics, replicas);
  const clock = createDatabaseClock(() => databaseTime(sql), log);
  metrics.gauge(
    "corestead_clock_ahead_seconds",
    "How far this machine's clock is ahead of the database's",
    clock.aheadSeconds,
  );
  return {
    clock,
    broadcast,
    queue,
    metrics,
    readiness,
    secrets,
    limits: spread?.limits ?? counting.limits,
    stopLimits: () => spread?.stop(),
    events: createEvents({ queue, log }),
    schedules: createSchedules({ sql, queue, log, clock }),
    peers,
    idempotency: { once: (request, run) => once(keys, request, run) } satisfies Idempotency,
  };
}

function register(running: Running, { queue, events, schedules }: Parts): void {
  for (const handler of running.handlers ?? []) {
    if ("job" in handler) queue.handle(handler.job, handler.run, handler.options);
    else events.on(handler.event, handler.id, handler.run, handler.options);
  }
  for (const schedule of running.schedules ?? []) {
    try {
      schedules.register(schedule);
    } catch (cause) {
      throw new Error(`plugin "${running.plugin}" has a schedule that cannot be kept, "${schedule.id}"`, { cause });
    }
  }
}

/** `qualified` holds the plugin's name and the child's. */
function childOf(qualified: string, childOptions: ChildOptions, { config, log }: KernelContext): Child {
  const [plugin = "", name = ""] = qualified.split(" ");
  const programs = async () => {
    const found = Object.entries(childOptions.programs ?? {}).map(async ([variable, program]) => {
      const path = await generatedProgram(program, config.dataDir);
      return path === undefined ? [] : [[variable, path]];
    });
    return Object.fromEntries((await Promise.all(found)).flat());
  };
  // The child process loads external plugins from there.
  const env = { ...(config.pluginsDir && { PLUGINS_DIR: resolve(config.pluginsDir) }), ...childOptions.env };
  return createChild({ plugin, name, log, programs, options: { ...childOptions, env } });
}

function identifier(started: readonly Running[]) {
  const [identify, ...others] = started.flatMap((running) => running.identify ?? []);
  if (!identify || others.length > 0) throw new Error("exactly one plugin must identify requests");
  return identify;
}

function doorOf(started: readonly Running[]) {
  const [door, ...others] = started.flatMap(({ door: own }) => (own ? [own] : []));
  if (others.length > 0) throw new Error("at most one plugin may answer whole hosts");
  return door;
}

function localOrigin(host: string, port: number): string {
  const name = host === "0.0.0.0" || host === "::" ? "localhost" : host.includes(":") ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
