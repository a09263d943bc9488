/**
 * The load generator's process: answers each `Load` from its parent with a `Measured` or an error.
 */
import { randomSequence } from "./contacts.ts";
import { runLoop } from "./client.ts";
import { operations, type Target } from "./operations.ts";

export interface Load {
  readonly operation: keyof typeof operations;
  readonly target: Target;
  readonly connections: number;
  readonly seconds: number;
  readonly maxRequests: number;
  /** The same seed gives the same requests. */
  readonly seed: number;
}

export interface Measured {
  readonly requests: number;
  readonly seconds: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Processor seconds of this process. */
  readonly clientCpu: number;
}

export type LoadAnswer = { readonly measured: Measured } | { readonly error: string };

process.on("message", (load: Load) => {
  measure(load).then(
    (measured) => process.send?.({ measured }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on("disconnect", () => process.exit(0));

async function measure({ operation, target, seed, ...loop }: Load): Promise<Measured> {
  const random = randomSequence(seed);
  const before = process.cpuUsage();
  const result = await runLoop({ ...loop, port: target.port, next: () => operations[operation](target, random) });
  const { user, system } = process.cpuUsage(before);
  const at = (share: number) => result.latencies[Math.floor((result.latencies.length - 1) * share)] ?? NaN;
  const { requests, seconds } = result;
  return { requests, seconds, p50: at(0.5), p99: at(0.99), clientCpu: (user + system) / 1e6 };
}
