/** A number keeps its value by every way in and out, whatever its length: `behaviour B.7`. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import fc from "fast-check";
import { followStream } from "./event-stream.ts";
import { eventually, startTestApp, type Answer, type TestApp } from "./harness.ts";
import { numberLiteral, valueOf, valuesIn } from "./number-literals.ts";
import { startReceiver, type Receiver } from "./receiver.ts";

let app: TestApp;
let remote: Receiver;
beforeAll(async () => {
  app = await startTestApp();
  remote = startReceiver();
  const methods = {
    echo: { method: "POST", path: "/echo", body: { list: "{list}", text: "of {one}" } },
    query: { path: "/query?one={one}" },
  };
  await made("/connect/connectors.json", {
    connector: { name: "R", code: "remote", url: remote.url, fields: { methods } },
  });
  const open = { create: true, update: true, list: true, get: { allowed_fields: ["list"] }, search: true };
  await made("/core/dbs.json", { db: { name: "Free", code: "free", public_methods: open } });
  const fields = { n: "number", i: "integer" };
  await made("/core/dbs.json", { db: { name: "Typed", code: "typed", schema: { fields, indexed_fields: ["n"] } } });
});
beforeEach(() => {
  remote.answer = ({ body }) => new Response(body, { headers: { "content-type": "application/json" } });
});
afterAll(async () => {
  await app.stop();
  await remote.stop();
});

async function made(path: string, body: object): Promise<Answer> {
  const answer = await app.post(path, body);
  expect([path, answer.status, answer.text]).toEqual([path, 201, expect.any(String)]);
  return answer;
}

const literals = fc
  .sample(numberLiteral, 60)
  .concat("7615917337495251231", "-0", "1.0", "1e-400", "9007199254740993", "1e300");
const values = literals.map(valueOf);
/** Sent as they are written. */
const list = literals.map((literal) => JSON.rawJSON(literal));
const one = "7615917337495251231";
const data = { list, one: JSON.rawJSON(one) };
const sameIn = (answer: Answer | { text: string }) => expect(valuesIn(answer.text, "list")).toEqual(values);

test("of records, by the private routes", async () => {
  const records = "/core/dbs/free/records";
  const created = await made(`${records}.json`, { record: { data } });
  sameIn(created);
  const { id } = created.json;
  sameIn(await app.get(`${records}/${id}.json`));
  sameIn(await app.get(`${records}.json?limit=1`));
  sameIn(await app.get(`/core/dbs/free/search.json?filter[one]=${one}`));
  expect((await app.get(`/core/dbs/free/search.json?filter[one]=${one.slice(0, -1)}2`)).json).toEqual([]);
  expect((await app.get(`/core/dbs/free/search.json?filter[one][gt]=${one.slice(0, -1)}0`)).json).toHaveLength(1);
  expect((await app.get(`/core/dbs/free/search.json?filter[one][gt]=${one}`)).json).toEqual([]);
  sameIn(await app.patch(`${records}/${id}.json`, { record: { data: { list: [...list], more: list[0] } } }));
  sameIn(await app.post("/core/dbs/free/batch.json", { operations: [{ op: "update", id, data: { list } }] }));
  const task = await app.post("/core/dbs/free/bulk.json?q=*", { op: "update", data: { bulk: list } });
  const end = () => app.get(`/core/dbs/free/tasks/${task.json.id}.json`);
  await eventually(async () => (await end()).json.status === "finished", "the change");
  expect(valuesIn((await app.get(`${records}/${id}.json`)).text, "bulk")).toEqual(values);
  for (const format of ["json", "ndjson"]) sameIn(await app.get(`/core/dbs/free/export?format=${format}`));
  const csv = (await app.get("/core/dbs/free/export?format=csv")).text;
  sameIn({ text: `"list":${/"(\[[^\]]*\])"/.exec(csv)?.[1]}` });
});

test("of imported records", async () => {
  for (const [type, raw] of [
    ["application/json", JSON.stringify([data])],
    ["application/x-ndjson", JSON.stringify({ data })],
  ] as const) {
    await made("/core/dbs.json", { db: { name: type, code: "imported" } });
    const done = await app.post("/core/dbs/imported/import", undefined, { raw, headers: { "content-type": type } });
    expect(done.json).toMatchObject({ imported: 1 });
    sameIn(await app.get("/core/dbs/imported/records.json"));
    await app.delete("/core/dbs/imported.json");
  }
});

test("of fields of type number: stored, sorted, filtered, summed and exported", async () => {
  const csv = `n\n${literals.join("\n")}\n`;
  const headers = { "content-type": "text/csv" };
  const done = await app.post("/core/dbs/typed/import", undefined, { raw: csv, headers });
  expect(done.json).toMatchObject({ imported: literals.length });
  const order = (all: readonly string[]) =>
    all.toSorted((a, b) => Number(BigInt(a) > BigInt(b)) - Number(BigInt(a) < BigInt(b)));
  const sorted = await app.get("/core/dbs/typed/search.json?sort=n&limit=100&fields=n");
  const found = [...sorted.text.matchAll(/"n":\s*([^,}]+)/g)].map(([, literal = ""]) => valueOf(literal));
  expect(found).toEqual(order(values));
  for (const literal of literals) {
    const same = values.filter((value) => value === valueOf(literal)).length;
    const exact = `/core/dbs/typed/search.json?filter[n]=${encodeURIComponent(literal)}&limit=100`;
    expect([literal, (await app.get(exact)).json.length]).toEqual([literal, same]);
  }
  const sum = /"sum":\{"n":([^}]+)\}/.exec((await app.get("/core/dbs/typed/aggregate.json?sum=n")).text)?.[1] ?? "";
  expect(valueOf(sum)).toBe(`${values.reduce((total, value) => total + BigInt(value), 0n)}`);
  const exported = (await app.get("/core/dbs/typed/export?format=csv")).text.trim().split("\r\n").slice(1);
  expect(order(exported.map((row) => valueOf(row.split(",")[1] ?? "")))).toEqual(order(values));
});

test("of an integer beyond 2^53 is a string, and a number is refused", async () => {
  const write = (i: unknown) => app.post("/core/dbs/typed/records.json", { record: { data: { i } } });
  expect((await write(JSON.rawJSON("9007199254740993"))).json).toEqual({ i: [expect.stringContaining("as a string")] });
  expect((await write("9007199254740993")).json.data).toEqual({ i: "9007199254740993" });
  for (const literal of ["1e400", "-1e999", "1e-9999", `0.${"1".repeat(2_000)}`])
    for (const name of ["n", "free"]) {
      const refused = await app.post("/core/dbs/typed/records.json", {
        record: { data: { [name]: JSON.rawJSON(literal) } },
      });
      expect([literal, refused.status, refused.json]).toEqual([
        literal,
        422,
        { [name]: [expect.stringMatching(/number/)] },
      ]);
    }
});

test("of visitors' records, and of what followers are told", async () => {
  const follower = await followStream(`${app.origin}/core/db/free/events`, { token: "" });
  const own = await followStream(`${app.origin}/core/dbs/free/events`);
  const visitor = { token: null };
  const created = await app.post("/core/db/free/create", { data }, visitor);
  sameIn(created);
  sameIn(await app.post("/core/db/free/get", { id: created.json.id }, visitor));
  sameIn(await app.get("/core/db/free/list?limit=1", visitor));
  sameIn(await app.get("/core/db/free/search?limit=1", visitor));
  await app.post("/core/db/free/update", { id: created.json.id, data: { list: [0] } }, visitor);
  sameIn(await app.post("/core/db/free/update", { id: created.json.id, data: { list } }, visitor));
  for (const { text } of [follower, own]) {
    await eventually(() => text().includes("event: create"), "the event");
    sameIn({ text: text() });
  }
  await follower.close();
  await own.close();
});

test("in flows: input, expressions, templates, records, connectors, processes", async () => {
  const program = [
    {
      type: "connector",
      connector: "remote",
      method: "echo",
      params: { list: "{{ list }}", one: "{{ one }}" },
      as: "back",
    },
    { type: "db", op: "create", db: "free", data: { list: "{{ back.list }}", one: "{{ one }}" }, as: "kept" },
    {
      type: "db",
      op: "search",
      db: "free",
      params: { filter: { one: "{{ one }}" }, sort: "-id", limit: 1 },
      as: "found",
    },
    {
      type: "return",
      value: {
        list: "{{ found[0].list }}",
        text: "{{ one }}, {{ back.text }}, {{ 12345678901234567890 }}, {{ list | json }}",
        same: `{% if one == ${one} and one > ${one.slice(0, -1)}0 %}yes{% endif %}`,
        constant: JSON.rawJSON(one),
      },
    },
  ];
  await made("/connect/flows.json", { flow: { name: "F", code: "numbers", fields: { program } } });
  const run = await app.post("/connect/flows/numbers/run.json?wait=10", { list, one: JSON.rawJSON(one) });
  expect(run.json).toMatchObject({
    status: "finished",
    data: { same: "yes", text: expect.stringContaining(`${one}, of ${one}, 12345678901234567890, `) },
  });
  sameIn(run);
  expect(run.text).toContain(`"constant":${one}`);
  sameIn({ text: `"list":${/890, (\[[^\]]*\])/.exec(run.text)?.[1]}` });
  sameIn(await app.get(`/connect/flow_processes/${run.json.id}.json`));
  expect(valuesIn(remote.at("/echo").at(-1)?.body ?? "", "list")).toEqual(values);
});

test("in versions of apps, preferences, and groups of a template", async () => {
  const fields = { name: "V", url_code: "v", app_engine: "html", source_code: "<p></p>" };
  await made("/core/apps.json", { app: { ...fields, fields: { list }, config: { one: JSON.rawJSON(one) } } });
  await app.patch("/core/apps/v.json", { app: { fields: {}, config: {} } });
  sameIn({ text: (await app.get("/core/apps/v/versions.json")).text.replaceAll('"list":[]', "") });
  const restored = await app.post("/core/apps/v/versions/1/restore.json");
  sameIn(restored);
  expect(restored.text).toContain(`"one":${one}`);
  const preferences = { mine: { list } };
  sameIn(await app.patch("/account/me/preferences.json", { preferences }));
  sameIn(await app.get("/account/me/preferences.json"));
  const value = { groups: "{{ input.rows | group_by: 'n' }}" };
  const flow = { name: "Groups", code: "groups", fields: { program: [{ type: "return", value }] } };
  await made("/connect/flows.json", { flow });
  const [near, n] = [JSON.rawJSON("7615917337495251232"), JSON.rawJSON(one)];
  const rows = [{ n }, { n: near }, { n }];
  const { text } = await app.post("/connect/flows/groups/run.json?wait=10", { rows });
  expect(/"data":\{"groups":(.*?)\},"error"/.exec(text)?.[1]).toBe(
    `[{"name":${one},"items":[{"n":${one}},{"n":${one}}]},{"name":7615917337495251232,"items":[{"n":7615917337495251232}]}]`,
  );
});

test("in calls of connectors, and what cannot be kept is an error", async () => {
  sameIn(await app.post("/connect/connectors/remote/echo", data));
  await app.post("/connect/connectors/remote/query", { one: JSON.rawJSON(one) });
  remote.answer = () => new Response('{"a":1e999}', { headers: { "content-type": "application/json" } });
  const failed = await app.post("/connect/connectors/remote/query", { one: JSON.rawJSON(one) });
  expect([failed.status, failed.json.error]).toEqual([502, expect.stringContaining("a number that is too large")]);
});

test("in deliveries of webhooks, whose filters compare every digit", async () => {
  remote.answer = () => new Response("ok");
  const hook = async (path: string, filter: object) =>
    (
      await made("/account/webhooks.json", {
        webhook: { source_type: "Core::Record", kind: "create", url: `${remote.url}${path}`, filter },
      })
    ).json.id;
  const id = await hook("/hit", { one: JSON.rawJSON(one), db_code: "free" });
  await hook("/miss", { one: JSON.rawJSON(`${one.slice(0, -1)}2`), db_code: "free" });
  await made("/core/dbs/free/records.json", { record: { data } });
  const delivered = await eventually(() => remote.at("/hit")[0], "the delivery");
  sameIn({ text: delivered.body });
  expect(remote.at("/miss")).toEqual([]);
  const deliveries = await app.get(`/account/webhooks/${id}/deliveries.json`);
  sameIn(await app.get(`/account/webhooks/${id}/deliveries/${deliveries.json[0].id}.json`));
});

test("in the JSON objects of things, and where an object is wanted a number is refused", async () => {
  const things: [path: string, key: string, more: object][] = [
    ["/core/dbs", "db", { code: "things" }],
    ["/cms/sites", "site", { code: "things" }],
    ["/connect/connectors", "connector", { code: "things", url: "https://example.com" }],
  ];
  for (const [path, key, more] of things) {
    const created = await app.post(`${path}.json`, { [key]: { name: "Things", ...more, fields: { list } } });
    expect([path, created.status, created.text]).toEqual([path, 201, expect.any(String)]);
    sameIn(created);
    const thing = `${path}/${created.json.id}.json`;
    sameIn(await app.get(thing));
    const refused = await app.patch(thing, { [key]: { fields: JSON.rawJSON(one) } });
    expect([path, refused.status, refused.json]).toEqual([path, 422, { fields: [expect.stringContaining("object")] }]);
    sameIn(await app.patch(thing, { [key]: { fields: { list: [...list] } } }));
  }
});

test("through MCP", async () => {
  const call = async (name: string, args: object) => {
    const params = { name, arguments: args };
    const answer = await app.post("/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params });
    return { text: String(answer.json.result.content[0].text), isError: answer.json.result.isError === true };
  };
  sameIn(await call("create", { resource: "records", in: "free", fields: { data } }));
  sameIn(await call("search_records", { db: "free", filter: { one: JSON.rawJSON(one) }, limit: 1 }));
  sameIn(await call("run_flow", { flow: "numbers", input: data }));
  const refused = await call("create", {
    resource: "records",
    in: "free",
    fields: { data: { n: JSON.rawJSON("1e999") } },
  });
  expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining("too large to be kept")]);
});

test("an Idempotency-Key with another last digit is another body", async () => {
  const write = (n: string) =>
    app.post(
      "/core/dbs/free/records.json",
      { record: { data: { n: JSON.rawJSON(n) } } },
      { headers: { "idempotency-key": "digits-of-a-number" } },
    );
  expect((await write(one)).status).toBe(201);
  expect((await write(`${one.slice(0, -1)}2`)).status).toBe(409);
});
