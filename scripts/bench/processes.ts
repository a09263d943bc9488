/**
 * The child processes of a benchmark (servers and the load generator) and their figures from the kernel. Linux only.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { runningPostgres } from "../../runtime/postgres/running-postgres.ts";
import type { DatabaseTarget } from "../../runtime/db.ts";
import type { Load, LoadAnswer, Measured } from "./load.ts";

const root = resolve(import.meta.dir, "../..");
// Generous: on a busy machine a process waits long before it has loaded its program.
const startsWithinMs = 120_000;
export const adminToken = "bench-admin-token-0123456789abcdefghijklmnop";

export const secretKey = "a secret key of the benchmark, 32 characters";

export interface Server {
  readonly pid: number;
  readonly port: number;
  /** Milliseconds from the start of the process to its first answer. */
  readonly readyMs: number;
  stop(): Promise<void>;
}

/** A folder that is removed when this process ends. The embedded PostgreSQL runs as another user, who may enter it. */
export async function temporaryFolder(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "corestead-bench-"));
  await chmod(folder, 0o755);
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const fromSource = [process.execPath, "plugins/main.ts", "serve"];

/** `corestead serve` as an administrator starts it, with its own PostgreSQL in `dataDir`. */
export async function startCorestead(
  dataDir: string,
  env: Record<string, string> = {},
  command: readonly string[] = fromSource,
  cwd = root,
): Promise<Server> {
  const settings = {
    PORT: "0",
    DATA_DIR: dataDir,
    SECRET_KEY: secretKey,
    CORE_ADMIN_LOGIN: "admin",
    CORE_ADMIN_PASSWORD: "the password of the benchmark",
    CORE_ADMIN_TOKEN: adminToken,
    LOG_LEVEL: "warn",
    ...env,
  };
  return startServer(command, settings, cwd);
}

export type CeilingName = "wide" | "narrow";

/** Starts a hand-written server on that database. */
export async function startCeiling(
  target: DatabaseTarget & { readonly ceiling?: CeilingName },
  file: "ceiling.ts" | "flow-ceiling.ts" = "ceiling.ts",
): Promise<Server> {
  return startServer([process.execPath, `scripts/bench/${file}`], { CEILING_DATABASE: JSON.stringify(target) });
}

async function startServer(command: readonly string[], env: Record<string, string>, cwd = root): Promise<Server> {
  const started = performance.now();
  const child = Bun.spawn([...command], {
    cwd,
    env: { PATH: Bun.env["PATH"] ?? "", NODE_ENV: "production", ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  children.add(child);
  const origin = await Promise.race([
    saidOrigin(child.stdout),
    child.exited.then((code) => Promise.reject(new Error(`${command.join(" ")} ended with status ${code}`))),
    Bun.sleep(startsWithinMs).then(() => Promise.reject(new Error(`${command.join(" ")} did not start`))),
  ]);
  const { status } = await fetch(`${origin}/ready`);
  const readyMs = performance.now() - started;
  if (status !== 200) throw new Error(`${command.join(" ")} is not ready: ${status}`);
  const stop = async () => {
    child.kill("SIGTERM");
    await child.exited;
    children.delete(child);
  };
  return { pid: child.pid, port: Number(new URL(origin).port), readyMs, stop };
}

const children = new Set<Bun.Subprocess>();
process.once("exit", endChildren);

/** After a failed benchmark: a server ends its PostgreSQL first; only then can their folder be removed. */
function endChildren(): void {
  for (const child of children) child.kill("SIGTERM");
  for (const child of children) {
    for (let i = 0; i < 100 && isRunning(child.pid); i++) Bun.sleepSync(50);
  }
}

function isRunning(pid: number): boolean {
  const state = tryStatOf(pid)?.state;
  return state !== undefined && state !== "Z"; // a zombie has ended, but nobody has read its status
}

async function saidOrigin(output: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let said = "";
  for await (const bytes of output) {
    said += decoder.decode(bytes, { stream: true });
    const origin = /serves on (http:\/\/\S+)/.exec(said)?.[1];
    if (origin) return origin;
  }
  throw new Error(`a server ended and said only: ${said}`);
}

/** The PostgreSQL that a running Corestead has in `dataDir`. */
export async function postgresOf(dataDir: string): Promise<{ target: DatabaseTarget; pid: number }> {
  const target = await runningPostgres(dataDir);
  if (!target) throw new Error("no PostgreSQL runs in the data folder");
  return { target, pid: Number.parseInt(readFileSync(join(dataDir, "postgres/postmaster.pid"), "utf8"), 10) };
}

export interface LoadGenerator {
  run(load: Load): Promise<Measured>;
  stop(): void;
}

export function startLoadGenerator(): LoadGenerator {
  let answer: (message: LoadAnswer) => void = () => {};
  const child = Bun.spawn([process.execPath, "scripts/bench/load.ts"], {
    cwd: root,
    stdout: "inherit",
    stderr: "inherit",
    ipc: (message: LoadAnswer) => answer(message),
    onExit: () => answer({ error: "the load generator ended" }),
  });
  children.add(child);
  const run = (load: Load) =>
    new Promise<Measured>((done, failed) => {
      answer = (message) => ("error" in message ? failed(new Error(message.error)) : done(message.measured));
      child.send(load);
    });
  return { run, stop: () => child.kill() };
}

const ticksPerSecond = 100; // USER_HZ, the same on every Linux

/** Processor seconds that a process has used so far, all threads together. */
export function cpuOf(pid: number): number {
  const { user, system } = statOf(pid);
  return (user + system) / ticksPerSecond;
}

/** The same for a PostgreSQL: the postmaster, its ended children, and the running ones. */
export function cpuOfPostgres(postmaster: number): number {
  const own = statOf(postmaster);
  let ticks = own.user + own.system + own.endedChildren;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const child = tryStatOf(Number(name));
    if (child?.parent === postmaster) ticks += child.user + child.system;
  }
  return ticks / ticksPerSecond;
}

/** Resident memory in megabytes: at present, and its peak. */
export function memoryOf(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const megabytes = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1] ?? NaN) / 1024;
  return { now: megabytes("VmRSS"), peak: megabytes("VmHWM") };
}

function statOf(pid: number) {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name in parentheses may contain spaces, so count fields from after it (proc_pid_stat(5), from field 3).
  const words = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const fields = words.map(Number);
  const [user = NaN, system = NaN, endedUser = NaN, endedSystem = NaN] = fields.slice(11, 15);
  return { state: words[0], parent: fields[1], user, system, endedChildren: endedUser + endedSystem };
}

function tryStatOf(pid: number) {
  try {
    return statOf(pid);
  } catch {
    return undefined; // it has ended
  }
}
