/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually, otherAccount, person, startTestApp, type TestApp } from "../../tests/harness.ts";
import { startReceiver, type Receiver } from "../../tests/receiver.ts";
import { modelChanged } from "../../runtime/events/models.ts";
import { definePlugin, onEvent } from "../../runtime/plugin/plugin.ts";
import { plugins } from "../index.ts";
import { connectors } from "../connectors/api.ts";
import { flows } from "./api.ts";

let app: TestApp;
let remote: Receiver;
const events: { kind: string; id: string | number; status: unknown }[] = [];

/** Follows every change of a flow process, once a test asks for it. */
let following = false;
const follower = definePlugin({
  name: "follower",
  setup: () => ({
    handlers: [
      onEvent(
        modelChanged,
        "follow",
        async ({ kind, id, data }) => void events.push({ kind, id, status: data["status"] }),
        { when: ({ sourceType }) => following && sourceType === "Connect::FlowProcess" },
      ),
    ],
  }),
});

/** A kind of connector that answers with what JSON does not have. */
const clockKind = definePlugin({
  name: "clock-kind",
  needs: { connectors },
  setup: (ctx) => {
    const at = new Date("2026-01-31T10:00:00Z");
    ctx.services.connectors.register({
      name: "test/clock",
      needsUrl: false,
      methods: () => [{ name: "now", public: false }],
      check: () => ({}),
      call: async () => ({
        ok: true,
        status: null,
        data: { at, rows: [{ at, never: new Date(Number.NaN), count: 5n, id: 9007199254740993n }] },
        error: null,
        retryAfterSeconds: null,
        durationMs: 0,
      }),
    });
    return {};
  },
});

beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower, clockKind] });
  remote = startReceiver();
  const methods = {
    get: { path: "/get/{what}" },
    send: { method: "POST", path: "/send", body: { value: "{value}" } },
  };
  const connector = {
    name: "Remote",
    code: "remote",
    url: remote.url,
    secret_token: "s3cret-token-of-the-test",
    fields: { methods },
  };
  expect((await app.post("/connect/connectors.json", { connector })).status).toBe(201);
  expect(
    (
      await app.post("/core/dbs.json", {
        db: { name: "Orders", code: "orders", schema: { fields: { n: { type: "integer", required: true } } } },
      })
    ).status,
  ).toBe(201);
});
beforeEach(() => {
  remote.requests.length = 0;
  remote.answer = () => Response.json({ ok: true });
});
afterAll(async () => {
  await app.stop();
  await remote.stop();
});

let made = 0;
async function flow(program: unknown[], fields: object = {}): Promise<string> {
  const code = `flow-${++made}`;
  const answer = await app.post("/connect/flows.json", { flow: { name: code, code, fields: { program }, ...fields } });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return code;
}
const start = async (code: string, input: object = {}, query = "") =>
  (await app.post(`/connect/flows/${code}/run.json${query}`, input)).json;
const show = async (id: string) => (await app.get(`/connect/flow_processes/${id}.json`)).json;
const ended = (id: string) =>
  eventually(async () => {
    const process = await show(id);
    return process.status !== "pending" && process;
  }, "the end of the process");
const call = (more: object = {}) => ({
  type: "connector",
  connector: "remote",
  method: "send",
  params: { value: 1 },
  ...more,
});
const set = (values: object) => ({ type: "mutation", set: values });

test("a flow calls a connector, decides on what came back and returns a value", async () => {
  remote.answer = () => Response.json({ main: { temp: 24.5 } });
  const code = await flow([
    {
      type: "connector",
      id: "fetch",
      connector: "remote",
      method: "get",
      params: { what: "{{ city }}" },
      as: "weather",
    },
    set({ temp: "{{ weather.main.temp }}" }),
    { type: "if", condition: "temp > 20", then: [set({ advice: "Take a hat in {{ city }}" })] },
    { type: "return", value: { temp: "{{ temp }}", advice: "{{ advice }}" } },
  ]);
  const process = await start(code, { city: "Kraków" });
  const done = await ended(process.id);
  expect(done).toMatchObject({
    flow_code: code,
    status: "finished",
    input: { city: "Kraków" },
    data: { temp: 24.5, advice: "Take a hat in Kraków" },
    error: null,
  });
  expect(done.steps.map(({ id, type, status }: Record<string, string>) => [id, type, status])).toEqual([
    ["fetch", "connector", "finished"],
    ["1", "mutation", "finished"],
    ["2", "if", "finished"],
    ["2.then.0", "mutation", "finished"],
    ["3", "return", "finished"],
  ]);
  expect(done.steps[0].output).toEqual({ main: { temp: 24.5 } });
  expect(Date.parse(done.finished_at)).toBeGreaterThanOrEqual(Date.parse(done.created_at));
  expect(remote.requests[0]?.path).toBe("/get/Krak%C3%B3w");
});

test("a run without effects is answered finished at once, and is stored", async () => {
  const code = await flow([set({ a: "{{ n | plus: 1 }}" })]);
  const answer = await app.post(`/connect/flows/${code}/run.json`, { n: 1 });
  expect(answer.status).toBe(201);
  expect(answer.json).toMatchObject({ status: "finished", data: { a: 2 }, flow_process_id: answer.json.id });
  const { flow_process_id: _, ...process } = answer.json;
  expect(await show(answer.json.id)).toMatchObject({ ...process, finished_at: expect.any(String) });
});

test("a connector's refusal ends the process, named; its secret is nowhere", async () => {
  remote.answer = ({ headers }) => Response.json({ echo: headers.get("authorization") }, { status: 418 });
  const code = await flow([call({ id: "send" }), set({ never: 1 })]);
  const done = await ended((await start(code)).id);
  expect(done).toMatchObject({ status: "error", error: "the remote answered 418" });
  const output = { echo: "Bearer [secret]" };
  expect(done.steps).toMatchObject([{ id: "send", status: "error", error: "the remote answered 418", output }]);
  remote.answer = ({ headers }) => Response.json({ echo: headers.get("authorization") });
  const echoed = await ended((await start(await flow([call({ as: "x" })]))).id);
  expect(echoed.steps[0].output).toEqual({ echo: "Bearer [secret]" });
  const stored =
    await app.sql`select concat(memory, steps, data) as text from flow_processes union all select steps::text from flow_process_steps`;
  expect(JSON.stringify(stored)).not.toContain("s3cret-token");
  expect(app.logged.join("")).not.toContain("s3cret-token");
});

test("a failed process goes on from the step that failed, with the program it started with", async () => {
  remote.answer = ({ path }) => (path === "/send" ? new Response("no", { status: 500 }) : Response.json(7));
  const get = { type: "connector", connector: "remote", method: "get", params: { what: "x" }, as: "got" };
  const code = await flow([get, call(), { type: "return", value: "old {{ got }}" }]);
  const { id } = await ended((await start(code)).id);
  expect(
    (await app.patch(`/connect/flows/${code}.json`, { flow: { fields: { program: [set({ new: 1 })] } } })).status,
  ).toBe(200);
  remote.answer = () => Response.json(8);
  const answer = await app.post(`/connect/flow_processes/${id}/retry.json`);
  expect([answer.status, answer.json.status]).toEqual([200, "pending"]);
  expect(await ended(id)).toMatchObject({ status: "finished", data: "old 7", error: null });
  expect(remote.at("/get/x")).toHaveLength(1);
  expect(remote.at("/send")).toHaveLength(2);
  const [first, second] = remote.at("/send").map(({ headers }) => headers.get("idempotency-key"));
  expect(first).toBe(second as string);
  expect((await app.post(`/connect/flow_processes/${id}/retry.json`)).status).toBe(409);
});

describe("a flow that was mended", () => {
  const get = { type: "connector", connector: "remote", method: "get", params: { what: "x" }, as: "got" };
  const mend = async (code: string, program: unknown) =>
    expect((await app.patch(`/connect/flows/${code}.json`, { flow: { fields: { program } } })).status).toBe(200);
  const retry = (id: string) => app.post(`/connect/flow_processes/${id}/retry.json?program=current`);
  const failing = async (program: unknown[]) => {
    remote.requests.length = 0;
    remote.answer = ({ path }) => (path === "/send" ? new Response("no", { status: 500 }) : Response.json(7));
    const code = await flow(program);
    const { id } = await ended((await start(code)).id);
    return { code, id };
  };

  test("goes on at the step that failed, as it is now", async () => {
    const { code, id } = await failing([get, call()]);
    await mend(code, [get, { ...get, params: { what: "mended" } }, { type: "return", value: "new {{ got }}" }]);
    expect((await retry(id)).status).toBe(200);
    expect(await ended(id)).toMatchObject({ status: "finished", data: "new 7" });
    expect(remote.requests.map(({ path }) => path)).toEqual(["/get/x", "/send", "/get/mended"]);
  });

  test("may be one that the failed one has called, for an element of many", async () => {
    const inner = await flow([call()]);
    const { code, id } = await failing([get, { type: "each", in: [1, 2], do: [{ type: "flow", flow: inner }] }]);
    await mend(inner, [{ ...get, params: { what: "inner" } }]);
    await mend(code, [get, { type: "each", in: [1, 2], do: [{ type: "flow", flow: inner }] }, set({ done: true })]);
    expect((await retry(id)).status).toBe(200);
    expect(await ended(id)).toMatchObject({ status: "finished", data: { done: true } });
    expect(remote.requests.map(({ path }) => path)).toEqual(["/get/x", "/send", "/get/inner", "/get/inner"]);
  });

  test.each<[string, unknown[]]>([
    ["an earlier step is another", [call(), call()]],
    ["the step itself is another", [get, set({ a: 1 })]],
    ["it is shorter", [get]],
  ])("is refused where %s", async (_what, program) => {
    const { code, id } = await failing([get, call()]);
    await mend(code, program);
    const { status, json } = await retry(id);
    expect([status, json.error]).toEqual([409, expect.stringContaining("are others now")]);
  });

  test("is the present one alone: any other word is refused", async () => {
    const { id } = await failing([get, call()]);
    const { status, json } = await app.post(`/connect/flow_processes/${id}/retry.json?program=old`);
    expect([status, json]).toEqual([422, { program: ["must be one of current"] }]);
  });

  test("is refused while it is off", async () => {
    const { code, id } = await failing([get, call()]);
    expect((await app.patch(`/connect/flows/${code}.json`, { flow: { active: false } })).status).toBe(200);
    expect((await retry(id)).status).toBe(409);
  });
});

test("retry, timeout and on_error of a step", async () => {
  let left = 2;
  remote.answer = () => (left-- > 0 ? new Response("", { status: 500 }) : Response.json("third"));
  const retried = await ended(
    (await start(await flow([call({ as: "x", retry: { times: 2, delay: 0 } }), { type: "return", value: "{{ x }}" }])))
      .id,
  );
  expect(retried).toMatchObject({ status: "finished", data: "third" });
  remote.answer = () => new Promise(() => {});
  const slow = call({ timeout: 0.1, on_error: [set({ why: "{{ error.message }}" })] });
  expect(await ended((await start(await flow([slow]))).id)).toMatchObject({
    status: "finished",
    data: { why: expect.stringContaining("no complete answer") },
  });
  const around = {
    type: "each",
    in: [1],
    timeout: 0.1,
    do: [call({ on_error: [set({ wrong: 1 })] })],
    on_error: [set({ outer: true })],
  };
  expect((await ended((await start(await flow([around]))).id)).data).toEqual({ outer: true });
});

test("a process that waits holds nothing, goes on in time, and can be cancelled", async () => {
  const code = await flow([set({ a: 1 }), { type: "wait", seconds: 0.3 }, { type: "return", value: "{{ a }}" }]);
  const process = await start(code, {}, "?wait=0");
  expect(process).toMatchObject({ status: "pending", data: null, finished_at: null });
  expect(process.steps.map(({ status }: { status: string }) => status)).toEqual(["finished", "pending"]);
  expect(await ended(process.id)).toMatchObject({ status: "finished", data: 1 });
  const long = await start(await flow([{ type: "wait", seconds: 3600 }]), {}, "?wait=0");
  const cancelled = await app.post(`/connect/flow_processes/${long.id}/cancel.json`);
  expect([cancelled.status, cancelled.json.status, cancelled.json.error]).toEqual([200, "error", "cancelled"]);
  expect((await app.post(`/connect/flow_processes/${long.id}/cancel.json`)).status).toBe(409);
  expect((await show(long.id)).error).toBe("cancelled");
});

test("cancelling breaks off a call under way, and nothing after it runs", async () => {
  remote.answer = () => new Promise(() => {});
  const process = await start(await flow([call(), call()]), {}, "?wait=0");
  await eventually(() => remote.requests.length === 1);
  await app.post(`/connect/flow_processes/${process.id}/cancel.json`);
  expect(await ended(process.id)).toMatchObject({ status: "error", error: "cancelled" });
  expect(remote.requests).toHaveLength(1);
});

test("db steps create, read, change, search and delete records, with their schema", async () => {
  const code = await flow([
    { type: "db", op: "create", db: "orders", data: { n: "{{ n }}", who: "Ewa" }, as: "order" },
    { type: "db", op: "update", db: "orders", id: "{{ order.id }}", data: { n: "{{ order.data.n | plus: 1 }}" } },
    { type: "db", op: "get", db: "orders", id: "{{ order.id }}", as: "now" },
    { type: "db", op: "search", db: "orders", params: { filter: { n: "{{ now.data.n }}" } }, as: "found" },
    {
      type: "db",
      op: "search",
      db: "orders",
      params: {
        filter: { n: { gt: 41, in: [42, 43] } },
        any: [{ who: "Jan" }, { who: "Ewa", n: { lte: "{{ now.data.n }}" } }],
      },
      as: "also",
    },
    { type: "db", op: "delete", db: "orders", id: "{{ order.id }}", as: "gone" },
    { type: "mutation", set: { found: "{{ found | map: 'who' }}", also: "{{ also | map: 'who' }}" } },
    {
      type: "return",
      value: { now: "{{ now.data }}", found: "{{ found }}", also: "{{ also }}", gone: "{{ gone.deleted }}" },
    },
  ]);
  expect(await ended((await start(code, { n: 41 })).id)).toMatchObject({
    status: "finished",
    data: { now: { n: 42, who: "Ewa" }, found: ["Ewa"], also: ["Ewa"], gone: true },
  });
  const names = { fields: { name: { type: "string", required: true } } };
  await app.post("/core/dbs", { db: { name: "Names", code: "names", schema: names } });
  const blank = await flow([{ type: "db", op: "create", db: "names", data: { name: "{{ input.nothing }} " } }]);
  expect(await ended((await start(blank)).id)).toMatchObject({ status: "error", error: "name is required" });
  const wrong = await ended((await start(code, { n: "many" })).id);
  expect(wrong).toMatchObject({ status: "error", error: expect.stringContaining("n ") });
  const unknown = await flow([
    { type: "db", op: "search", db: "nowhere", on_error: [set({ status: "{{ error.status }}" })] },
  ]);
  expect((await ended((await start(unknown)).id)).data).toEqual({ status: 404 });
});

test("a db step leaves a changed record in its table, and tells of one that is in none", async () => {
  const tables = { orders: { fields: { n: "integer" } }, lines: { fields: { n: "integer" } } };
  expect((await app.post("/core/dbs", { db: { name: "Shop", code: "shop", schema: { tables } } })).status).toBe(201);
  const step = (op: string, more: object) => ({ type: "db", op, db: "shop", ...more });
  const update = (more: object) => step("update", { id: "{{ order.id }}", as: "order", ...more });
  const code = await flow([
    step("create", { table_name: "orders", data: { n: 1 }, as: "order" }),
    update({ data: { n: 2 } }),
    { type: "mutation", set: { kept: "{{ order.table_name }}" } },
    update({ table_name: "{{ input.nothing }}", data: { n: 3 } }),
    { type: "mutation", set: { still: "{{ order.table_name }}" } },
    update({ table_name: "lines", data: {} }),
    { type: "mutation", set: { moved: "{{ order.table_name }}" } },
    update({ table_name: null, data: {} }),
    step("create", { data: { n: 4 } }),
    { type: "return", value: { kept: "{{ kept }}", still: "{{ still }}", moved: "{{ moved }}", last: "{{ order }}" } },
  ]);
  const process = await ended((await start(code)).id);
  expect(process).toMatchObject({
    status: "finished",
    data: { kept: "orders", still: "orders", moved: "lines", last: { table_name: null, data: { n: 3 } } },
  });
  const hint = "the record is in no table, so no search finds it: tables are orders, lines";
  const warned = process.steps.filter((one: object) => "warnings" in one);
  expect(warned.map(({ id, warnings }: { id: string; warnings: string[] }) => [id, warnings])).toEqual([
    ["7", [hint]],
    ["8", [hint]],
  ]);
});

test("an update adds to what the record holds then, and only if the record still matches", async () => {
  const post = async (data: object) => (await app.post("/core/dbs/orders/records.json", { record: { data } })).json.id;
  const get = async (id: string) => (await app.get(`/core/dbs/orders/records/${id}.json`)).json.data;
  const update = { type: "db", op: "update", db: "orders", id: "{{ input.id }}", as: "order" };
  const counted = await post({ n: 0 });
  const count = await flow([
    { ...update, increment: { n: 1, cents: "{{ input.cents }}", left: "-{{ input.cents }}" } },
    { type: "return", value: "{{ order.data.n }}" },
  ]);
  const runs = Array.from({ length: 20 }, () => start(count, { id: counted, cents: 0.1 }, "?wait=25"));
  const results = (await Promise.all(runs)).map(({ data }) => data);
  expect(results.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  expect(await get(counted)).toEqual({ n: 20, cents: 2, left: -2 });

  const open = await post({ n: 1, status: "open", seats: 3 });
  const take = await flow([
    {
      ...update,
      if: { status: "{{ input.status }}", seats: { gte: 1 } },
      data: { status: "open" },
      increment: { seats: -1 },
      on_error: [{ type: "return", value: "{{ error }}" }],
    },
    { type: "return", value: "{{ order.data.seats }}" },
  ]);
  const taken = await Promise.all(
    Array.from({ length: 9 }, () => start(take, { id: open, status: "open" }, "?wait=25")),
  );
  const refused = { status: 412, message: "the record does not match the conditions" };
  expect(
    taken
      .filter(({ data }) => typeof data === "number")
      .map(({ data }) => data)
      .toSorted((a, b) => a - b),
  ).toEqual([0, 1, 2]);
  expect(taken.find(({ data }) => typeof data === "object")?.data).toMatchObject(refused);
  expect(await get(open)).toEqual({ n: 1, status: "open", seats: 0 });
  const { data, steps } = await start(take, { id: counted, status: "*" }, "?wait=25");
  expect([data, steps[0].status]).toEqual([expect.objectContaining(refused), "error"]);
  const { json } = await app.get(
    `/connect/flow_processes/${(await start(count, { id: open, cents: "x" }, "?wait=25")).id}.json?include=inputs`,
  );
  expect([json.error, json.steps[0].input.increment]).toEqual([
    "increment.cents must be a number; increment.left must be a number",
    { n: 1, cents: "x", left: "-x" },
  ]);
  const whole = await flow([{ ...update, if: "{{ input.nothing }}", data: { n: 5 } }]);
  expect(await start(whole, { id: open }, "?wait=25")).toMatchObject({
    status: "error",
    error: "if must be an object of field to value",
  });
  expect(await get(open)).toMatchObject({ n: 1 });

  const tried = (answers: object) => app.post(`/connect/flows/${take}/test.json`, { answers, input: { id: open } });
  expect((await tried({})).json.data).toBe(-1);
  expect((await tried({ "orders.update": { status: 412 } })).json.data).toMatchObject({ status: 412 });
});

test("a saved flow is told where its db steps name what is not there", async () => {
  const steps = [
    { op: "create", db: "orders", data: {} },
    { op: "create", db: "orders", data: {}, table_name: "lines" },
    { op: "create", db: "rooms", data: {} },
    { op: "create", db: "rooms", data: {}, table_name: "beds" },
    { op: "update", db: "rooms", id: "{{ x }}", data: {} },
    { op: "update", db: "rooms", id: "{{ x }}", data: {}, table_name: null },
    { op: "search", db: "rooms" },
    { op: "search", db: "rooms", params: { table_name: "beds" } },
    { op: "search", db: "rooms", table_name: "chairs" },
    { op: "search", db: "rooms", table_name: "{{ x }}" },
    { op: "get", db: "nowhere", id: "{{ x }}" },
  ];
  await app.post("/core/dbs", { db: { name: "Rooms", code: "rooms", schema: { tables: { beds: { fields: {} } } } } });
  const program = steps.map((step) => ({ type: "db", ...step }));
  const { json } = await app.post("/connect/flows.json", { flow: { name: "told", fields: { program } } });
  const lost = "the record is in no table, so no search finds it: tables are beds";
  expect(json.warnings).toEqual([
    'program[1].table_name: the database "orders" has no tables',
    `program[2].table_name: ${lost}`,
    `program[5].table_name: ${lost}`,
    "program[6].table_name is missing: tables are beds",
    'program[8].table_name: the table "chairs" does not exist: tables are beds',
    'program[10].db: the database "nowhere" does not exist yet',
  ]);
});

test("each with concurrency calls several at once, each element once", async () => {
  let open = 0;
  let most = 0;
  remote.answer = async () => {
    most = Math.max(most, ++open);
    await Bun.sleep(20);
    open--;
    return Response.json(null);
  };
  const body = [call({ params: { value: "{{ item }}" } })];
  const code = await flow([{ type: "each", in: "{{ all }}", concurrency: 4, do: body }]);
  const all = Array.from({ length: 20 }, (_, i) => i);
  expect(await ended((await start(code, { all })).id)).toMatchObject({ status: "finished" });
  expect(most).toBe(4);
  expect(remote.requests.map((request) => JSON.parse(request.body).value).toSorted((a, b) => a - b)).toEqual(all);
});

test("a process that failed within an each goes on with the elements that are left", async () => {
  let broken = true;
  remote.answer = ({ body }) => (broken && body.includes("3") ? new Response("", { status: 500 }) : Response.json(1));
  const body = [call({ params: { value: "{{ item }}" } }), set({ count: "{{ count | plus: 1 }}" })];
  const program = [set({ count: 0 }), { type: "each", in: "{{ all }}", concurrency: 2, do: body }];
  const { id, status, error } = await ended((await start(await flow(program), { all: [1, 2, 3, 4, 5] })).id);
  expect([status, error]).toEqual(["error", "the remote answered 500"]);
  broken = false;
  await app.post(`/connect/flow_processes/${id}/retry.json`);
  expect(await ended(id)).toMatchObject({ status: "finished", data: { count: 5 } });
  const sent = remote.requests.map((request) => JSON.parse(request.body).value).toSorted((a, b) => a - b);
  expect(sent).toEqual([1, 2, 3, 3, 4, 5]);
});

test("dates are those of the account's time zone", async () => {
  await app.sql`update accounts set timezone = 'Asia/Tokyo'`;
  const second = await startTestApp({ target: app.target, plugins: [...plugins, follower] });
  const program = [{ type: "return", value: "{{ '2026-01-01T20:00:00Z' | date: '%Y-%m-%d %H:%M' }}" }];
  const answer = await second.post(`/connect/flows/${await flow(program)}/run.json`, {});
  expect(answer.json.data).toBe("2026-01-02 05:00");
  await app.sql`update accounts set timezone = 'UTC'`;
  await second.stop();
});

test("branches call at once; a time limit of a `try` is caught, and ends what runs in it", async () => {
  let open = 0;
  let most = 0;
  remote.answer = async ({ body }) => {
    most = Math.max(most, ++open);
    if (body.includes("slow")) await Bun.sleep(400);
    await eventually(() => most > 1, "two calls at once");
    open--;
    return Response.json(body.includes("slow") ? "slow" : "quick");
  };
  const branch = (value: string) => [call({ params: { value }, as: value }), set({ [`${value}_done`]: true })];
  const both = { type: "parallel", branches: [branch("one"), branch("two")] };
  expect(await ended((await start(await flow([both]), {})).id)).toMatchObject({
    status: "finished",
    data: { one_done: true, two_done: true },
  });
  const late = { ...both, branches: [branch("slow"), branch("two")] };
  const limited = { type: "try", timeout: 0.2, do: [late], catch: [set({ error: "{{ error.message }}" })] };
  const done = await ended((await start(await flow([limited, set({ after: true })]), {})).id);
  expect(done).toMatchObject({ status: "finished", data: { two_done: true, error: expect.any(String), after: true } });
  expect(done.data).not.toHaveProperty("slow_done");
});

test("branches that wait long hold nothing, and a failed one is tried again without the others", async () => {
  let broken = true;
  remote.answer = ({ body }) => (broken && body.includes("b") ? new Response("", { status: 500 }) : Response.json(1));
  const waits = [call({ params: { value: "a" } }), { type: "wait", seconds: 2.2 }, set({ a: true })];
  const fails = [{ type: "wait", seconds: 2.4 }, call({ params: { value: "b" } }), set({ b: true })];
  const code = await flow([{ type: "parallel", branches: [waits, fails] }]);
  const { id, status } = await ended((await start(code, {}, "?wait=0")).id);
  expect(status).toBe("error");
  broken = false;
  await app.post(`/connect/flow_processes/${id}/retry.json`);
  expect(await ended(id)).toMatchObject({ status: "finished", data: { a: true, b: true } });
  expect(remote.requests.map(({ body }) => JSON.parse(body).value)).toEqual(["a", "b", "b"]);
});

test("elements of an each that wait long hold nothing, and each goes on once", async () => {
  const body = [call({ params: { value: "{{ item }}" } }), { type: "wait", seconds: 2.2 }, set({ last: "{{ item }}" })];
  const code = await flow([{ type: "each", in: [1, 2, 3], concurrency: 3, do: body }, set({ after: true })]);
  const done = await ended((await start(code, {}, "?wait=0")).id);
  expect(done).toMatchObject({ status: "finished", data: { after: true } });
  expect(remote.requests).toHaveLength(3);
  expect(done.steps.map(({ id }: { id: string }) => id).toSorted()).toEqual(
    ["0", ...[0, 1, 2].flatMap((n) => [`0.do.0#${n}`, `0.do.1#${n}`, `0.do.2#${n}`]), "1"].toSorted(),
  );
});

test("a mistake in a program is 422 under `program` with its place, and nothing is stored", async () => {
  const program = [set({}), set({}), { type: "if", condition: "a", then: [{ type: "connector", method: "m" }] }];
  const answer = await app.post("/connect/flows.json", { flow: { name: "Wrong", code: "wrong", fields: { program } } });
  expect([answer.status, answer.json]).toEqual([422, { program: ["program[2].then[0].connector is required"] }]);
  expect((await app.get("/connect/flows/wrong.json")).status).toBe(404);
  const unknown = [{ type: "connector", connector: "nobody", method: "m" }];
  const warned = await app.post("/connect/flows.json", { flow: { name: "Warned", fields: { program: unknown } } });
  expect(warned.json.warnings).toEqual([expect.stringContaining('"nobody"')]);
});

test("a program of an earlier version runs as far as that is safe, and is refused only when it is changed", async () => {
  await app.post("/core/dbs.json", { db: { name: "Kept", code: "kept" } });
  for (const status of ["old", "new"]) await app.post("/core/dbs/kept/records.json", { record: { data: { status } } });
  const found = (params: unknown, more: object = {}) => ({
    type: "db",
    op: "search",
    db: "kept",
    params,
    as: "found",
    ...more,
  });
  const emptied = { type: "each", in: "found", do: [{ type: "db", op: "delete", db: "kept", id: "{{ item.id }}" }] };
  const stored = async (program: unknown[]) => {
    const code = await flow([{ type: "return" }]);
    const [row] = await app.sql`select id, program_id from flows where code = ${code}`;
    await app.sql`update flow_programs set program = ${JSON.stringify(program)}::text::json where id = ${row?.["programId"]}`;
    await app.sql`update flows set version = version + 1,
      fields = json_build_object('program', ${JSON.stringify(program)}::text::json) where id = ${row?.["id"]}`;
    return code;
  };
  for (const [params, error] of [
    [{ where: { status: "old" } }, "params.where is unknown in the params of a search"],
    [{ filters: { status: "old" } }, 'did you mean "filter"?'],
    [{ filter: "status=old" }, "params.filter must be an object"],
    [{ filter: "{{ missing }}" }, "params.filter must be an object"],
    [{ filter: { status: { equals: "old" } } }, "params.filter.status.equals is no operator"],
    [{ any: [] }, "params.any has no filter"],
  ] as const) {
    const process = await ended((await start(await stored([found(params), emptied]))).id);
    expect(process).toMatchObject({ status: "error", error: expect.stringContaining(error) });
  }
  const program = [found({ filter: { status: "old" } }, { descripton: "x" }), emptied];
  const code = await stored(program);
  const path = `/connect/flows/${code}.json`;
  expect((await app.get(path)).json.warnings).toEqual([
    'program[0].descripton is unknown: did you mean "description"?',
  ]);
  expect((await app.patch(path, { flow: { name: "Kept" } })).status).toBe(200);
  const changed = [...program, { type: "return" }];
  const refused = { program: ['program[0].descripton is unknown: did you mean "description"?'] };
  expect((await app.patch(path, { flow: { fields: { program: changed } } })).json).toEqual(refused);
  expect((await app.post(`/connect/flows/${code}/test.json`, { program: changed })).json).toEqual(refused);
  expect((await app.post(`/connect/flows/${code}/test.json`, {})).json).toMatchObject({ status: "finished" });
  expect((await ended((await start(code)).id)).status).toBe("finished");
  const left = (await app.get("/core/dbs/kept/records.json")).json;
  expect(left).toMatchObject([{ data: { status: "new" } }]);
});

test("a search compares what expressions give exactly, keeps lists, and never leaves records out unsaid", async () => {
  await app.post("/core/dbs.json", { db: { name: "Codes", code: "codes" } });
  const names = ["Smith, John", "Smith", "*", "50%", "50 x"];
  const rows = Array.from({ length: 1001 }, (_, n) => ({ n, name: names[n] ?? "x" }));
  for (const some of [rows.slice(0, 500), rows.slice(500)])
    await app.post("/core/dbs/codes/batch.json", { operations: some.map((data) => ({ op: "create", data })) });
  const run = async (params: object, input: object = {}) => {
    const step = { type: "db", op: "search", db: "codes", params: { sort: "n", ...params }, as: "found" };
    const value = { count: "{{ found | size }}", names: "{{ found | map: 'name' | uniq }}" };
    const { data, error } = await ended((await start(await flow([step, { type: "return", value }]), input)).id);
    return error ?? data;
  };
  expect(await run({ filter: { name: "{{ code }}" } }, { code: "*" })).toEqual({ count: 1, names: ["*"] });
  expect(await run({ filter: "{{ input.filter }}" }, { filter: { name: "50%" } })).toEqual({
    count: 1,
    names: ["50%"],
  });
  expect(await run({ filter: { name: "{{ code }}*" } }, { code: "50%" })).toEqual({ count: 1, names: ["50%"] });
  expect(await run({ filter: { name: "Smith*" } })).toEqual({ count: 2, names: ["Smith, John", "Smith"] });
  expect(await run({ filter: { name: { in: ["Smith, John", "*"] } } })).toEqual({
    count: 2,
    names: ["Smith, John", "*"],
  });
  expect(await run({ filter: { name: { in: "{{ all }}" } } }, { all: [] })).toEqual({ count: 0, names: [] });
  expect(await run({ fields: ["name"], filter: { n: { lt: 1 } } })).toEqual({ count: 1, names: ["Smith, John"] });
  const tooMany = "the search finds more than 1000 records: give a `limit`, or `all: true` for up to 10,000";
  expect(await run({})).toBe(tooMany);
  expect(await run({ limit: 900 })).toMatchObject({ count: 900 });
  expect(await run({ all: true })).toMatchObject({ count: 1001 });
  expect(await run({ filter: { n: { gt: 0 } } })).toMatchObject({ count: 1000 });
});

test("the fields of a flow are checked", async () => {
  const program: unknown[] = [];
  const wrong: [flow: object, field: string][] = [
    [{ fields: { program } }, "name"],
    [{ name: " ", fields: { program } }, "name"],
    [{ name: 7, fields: { program } }, "name"],
    [{ name: "x", code: "a b", fields: { program } }, "code"],
    [{ name: "x", code: crypto.randomUUID(), fields: { program } }, "code"],
    [{ name: "x", kind: "core/other", fields: { program } }, "kind"],
    [{ name: "x", fields: [] }, "fields"],
    [{ name: "x", fields: {} }, "program"],
    [{ name: "x", fields: { program: {} } }, "program"],
    [{ name: "x", active: "yes", fields: { program } }, "active"],
    [{ name: "x", fields: { program: [{ type: "return", value: "{{ a b }}" }] } }, "program"],
  ];
  for (const [given, name] of wrong) {
    const answer = await app.post("/connect/flows.json", { flow: given });
    expect([given, answer.status, Object.keys(answer.json ?? {})]).toEqual([given, 422, [name]]);
  }
  const code = await flow(program);
  expect((await app.post("/connect/flows.json", { flow: { name: "x", code, fields: { program } } })).json).toEqual({
    code: ["is already taken"],
  });
  expect((await app.post("/connect/flows.json", { name: "x" })).status).toBe(400);
});

test("dates in a connector's answer stay what JSON makes of them, in flows and in calls", async () => {
  const connector = { name: "Clock", code: "clock", kind: "test/clock" };
  expect((await app.post("/connect/connectors.json", { connector })).status).toBe(201);
  const at = "2026-01-31T10:00:00.000Z";
  const data = { at, rows: [{ at, never: null, count: 5, id: "9007199254740993" }] };
  expect((await app.post("/connect/connectors/clock/now", {})).json).toEqual({ status: null, data });
  const code = await flow([
    { type: "connector", connector: "clock", method: "now", as: "clock" },
    { type: "return", value: { all: "{{ clock }}", day: "{{ clock.rows[0].at | date: '%d.%m.%Y' }}" } },
  ]);
  expect((await start(code, {}, "?wait=25")).data).toEqual({ all: data, day: "31.01.2026" });
});

test("a dry run has no effect and uses the given answers", async () => {
  const code = await flow([
    call({ id: "one", as: "x" }),
    { type: "db", op: "create", db: "orders", data: { n: "{{ x }}" }, as: "o" },
    { type: "return", value: "{{ o.data.n }}" },
  ]);
  const before = (await app.get("/connect/flow_processes.json")).headers.get("x-total-count");
  const given = { answers: { "remote.send": 5 } };
  expect((await app.post(`/connect/flows/${code}/test.json`, given)).json).toMatchObject({
    status: "finished",
    data: 5,
    steps: [{ id: "one", output: 5 }, {}, {}],
  });
  expect(
    (await app.post(`/connect/flows/${code}/test.json`, { answers: { one: { status: 500 } } })).json,
  ).toMatchObject({ status: "error", error: "the remote answered 500" });
  expect((await app.post(`/connect/flows/${code}/test.json`, {})).json.error).toContain("remote.send");
  expect((await app.post(`/connect/flows/${code}/test.json`, { answers: [] })).status).toBe(422);
  const unknown = { "db.create": {}, two: 1, "remote.send": 5, one: 5, "orders.create": {}, "1": {} };
  expect((await app.post(`/connect/flows/${code}/test.json`, { answers: unknown })).json).toEqual({
    answers: ["db.create", "two"].map(
      (name) => `answers["${name}"] is used by no step; known are "one", "remote.send", "1", "orders.create"`,
    ),
  });
  const caller = await flow([
    { type: "each", in: [1, 2], do: [{ type: "if", condition: "false", then: [{ type: "flow", flow: code }] }] },
    { type: "each", in: [1, 2], do: [call({})] },
  ]);
  // Of a flow that is called, in a branch that is not taken, and of one element.
  const used = { [`${code}/one`]: 1, "1.do.0#1": 2, "1.do.0": 3 };
  expect((await app.post(`/connect/flows/${caller}/test.json`, { answers: used })).status).toBe(200);
  expect((await app.post(`/connect/flows/${code}/test.json`, { program: [{}] })).json.program[0]).toContain(
    "program[0].type",
  );
  expect(remote.requests).toHaveLength(0);
  expect((await app.get("/connect/flow_processes.json")).headers.get("x-total-count")).toBe(before);
});

test("a dry run refuses what a database would refuse", async () => {
  const fields = {
    name: { type: "string", required: true },
    open: { type: "boolean", default: true },
    state: { type: "string", choices: ["new", "paid"] },
  };
  const schema = { tables: { goods: { fields } } };
  expect((await app.post("/core/dbs.json", { db: { name: "Wares", code: "wares", schema } })).status).toBe(201);
  const write = (more: object) => ({ type: "db", db: "wares", table_name: "goods", as: "made", ...more });
  const dry = async (step: object) =>
    (await app.post(`/connect/flows/${code}/test.json`, { program: [step, { type: "return", value: "{{ made }}" }] }))
      .json;
  const code = await flow([]);
  expect(await dry(write({ op: "create", data: { name: "Tea" } }))).toMatchObject({
    status: "finished",
    data: { data: { name: "Tea", open: true }, table_name: "goods" },
  });
  expect(await dry(write({ op: "create", data: { state: "lost" } }))).toMatchObject({
    status: "error",
    error: expect.stringMatching(/name is required.*state|state.*name is required/),
    steps: [{ status: "error" }],
  });
  const id = crypto.randomUUID();
  expect((await dry(write({ op: "update", id, data: { name: "" } }))).error).toContain("name is required");
  expect(await dry(write({ op: "update", id, data: { state: "paid" } }))).toMatchObject({ data: { id } });
  expect((await dry(write({ op: "create", table_name: "bads", data: {} }))).error).toContain("table_name");
  expect((await dry(write({ op: "delete", id: "{{ nobody }}" }))).error).toContain("id is blank");
});

test("what was under way when a process failed has failed with it, in every answer alike", async () => {
  const inner = await flow([{ type: "fail", message: "deep" }]);
  const program = [
    { type: "if", condition: "true", then: [{ type: "each", in: [1], do: [{ type: "flow", flow: inner }] }] },
  ];
  const code = await flow(program);
  const run = await start(code);
  const shown = await show(run.id);
  const tested = (await app.post(`/connect/flows/${code}/test.json`, {})).json;
  for (const one of [run, shown, tested]) {
    expect(one.steps.map(({ id, status, error }: Record<string, string>) => `${id} ${status} ${error}`)).toEqual([
      "0 error deep",
      "0.then.0 error deep",
      "0.then.0.do.0#0 error deep",
      `${inner}/0#0 error deep`,
    ]);
    expect(one.steps.every((step: Record<string, string>) => step["finished_at"] !== null)).toBe(true);
  }
  expect(run.steps.slice(1)).toEqual(shown.steps.slice(1));
});

test("a call under way is shown, and fails with its process when that is cancelled", async () => {
  remote.answer = () => new Promise(() => {});
  const { id } = await start(await flow([set({ a: 1 }), call({ id: "slow" })]), {}, "?wait=0");
  const steps = async () =>
    (await show(id)).steps.map(({ id: step, status, error }: Record<string, string>) => [step, status, error]);
  await eventually(async () => (await steps()).length === 2, "the step under way");
  expect(await steps()).toEqual([
    ["0", "finished", null],
    ["slow", "pending", null],
  ]);
  await app.post(`/connect/flow_processes/${id}/cancel.json`);
  expect((await steps())[1]).toEqual(["slow", "error", "cancelled"]);
});

test("lists of processes are narrowed by flow and status", async () => {
  const code = await flow([{ type: "if", condition: "fail", then: [{ type: "fail", message: "told to" }] }]);
  const ok = await start(code);
  const bad = await start(code, { fail: true });
  expect(bad).toMatchObject({ status: "error", error: "told to", data: null });
  const list = async (query: string) =>
    (await app.get(`/connect/flow_processes.json?flow_code=${code}${query}`)).json.map(({ id }: { id: string }) => id);
  expect(await list("")).toEqual([bad.id, ok.id]);
  expect(await list("&status=error")).toEqual([bad.id]);
  expect(await list("&status=finished")).toEqual([ok.id]);
  expect(await list("&limit=1&offset=1")).toEqual([ok.id]);
  const mistake = { status: ["must be one of pending, finished, error"] };
  expect((await app.get("/connect/flow_processes.json?status=nothing")).json).toEqual(mistake);
});

test("unknown, inactive and foreign flows and processes are 404", async () => {
  const code = await flow([{ type: "wait", seconds: 1000 }]);
  const { id } = await start(code, {}, "?wait=0");
  const other = await otherAccount(app);
  for (const path of [`/connect/flow_processes/${id}.json`, `/connect/flows/${code}.json`]) {
    expect((await other.get(path)).status).toBe(404);
  }
  for (const path of [
    `/connect/flows/${code}/run.json`,
    `/connect/flow_processes/${id}/cancel.json`,
    `/connect/flow_processes/${id}/retry.json`,
  ])
    expect([path, (await other.post(path, {})).status]).toEqual([path, 404]);
  expect((await app.post("/connect/flows/nobody/run.json", {})).status).toBe(404);
  expect((await app.get("/connect/flow_processes/7.json")).status).toBe(404);
  expect((await app.get(`/connect/flow_processes/${crypto.randomUUID()}.json`)).status).toBe(404);
  await app.patch(`/connect/flows/${code}.json`, { flow: { active: false } });
  expect((await app.post(`/connect/flows/${code}/run.json`, {})).status).toBe(404);
  expect((await app.delete(`/connect/flows/${code}.json`)).status).toBe(204);
  expect((await app.get(`/connect/flows/${code}.json`)).status).toBe(404);
  expect((await show(id)).status).toBe("pending");
  await app.post(`/connect/flow_processes/${id}/cancel.json`);
});

test("needs the privilege `flows`", async () => {
  const { token } = await person(app, { role: "user" });
  expect((await app.get("/connect/flows.json", { token })).status).toBe(403);
  const manager = await person(app, { role: "manager" });
  expect((await app.get("/connect/flows.json", { token: manager.token })).status).toBe(200);
});

test("the input must be an object, and hostile ones do no harm", async () => {
  const code = await flow([{ type: "return", value: "{{ input }}" }]);
  const raw = (body: string) =>
    app.request("POST", `/connect/flows/${code}/run.json`, undefined, {
      raw: body,
      headers: { "content-type": "application/json" },
    });
  expect((await raw("[]")).status).toBe(400);
  expect((await raw("7")).status).toBe(400);
  expect((await raw("{")).status).toBe(400);
  expect((await raw('{"a":"\\u0000"}')).status).toBe(422);
  expect((await raw('{"__proto__":{"x":1},"a":"😀"}')).json.data).toEqual(JSON.parse('{"__proto__":{"x":1},"a":"😀"}'));
  const long = await raw(JSON.stringify({ a: "x".repeat(1_000_000) }));
  expect([long.status, long.json.status]).toEqual([201, "finished"]);
});

test("half a surrogate pair and NUL that a remote sends are stored as they came", async () => {
  remote.answer = () =>
    new Response('{"a":"x\\u0000y","b":"\\ud83d"}', { headers: { "content-type": "application/json" } });
  const code = await flow([call({ as: "x" }), { type: "return", value: "{{ x }}" }]);
  expect((await ended((await start(code)).id)).data).toEqual({ a: "x\0y", b: "\ud83d" });
});

test("variables that grow without end stop the process", async () => {
  const grow = { type: "each", in: "{{ n }}", do: [set({ x: "{{ x }}{{ x }}" })] };
  const code = await flow([set({ x: "0123456789abcdef" }), grow, call()]);
  const done = await ended((await start(code, { n: Array.from({ length: 40 }, () => 0) })).id);
  expect(done.status).toBe("error");
});

test("flow processes are a model: create, finished and error reach those who follow", async () => {
  following = true;
  const good = await start(await flow([set({ a: 1 })]));
  const bad = await start(await flow([call(), { type: "fail", message: "x" }]));
  await ended(bad.id);
  following = false;
  const kindsOf = (id: string) =>
    events
      .filter((one) => one.id === id)
      .map(({ kind, status }) => `${kind} ${String(status)}`)
      .toSorted();
  await eventually(() => kindsOf(bad.id).length === 3 && kindsOf(good.id).length === 3, "the events");
  expect(kindsOf(good.id)).toEqual(["create finished", "finished finished", "update finished"]);
  expect(kindsOf(bad.id)).toEqual(["create pending", "error error", "update error"]);
});

test("a flow that calls itself over HTTP is stopped by depth", async () => {
  const methods = { again: { method: "POST", path: "/connect/flows/itself/run.json" } };
  const connector = {
    name: "Self",
    code: "self",
    url: app.origin,
    secret_token: (await person(app, { role: "manager" })).token,
    fields: { methods },
  };
  await app.post("/connect/connectors.json", { connector });
  const program = [{ type: "connector", connector: "self", method: "again" }];
  await app.post("/connect/flows.json", { flow: { name: "Itself", code: "itself", fields: { program } } });
  const { id } = await start("itself", {}, "?wait=0");
  await ended(id);
  const last = await eventually(async () => {
    const { json } = await app.get("/connect/flow_processes.json?flow_code=itself");
    return json.every(({ status }: { status: string }) => status !== "pending") && json;
  });
  expect(last.length).toBeGreaterThan(5);
  expect(last.length).toBeLessThanOrEqual(17);
  expect(last[0]).toMatchObject({ status: "error", error: "the remote answered 508" });
});

test("an action answers within its time or pending, and its status can be waited for", async () => {
  const service = app.service(flows);
  const accountId = 1;
  const quick = await flow([{ type: "return", value: "{{ x }}" }]);
  expect(await service.runAction({ accountId, flowCode: quick, input: { x: 1 } })).toMatchObject({
    status: "finished",
    data: 1,
    error: null,
  });
  let answer: (response: Response) => void = () => {};
  remote.answer = () => new Promise((resolve) => (answer = resolve));
  const slow = await flow([call({ as: "x" }), { type: "return", value: "{{ x }}" }]);
  const pending = await service.runAction({ accountId, flowCode: slow, input: {}, waitMs: 20 });
  expect(pending).toMatchObject({ status: "pending", data: null });
  const processId = pending?.flow_process_id ?? "";
  const waiting = service.actionStatus({ accountId, flowCode: slow, processId, waitSeconds: 25 });
  await eventually(() => remote.requests.length === 1);
  answer(Response.json("late"));
  expect(await waiting).toMatchObject({ status: "finished", data: "late" });
  expect(await service.actionStatus({ accountId, flowCode: quick, processId })).toBeUndefined();
  expect(await service.actionStatus({ accountId: 2, flowCode: slow, processId })).toBeUndefined();
  expect(await service.runAction({ accountId, flowCode: "nobody", input: {} })).toBeUndefined();
});

test("what its starter stored with a process comes back to the starter alone", async () => {
  const service = app.service(flows);
  const code = await flow([{ type: "return", value: "{{ x }}" }]);
  const origin = { app_id: "a", owner: null, list: ["ż\0", 1] };
  const processId =
    (await service.runAction({ accountId: 1, flowCode: code, input: {}, origin }))?.flow_process_id ?? "";
  expect(await service.originOf({ accountId: 1, processId })).toEqual({ flowCode: code, origin });
  expect(await service.originOf({ accountId: 2, processId })).toBeUndefined();
  const shown = await app.get(`/connect/flow_processes/${processId}.json`);
  expect(shown.text).not.toContain("app_id");
  const { flow_process_id: plain } = (await app.post(`/connect/flows/${code}/run.json`, {})).json;
  expect(await service.originOf({ accountId: 1, processId: plain })).toEqual({ flowCode: code, origin: {} });
});

test("two servers on one database run each process once, and each can wait for the other's", async () => {
  const second = await startTestApp({ target: app.target, plugins: [...plugins, follower] });
  const code = await flow([
    call({ params: { value: "{{ n }}" } }),
    { type: "wait", seconds: 0.1 },
    call({ params: { value: "{{ n }}" } }),
  ]);
  const runs = Array.from({ length: 30 }, (_, n) =>
    (n % 2 ? app : second).post(`/connect/flows/${code}/run.json?wait=20`, { n }),
  );
  const answers = await Promise.all(runs);
  expect(answers.map(({ json }) => json.status)).toEqual(answers.map(() => "finished"));
  const sent = remote.requests.map((request) => JSON.parse(request.body).value).toSorted((a, b) => a - b);
  expect(sent).toEqual(Array.from({ length: 60 }, (_, i) => Math.floor(i / 2)));
  await second.stop();
});
