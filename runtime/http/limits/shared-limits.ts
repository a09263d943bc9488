/**
 * Rate limits shared by all server processes of one supervisor: they ask it, and it counts. A process that runs alone
 * counts for itself. What other machines count is added (spread-limits.ts).
 */
import { createLimiter, type Limiter, type LimiterOptions, type LimitResult } from "./rate-limit.ts";

export interface SharedLimiter {
  take(key: string, n?: number): Promise<LimitResult>;
}

interface LimitOptions extends Pick<LimiterOptions, "limit" | "windowSeconds"> {
  /**
   * Not one more over all machines: for what protects a password. Each take is then a transaction of the database, if
   * there may be other machines.
   */
  readonly exact?: boolean;
}

export type Limits = (name: string, options: LimitOptions) => SharedLimiter;

/** Use of one limit on another machine. */
export interface LimitUse extends Pick<LimiterOptions, "limit" | "windowSeconds"> {
  readonly name: string;
  readonly key: string;
  readonly n: number;
}

/** A message of one process on another machine; each of our processes receives it, and it counts once. */
export interface UsageMessage {
  readonly from: string;
  /** Increases. */
  readonly number: number;
  readonly taken: readonly LimitUse[];
}

export interface LimitCounting {
  /** The processes that count together. */
  readonly machine: string;
  readonly limits: Limits;
  readonly hear: (told: UsageMessage) => void;
}

/** A worker's request to its supervisor. */
interface Question extends LimitUse {
  readonly ask: number;
}

interface Answer {
  readonly answer: number;
  readonly take: LimitResult;
}

/** The counts of one machine: its limiters, and the last message that it has heard of each process elsewhere. */
interface Counts {
  readonly limiters: Map<string, Limiter>;
  readonly heard: Map<string, number>;
}

export function noCounts(): Counts {
  return { limiters: new Map(), heard: new Map() };
}

function limiterOf({ limiters }: Counts, one: Pick<LimitUse, "name" | "limit" | "windowSeconds">): Limiter {
  const limiter = limiters.get(one.name) ?? createLimiter(one);
  limiters.set(one.name, limiter);
  return limiter;
}

function hear(counts: Counts, { from, number, taken }: UsageMessage): void {
  if (number <= (counts.heard.get(from) ?? 0)) return;
  counts.heard.set(from, number);
  for (const one of taken) limiterOf(counts, one).add(one.key, one.n);
}

/** Counts in this process. */
export function localCounting(): LimitCounting {
  const counts = noCounts();
  const limits: Limits = (name, { limit, windowSeconds }) => {
    const limiter = limiterOf(counts, { name, limit, windowSeconds });
    return { take: async (key, n) => limiter.take(key, n) };
  };
  return { machine: crypto.randomUUID(), limits, hear: (told) => hear(counts, told) };
}

/** Counts for the workers of this process: pass it each of their messages. */
export function countForWorker(counts: Counts, message: unknown, reply: (answer: Answer) => void): void {
  if (isUsageMessage(message)) hear(counts, message.told);
  if (!isQuestion(message)) return;
  reply({ answer: message.ask, take: limiterOf(counts, message).take(message.key, message.n) });
}

/** Asks the supervisor. If the connection to it is gone, this process counts for itself. */
export function supervisedCounting(machine: string): LimitCounting {
  const waiting = new Map<number, (take: LimitResult) => void>();
  let asked = 0;
  process.on("message", (message: unknown) => {
    if (!isAnswer(message)) return;
    waiting.get(message.answer)?.(message.take);
    waiting.delete(message.answer);
  });
  const limits: Limits = (name, { limit, windowSeconds }) => {
    const fallback = createLimiter({ limit, windowSeconds });
    return {
      take: (key, n = 1) =>
        new Promise((resolve) => {
          const ask = ++asked;
          waiting.set(ask, resolve);
          const question: Question = { ask, name, limit, windowSeconds, key, n };
          if (process.connected && process.send?.(question)) return;
          waiting.delete(ask);
          resolve(fallback.take(key, n));
        }),
    };
  };
  return { machine, limits, hear: (told) => void (process.connected && process.send?.({ told })) };
}

function isQuestion(message: unknown): message is Question {
  return typeof message === "object" && message !== null && "ask" in message;
}

function isAnswer(message: unknown): message is Answer {
  return typeof message === "object" && message !== null && "answer" in message;
}

function isUsageMessage(message: unknown): message is { readonly told: UsageMessage } {
  return typeof message === "object" && message !== null && "told" in message;
}
