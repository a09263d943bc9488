/** How many connections an installation opens. */
import type { Config } from "../config.ts";

/** What else each process opens: to serve all plugins beside one that is stuck, to listen, and to tell whether it is ready. */
const besidePool = 4;

/** Of all processes of this machine together. */
export function connectionsOf(config: Pick<Config, "workers" | "databasePool" | "databaseReadUrl">): number {
  const { workers, databasePool, databaseReadUrl } = config;
  // One that asks how far the replicas must be.
  return workers * (databasePool + besidePool + (databaseReadUrl === "" ? 0 : 1));
}
