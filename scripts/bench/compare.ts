/** Measures one operation on two servers alternately, A B A B …, so that other load on the machine affects both. */
import { cpuOf, cpuOfPostgres, type LoadGenerator, type Server } from "./processes.ts";
import type { Load, Measured } from "./load.ts";
import type { OperationName, Target } from "./operations.ts";

export interface Side {
  readonly server: Server;
  readonly target: Target;
  /** The PostgreSQL of this side, if it has its own. */
  readonly postgresPid?: number;
}

export interface Pair {
  readonly corestead: Side;
  readonly ceiling: Side;
  readonly postgresPid: number;
  readonly load: LoadGenerator;
}

export interface CompareOptions<O extends Load["operation"]> {
  readonly operation: O;
  readonly connections: number;
  readonly rounds: number;
  readonly seconds: number;
}

/** One server's results in a comparison: medians of the rounds. */
export interface SideResult {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Processor milliseconds per request, of the server process and of PostgreSQL. */
  readonly serverCpu: number;
  readonly postgresCpu: number;
}

export interface Comparison<O extends Load["operation"] = OperationName> {
  readonly operation: O;
  readonly connections: number;
  readonly corestead: SideResult;
  readonly ceiling: SideResult;
  /** Corestead's requests per second divided by the ceiling's: the median of the rounds' ratios. */
  readonly ratio: number;
  readonly p99Ratio: number;
  readonly cpuRatio: number;
}

const maxRequests = 200_000;

export async function compare<O extends Load["operation"]>(
  pair: Pair,
  options: CompareOptions<O>,
): Promise<Comparison<O>> {
  const rounds: { corestead: Round; ceiling: Round }[] = [];
  for (let round = 0; round < options.rounds; round++) {
    const seed = options.connections * 1000 + round;
    const corestead = await measure(pair, pair.corestead, { ...options, seed });
    const ceiling = await measure(pair, pair.ceiling, { ...options, seed });
    rounds.push({ corestead, ceiling });
  }
  const ratioOf = (value: (round: Round) => number) =>
    median(rounds.map(({ corestead, ceiling }) => value(corestead) / value(ceiling)));
  return {
    operation: options.operation,
    connections: options.connections,
    corestead: summary(rounds.map((round) => round.corestead)),
    ceiling: summary(rounds.map((round) => round.ceiling)),
    ratio: ratioOf(({ measured }) => measured.requests / measured.seconds),
    p99Ratio: ratioOf(({ measured }) => measured.p99),
    cpuRatio: ratioOf(({ measured, serverCpu, postgresCpu }) => (serverCpu + postgresCpu) / measured.requests),
  };
}

/** Lets a server compile and cache what this operation needs. */
export async function warmUp(
  { load }: Pair,
  { target }: Side,
  operation: Load["operation"],
  seconds: number,
): Promise<void> {
  await load.run({ operation, target, connections: 16, seconds, maxRequests, seed: 1 });
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = NaN, high = NaN] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return (low + high) / 2;
}

interface Round {
  readonly measured: Measured;
  /** Seconds. */
  readonly serverCpu: number;
  readonly postgresCpu: number;
}

async function measure(
  { load, postgresPid: common }: Pair,
  { server, target, postgresPid = common }: Side,
  { operation, connections, seconds, seed }: Pick<Load, "operation" | "connections" | "seconds" | "seed">,
): Promise<Round> {
  const before = { server: cpuOf(server.pid), postgres: cpuOfPostgres(postgresPid) };
  const measured = await load.run({ operation, target, connections, seconds, maxRequests, seed });
  const serverCpu = cpuOf(server.pid) - before.server;
  return { measured, serverCpu, postgresCpu: cpuOfPostgres(postgresPid) - before.postgres };
}

function summary(rounds: readonly Round[]): SideResult {
  const of = (value: (round: Round) => number) => median(rounds.map(value));
  return {
    perSecond: of(({ measured }) => measured.requests / measured.seconds),
    p50: of(({ measured }) => measured.p50),
    p99: of(({ measured }) => measured.p99),
    serverCpu: of(({ measured, serverCpu }) => (serverCpu / measured.requests) * 1000),
    postgresCpu: of(({ measured, postgresCpu }) => (postgresCpu / measured.requests) * 1000),
  };
}
