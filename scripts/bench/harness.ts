/** Common to all benchmarks: processes and their figures from the kernel (Linux only), and tables of results. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { dependencies } from "../../package.json";
import type { DatabaseTarget, Sql } from "../../runtime/db/db.ts";
import { runningPostgres } from "../../runtime/operations/postgres/running-postgres.ts";
import type { Load, LoadAnswer, Measured } from "./load.ts";

export const root = resolve(import.meta.dir, "../..");
export const adminToken = "bench-admin-token-0123456789abcdefghijklmnop";
export const secretKey = "a secret key of the benchmark, 32 characters";
export const fromSource = [process.execPath, "plugins/main.ts", "serve"];

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

/** `corestead serve` as an administrator starts it, with its own PostgreSQL in `dataDir`. */
export function startCorestead(
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
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
    OUTBOUND_ALLOW: "127.0.0.1",
    LOG_LEVEL: "warn",
    ...env,
  };
  return startServer(command, settings, cwd);
}

// Generous: on a busy machine a process waits long before it has loaded its program.
const startsWithinMs = 120_000;

export async function startServer(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd = root,
): Promise<Server> {
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
    originIn(child.stdout),
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

async function originIn(output: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of output) {
    text += decoder.decode(bytes, { stream: true });
    const origin = /serves on (http:\/\/\S+)/.exec(text)?.[1];
    if (origin) return origin;
  }
  throw new Error(`a server ended and printed only: ${text}`);
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

/** Calls the API as the administrator, and throws where it refuses. */
export async function api(
  server: Server,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
) {
  const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 500)}`);
  return text === "" ? undefined : JSON.parse(text);
}

/** An API token of a person who is no administrator. */
export async function tokenOfPerson(server: Server, dataDir: string, cwd = root): Promise<string> {
  const user = { login: "reader", role: "user", password: "the password of a reader" };
  await api(server, "POST", "/account/users.json", { user });
  const command = [process.execPath, "plugins/main.ts", "token", "create", "--user", "reader"];
  const env = { PATH: Bun.env["PATH"] ?? "", DATA_DIR: dataDir, SECRET_KEY: secretKey };
  const text = await new Response(Bun.spawn(command, { cwd, env, stdout: "pipe", stderr: "inherit" }).stdout).text();
  const token = /\S{30,}/.exec(text)?.[0];
  if (token === undefined) throw new Error(`no token was made: ${text}`);
  return token;
}

const ticksPerSecond = 100; // USER_HZ, the same on every Linux

/** Processor seconds used so far by the server with its processes, and by its PostgreSQL. */
export function cpuOf(server: number, postmaster: number): { server: number; postgres: number } {
  const { parent, user, system } = statOf(postmaster);
  const counted = parent === server ? user + system : 0;
  return {
    server: (ticksBelow(server) - counted) / ticksPerSecond,
    postgres: ticksBelow(postmaster) / ticksPerSecond,
  };
}

/** Ticks of a process with its ended and running children. */
function ticksBelow(pid: number): number {
  const own = statOf(pid);
  let ticks = own.user + own.system + own.endedChildren;
  for (const name of readdirSync("/proc")) {
    const child = /^\d+$/.test(name) ? tryStatOf(Number(name)) : undefined;
    if (child?.parent === pid) ticks += child.user + child.system;
  }
  return ticks;
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

/** Undefined if the process has ended. */
function tryStatOf(pid: number): ReturnType<typeof statOf> | undefined {
  try {
    return statOf(pid);
  } catch {
    return undefined;
  }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = NaN, high = NaN] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return (low + high) / 2;
}

export function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? NaN;
}

/** Milliseconds. */
export async function timed(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await run();
  return performance.now() - began;
}

export function number(value: number, digits = 0): string {
  if (Number.isNaN(value)) return "";
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Prints rows of cells as a Markdown table; all columns but the first are aligned to the right. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((title, i) => Math.max(3, title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(" | ")} |`;
  const rule = widths.map((width, i) => (i === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`));
  process.stdout.write(`\n${[line(head), `| ${rule.join(" | ")} |`, ...rows.map(line)].join("\n")}\n`);
}

/** Prints whether a limit is met. If not, the benchmark fails. */
export function bound(what: string, value: number, limit: { most: number } | { least: number }, unit = ""): void {
  const met = "most" in limit ? value <= limit.most : value >= limit.least;
  const wanted = "most" in limit ? `at most ${limit.most}` : `at least ${limit.least}`;
  process.stdout.write(`${met ? "met" : "MISSED"}: ${what}: ${number(value, value < 10 ? 2 : 0)}${unit}, ${wanted}\n`);
  if (!met) process.exitCode = 1;
}

/** Prints the day and versions, without names of the machine or its folders. */
export async function printMeasuredWith(sql: Sql): Promise<void> {
  const [row] = await sql<{ serverVersion: string }[]>`show server_version`;
  const day = new Date().toISOString().slice(0, 10);
  const libraries = `Elysia ${dependencies.elysia}, postgres.js ${dependencies.postgres}, PostgreSQL ${row?.serverVersion}`;
  process.stdout.write(
    `Measured ${day} with Bun ${Bun.version}, ${libraries}, ${navigator.hardwareConcurrency} processors shared by client, servers and PostgreSQL.\n`,
  );
}
