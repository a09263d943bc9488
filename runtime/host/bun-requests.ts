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
  const given = [program, ...process.execArgv, ...words, ...process.argv.slice(2)];
  try {
    process.execve?.(program, given, { ...process.env, [variable]: most });
  } catch {
    // a system that does not let it
  }
}
