/** A process that the tests of the embedded server start and kill: `bun embedded-postgres-fixture.ts FOLDER`. */
import { startEmbeddedPostgres } from "./embedded-postgres.ts";
import { createLog } from "../log.ts";

const [dataDir = ""] = process.argv.slice(2);
try {
  const server = await startEmbeddedPostgres({ dataDir, log: createLog("error") });
  process.stdout.write(`${JSON.stringify({ pid: server.pid(), target: server.target })}\n`);
  process.on("SIGTERM", () => void server.stop().then(() => process.exit(0)));
  await new Promise(() => setInterval(() => {}, 60_000));
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: error instanceof Error ? error.message : String(error) })}\n`);
}
