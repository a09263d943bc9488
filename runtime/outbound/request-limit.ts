/**
 * How many requests `fetch` has under way at once. Bun's own bound is 256 for all receivers together, and what comes
 * after waits: thirty receivers that hang, ten requests each, would hold up every webhook and connector. Bun reads the
 * bound from the environment when it starts and never again, so the server puts it there and begins anew: the same
 * process, its id and streams stay (execv).
 */
import { ownProgram } from "../command/own-program.ts";

const variable = "BUN_CONFIG_MAX_HTTP_REQUESTS";
/** Above all that webhooks (`WEBHOOK_CONCURRENCY`) and flows send at once; each is bounded by itself. */
const most = "20000";

/** For server processes that this one starts. */
export const manyRequests = { [variable]: process.env[variable] ?? most };

/** Does not come back where it begins anew; where that cannot be, everything works with Bun's bound. */
export async function allowManyRequests(): Promise<void> {
  if (process.env[variable] !== undefined) return;
  try {
    // Only here: where a program may not load libraries, it fails.
    const { dlopen, ptr } = await import("bun:ffi");
    const { symbols } = dlopen(libraryOfC(), {
      setenv: { args: ["ptr", "ptr", "int"], returns: "int" },
      execv: { args: ["ptr", "ptr"], returns: "int" },
    });
    const [program = "", ...words] = ownProgram();
    const texts = [program, ...process.execArgv, ...words, ...process.argv.slice(2)].map(textOfC);
    const pointers = new BigUint64Array([...texts.map((text) => BigInt(ptr(text))), 0n]);
    symbols.setenv(ptr(textOfC(variable)), ptr(textOfC(most)), 1);
    symbols.execv(ptr(textOfC(program)), ptr(pointers));
  } catch {
    // another C library, or none that may be loaded
  }
}

function libraryOfC(): string {
  return process.platform === "darwin" ? "libSystem.B.dylib" : "libc.so.6";
}

function textOfC(text: string): Buffer {
  return Buffer.from(`${text}\0`);
}
