/**
 * Rate limits shared by all server processes of one supervisor: they ask it, and it counts. A process that runs alone
 * counts for itself.
 */
import { createLimiter, type Limiter, type LimiterOptions, type Take } from "./rate-limit.ts";

export interface SharedLimiter {
  take(key: string, n?: number): Promise<Take>;
}

export type Limits = (name: string, options: Pick<LimiterOptions, "limit" | "windowSeconds">) => SharedLimiter;

/** What a worker sends its supervisor. */
interface Question {
  readonly ask: number;
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
  readonly key: string;
  readonly n: number;
}

interface Answer {
  readonly answer: number;
  readonly take: Take;
}

/** Counts in this process. */
export const localLimits: Limits = (_name, options) => {
  const limiter = createLimiter(options);
  return { take: async (key, n) => limiter.take(key, n) };
};

/** Counts for the workers of this process: pass it each of their messages. */
export function createLimitServer(): (message: unknown, reply: (answer: Answer) => void) => void {
  const limiters = new Map<string, Limiter>();
  return (message, reply) => {
    if (!isQuestion(message)) return;
    const { ask, name, limit, windowSeconds, key, n } = message;
    const limiter = limiters.get(name) ?? createLimiter({ limit, windowSeconds });
    limiters.set(name, limiter);
    reply({ answer: ask, take: limiter.take(key, n) });
  };
}

/** Asks the supervisor. If the connection to it is gone, this process counts for itself. */
export function supervisedLimits(): Limits {
  const waiting = new Map<number, (take: Take) => void>();
  let asked = 0;
  process.on("message", (message: unknown) => {
    if (!isAnswer(message)) return;
    waiting.get(message.answer)?.(message.take);
    waiting.delete(message.answer);
  });
  return (name, options) => {
    const fallback = createLimiter(options);
    return {
      take: (key, n = 1) =>
        new Promise((resolve) => {
          const ask = ++asked;
          waiting.set(ask, resolve);
          const question: Question = { ask, name, ...options, key, n };
          if (process.connected && process.send?.(question)) return;
          waiting.delete(ask);
          resolve(fallback.take(key, n));
        }),
    };
  };
}

function isQuestion(message: unknown): message is Question {
  return typeof message === "object" && message !== null && "ask" in message;
}

function isAnswer(message: unknown): message is Answer {
  return typeof message === "object" && message !== null && "answer" in message;
}
