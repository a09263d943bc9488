/** The program, from source: `bun runtime/main.ts [command]`. What it does stands in command-line.ts. */
import { allowManyRequests } from "./request-limit.ts";

// Before all the rest is read: it would be read twice.
const [command = "serve"] = process.argv.slice(2);
if (command === "serve" && process.argv.length <= 3) await allowManyRequests();
await import("./command-line.ts");
