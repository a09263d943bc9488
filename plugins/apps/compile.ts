/** Compiles the source of an app in the guarded child process. DESIGN 5. */
import type { BaseContext } from "platform";
import type { AppRuntimes } from "./runtimes.ts";

export const appEngines = ["svelte", "vue", "react", "js", "html", "kaboom", "phaser"] as const;
export type AppEngine = (typeof appEngines)[number];

export const cssEngines = ["tailwind_all", "tailwind", "none"] as const;
export type CssEngine = (typeof cssEngines)[number];

export interface Source {
  readonly appEngine: AppEngine;
  readonly cssEngine: CssEngine;
  readonly source: string;
}

export interface Compiled {
  readonly appCode: string;
  readonly cssCode: string;
  readonly appBuildMs: number;
  readonly cssBuildMs: number;
}

export type CompileResult =
  | { readonly ok: true; readonly compiled: Compiled }
  | { readonly ok: false; readonly mistakes: readonly string[] };

export interface Compiler {
  compile(source: Source): Promise<CompileResult>;
  /** Changes with every version of a compiler or runtime. */
  readonly toolchain: string;
  stop(): Promise<void>;
}

export function createCompiler(_ctx: BaseContext, _runtimes: AppRuntimes): Compiler {
  throw new Error("not there yet");
}
