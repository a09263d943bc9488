/** How many connections an installation opens. */
import type { Config } from "../config.ts";

/** What else each process opens: to serve all plugins beside one that is stuck, to listen, and to tell whether it is ready. */
const besidePool = 4;

/** Of all processes of this machine together. */
export function connectionsOf({ workers, databasePool }: Pick<Config, "workers" | "databasePool">): number {
  return workers * (databasePool + besidePool);
}
