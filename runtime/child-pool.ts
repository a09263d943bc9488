/** The processes behind one child: started when there is work for them, replaced when they are worn, ended when idle. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChildProcess, type ChildProcess, type ChildProcessOptions } from "./child-process.ts";

export interface ChildPoolOptions extends Omit<ChildProcessOptions, "cwd"> {
  readonly processes: number;
  readonly maxRuns: number;
  readonly maxIdleBytes: number;
  readonly idleMs: number;
  readonly spareIdleMs: number;
}

export interface Worker {
  /** How many runs it has ended well. */
  readonly runs: number;
  /** Its run takes, or took, long. */
  readonly isLong: boolean;
}

export interface ChildPool {
  /** One that has nothing to do, a new one if need be; undefined where all are at work. To be asked at once. */
  take(): Worker | undefined;
  /** The output for this input. A worker that gives none is ended, and another one is started in its place. */
  ask(worker: Worker, input: unknown): Promise<unknown>;
  /** Ends all at once. */
  stop(): void;
}

interface Member {
  process: ChildProcess;
  runs: number;
  isLong: boolean;
  /** Undefined while it is at work. */
  idleSince: number | undefined;
  idleTimer: ReturnType<typeof setTimeout> | undefined;
}

export function createChildPool(options: ChildPoolOptions): ChildPool {
  const members = new Set<Member>();
  let folder: string | undefined;
  let stopped = false;

  const start = (): Member => {
    folder ??= mkdtempSync(join(tmpdir(), "corestead-child-"));
    const onLongRun = (): void => {
      member.isLong = true;
      options.onLongRun();
    };
    const process = startChildProcess({ ...options, cwd: folder, onLongRun });
    const member: Member = { process, runs: 0, isLong: false, idleSince: undefined, idleTimer: undefined };
    members.add(member);
    return member;
  };
  const discard = (member: Member): void => {
    clearTimeout(member.idleTimer);
    member.process.kill();
    members.delete(member);
  };
  const rest = (member: Member): void => {
    member.idleSince = performance.now();
    endWhenIdle(member);
  };
