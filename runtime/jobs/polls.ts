/** How a process finds due rows of a queue: its timers, and one claim at a time. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../system/log.ts";

interface Options {
  /** What the rows are called in the log. */
  readonly what: string;
  readonly log: Log;
  readonly pollMs: number;
  readonly look: () => Promise<void>;
  readonly heartbeat: () => Promise<void>;
  readonly upkeepMs: number;
  readonly upkeep: {
    /** The database's time. */
    readonly now: () => Promise<Date>;
    /** Called at the start, and when that time was set back. */
    readonly setBack: () => Promise<unknown>;
    /** Lets go what waits behind nothing, since a process died before it could, and forgets what is old. */
    readonly run: () => Promise<void>;
  };
}

/**
 * The timers of a queue: the poll, which finds what no message announced, an earlier poll for what is due sooner, the
 * heartbeat of leases, and the upkeep.
 */
export function createPolls({ what, log, pollMs, look, heartbeat, upkeepMs, upkeep }: Options) {
  const timers: ReturnType<typeof setInterval>[] = [];
  let isActive = false;
  let polling = false;
  let again = false;
  let beating: ReturnType<typeof setInterval> | undefined;
  let beatMs = 5000;
  let soon: ReturnType<typeof setTimeout> | undefined;
  let soonAt = Infinity;
  let lastAt: Date | undefined;
  let keepingUp: Promise<void> | undefined;

  /** One poll at a time; a request during a poll causes another one afterwards. */
  const poll = async (): Promise<void> => {
    if (!isActive) return;
    again = polling;
    if (polling) return;
    polling = true;
    try {
      await look();
    } catch (error) {
      // At the end of the server the pool may close before the answer.
      if (isActive) log.warn(`looking for due ${what} failed, trying again`, { error });
    }
    polling = false;
    if (again) void poll();
  };
  const pollSoon = () => {
    soonAt = Infinity;
    void poll();
  };
  const keepUp = async (): Promise<void> => {
    try {
      const at = await upkeep.now();
      if (!lastAt || at < lastAt) await upkeep.setBack();
      lastAt = at;
      await upkeep.run();
    } catch (error) {
      if (isActive) log.warn(`looking after the ${what} failed, trying again`, { error });
    }
  };
  const beat = () => {
    clearInterval(beating);
    if (isActive) beating = setInterval(() => void heartbeat(), beatMs);
  };

  return {
    isActive: () => isActive,
    poll: (): void => void poll(),
    start(): void {
      isActive = true;
      timers.push(
        setInterval(() => void poll(), pollMs),
        setInterval(() => void (keepingUp = keepUp()), upkeepMs),
      );
      beat();
      void poll();
      keepingUp = keepUp(); // nobody waits for the server until it is tidy
    },
    /** Polls in this many seconds, unless an earlier poll is already set. */
    arm(seconds: number): void {
      const at = performance.now() + seconds * 1000;
      if (!isActive || seconds * 1000 > pollMs || at >= soonAt) return;
      clearTimeout(soon);
      soonAt = at;
      soon = setTimeout(pollSoon, Math.max(1, seconds * 1000));
    },
    heartbeatWithin(ms: number): void {
      if (ms >= beatMs) return;
      beatMs = ms;
      beat();
    },
    /** Looks for nothing more; leases are still extended. */
    rest(): void {
      isActive = false;
      for (const timer of timers.splice(0)) clearInterval(timer);
      clearTimeout(soon);
    },
    async stop(): Promise<void> {
      clearInterval(beating);
      await keepingUp;
    },
  };
}

/** Waits until the condition holds or the time is up. */
export async function untilTrue(condition: () => boolean, withinMs: number): Promise<void> {
  const end = performance.now() + withinMs;
  while (!condition() && performance.now() < end) await sleep(5);
}

interface Claiming<Claim, Row> {
  /** What the rows are called in the log. */
  readonly what: string;
  readonly log: Log;
  /** What to ask for now, if anything. */
  readonly choose: () => readonly Claim[];
  readonly claim: (claims: readonly Claim[]) => PromiseLike<readonly Row[]>;
  readonly took: (rows: readonly Row[], claims: readonly Claim[]) => void;
  readonly failed: (claims: readonly Claim[]) => void;
}

const pauseAfterErrorMs = 500;

/**
 * Claims rows of a queue. One claim is under way at a time and asks for all lanes that may have something due, so the
 * busier this process is, the larger its batches.
 */
export function createClaims<Claim, Row>({ what, log, choose, claim, took, failed }: Claiming<Claim, Row>) {
  let underWay = false;
  let queued = false;

  const now = async (): Promise<void> => {
    queued = false;
    if (underWay) return;
    const claims = choose();
    if (claims.length === 0) return;
    underWay = true;
    try {
      took(await claim(claims), claims);
    } catch (error) {
      log.warn(`claiming ${what} failed, trying again`, { error });
      failed(claims);
      await sleep(pauseAfterErrorMs);
    }
    underWay = false;
    soon();
  };
  const soon = (): void => {
    if (queued || underWay) return;
    queued = true;
    setImmediate(() => void now());
  };

  return {
    now: (): void => void now(),
    /** What happens in the same tick causes one claim. */
    soon,
    underWay: () => underWay,
  };
}
