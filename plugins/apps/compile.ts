/** Compiles the source of an app in the guarded child process. architecture 5. */
import { type AppEngine, type CssEngine } from "./engines.ts";
import { ChildFault, sha256, unavailable, type BaseContext } from "platform";
import type { AppRuntimes } from "./runtimes.ts";
import type { Task } from "./compiler/types.ts";

export interface Source {
  readonly appEngine: AppEngine;
  readonly cssEngine: CssEngine;
  readonly source: string;
}

export interface Compiled {
  /** For `html` the page as it is, else a module that mounts the app by itself. */
  readonly appCode: string;
  /** A style sheet for the page; "" where there is nothing to say. */
  readonly cssCode: string;
  /** Whole milliseconds. */
  readonly appBuildMs: number;
  readonly cssBuildMs: number;
}

export type CompileResult =
  | { readonly ok: true; readonly compiled: Compiled }
  /** Each is `line:column message`, both counted from 1. */
  | { readonly ok: false; readonly mistakes: readonly string[] };

export interface Compiler {
  /** Throws 503 where too many wait already: of all, or of this account. */
  compile(source: Source, accountId: number): Promise<CompileResult>;
  /** Changes with every version of a compiler or runtime: what another one compiled should be compiled again. */
  readonly toolchain: string;
  stop(): Promise<void>;
}

/** How long a compile may take, and how much memory. */
const limits = { timeLimitMs: 10_000, memoryBytes: 1 << 30 } as const;
/** Of one account: the sources of the others find a place in the queue too. */
const mostWaiting = 16;
const maxCachedCharacters = 8_000_000;

export function createCompiler(ctx: Pick<BaseContext, "child">, runtimes: AppRuntimes): Compiler {
  const child = ctx.child("compile", { ...limits, programs: { ESBUILD_BINARY_PATH: "esbuild" } });
  const cache = createCache();
  /** The same source at the same time is compiled once. */
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
        throw unavailable("too many apps are being compiled, try again");
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

/** So many places for each account; answers with the way to leave one, or undefined where all are taken. */
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

/** The results used last, as many as fit. The toolchain is not in the key: it never changes while a server runs. */
function createCache() {
  const results = new Map<string, CompileResult & { ok: true }>();
  let characters = 0;
  const sizeOf = ({ compiled }: CompileResult & { ok: true }) =>
    compiled.appCode.length + compiled.cssCode.length + 200;
  return {
    get(key: string) {
      const found = results.get(key);
      if (!found) return undefined;
      results.delete(key); // the newest stand last
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
