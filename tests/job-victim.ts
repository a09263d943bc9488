/** A process that jobs.test.ts kills while its job runs: it reports the start of the job, which never ends. */
import { openPool } from "../runtime/db/db.ts";
import { createBroadcast } from "../runtime/broadcast/broadcast.ts";
import { createQueue } from "../runtime/jobs/jobs.ts";
import { createLog } from "../runtime/system/log.ts";
import { job } from "../runtime/base/references.ts";

const [, , target = "", name = ""] = process.argv;
const log = createLog("error");
const sql = openPool(JSON.parse(target), { max: 2 });
const listen = () => openPool(JSON.parse(target), { max: 1 });
const processId = crypto.randomUUID();
const broadcast = createBroadcast({ sql, listen, processId, log });
await broadcast.start();
const queue = createQueue({ sql, broadcast, log, processId, pollMs: 20 });
const hang = async (_: unknown, { attempt }: { attempt: number }) => {
  process.stdout.write(`running attempt ${attempt}\n`);
  await new Promise(() => {});
};
queue.handle(job(name), hang, { leaseSeconds: 1 });
await queue.start();
