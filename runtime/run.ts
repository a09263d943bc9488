/** Runs the server: alone, or as a supervisor of WORKERS processes on one port. */
import { boot, type App } from "./boot.ts";
import type { Config } from "./config.ts";
import { openDatabase, type Begun, type Database } from "./database.ts";
import type { DatabaseTarget } from "./db.ts";
import { createGreeting, type Greeting } from "./greeting.ts";
import type { Log } from "./log.ts";
import { ownProgram } from "./own-program.ts";
import type { Plugin } from "./plugin.ts";
import { manyRequests } from "./request-limit.ts";
import { listenOn } from "./serve.ts";
import { createLimitServer, localLimits, supervisedLimits, type Limits } from "./shared-limits.ts";
import type { Environment } from "./settings.ts";
import { stopSignal } from "./stop-signal.ts";

const stopsWithinMs = 9_000;
/** A process that is busy with one thing for so many seconds serves nobody. */
const hungAfterPings = 10;

export interface Setup {
  readonly config: Config;
  readonly env: Environment;
  readonly plugins: readonly Plugin[];
  readonly log: Log;
}

/** `corestead serve`: until SIGTERM or SIGINT. Answers with the exit code. */
export async function serve(setup: Setup, begun?: Begun): Promise<number> {
  const stopped = begun?.stopped ?? stopSignal();
  const opening = begun?.database ?? openDatabase(setup);
  // What waits for a database of others has started nothing that would have to be stopped.
  if (setup.config.databaseUrl && (await Promise.race([stopped.then(() => true), opening.then(() => false)]))) return 0;
  const database = await opening;
  if (setup.config.workers > 1) return supervise(setup, database, stopped);
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
  const app = await startApp(setup, target, false, { limits: supervisedLimits(), greeting: { announce } });
  process.on("message", (message) => void (message === "ping" && process.send?.("pong")));
  process.send?.("ready");
  await stopped;
  await inTime(app.stop());
  return 0;
}

/** SIGTERM ends everything within ten seconds (CONTRACT 2), also where something does not end by itself. */
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
  const running = new Set<Bun.Subprocess>();
  const countLimits = createLimitServer();
  const greeting = createGreeting();
  let stopping = false;

  const pulse = watchPulse((child) => {
    log.error("a server process does not answer and is ended", { pid: child.pid });
    child.kill("SIGKILL");
  });

  const start = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const child = Bun.spawn([...ownProgram(), "worker"], {
        env,
        stdout: "inherit",
        stderr: "inherit",
        ipc: (message, worker) => {
          if (message === "ready") {
            pulse.add(child);
            resolve();
          } else if (message === "pong") pulse.heard(child);
          else if (isAnnouncement(message)) greeting.announce(message.announced);
          else countLimits(message, (answer) => worker.send(answer));
        },
        onExit: (_child, code, signal) => {
          running.delete(child);
          pulse.remove(child);
          reject(new Error(`a server process ended at start (${signal ?? code})`));
          if (stopping) return;
          log.error("a server process ended and is started again", { code, signal });
          setTimeout(() => void (stopping || start().catch(() => {})), 500);
        },
      });
      running.add(child);
    });

  const stop = async () => {
    stopping = true;
    pulse.end();
    for (const child of running) child.kill("SIGTERM");
    await Promise.race([Promise.all([...running].map((child) => child.exited)), Bun.sleep(stopsWithinMs + 300)]);
    for (const child of running) child.kill("SIGKILL");
    await database.stop();
  };

  try {
    await start(); // the first fills an empty database and prints what it made
    await Promise.all(Array.from({ length: config.workers - 1 }, start));
  } catch (error) {
    greeting.failed();
    await stop();
    throw error;
  }
  const name = config.host === "0.0.0.0" ? "localhost" : config.host;
  greeting.ready(`Corestead serves on ${config.baseUrl || `http://${name}:${port}`} with ${config.workers} processes`);
  await stopped;
  await stop();
  return 0;
}

/**
 * Asks each process every second whether its event loop turns. It counts questions, not time: after a sleep of the whole
 * machine nobody is late.
 */
function watchPulse(onHung: (child: Bun.Subprocess) => void) {
  const unanswered = new Map<Bun.Subprocess, number>();
  const timer = setInterval(() => {
    for (const [child, count] of unanswered) {
      unanswered.set(child, count + 1);
      if (count === hungAfterPings) onHung(child);
      else if (count < hungAfterPings) ping(child);
    }
  }, 1000);
  return {
    add: (child: Bun.Subprocess) => void unanswered.set(child, 0),
    heard: (child: Bun.Subprocess) => void (unanswered.has(child) && unanswered.set(child, 0)),
    remove: (child: Bun.Subprocess) => void unanswered.delete(child),
    end: () => clearInterval(timer),
  };
}

function ping(child: Bun.Subprocess): void {
  try {
    child.send("ping");
  } catch {
    // It has ended, and onExit hears of that.
  }
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

function isAnnouncement(message: unknown): message is { announced: readonly string[] } {
  return typeof message === "object" && message !== null && "announced" in message && Array.isArray(message.announced);
}
