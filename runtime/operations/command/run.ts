/** Runs the server: alone, or as a supervisor of WORKERS processes on one port. */
import { setTimeout as sleep } from "node:timers/promises";
import { host } from "#host";
import { boot, type App } from "../start/boot.ts";
import type { Config } from "../../settings/config.ts";
import { openDatabase, type StartingDatabase, type Database } from "../postgres/database.ts";
import type { DatabaseTarget } from "../../db/db.ts";
import type { Log } from "../../system/log.ts";
import { notifyService } from "../service/unit.ts";
import type { Plugin } from "../../plugin/plugin.ts";
import { listenOn } from "../../http/listen-on.ts";
import { localCounting, supervisedCounting, type LimitCounting } from "../../http/limits/shared-limits.ts";
import type { Environment } from "../../settings/settings.ts";
import { stopSignal, type StopSignal } from "../../system/process.ts";
import { createWorkers, type Workers } from "./workers.ts";
import { writeOutput } from "../../system/output.ts";
import { watch } from "node:fs";
import { resolve } from "node:path";

const stopsWithinMs = 9_000;

export interface Setup {
  readonly config: Config;
  readonly env: Environment;
  readonly plugins: readonly Plugin[];
  readonly log: Log;
  /** Whether to replace the processes whenever a plugin of PLUGINS_DIR changes. */
  readonly watch?: boolean;
}

/** `corestead serve`: runs until SIGTERM or SIGINT. Returns the exit code. */
export async function serve(setup: Setup, begun?: StartingDatabase): Promise<number> {
  const stopped = begun?.stopped ?? stopSignal();
  const opening = begun?.database ?? openDatabase({ ...setup, early: true });
  // While it waits for an external database, nothing has been started that would have to be stopped.
  if (setup.config.databaseUrl && (await Promise.race([stopped.then(() => true), opening.then(() => false)]))) return 0;
  const database = await opening;
  if (setup.config.workers > 1 || setup.watch) return supervise(setup, database, stopped);
  const solo = !setup.config.databaseUrl;
  const greeting = createGreeting();
  const { target, ready, synced } = database;
  // A plugin of others may ask the database while it is set up.
  if (setup.config.pluginsDir !== "") await ready;
  const early = setup.config.pluginsDir === "" ? { ready, synced } : { synced };
  const starting = async () => {
    // Before the credentials are made: who is told of a taken port afterwards looks for them in vain.
    if (setup.config.port !== 0) await reservePort(setup.config);
    return startApp(setup, target, solo, { counting: localCounting(), greeting, ...early });
  };
  const app = await starting().catch(async (error: unknown) => {
    greeting.failed();
    await database.stop();
    throw error;
  });
  setup.log.flush();
  greeting.ready(`Corestead serves on ${app.origin}${app.rehearses ? " (a rehearsal)" : ""}`);
  await notifyService(`READY=1\nSTATUS=serves on ${app.origin}`);
  const signal = await stopped;
  await notifyStopping(setup.config);
  if (signal === "SIGTERM") await Promise.race([app.drain(), stopSignal()]);
  await inTime(app.stop());
  await database.stop();
  return 0;
}

/** systemd waits as much longer than for a server that drains at once. */
function notifyStopping({ drainSeconds }: Config): Promise<void> {
  const more = drainSeconds === 0 ? "" : `\nEXTEND_TIMEOUT_USEC=${(drainSeconds + 60) * 1_000_000}`;
  return notifyService(`STOPPING=1${more}`);
}

/** Runs one of WORKERS processes. Its supervisor has started the database and says when to stop. */
export async function serveWorker(setup: Setup): Promise<number> {
  const target: DatabaseTarget = JSON.parse(setup.env["CORESTEAD_DATABASE"] ?? "null");
  if (!target) throw new Error("`worker` is started by `serve`");
  // If its supervisor dies, even by kill -9, a worker would keep the port without a database.
  const orphaned = new Promise<"orphaned">((settle) => process.once("disconnect", () => settle("orphaned")));
  const stopped = Promise.race([stopSignal(), orphaned]);
  // From here on the supervisor watches it: a worker that hangs before it is ready is replaced too.
  process.on("message", (message) => void (message === "ping" && process.send?.("pong")));
  process.send?.("started");
  // The supervisor prints them beside the address.
  const announce = (lines: readonly string[]) => void process.send?.({ announced: lines });
  // Even a single worker shares the port: with its replacement (`--watch`).
  const shared = { ...setup, config: { ...setup.config, workers: Math.max(2, setup.config.workers) } };
  const counting = supervisedCounting(setup.env["CORESTEAD_MACHINE"] ?? "");
  const app = await startApp(shared, target, false, { counting, greeting: { announce } });
  // What the start has logged comes before the address and the credentials, which the supervisor prints last.
  setup.log.flush();
  process.send?.("ready");
  if ((await stopped) === "SIGTERM") await Promise.race([app.drain(), stopSignal(), orphaned]);
  await inTime(app.stop());
  return 0;
}

/** SIGTERM ends everything within ten seconds (behaviour B.2), even if a part does not stop. */
async function inTime(stopped: Promise<void>): Promise<void> {
  await Promise.race([stopped, sleep(stopsWithinMs)]);
}

interface StartOptions {
  readonly counting: LimitCounting;
  readonly greeting: Pick<Greeting, "announce">;
  readonly ready?: Database["ready"];
  readonly synced?: Database["synced"];
}

function startApp(
  { config, env, plugins, log }: Setup,
  target: DatabaseTarget,
  solo: boolean,
  { counting, greeting: { announce }, ready, synced }: StartOptions,
): Promise<App> {
  return boot({ config, env, plugins, target, log, role: "serve", solo, counting, announce, ready, synced });
}

async function supervise(setup: Setup, database: Database, stopped: Promise<StopSignal>): Promise<number> {
  const { config, log } = setup;
  const port = await reservePort(config).catch(async (error: unknown) => {
    await database.stop();
    throw error;
  });
  const env = {
    ...process.env,
    ...host.serverEnv,
    PORT: `${port}`,
    CORESTEAD_DATABASE: JSON.stringify(database.target),
    CORESTEAD_MACHINE: crypto.randomUUID(),
  };
  const greeting = createGreeting();
  const workers = createWorkers(env, log, greeting.announce);
  const stop = async (signal: StopSignal) => {
    const drainMs = signal === "SIGTERM" ? config.drainSeconds * 1000 : 0;
    await workers.stop(signal, drainMs + stopsWithinMs + 300);
    await database.stop();
  };

  try {
    await database.ready;
    await database.synced;
    await workers.start(); // the first one fills an empty database and announces the credentials
    await Promise.all(Array.from({ length: config.workers - 1 }, workers.start));
  } catch (error) {
    greeting.failed();
    await stop("SIGINT");
    throw error;
  }
  const unwatch = setup.watch ? watchPlugins(config.pluginsDir, workers, log) : () => {};
  const name = config.host === "0.0.0.0" ? "localhost" : config.host;
  const processes = config.workers === 1 ? "" : ` with ${config.workers} processes`;
  const address = config.baseUrl || `http://${name}:${port}`;
  log.flush();
  greeting.ready(`Corestead serves on ${address}${processes}`);
  await notifyService(`READY=1\nSTATUS=serves on ${address}${processes}`);
  const signal = await stopped;
  await notifyStopping(config);
  unwatch();
  await stop(signal);
  return 0;
}

/**
 * Finds the port for the workers. They share it, and would share it even with another program, so it must be free
 * first. The workers of a killed supervisor need a moment to release it.
 */
async function reservePort({ host: hostname, port }: Config): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    try {
      const probe = listenOn({ hostname, port, fetch: () => new Response() });
      await probe.stop(true);
      return probe.port;
    } catch (error) {
      if (attempt === 10) throw error;
      await sleep(100);
    }
  }
}

/** Prints what a start has to say: the address, and on an empty database the first credentials. */
export interface Greeting {
  /** Receives the lines that are shown only once. */
  readonly announce: (lines: readonly string[]) => void;
  /** The server accepts requests: prints its address and the other `lines`. */
  readonly ready: (line: string) => void;
  /** The start has failed: prints what was announced, so that it is not lost. */
  readonly failed: () => void;
}

/**
 * On a terminal the credentials come last, where they are noticed; a program that reads along gets them before the
 * address.
 */
export function createGreeting(isTerminal: boolean = process.stdout.isTTY, write = writeOutput): Greeting {
  const kept: string[] = [];
  const tell = () => {
    if (kept.length > 0) write(`\n${kept.splice(0).join("\n")}\nThis is shown only once.\n\n`);
  };
  return {
    announce: (lines) => {
      if (isTerminal) kept.push(...lines);
      else write(lines.map((line) => `${line}\n`).join(""));
    },
    ready: (line) => {
      write(`${line}\n`);
      tell();
    },
    failed: tell,
  };
}

// `serve --watch`, for plugin authors: replaces the server processes when a plugin of PLUGINS_DIR changes.

/** Editors save several files at once, and some write a file in several steps. */
const settleMs = 150;

/** Returns a function that stops watching. Throws if there is no such folder. */
export function watchPlugins(folder: string, workers: Workers, log: Log): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let replacing: Promise<void> = Promise.resolve();
  const replace = async () => {
    try {
      await workers.replace();
      log.info("the plugins have changed and were reloaded");
    } catch (error) {
      // The new process has already printed what is wrong.
      log.warn("the changed plugins do not start: the earlier version is still served", { error });
    }
  };
  const watcher = watch(resolve(folder), { recursive: true }, (_kind, name) => {
    if (name !== null && isAside(name)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      replacing = replacing.then(replace);
    }, settleMs);
  });
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}

/** Tests, types, packages and editors' own files are not served. */
function isAside(path: string): boolean {
  return (
    path.split("/").some((name) => name.startsWith(".") || name === "node_modules") ||
    /(\.test\.ts|\.d\.ts|~)$/.test(path)
  );
}
