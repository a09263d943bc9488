/** The server processes of one supervisor: starts, watches and replaces them. */
import type { Serializable } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../system/log.ts";
import { start as startProcess, ownProgram, type Started, type StopSignal } from "../../system/process.ts";
import { countForWorker, noCounts } from "../../http/limits/shared-limits.ts";

/** A process whose event loop is blocked for this many seconds counts as hung. */
const hungAfterPings = 10;

export type Workers = ReturnType<typeof createWorkers>;

/** `announce` prints what is shown only once, such as the first password. */
export function createWorkers(
  env: Readonly<Record<string, string | undefined>>,
  log: Log,
  announce: (lines: readonly string[]) => void,
) {
  const running = new Set<Started>();
  const retired = new WeakSet<Started>();
  const counts = noCounts();
  let stopping = false;
  const pulse = watchPulse((child) => {
    log.error("a server process does not respond and is killed", { pid: child.pid });
    child.kill("SIGKILL");
  });

  const hear = (child: Started, message: unknown, ready: () => void) => {
    if (message === "started") pulse.add(child);
    else if (message === "ready") ready();
    else if (message === "pong") pulse.heard(child);
    else if (isAnnouncement(message)) announce(message.announced);
    else countForWorker(counts, message, (answer) => tell(child, answer));
  };

  /**
   * Resolves when the process serves; rejects if it ends before that. A process that ends later is restarted, and with
   * `again` even one that ends before it serves.
   */
  const start = (again = false): Promise<void> =>
    new Promise((resolve, reject) => {
      let serves = again;
      const child = startProcess([...ownProgram(), "worker"], { env, stdio: ["ignore", "inherit", "inherit", "ipc"] });
      child.on("message", (message) =>
        hear(child, message, () => {
          serves = true;
          resolve();
        }),
      );
      child.on("error", reject); // there is no such program
      child.on("exit", (code, signal) => {
        running.delete(child);
        pulse.remove(child);
        reject(new Error(`a server process ended at start (${signal ?? code})`));
        if (stopping || !serves || retired.has(child)) return;
        log.error("a server process ended and is restarted", { code, signal });
        setTimeout(() => void (stopping || start(true).catch(() => {})), 500);
      });
      running.add(child);
    });

  return {
    start: () => start(),

    /**
     * Starts as many new processes; once they serve, the old ones finish their work and end. Rejects if one does not
     * start.
     */
    async replace(): Promise<void> {
      const old = [...running];
      await Promise.all(old.map(() => start()));
      for (const child of old) {
        retired.add(child);
        // Without a time to drain: the port that it shares is served on.
        child.kill("SIGINT");
      }
    },

    /** Ends all processes; kills those that take longer than `withinMs`. */
    async stop(signal: StopSignal, withinMs: number): Promise<void> {
      stopping = true;
      pulse.end();
      for (const child of running) child.kill(signal);
      await Promise.race([Promise.all([...running].map((child) => child.exited)), sleep(withinMs)]);
      for (const child of running) child.kill("SIGKILL");
    },
  };
}

interface Announcement {
  readonly announced: readonly string[];
}

function isAnnouncement(message: unknown): message is Announcement {
  return typeof message === "object" && message !== null && "announced" in message && Array.isArray(message.announced);
}

/**
 * Pings each process every second to see whether its event loop runs. Counts pings instead of time, so that no process
 * is late after the whole machine was suspended.
 */
function watchPulse(onHung: (child: Started) => void) {
  const unanswered = new Map<Started, number>();
  const timer = setInterval(() => {
    for (const [child, count] of unanswered) {
      unanswered.set(child, count + 1);
      if (count === hungAfterPings) onHung(child);
      else if (count < hungAfterPings) tell(child, "ping");
    }
  }, 1000);
  return {
    add: (child: Started) => void unanswered.set(child, 0),
    heard: (child: Started) => void (unanswered.has(child) && unanswered.set(child, 0)),
    remove: (child: Started) => void unanswered.delete(child),
    end: () => clearInterval(timer),
  };
}

/** Nothing if the process has ended: its `exit` handles that. */
function tell(child: Started, message: Serializable): void {
  if (child.connected) child.send(message, () => {});
}
