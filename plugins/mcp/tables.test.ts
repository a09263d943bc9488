/** What databases have beside their records, over the protocol; and what an agent is told of what it gets wrong. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect, failureOf, type Agent } from "../../tests/fixtures/mcp-client.ts";
import { adminToken, person, startTestApp, type TestApp } from "../../tests/harness.ts";

let app: TestApp;
let agent: Agent;
let acme: string;
let deal: string;
const link = (to: string) => ({ type: "string", link: to });
const made = (code: string, fields: object, more: object = {}) =>
  agent.call("create", { resource: "dbs", fields: { name: code, code, schema: { fields, ...more } } });
const resultOf = async (name: string, args: Record<string, unknown>) => {
  const { isError, text, json } = await agent.call(name, args);
  expect([isError, text]).toEqual([false, expect.any(String)]);
  return json.result;
};

beforeAll(async () => {
  app = await startTestApp();
  agent = await connect(app.origin, adminToken);
  await made("companies", { name: "string", country: "string" });
  await made("deals", {
    title: "string",
    company: link("companies"),
    value: { type: "number", format: "money", currency: "EUR" },
  });
  acme = (
    await resultOf("create", {
      resource: "records",
      in: "companies",
      fields: { data: { name: "Acme", country: "PL" } },
    })
  ).id;
  deal = (
    await resultOf("create", { resource: "records", in: "deals", fields: { data: { title: "Big", company: acme } } })
  ).id;
});
afterAll(async () => {
  await agent.client.close();
  await app.stop();
});

test("a search and a record follow links, and a record is read with what belongs to it in one call", async () => {
  const found = await resultOf("search_records", {
    db: "deals",
    filter: { "company.country": "PL" },
    expand: ["company"],
  });
  expect(found).toMatchObject([{ title: "Big", expand: { company: { name: "Acme" } } }]);
  await resultOf("comment_record", { db: "companies", id: acme, text: "Call them" });
  const whole = await agent.call("get_record", { db: "companies", id: acme, with: ["linked", "comments"] });
  expect(whole.json).toMatchObject({
    etag: expect.any(String),
    result: {
      record: { data: { name: "Acme" } },
      linked: [{ db_code: "deals", field: "company", count: 1 }],
      comments: [{ text: "Call them" }],
    },
  });
  const one = await resultOf("get_record", { db: "deals", id: deal, expand: ["company"] });
  expect(one.expand.company.name).toBe("Acme");
  expect((await agent.call("get_record", { db: "deals", id: deal, expand: ["title"] })).text).toContain(
    "is not a link",
  );
});

test("a table is shown before it is stored, and stored as it was shown", async () => {
  const text = "Tytuł;Wartość\nChair;1 299,50 zł\nTable;2 450,00 zł\n";
  const shown = await resultOf("import_records", { db: "deals", text, type: "csv" });
  expect(shown).toMatchObject({ rows: 2, columns: [{ name: "Tytuł" }, { name: "Wartość", format: { decimal: "," } }] });
  expect(await resultOf("search_records", { db: "deals", q: "Chair" })).toEqual([]);
  const formats = Object.fromEntries(
    shown.columns.map((one: { name: string; format: object }) => [one.name, one.format]),
  );
  const mapping = { Tytuł: "title", Wartość: "value" };
  expect(
    await resultOf("import_records", { db: "deals", text, type: "csv", mapping, formats, store: true }),
  ).toMatchObject({ imported: 2 });
  expect(await resultOf("search_records", { db: "deals", q: "Chair" })).toMatchObject([{ value: 1299.5 }]);
});

test("a record's history is read, and the record brought back to what it was", async () => {
  await made("notes", { text: "string" }, { history: true });
  const { id } = await resultOf("create", { resource: "records", in: "notes", fields: { data: { text: "a" } } });
  await resultOf("update", { resource: "records", in: "notes", id, fields: { data: { text: "b" } } });
  const { history } = await resultOf("get_record", { db: "notes", id, with: ["history"] });
  expect(history.map((one: { op: string }) => one.op).toSorted()).toEqual(["create", "update"]);
  const first = history.find((one: { op: string }) => one.op === "create");
  await resultOf("restore", { db: "notes", id, n: first.n });
  expect((await resultOf("get_record", { db: "notes", id })).data.text).toBe("a");
});

test("what was deleted is listed and restored", async () => {
  const { id } = await resultOf("create", { resource: "records", in: "deals", fields: { data: { title: "Gone" } } });
  await app.delete(`/core/dbs/deals/records/${id}.json`);
  expect(await resultOf("list_deleted", { db: "deals" })).toMatchObject([{ id, data: { title: "Gone" } }]);
  await resultOf("restore", { db: "deals", id });
  expect((await resultOf("get_record", { db: "deals", id })).data.title).toBe("Gone");
  await made("old", { a: "string" });
  await app.delete("/core/dbs/old.json");
  const [old] = await resultOf("list_deleted", {});
  expect(old.code).toBe("old");
  expect((await resultOf("restore", { id: old.id })).code).toBe("old");
  expect((await agent.call("restore", { id: old.id, n: 1 })).text).toContain('422 {"n":');
});

test("views are a resource, and a list goes on after a page", async () => {
  await resultOf("create", {
    resource: "views",
    in: "deals",
    fields: { name: "Open", kind: "board", filters: { title: "Big" } },
  });
  expect(await resultOf("list", { resource: "views", in: "deals" })).toMatchObject([{ name: "Open" }]);
  const first = await agent.call("list", { resource: "records", in: "deals", limit: 1 });
  const second = await agent.call("list", { resource: "records", in: "deals", limit: 1, after: first.json.next });
  expect([first.json.result.length, second.json.result.length]).toEqual([1, 1]);
  expect(second.json.result[0].id).not.toBe(first.json.result[0].id);
});

test("a field that there is not is refused, and nothing is made", async () => {
  const fields = {
    source_type: "Core::Record",
    kind: "create",
    target_kind: "url",
    url: "https://example.com/a",
    filtr: {},
  };
  const refused = await agent.call("create", { resource: "webhooks", fields });
  expect([refused.isError, refused.text]).toEqual([true, '422 {"filtr":["is no field: did you mean \\"filter\\"?"]}']);
  expect((await app.get("/account/webhooks.json")).json).toEqual([]);
  const unknown = await agent.call("update", { resource: "records", in: "deals", id: deal, fields: { date: {} } });
  expect([unknown.isError, unknown.text.slice(0, 4)]).toEqual([true, "422 "]);
  // Beside the database's own fields.
  const schema = { fields: { label: "string", country: "string" } };
  await made("shops", { name: "string", country: "string" });
  await resultOf("update", { resource: "dbs", id: "shops", fields: { schema, rename: { name: "label" } } });
});

test("warnings are texts", async () => {
  const { json } = await agent.call("search_records", { db: "deals", filter: { wärme: 1 } });
  expect(json.warnings).toEqual([expect.stringContaining("wärme")]);
});

test("a prompt is found by its code, and its arguments may be numbers", async () => {
  const prompt = { name: "Bill", code: "bill", content: "No. {{ n }}" };
  const { id } = await resultOf("create", { resource: "prompts", fields: prompt });
  expect((await resultOf("get", { resource: "prompts", id: "bill" })).id).toBe(id);
  await resultOf("update", { resource: "prompts", id: "bill", fields: { content: "Number {{ n }}" } });
  const send = (params: object) => app.post("/mcp", { jsonrpc: "2.0", id: 1, method: "prompts/get", params });
  const got = await send({ name: "bill", arguments: { n: 7 } });
  expect(got.json.result.messages[0].content.text).toBe("Number 7");
  for (const name of [7, null, {}]) expect((await send({ name })).json.error.code).toBe(-32602);
  const mine = await app.post("/core/prompts.json", { prompt: { ...prompt, scope: "user" } });
  expect((await agent.call("get", { resource: "prompts", id: "bill" })).text).toContain(mine.json.id);
});

test("a flow's tool checks its arguments by its own schema", async () => {
  const input = { properties: { n: { type: "integer" } }, required: ["n"] };
  const fields = { tool: true, input, program: [{ type: "return", value: "{{ n }}" }] };
  await resultOf("create", { resource: "flows", fields: { name: "Twice", code: "twice", fields } });
  expect((await resultOf("flow_twice", { n: 2 })).data).toBe(2);
  for (const args of [{}, { n: "2" }]) {
    const refused = await agent.call("flow_twice", args);
    expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining("arguments.n")]);
  }
  expect((await app.get("/connect/flow_processes.json?flow_code=twice")).json).toHaveLength(1);
});

test("somebody who may read only some records gets no more of them here", async () => {
  const guest = await person(app, { role: "user" });
  await app.patch("/core/dbs/companies.json", {
    db: { access: [{ to: "role:user", may: "read", where: { country: "DE" } }] },
  });
  const other = await connect(app.origin, guest.token);
  expect((await other.call("get_record", { db: "companies", id: acme })).text).toStartWith("404");
  expect((await other.call("get_record", { db: "deals", id: deal, expand: ["company"] })).json.result.expand).toEqual({
    company: null,
  });
  expect((await other.call("list_deleted", { db: "companies" })).json.result).toEqual([]);
  const file = { db: "companies", text: "name\nx\n", type: "csv", store: true };
  expect((await other.call("import_records", file)).text).toStartWith("403");
  expect(await failureOf(other.call("nothing"))).toContain("no tool");
  await other.client.close();
});

test("whoever has a grant on a database, and no privilege, is offered the tools for its records", async () => {
  const guest = await person(app, { role: "guest" });
  const access = [{ to: `user:${guest.id}`, may: "edit" }];
  await made("granted", { name: "string" });
  expect((await app.patch("/core/dbs/granted", { db: { access } })).status).toBe(200);
  const theirs = await connect(app.origin, guest.token);
  const tools = ["search_records", "aggregate", "batch_records", "get_record", "comment_record", "import_records"];
  expect(await theirs.tools()).toEqual(expect.arrayContaining(["list", "create", ...tools]));
  const written = await theirs.call("batch_records", {
    db: "granted",
    operations: [{ op: "create", data: { name: "A" } }],
  });
  expect([written.isError, written.text]).toEqual([false, expect.any(String)]);
  expect((await theirs.call("search_records", { db: "granted" })).json.result).toMatchObject([{ name: "A" }]);
  expect((await theirs.call("search_records", { db: "companies" })).isError).toBe(true);
  expect((await theirs.call("guide")).text).toContain("records");
  await theirs.client.close();
  const narrowed = await person(app, { role: "user", narrowedTo: ["prompts"] });
  const other = await connect(app.origin, narrowed.token);
  expect((await other.tools()).filter((name) => tools.includes(name))).toEqual([]);
  await other.client.close();
});
