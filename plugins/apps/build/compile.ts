/** Compiles the source of an app in the guarded child process. architecture 5. */
import { type AppEngine, type CssEngine } from "../choices.ts";
import { ChildFault, sha256, unavailable, type BaseContext } from "platform";
import type { AppRuntimes } from "./runtimes.ts";
import type { CompileResult, Task } from "../compiler/task.ts";

export interface Source {
  readonly appEngine: AppEngine;
  readonly cssEngine: CssEngine;
  readonly source: string;
}

export interface Compiler {
  /** Throws 503 if too many are waiting, in all or for this account, or the machine is too busy to compile. */
  compile(source: Source, accountId: number): Promise<CompileResult>;
  /** Changes with every version of a compiler or runtime: builds by another toolchain must be compiled again. */
  readonly toolchain: string;
  stop(): Promise<void>;
}

/** How long a compile may take, and how much memory. */
const limits = { timeLimitMs: 10_000, memoryBytes: 1 << 30 } as const;
/** Per account, so that others find a place in the queue too. */
const mostWaiting = 16;
const maxCachedCharacters = 8_000_000;

export function createCompiler(ctx: Pick<BaseContext, "child">, runtimes: AppRuntimes): Compiler {
  const child = ctx.child("compile", { ...limits, programs: { ESBUILD_BINARY_PATH: "esbuild" } });
  const cache = createCache();
  /** A source that is being compiled is not compiled a second time. */
  const running = new Map<string, Promise<CompileResult>>();
  const enter = createPlaces(mostWaiting);

  const compile = async (source: Source, accountId: number): Promise<CompileResult> => {
    const leave = enter(accountId);
    if (!leave) throw unavailable("too many apps of this account are being compiled, try again");
    const task: Task = { ...source, allowed: Object.keys(runtimes.importMap(source.appEngine)) };
    try {
      return (await child.run(task)) as CompileResult; // compiler/main.ts answers with one
    } catch (error) {
      if (!(error instanceof ChildFault)) throw error;
      if (error.reason === "busy" || error.reason === "stopped")
        throw unavailable("the server is too busy to compile the app, try again");
      return { ok: false, mistakes: [`1:1 ${explanation(error)}`] };
    } finally {
      leave();
    }
  };

  return {
    toolchain: runtimes.toolchain,
    async compile(source, accountId) {
      const key = sha256(JSON.stringify([source.appEngine, source.cssEngine, source.source]));
      const known = cache.get(key);
      if (known) return known;
      const result = running.get(key) ?? compile(source, accountId).finally(() => running.delete(key));
      running.set(key, result);
      const done = await result;
      if (done.ok) cache.set(key, done);
      return done;
    },
    stop: child.stop,
  };
}

function explanation({ reason }: ChildFault): string {
  if (reason === "timeout") return `the source takes longer than ${limits.timeLimitMs / 1000} s to compile`;
  if (reason === "result-too-large") return "the compiled code would be too large";
  return `the source cannot be compiled: it takes more than ${limits.memoryBytes >> 20} MB, or breaks the compiler`;
}

/** Gives each account `most` places. Answers with the function that frees the place, or undefined if all are taken. */
function createPlaces(most: number): (accountId: number) => (() => void) | undefined {
  const taken = new Map<number, number>();
  return (accountId) => {
    const before = taken.get(accountId) ?? 0;
    if (before >= most) return undefined;
    taken.set(accountId, before + 1);
    return () => {
      const left = (taken.get(accountId) ?? 0) - 1;
      if (left > 0) taken.set(accountId, left);
      else taken.delete(accountId);
    };
  };
}

/** The most recently used results, as many as fit. The toolchain is not in the key: it cannot change while a server runs. */
function createCache() {
  const results = new Map<string, CompileResult & { ok: true }>();
  let characters = 0;
  const sizeOf = ({ compiled }: CompileResult & { ok: true }) =>
    compiled.appCode.length + compiled.cssCode.length + 200;
  return {
    get(key: string) {
      const found = results.get(key);
      if (!found) return undefined;
      results.delete(key); // the newest come last
      results.set(key, found);
      return found;
    },
    set(key: string, result: CompileResult & { ok: true }) {
      if (results.has(key) || sizeOf(result) > maxCachedCharacters / 4) return;
      results.set(key, result);
      characters += sizeOf(result);
      for (const [oldest, value] of results) {
        if (characters <= maxCachedCharacters) break;
        results.delete(oldest);
        characters -= sizeOf(value);
      }
    },
  };
}
