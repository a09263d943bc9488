/**
 * The hand-written side of flows.ts: the benchmarked program in TypeScript, for this one flow, with Elysia and
 * postgres.js. Run it with `CEILING_DATABASE` (a target as JSON) whose database has the table `runs`; it prints its
 * port.
 *
 * `/five` stores the state after every step, with a statement and a commit each; `/one` stores the whole run at its
 * end. Both have the caller's token in memory, which saves the statement that looks it up.
 */
import { Elysia, status, t } from "elysia";
import postgres from "postgres";
import { adminToken } from "./processes.ts";

const { socketDir, port, database, user } = JSON.parse(Bun.env["CEILING_DATABASE"] ?? "null");
const sql = postgres({ path: `${socketDir}/.s.PGSQL.${port}`, host: "localhost", port, database, user, max: 10 });

interface Input {
  readonly temp: number;
  readonly name: string;
}
interface StepRecord {
  readonly id: string;
  readonly type: string;
  readonly status: "finished";
  readonly started_at: string;
  readonly finished_at: string;
  readonly output: unknown;
}
type Variables = Record<string, unknown>;

/** What each step does; the last one returns the result. */
const program: readonly (readonly [type: string, run: (input: Input, variables: Variables) => unknown])[] = [
  ["mutation", ({ temp }, variables) => Object.assign(variables, { temp })],
  ["mutation", ({ temp }, variables) => Object.assign(variables, { fahrenheit: temp * 1.8 + 32 })],
  ["if", ({ temp }) => temp > 20],
  ["mutation", ({ name }, variables) => Object.assign(variables, { advice: `Take a hat, ${name}` })],
  ["return", (_, { advice, fahrenheit }) => ({ advice, fahrenheit })],
];
const body = t.Object({ temp: t.Number(), name: t.String() });

const app = new Elysia()
  .get("/ready", "ready")
  .onBeforeHandle(({ headers }) => {
    return headers["authorization"] === `Bearer ${adminToken}` ? undefined : status(401, { error: "sign in" });
  })
  .post(
    "/five",
    async ({ body: input, set }) => {
      const id = Bun.randomUUIDv7();
      const steps: StepRecord[] = [];
      const variables: Variables = {};
      let data: unknown;
      for (const at of program.keys()) {
        data = step(at, input, variables, steps);
        const last = at === program.length - 1;
        if (at === 0) {
          await sql`
            insert into runs (id, status, input, memory, steps)
            values (${id}, 'pending', ${text(input)}::text::json, ${text(variables)}::text::json, ${text(steps)}::text::json)`;
        } else if (last) {
          await sql`
            update runs set status = 'finished', data = ${text(data)}::text::json, steps = ${text(steps)}::text::json,
              memory = null, finished_at = now() where id = ${id}`;
        } else {
          await sql`
            update runs set memory = ${text(variables)}::text::json, steps = ${text(steps)}::text::json where id = ${id}`;
        }
      }
      set.status = 201;
      return { id, status: "finished", input, data, steps };
    },
    { body },
  )
  .post(
    "/one",
    async ({ body: input, set }) => {
      const id = Bun.randomUUIDv7();
      const steps: StepRecord[] = [];
      const variables: Variables = {};
      let data: unknown;
      for (const at of program.keys()) data = step(at, input, variables, steps);
      await sql`
        insert into runs (id, status, input, data, steps, finished_at)
        values (${id}, 'finished', ${text(input)}::text::json, ${text(data)}::text::json, ${text(steps)}::text::json, now())`;
      set.status = 201;
      return { id, status: "finished", input, data, steps };
    },
    { body },
  );

function step(at: number, input: Input, variables: Variables, steps: StepRecord[]): unknown {
  const [type, run] = program[at] ?? ["", () => null];
  const started_at = new Date().toJSON();
  const output = structuredClone(run(input, variables));
  steps.push({ id: `${at}`, type, status: "finished", started_at, finished_at: new Date().toJSON(), output });
  return output;
}

function text(value: unknown): string {
  return JSON.stringify(value);
}

app.listen({ hostname: "127.0.0.1", port: 0 });
process.stdout.write(`flow-ceiling serves on http://127.0.0.1:${app.server?.port}\n`);
