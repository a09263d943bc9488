/** The browser runtimes of the engines, bundled once by scripts/runtimes.ts. DESIGN 5. */
import type { AppEngine } from "./compile.ts";

export interface AppRuntimes {
  /** Changes with every version of a runtime or of the browser SDK. */
  readonly hash: string;
  /** The import map of an engine: specifier -> `/_rt/<hash>/x.js`. */
  importMap(engine: AppEngine): Readonly<Record<string, string>>;
  /** Files to preload for an engine. */
  preloads(engine: AppEngine): readonly string[];
  /** The address of a named file: `core.js` (the SDK), `tailwind.js` (@tailwindcss/browser). */
  address(name: string): string;
}

export async function loadRuntimes(): Promise<AppRuntimes> {
  throw new Error("not there yet");
}
