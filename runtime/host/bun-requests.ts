/**
 * Raises Bun's number of concurrent `fetch` requests. Its limit is 256 for all receivers together, and further requests
 * wait: thirty hanging receivers with ten requests each would hold up every webhook and connector. Bun reads the limit
 * from the environment only when it starts, so the server sets it there and starts itself again in the same process
 * (execv), which keeps its id and streams.
 */

const variable = "BUN_CONFIG_MAX_HTTP_REQUESTS";
/** More than webhooks (`WEBHOOK_CONCURRENCY`) and flows send at once; each has a limit of its own. */
const most = "20000";

/** For the server processes that this one starts. */
export const manyRequests = { [variable]: process.env[variable] ?? most };

/** Does not return if it restarts the program. If that is impossible, everything works with Bun's limit. */
export async function allowManyRequests([program = "", ...words]: readonly string[]): Promise<void> {
  if (process.env[variable] !== undefined) return;
  try {
    // Imported only here: it fails where a program may not load libraries.
    const { dlopen, ptr } = await import("bun:ffi");
    const { symbols } = dlopen(libraryOfC(), {
      setenv: { args: ["ptr", "ptr", "int"], returns: "int" },
      execv: { args: ["ptr", "ptr"], returns: "int" },
    });
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
