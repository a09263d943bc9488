/** Runs the server: alone, or as a supervisor of WORKERS processes on one port. */
import { boot, type App } from "../boot.ts";
import type { Config } from "../config.ts";
import { openDatabase, type Begun, type Database } from "../postgres/database.ts";
import type { DatabaseTarget } from "../db.ts";
import { createGreeting, type Greeting } from "./greeting.ts";
import type { Log } from "../log.ts";
import type { Plugin } from "../plugin.ts";
import { manyRequests } from "../outbound/request-limit.ts";
import { listenOn } from "../http/serve.ts";
import { localLimits, supervisedLimits, type Limits } from "../http/shared-limits.ts";
import type { Environment } from "../settings.ts";
import { stopSignal } from "./stop-signal.ts";
import { watchPlugins } from "./watch.ts";
import { createWorkers } from "./workers.ts";

const stopsWithinMs = 9_000;

export interface Setup {
  readonly config: Config;
  readonly env: Environment;
  readonly plugins: readonly Plugin[];
  readonly log: Log;
  /** New processes whenever a plugin of PLUGINS_DIR changes. */
  readonly watch?: boolean;
}

/** `corestead serve`: until SIGTERM or SIGINT. Answers with the exit code. */
export async function serve(setup: Setup, begun?: Begun): Promise<number> {
  const stopped = begun?.stopped ?? stopSignal();
  const opening = begun?.database ?? openDatabase(setup);
  // What waits for a database of others has started nothing that would have to be stopped.
  if (setup.config.databaseUrl && (await Promise.race([stopped.then(() => true), opening.then(() => false)]))) return 0;
  const database = await opening;
  if (setup.config.workers > 1 || setup.watch) return supervise(setup, database, stopped);
  const solo = !setup.config.databaseUrl;
  const greeting = createGreeting();
  const app = await startApp(setup, database.target, solo, { limits: localLimits, greeting }).catch(
    async (error: unknown) => {
      greeting.failed();
      await database.stop();
      throw error;
    },
  );
  greeting.ready(`Corestead serves on ${app.origin}`);
  await stopped;
  await inTime(app.stop());
  await database.stop();
  return 0;
}

/** One of WORKERS processes: its supervisor has started the database and says when to stop. */
export async function serveWorker(setup: Setup): Promise<number> {
  const target: DatabaseTarget = JSON.parse(setup.env["CORESTEAD_DATABASE"] ?? "null");
  if (!target) throw new Error("`worker` is started by `serve`");
  // Without its supervisor, kill -9 included, a worker would keep the port and have no database.
  const orphaned = new Promise<void>((resolve) => process.once("disconnect", () => resolve()));
  const stopped = Promise.race([stopSignal(), orphaned]);
  // The supervisor shows them where it says the address.
  const announce = (lines: readonly string[]) => void process.send?.({ announced: lines });
  // Even a single one shares the port, with the one that takes its place (`--watch`).
  const shared = { ...setup, config: { ...setup.config, workers: Math.max(2, setup.config.workers) } };
  const app = await startApp(shared, target, false, { limits: supervisedLimits(), greeting: { announce } });
  process.on("message", (message) => void (message === "ping" && process.send?.("pong")));
  process.send?.("ready");
  await stopped;
  await inTime(app.stop());
  return 0;
}

/** SIGTERM ends everything within ten seconds (behaviour B.2), also where something does not end by itself. */
async function inTime(stopped: Promise<void>): Promise<void> {
  await Promise.race([stopped, Bun.sleep(stopsWithinMs)]);
}

function startApp(
  { config, env, plugins, log }: Setup,
  target: DatabaseTarget,
  solo: boolean,
  { limits, greeting: { announce } }: { limits: Limits; greeting: Pick<Greeting, "announce"> },
): Promise<App> {
  return boot({ config, env, plugins, target, log, role: "serve", solo, limits, announce });
}

async function supervise(setup: Setup, database: Database, stopped: Promise<void>): Promise<number> {
  const { config, log } = setup;
  const port = await reservePort(config).catch(async (error: unknown) => {
    await database.stop();
    throw error;
  });
  const env = { ...process.env, ...manyRequests, PORT: `${port}`, CORESTEAD_DATABASE: JSON.stringify(database.target) };
  const greeting = createGreeting();
  const workers = createWorkers({ env, log, announce: greeting.announce });
  const stop = async () => {
    await workers.stop(stopsWithinMs + 300);
    await database.stop();
  };

  try {
    await workers.start(); // the first fills an empty database and prints what it made
    await Promise.all(Array.from({ length: config.workers - 1 }, workers.start));
  } catch (error) {
    greeting.failed();
    await stop();
    throw error;
  }
  const unwatch = setup.watch ? watchPlugins(config.pluginsDir, workers, log) : () => {};
  const name = config.host === "0.0.0.0" ? "localhost" : config.host;
  const processes = config.workers === 1 ? "" : ` with ${config.workers} processes`;
  greeting.ready(`Corestead serves on ${config.baseUrl || `http://${name}:${port}`}${processes}`);
  await stopped;
  unwatch();
  await stop();
  return 0;
}

/**
 * The port for the workers. They share it, and so they would share it with strangers too: it must be free first. The
 * workers of a supervisor that was killed need a moment to leave it.
 */
async function reservePort({ host, port }: Config): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    try {
      const probe = listenOn({ hostname: host, port, fetch: () => new Response() });
      const taken = probe.port ?? port; // a stopped server has none
      await probe.stop(true);
      return taken;
    } catch (error) {
      if (attempt === 10) throw error;
      await Bun.sleep(100);
    }
  }
}
