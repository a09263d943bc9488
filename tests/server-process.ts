/**
 * Runs Corestead as users do: a process of its own, from source or the executable, in a folder of its own.
 *
 *     const server = await startServer(fromSource, { cwd: folder, env: { DATA_DIR: "data" } });
 *     await server.request("GET", "/health");
 *     expect(await server.stop()).toBe(0);
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { requester, type TestApp } from "./harness.ts";

/** `scripts/test` names the bundle that it has made of the source (server-bundle.ts). */
const program = process.env["TEST_SERVER"] || resolve(import.meta.dir, "../plugins/main.ts");
export const fromSource = [process.execPath, program];

export interface ProcessOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface ServerProcess {
  readonly origin: string;
  readonly pid: number;
  /** Its standard output so far, and its standard error. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly request: TestApp["request"];
  readonly exited: Promise<number>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** SIGTERM, and the exit code. */
  readonly stop: () => Promise<number>;
}

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const running = new Set<Bun.Subprocess>();
const folders: string[] = [];

/** Ends processes that a failed test left running, and removes the folders. Call it in `afterAll`. */
export async function cleanUp(): Promise<void> {
  for (const child of running) child.kill("SIGKILL");
  await Promise.all([...running].map((child) => child.exited));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** An own folder, with these files in it. */
export function folderWith(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "corestead-process-"));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** Resolves when it prints its address; if it ends before that, throws its output. */
export async function startServer(command: readonly string[], options: ProcessOptions): Promise<ServerProcess> {
  const child = spawn(command, options);
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  const origin = await Promise.race([
    stdout.match(/serves on (https?:\S+)/),
    child.exited.then((code) => {
      throw new Error(`the server ended (${code}): ${stderr.text()}`);
    }),
  ]);
  return {
    origin,
    pid: child.pid,
    stdout: stdout.text,
    stderr: stderr.text,
    request: requester(origin, command.includes(program) && !options.env?.["PLUGINS_DIR"]),
    exited: child.exited,
    kill: (signal) => child.kill(signal),
    stop: () => {
      child.kill("SIGTERM");
      return child.exited;
    },
  };
}

/** Runs a command that ends by itself. */
export async function run(command: readonly string[], options: ProcessOptions): Promise<Ended> {
  const child = spawn(command, options);
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, stdout, stderr };
}

function spawn(command: readonly string[], { cwd, env }: ProcessOptions) {
  const child = Bun.spawn([...command], {
    cwd,
    // Without our own environment, which may contain settings of Corestead.
    env: { PATH: process.env["PATH"] ?? "", PORT: "0", LOG_LEVEL: "warn", ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  running.add(child);
  void child.exited.then(() => running.delete(child));
  return child;
}

/** Reads a stream as it comes. `match` resolves with the first group. */
function collect(stream: ReadableStream<Uint8Array>) {
  let text = "";
  const waiting = new Set<() => void>();
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true });
      for (const check of waiting) check();
    }
  })();
  return {
    text: () => text,
    match: (pattern: RegExp): Promise<string> =>
      new Promise((found, failed) => {
        const check = () => {
          const [, group] = pattern.exec(text) ?? [];
          if (group === undefined) return;
          waiting.delete(check);
          found(group);
        };
        waiting.add(check);
        check();
        reading.catch(failed);
      }),
  };
}
