/** What an agent is told of what it gets wrong, and what the log of activity has of it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect, type Agent } from "../../tests/fixtures/mcp-client.ts";
import { adminToken, eventually, startTestApp, type TestApp } from "../../tests/harness.ts";

let app: TestApp;
let agent: Agent;
const ids: string[] = [];
const said = async (name: string, args: Record<string, unknown>, from = agent) => {
  const { isError, text } = await from.call(name, args);
  return `${isError ? "" : "not refused: "}${text}`;
};

beforeAll(async () => {
  app = await startTestApp();
  agent = await connect(app.origin, adminToken);
  const schema = { fields: { title: "string", stage: "string", value: "number" } };
  await app.post("/core/dbs.json", { db: { name: "Deals", code: "deals", schema } });
  for (const [title, stage, value] of [
    ["Big", "new", 10],
    ["Small", "won", 1],
  ])
    ids.push((await app.post("/core/dbs/deals/records.json", { record: { data: { title, stage, value } } })).json.id);
});
afterAll(async () => {
  await agent.client.close();
  await app.stop();
});

test("a list of records is filtered by fields", async () => {
  const titles = async (filter: object) => {
    const { json, text } = await agent.call("list", { resource: "records", in: "deals", filter });
    return json?.warnings ?? json?.result.map((one: { data: { title: string } }) => one.data.title) ?? text;
  };
  expect(await titles({ stage: "new" })).toEqual(["Big"]);
  expect(await titles({ value: { lt: 5 } })).toEqual(["Small"]);
  expect(await titles({ "filter[stage]": "won" })).toEqual(["Small"]);
  expect(await titles({ sort: "title", expand: "x" })).toStartWith("400");
  expect(await titles({ stag: "new" })).toEqual([expect.stringContaining('did you mean "stage"')]);
});

test.each([
  ["users", { limit: 1 }, '"limit\\" is an argument of its own'],
  ["users", { rol: "admin" }, 'did you mean \\"role\\"'],
  ["users", { role: "boss" }, "must be one of admin, manager, user, guest"],
  ["records", { stage: ["new"] }, "must be a value"],
])("a filter of %s that does not filter is refused: %j", async (resource, filter, words) => {
  const where = resource === "records" ? { in: "deals" } : {};
  const text = await said("list", { resource, filter, ...where });
  expect([text.slice(0, 4), text]).toEqual(["422 ", expect.stringContaining(words)]);
});

test("links that are followed by a search bring no warning", async () => {
  const schema = { fields: { deal: { type: "string", link: "deals" } } };
  await app.post("/core/dbs.json", { db: { name: "Notes", code: "notes", schema } });
  const found = await agent.call("search_records", { db: "notes", expand: ["deal"] });
  expect(found.json).toEqual({ result: [] });
});

test("what is not found is named", async () => {
  const [id = ""] = ids;
  expect(await said("get_record", { db: "deals", id: "abc" })).toContain("there is no such record");
  expect(await said("restore", { db: "deals", id })).toContain("there is no such deleted record");
  expect(await said("restore", { db: "deals", id, n: 99 })).toContain("has no entry 99");
  expect(await said("restore", { id })).toContain("there is no such deleted database");
  expect(await said("get", { resource: "users", id: "sally" })).toContain("there is no such person");
  expect(await said("get", { resource: "webhooks", id: 99 })).toContain("webhooks has none with the id 99");
});

test("operations that would change nothing are refused", async () => {
  const [id] = ids;
  const batch = (operations: object[]) => said("batch_records", { db: "deals", operations });
  expect(await batch([])).toContain("is empty");
  expect(await batch([{ op: "update", id, dat: {} }])).toContain('`update` has no \\"dat\\": did you mean \\"data\\"?');
  expect(await batch([{ op: "update", id }])).toBe('422 {"operations[0].data":["is required"]}');
  expect(await batch([{ op: "create", id, data: {} }])).toContain('`create` has no \\"id\\"');
});

test("the guide says that tokens are made elsewhere", async () => {
  expect((await agent.call("guide")).text).toContain(
    "tokens, sessions and how people sign in are not managed over /mcp",
  );
  for (const name of ["list", "guide"])
    expect(await said(name, name === "list" ? { resource: "api_tokens" } : { topic: "api_tokens" })).toContain(
      "in the Studio (Access tokens)",
    );
});

test("a webhook on a model that there is not is made, and says so", async () => {
  const fields = { source_type: "Core::Records", kind: "create", target_kind: "url", url: "https://example.com/a" };
  const { json } = await agent.call("create", { resource: "webhooks", fields });
  expect(json.warnings).toEqual(['source_type: no model is called "Core::Records": did you mean "Core::Record"?']);
});

test("the guide says how records are exported", async () => {
  expect((await agent.call("guide", { topic: "tasks" })).text).toContain("`GET /core/dbs/:db_id/export?format=csv`");
});

test("a refused deletion says who permits it, and is in the log of activity", async () => {
  const { id, token } = (await app.post("/account/api_tokens.json", { api_token: { privileges: ["dbs"] } })).json;
  const narrow = await connect(app.origin, token);
  const refusals = async () =>
    (await app.get("/core/activity.json?action=refused&limit=1000")).json.filter(
      (one: { token_id: number }) => one.token_id === id,
    );
  const text = await said("delete", { resource: "records", in: "deals", id: ids[0] }, narrow);
  expect(text).toContain("its owner gives it `mcp_delete`, in the Studio under Access tokens");
  await narrow.call("batch_records", { db: "deals", operations: [{ op: "delete", id: ids[0] }] });
  const found = await eventually(async () => {
    const all = await refusals();
    return all.length >= 2 && all;
  });
  expect(found.map(({ name }: { name: string }) => name).toSorted()).toEqual([
    "batch_records over /mcp",
    "delete over /mcp",
  ]);
  await narrow.client.close();
});
