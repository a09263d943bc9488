/** `expand` of a `db` step: what is at the other end of links, by the rights of whoever saved the flow. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { person, startTestApp, type TestApp, type TestPerson } from "../../tests/harness.ts";

let app: TestApp;
let author: TestPerson;
let deal: string;
const link = (to: string) => ({ type: "string", link: to });

beforeAll(async () => {
  app = await startTestApp();
  author = await person(app, { role: "manager" });
  const db = (code: string, fields: object) =>
    app.post("/core/dbs.json", { db: { name: code, code, schema: { fields } } });
  const add = async (code: string, data: object): Promise<string> =>
    (await app.post(`/core/dbs/${code}/records.json`, { record: { data } })).json.id;
  await db("companies", { name: "string" });
  await db("people", { name: "string", company: link("companies") });
  await db("deals", { title: "string", customer: link("people") });
  const customer = await add("people", { name: "Ann", company: await add("companies", { name: "canary" }) });
  deal = await add("deals", { title: "Big", customer });
});
afterAll(() => app.stop());

const save = (code: string, step: object, token = author.token) =>
  app.post(
    "/connect/flows.json",
    {
      flow: {
        name: code,
        code,
        fields: {
          program: [
            { type: "db", db: "deals", id: "a", as: "found", ...step },
            { type: "return", value: "{{ found }}" },
          ],
        },
      },
    },
    { token },
  );
const run = async (code: string) => (await app.post(`/connect/flows/${code}/run.json?wait=10`, {})).json;
const access = (code: string, list: unknown) => app.patch(`/core/dbs/${code}.json`, { db: { access: list } });

test("get and search have what is at the end of links", async () => {
  expect(
    (await save("one", { op: "get", id: deal, expand: "customer, customer.company" })).json.warnings ?? [],
  ).toEqual([]);
  const ends = { customer: { name: "Ann" }, "customer.company": { name: "canary" } };
  expect(await run("one")).toMatchObject({ status: "finished", data: { data: { title: "Big" }, expand: ends } });
  await save("all", { op: "search", params: { filter: { title: "Big" }, fields: ["title"] }, expand: ["customer"] });
  expect((await run("all")).data).toMatchObject([{ title: "Big", expand: { customer: { name: "Ann" } } }]);
});

test.each([
  [{ op: "update", id: "x", data: {}, expand: "customer" }, "expand is unknown with `op: update`"],
  [{ op: "get", id: "x", expand: "{{ links }}" }, "expand must be links without expressions"],
  [{ op: "get", id: "x", expand: [1] }, "expand must be links without expressions"],
  [{ op: "get", id: "x", expand: "" }, "expand must be links without expressions"],
  [{ op: "get", id: "x", expand: "a.b.c.d" }, "expand takes no path that is more than 3 deep"],
  [{ op: "search", expand: Array.from({ length: 11 }, (_, n) => `a${n}`) }, "expand takes at most 10 paths"],
])("%j is refused", async (step, message) => {
  const { status, json } = await save("wrong", step);
  expect([status, json]).toEqual([422, { program: [expect.stringContaining(message)] }]);
});

test("a path that is no link is a warning, and ends the run", async () => {
  const { json } = await save("astray", { op: "get", id: deal, expand: "customer.owner" });
  expect(json.warnings).toEqual([expect.stringContaining("owner is not a link of this database")]);
  expect(await run("astray")).toMatchObject({ status: "error", error: expect.stringContaining("owner is not a link") });
});

test.each([
  [{ op: "search", params: { filter: { "customer.name": "Ann" } } }, "params"],
  [{ op: "search", params: { any: [{ "customer.name": { in: ["Ann"] } }, { title: "Big" }] } }, "params"],
  [{ op: "search", params: { filter: { "customer.name": "{{ name }}" } } }, "params"],
  [{ op: "update", id: "x", data: {}, if: { "customer.name": "Ann" } }, "if"],
])("%j names a field at the other end of a link, and is refused", async (step, key) => {
  const { status, json } = await save("far", step);
  const message = `program[0].${key}: customer.name is a field at the other end of a link: search there first, and filter by the ids`;
  expect([status, json]).toEqual([422, { program: [message] }]);
});

test("a name that only a run knows ends it, and a field of this very name is the record's own", async () => {
  await save("late", { op: "search", params: { filter: "{{ filter }}" } });
  const input = { filter: { "customer.name": "Ann" } };
  const { json } = await app.post("/connect/flows/late/run.json?wait=10", { data: input, ...input, input });
  expect(json).toMatchObject({ status: "error", error: expect.stringContaining("at the other end of a link") });
  const schema = { fields: { customer: link("people"), "customer.name": "string" } };
  await app.post("/core/dbs.json", { db: { name: "dotted", code: "dotted", schema } });
  expect((await save("own", { op: "search", db: "dotted", params: { filter: { "customer.name": "A" } } })).status).toBe(
    201,
  );
});

test("its author must read all that the links lead through, when it is saved and at each run", async () => {
  const paths = { op: "get", id: deal, expand: "customer.company" };
  await access("companies", [{ to: "role:manager", may: "read", hide: ["name"] }]);
  const refused = await save("closed", paths);
  expect([refused.status, refused.json.error]).toEqual([403, expect.stringContaining("program[0].expand")]);
  expect((await save("open", { ...paths, expand: "customer" })).status).toBe(201);
  const lost = await run("one");
  expect([lost.status, lost.error, JSON.stringify(lost)]).toEqual([
    "error",
    expect.stringContaining("each database that `expand` leads to"),
    expect.not.stringContaining("canary"),
  ]);
  await access("companies", null);
  expect((await run("one")).status).toBe("finished");
});

test("a process shows what its steps have read only to those who may read it all", async () => {
  const viewer = await person(app, { role: "user", privileges: ["flows"] });
  const { id } = await run("one");
  const shown = async () =>
    (await app.get(`/connect/flow_processes/${id}.json?include=inputs`, { token: viewer.token })).json;
  expect((await shown()).steps[0].output.expand["customer.company"].name).toBe("canary");
  await access("companies", [{ to: "role:manager", may: "read" }]);
  expect((await shown()).steps[0]).toMatchObject({ output: "[hidden]", input: "[hidden]" });
  await access("companies", null);
});
