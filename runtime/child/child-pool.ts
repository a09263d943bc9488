/** The processes behind one child: started when there is work, replaced when worn, ended when idle. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GuardedProcess, type ProcessOptions } from "./child-process.ts";

interface PoolOptions extends Omit<ProcessOptions, "cwd"> {
  readonly processes: number;
  readonly maxRuns: number;
  readonly maxIdleBytes: number;
  readonly idleMs: number;
  readonly spareIdleMs: number;
}

export interface Worker {
  /** How many answers it has given. */
  readonly runs: number;
  /** Whether its latest run is, or was, a long one. */
  readonly isLong: boolean;
  /** Answers one question. A worker that fails to is ended and replaced. */
  ask(input: unknown): Promise<unknown>;
}

interface Member extends Worker {
  readonly process: GuardedProcess;
  runs: number;
  isLong: boolean;
  isIdle: boolean;
  idleTimer: ReturnType<typeof setTimeout> | undefined;
}

export function createChildPool(options: PoolOptions) {
  const members = new Set<Member>();
  let folder: string | undefined;
  let stopped = false;

  const start = (): Member => {
    folder ??= mkdtempSync(join(tmpdir(), "corestead-child-"));
    const onLongRun = (): void => {
      member.isLong = true;
      options.onLongRun();
    };
    const process = new GuardedProcess({ ...options, cwd: folder, onLongRun });
    const state = { runs: 0, isLong: false, isIdle: true, idleTimer: undefined };
    const member: Member = { process, ...state, ask: (input) => ask(member, input) };
    members.add(member);
    return member;
  };
  const discard = (member: Member): void => {
    clearTimeout(member.idleTimer);
    member.process.kill();
    members.delete(member);
  };
  const rest = (member: Member, since = performance.now()): void => {
    member.isIdle = true;
    const left = since + (members.size > 1 ? options.spareIdleMs : options.idleMs) - performance.now();
    if (left <= 0) return discard(member);
    // By then another worker may have become idle or ended, so decide again.
    member.idleTimer = setTimeout(() => rest(member, since), Math.min(left, options.spareIdleMs));
    member.idleTimer.unref();
  };
  const idle = (): Member | undefined => [...members].find(({ isIdle }) => isIdle);
  const replace = (member: Member): void => {
    discard(member);
    if (!stopped && !idle()) rest(start());
  };

  const ask = async (member: Member, input: unknown): Promise<unknown> => {
    try {
      const { output, rss } = await member.process.ask(input);
      member.runs++;
      if (member.runs >= options.maxRuns || rss > options.maxIdleBytes) replace(member);
      else rest(member);
      return output;
    } catch (error) {
      replace(member);
      throw error;
    }
  };
  return {
    /** An idle worker, newly started if necessary, which must be asked at once. Undefined if all are busy. */
    take(): Worker | undefined {
      for (const member of members) if (member.isIdle && !member.process.alive) discard(member);
      const mayStart = !stopped && members.size < options.processes && [...members].every(({ isLong }) => isLong);
      const member = idle() ?? (mayStart ? start() : undefined);
      if (!member) return undefined;
      clearTimeout(member.idleTimer);
      member.isIdle = false;
      member.isLong = false;
      return member;
    },
    /** Ends all workers and their runs. */
    stop(): void {
      stopped = true;
      for (const member of members) discard(member);
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}
