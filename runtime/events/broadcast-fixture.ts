/** A process that says what it has heard; for broadcast.test.ts, which stops and kills it. */
import { startProcess } from "../../tests/job-fixtures.ts";

const { broadcast } = await startProcess(JSON.parse(process.argv[2] ?? ""));
broadcast.on("t", (payload) => broadcast.publish("heard", `heard ${payload}`));
broadcast.publish("heard", "started");
