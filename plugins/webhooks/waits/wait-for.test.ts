/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually, person, startTestApp, type RequestOptions, type TestApp } from "../../../tests/harness.ts";
import { cleanUp, folderWith, fromSource, startServer } from "../../../tests/server-process.ts";
import { adminToken } from "../../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  for (const code of ["orders", "secrets"])
    expect((await app.post("/core/dbs.json", { db: { name: code, code } })).status).toBe(201);
});
afterAll(async () => {
  await app.stop();
  await cleanUp();
});

let number = 0;
const paid = { type: "wait_for", source_type: "Core::Record", kind: "update", as: "event" };
const order = (more: object = {}) => ({ ...paid, filter: { db_code: "orders", ...more } });
const save = (program: object[], options: RequestOptions = {}) => {
  const code = `wait-${++number}`;
  return app
    .post("/connect/flows.json", { flow: { name: code, code, fields: { program } } }, options)
    .then((answer) => ({ ...answer, code }));
};
async function run(program: object[], input: object = {}, options: RequestOptions = {}): Promise<string> {
  const { code, status, text } = await save(program, options);
  expect([status, text]).toEqual([201, expect.any(String)]);
  return (await app.post(`/connect/flows/${code}/run.json?wait=0`, input)).json.id;
}
const back = { type: "return", value: "{{ event }}" };
const process = async (id: string, options: RequestOptions = {}) =>
  (await app.get(`/connect/flow_processes/${id}.json`, options)).json;
const ended = (id: string) =>
  eventually(async () => {
    const one = await process(id);
    return one.status !== "pending" && one;
  }, "the end of the process");
const opened = (id: string, count = 1) =>
  eventually(async () => {
    const rows = await app.sql`select from flow_waits where process_id = ${id} and status = 'open'`;
    return rows.length === count;
  }, "a wait");
const create = async (db: string, data: object) =>
  (await app.post(`/core/dbs/${db}/records.json`, { record: { data } })).json.id as string;
const change = (db: string, id: string, data: object) =>
  app.patch(`/core/dbs/${db}/records/${id}.json`, { record: { data } });
/** Every event has been looked at. */
const settled = () =>
  eventually(async () => (await app.sql`select from jobs where name like '%flow-waits'`).length === 0, "all events");

describe("a wait for an event", () => {
  test("parks the process, and goes on with the record that has these values", async () => {
    const mine = await create("orders", { n: "mine", status: "new" });
    const other = await create("orders", { n: "other", status: "new" });
    const id = await run([order({ id: "{{ input.order }}", status: "paid" }), back], { order: mine });
    await opened(id);
    await change("orders", other, { status: "paid" });
    await change("orders", mine, { status: "packed" });
    await settled();
    expect(await process(id)).toMatchObject({ status: "pending" });
    await change("orders", mine, { status: "paid" });
    const { data, status } = await ended(id);
    expect(status).toBe("finished");
    expect(data).toMatchObject({ source_type: "Core::Record", event: "update" });
    expect(data.data).toMatchObject({ id: mine, db_code: "orders", n: "mine", status: "paid" });
    expect(await app.sql`select from flow_waits where process_id = ${id} and status <> 'come'`).toHaveLength(0);
  });

  test("may be one of fields that change, as a webhook's", async () => {
    const mine = await create("orders", { status: "paid", n: 1 });
    const id = await run([{ ...order({ id: mine, status: "paid" }), changed: ["status"] }, back]);
    await opened(id);
    await change("orders", mine, { n: 2 });
    await change("orders", mine, { status: "sent", n: 3 });
    await settled();
    expect(await process(id)).toMatchObject({ status: "pending" });
    await change("orders", mine, { status: "paid", n: 4 });
    expect((await ended(id)).data.data).toMatchObject({ n: 4 });
  });

  test("does not count what came before the step began", async () => {
    const mine = await create("orders", { status: "new" });
    await change("orders", mine, { status: "early" });
    const id = await run([order({ id: mine, status: "early" }), back]);
    await opened(id);
    await settled();
    expect(await process(id)).toMatchObject({ status: "pending" });
    await change("orders", mine, { status: "early", again: true });
    expect((await ended(id)).data.data).toMatchObject({ again: true });
  });

  test("fails when its time is over, or goes on with what is given instead; both are caught", async () => {
    const none = order({ id: "none" });
    expect(await ended(await run([{ ...none, timeout: 0.1 }, back]))).toMatchObject({
      status: "error",
      error: "nothing has come in time",
    });
    const { data } = await ended(await run([{ ...none, timeout: 0.1, otherwise: { n: 1 } }, back]));
    expect(data).toEqual({ timed_out: true, source_type: "Core::Record", event: null, data: { n: 1 } });
    const tried = {
      type: "try",
      do: [{ ...none, timeout: 0.1 }],
      catch: [{ type: "mutation", set: { caught: "{{ error.status }}" } }],
    };
    expect((await ended(await run([tried]))).data).toEqual({ caught: 408 });
    const limited = {
      ...tried,
      do: [none],
      timeout: 0.1,
      catch: [{ type: "mutation", set: { caught: "{{ error.message }}" } }],
    };
    expect((await ended(await run([limited]))).data).toEqual({ caught: "timed out" });
    await eventually(async () => (await app.sql`select from flow_waits where status = 'open'`).length === 0);
  });

  test("stands in branches and elements, each with an event of its own, and none is taken twice", async () => {
    const ids = await Promise.all(["a", "b", "c"].map((n) => create("orders", { n })));
    const wait = { ...order({ id: "{{ item }}" }), as: "last" };
    const each = { type: "each", in: ids.slice(0, 2), concurrency: 2, do: [wait] };
    const set = { type: "mutation", set: { third: "{{ event.data.n }}" } };
    const id = await run([{ type: "parallel", branches: [[each], [order({ id: ids[2] }), set]] }]);
    await opened(id, 3);
    await Promise.all(ids.map((one) => change("orders", one, { done: true })));
    expect(await ended(id)).toMatchObject({ status: "finished", data: { third: "c" } });
    const both = await Promise.all([1, 2].map(() => run([order({ id: ids[0] }), back])));
    await Promise.all(both.map((one) => opened(one)));
    await change("orders", ids[0] ?? "", { done: false });
    for (const one of both) expect((await ended(one)).data.data).toMatchObject({ n: "a", done: false });
  });

  test("leaves nothing behind when its process is cancelled, and its account is free of it after the next event", async () => {
    const id = await run([order({ id: "none" })]);
    await opened(id);
    await app.post(`/connect/flow_processes/${id}/cancel.json`);
    expect(await app.sql`select from flow_waits where process_id = ${id}`).toHaveLength(0);
    await eventually(async () => {
      const jobs = async () =>
        (await app.sql`select count(*) n from job_history where name like '%flow-waits'`)[0]?.["n"];
      const before = await jobs();
      await create("orders", {});
      await settled();
      return (await jobs()) === before;
    }, "a record that is no event for waits");
  });

  test("of other models: the end of another flow", async () => {
    const code = `wait-${number + 2}`;
    const wait = {
      type: "wait_for",
      source_type: "Connect::FlowProcess",
      kind: "finished",
      filter: { flow_code: code },
      as: "event",
    };
    const id = await run([wait, back]);
    await opened(id);
    await run([{ type: "return", value: 7 }]);
    expect((await ended(id)).data).toMatchObject({ event: "finished", data: { flow_code: code, data: 7 } });
  });
});

describe("a program with a wait", () => {
  const mistakes: [step: object, message: string][] = [
    [{ ...order(), source_type: "Core::Nothing" }, "program[0].source_type must be one of "],
    [{ ...order(), source_type: "{{ input.a }}" }, "program[0].source_type must not hold an expression"],
    [{ ...order(), kind: "{{ input.a }}" }, "program[0].kind must not hold an expression"],
    [{ ...order(), kind: "paid" }, "program[0].kind must be one of create, update, destroy"],
    [paid, "program[0].filter is required"],
    [{ ...paid, filter: { status: "paid" } }, "program[0].filter must hold `db_code`"],
    [{ ...order(), timeout: 91 * 86_400 }, "program[0].timeout"],
    [{ ...order(), kind: "create", changed: ["n"] }, "program[0].changed is for `update` of `Core::Record`"],
    [{ ...order(), when: 1 }, "program[0].when is unknown"],
  ];
  test.each(mistakes)("%j is refused: %s", async (step, message) => {
    const { status, json } = await save([step]);
    expect([status, json.program?.join("\n")]).toEqual([422, expect.stringContaining(message)]);
  });

  test("is tested without any event", async () => {
    const { code } = await save([order({ n: 1 }), { type: "return", value: "{{ event.data.n }}" }]);
    const tested = (answers: object) => app.post(`/connect/flows/${code}/test.json`, { input: {}, answers });
    expect((await tested({})).json).toMatchObject({ status: "finished", data: 1 });
    expect((await tested({ wait_for: { data: { n: 2 } } })).json).toMatchObject({ data: 2 });
  });
});

describe("the right to an event", () => {
  test("is the author's when the flow is saved, here or in one that it calls", async () => {
    const { token } = await person(app, { role: "user", privileges: ["flows"] });
    const user = { type: "wait_for", source_type: "Account::User", kind: "update", filter: {} };
    const refused = await save([{ type: "if", condition: "true", then: [user] }], { token });
    expect([refused.status, refused.json.error]).toEqual([
      403,
      "`program[0].then[0]`: `source_type`: events of Account::User need the privilege `users`",
    ]);
    const { code } = await save([user]);
    const caller = await save([{ type: "flow", flow: code }], { token });
    expect([caller.status, caller.json.error]).toEqual([403, expect.stringContaining(`flow "${code}": program[0]`)]);
  });

  test("is the author's when the event comes, and hides it from those who may not read the records", async () => {
    const author = await person(app, { role: "manager" });
    const viewer = await person(app, { role: "manager" });
    const access = (users: number[]) =>
      app.patch("/core/dbs/secrets.json", {
        db: { access: users.map((user) => ({ to: `user:${user}`, may: "read" })) },
      });
    const mine = await create("secrets", { word: "x" });
    const wait = { ...paid, filter: { db_code: "secrets", id: mine } };
    expect((await access([author.id])).status).toBe(200);
    expect((await save([wait], { token: viewer.token })).status).toBe(403);
    const id = await run([wait, back], {}, { token: author.token });
    await opened(id);
    await access([viewer.id]);
    await change("secrets", mine, { word: "y" });
    await settled();
    expect(await process(id)).toMatchObject({ status: "pending" });
    await access([author.id]);
    await change("secrets", mine, { word: "z" });
    expect((await ended(id)).data).toMatchObject({ data: { word: "z" } });
    expect(JSON.stringify(await process(id, { token: viewer.token }))).not.toContain('"z"');
    const listed = await app.get("/connect/flow_processes.json?steps=false", { token: viewer.token });
    expect(listed.text).not.toContain('"z"');
    expect(JSON.stringify(await process(id, { token: author.token }))).toContain('"z"');
  });
});

/** Where the server dies; what is on disk by then has to be enough. */
test.each(["flows.calling:kill", "webhooks.wait-open:kill", "webhooks.wait-served:kill", "flows.answered:kill"])(
  "a wait survives kill -9 at %s: no event is lost, and none counts twice",
  async (failpoint) => {
    const env = { DATA_DIR: "data", CORE_ADMIN_TOKEN: adminToken };
    const cwd = folderWith();
    const victim = await startServer(fromSource, { cwd, env: { ...env, CORESTEAD_FAILPOINT: failpoint } });
    await victim.request("POST", "/core/dbs.json", { db: { name: "Orders", code: "orders" } });
    const record = { record: { data: { n: 1 } } };
    const made = await victim.request("POST", "/core/dbs/orders/records.json", record);
    const program = [
      order({ id: made.json.id }),
      { type: "db", op: "create", db: "orders", data: { copy: "{{ event.data.n }}" } },
    ];
    const flow = { name: "Wait", code: "wait", fields: { program } };
    await victim.request("POST", "/connect/flows.json", { flow });
    const started = await victim.request("POST", "/connect/flows/wait/run.json?wait=0", {}).catch(() => undefined);
    const path = `/core/dbs/orders/records/${made.json.id}.json`;
    const write = (server: typeof victim, n: number) =>
      server.request("PATCH", path, { record: { data: { n } } }).catch(() => undefined);
    const died = victim.exited;
    const dies = failpoint.startsWith("webhooks.wait-served") || failpoint.startsWith("flows.answered");
    if (dies) {
      expect(started?.status).toBe(201);
      // Until one of them has been taken, which ends the server.
      for (let n = 2; n < 200 && !(await Promise.race([died.then(() => true), Bun.sleep(50)])); n++)
        await write(victim, n);
    }
    expect(await died).toBe(137);
    const server = await startServer(fromSource, { cwd, env });
    const copies = async () =>
      (await server.request("GET", "/core/dbs/orders/records.json?limit=100")).json.filter(
        (one: { data: object }) => "copy" in one.data,
      );
    for (let n = 1000; n < 1200 && (await copies()).length === 0; n++) {
      await write(server, n);
      await Bun.sleep(50);
    }
    await eventually(async () => {
      const { json } = await server.request("GET", "/connect/flow_processes.json");
      return json.length === 1 && json[0].status === "finished";
    }, "the end of the process");
    expect(await copies()).toHaveLength(1);
    if (dies) expect((await copies())[0].data.copy).toBeLessThan(1000);
    await server.stop();
  },
);
