import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually, otherAccount, startTestApp, type OtherAccount, type TestApp } from "platform/test";
import { countWords } from "./items.ts";
import plugin from "./plugin.ts";
import { texts } from "./studio/texts.ts";

let app: TestApp;
let other: OtherAccount;
beforeAll(async () => {
  app = await startTestApp({ plugin, env: { SAMPLE_PLUGIN_KEEP_DAYS: "30" } });
  other = await otherAccount(app);
});
afterAll(() => app.stop());

const path = "/sample-plugin/items";
const make = (item: unknown) => app.post(path, { item });
const total = async () => Number((await app.get(path)).headers.get("x-total-count"));

describe("an item", () => {
  test("is made, read, listed, changed and deleted", async () => {
    const made = await make({ title: "Shelf", text: "Two boards" });
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({ title: "Shelf", text: "Two boards", words: null });
    const { id } = made.json;

    const listed = await app.get(path);
    expect(listed.json.map((item: { id: string }) => item.id)).toContain(id);
    expect(listed.headers.get("x-total-count")).toBe(`${listed.json.length}`);

    const changed = await app.patch(`${path}/${id}`, { item: { title: "Long shelf" } });
    expect(changed.json).toMatchObject({ id, title: "Long shelf", text: "Two boards" });

    expect((await app.delete(`${path}/${id}`)).status).toBe(204);
    expect((await app.get(`${path}/${id}`)).status).toBe(404);
  });

  test("loses a field that is set to null, and no other", async () => {
    const { id } = (await make({ title: "Shelf", text: "Two boards" })).json;
    const changed = await app.patch(`${path}/${id}`, { item: { text: null } });
    expect(changed.json).toMatchObject({ title: "Shelf", text: null });
    const refused = await app.patch(`${path}/${id}`, { item: { title: null } });
    expect(refused).toMatchObject({ status: 422, json: { title: [expect.any(String)] } });
  });

  test("gets its words counted in the background, and again after a change", async () => {
    const { id } = (await make({ title: "Shelf", text: "Two boards" })).json;
    const words = async () => (await app.get(`${path}/${id}`)).json.words;
    await eventually(async () => (await words()) === 2);
    await app.patch(`${path}/${id}`, { item: { text: "Two boards and four screws" } });
    await eventually(async () => (await words()) === 5);
  });

  test("is neither changed nor deleted by someone who read an older version", async () => {
    const made = await make({ title: "Shelf", text: "Two boards" });
    const one = `${path}/${made.json.id}`;
    const headers = { "if-match": made.headers.get("etag") ?? "" };
    const change = (title: string) => app.patch(one, { item: { title } }, { headers });
    expect((await change("Long shelf")).status).toBe(200);
    expect((await change("Short shelf")).status).toBe(412);
    expect((await app.delete(one, { headers })).status).toBe(412);
    expect((await app.get(one)).json.title).toBe("Long shelf");
  });

  test("keeps the person who made it from being deleted", async () => {
    const person = await app.post("/account/users.json", { user: { login: "ada", role: "user" } });
    const issued = await app.command("token", "create", "--user", "ada");
    const made = await app.post(path, { item: { title: "Shelf" } }, { token: issued.trim() });
    expect(made.json.created_by_id).toBe(person.json.id);
    const gone = () => app.delete(`/account/users/${person.json.id}.json`);
    expect((await gone()).status).toBe(422);
    await app.delete(`${path}/${made.json.id}`);
    expect((await gone()).status).toBe(204);
  });

  test("is deleted by the schedule once it is too old, which a webhook tells", async () => {
    const receiver = app.receiver();
    const webhook = { source_type: "SamplePlugin::Item", kind: "destroy", url: receiver.url };
    expect((await app.post("/account/webhooks.json", { webhook })).status).toBe(201);
    const [old, recent] = [(await make({ title: "Old" })).json, (await make({ title: "Recent" })).json];
    await app.sql`update sample_plugin_items set updated_at = now() - interval '31 days' where id = ${old.id}`;
    await app.runSchedule("sample-plugin.prune");
    expect((await app.get(`${path}/${old.id}`)).status).toBe(404);
    expect((await app.get(`${path}/${recent.id}`)).status).toBe(200);
    await eventually(() => receiver.requests.some(({ body }) => body.includes(old.id)));
    const inAMonth = new Date(Date.now() + 31 * 86_400_000);
    await app.runSchedule("sample-plugin.prune", inAMonth);
    expect((await app.get(`${path}/${recent.id}`)).status).toBe(404);
  });

  test("is counted by the command line", async () => {
    expect(await app.command("sample-plugin", "count")).toContain(`${await total()} items`);
  });
});

test("a flow counts words with the step of this plugin", async () => {
  const step = { type: "sample-plugin.count-words", params: { text: "{{ input.text }}" }, as: "count" };
  const program = [step, { type: "return", value: "{{ count.words }}" }];
  const save = (fields: object) => app.post("/connect/flows.json", { flow: { name: "Count", code: "count", fields } });
  expect((await save({ program })).status).toBe(201);
  const run = await app.post("/connect/flows/count/run.json?wait=25", { text: "Two boards" });
  expect(run.json).toMatchObject({ status: "finished", data: 2 });
  const wrong = await save({ program: [{ ...step, params: { words: 2 } }] });
  expect(wrong).toMatchObject({ status: 422, json: { program: [expect.any(String), expect.any(String)] } });
});

describe("the page in the Studio", () => {
  const pages = async (token?: string): Promise<{ path: string; module: string }[]> =>
    (await app.get("/studio/-/pages.json", token === undefined ? {} : { token })).json;

  test("is one module of all its files, for those who may keep items", async () => {
    const page = (await pages()).find((one) => one.path === "sample-plugin/overview");
    const module = await app.get(page?.module ?? "");
    expect(module.status).toBe(200);
    expect(module.text).toContain(texts.none.pl);
    expect((await app.get(page?.module ?? "", { token: null })).status).toBe(401);
  });

  test("is not there for others", async () => {
    await app.post("/account/users.json", { user: { login: "guest-of-pages", role: "guest" } });
    const token = (await app.command("token", "create", "--user", "guest-of-pages")).trim();
    expect((await pages(token)).some((one) => one.path === "sample-plugin/overview")).toBe(false);
    const page = (await pages()).find((one) => one.path === "sample-plugin/overview");
    expect((await app.get(page?.module ?? "", { token })).status).toBe(404);
  });

  test.each(Object.entries(texts))("says %s in every language", (_name, words) => {
    for (const said of Object.values(words)) expect(said.trim()).not.toBe("");
    expect(Object.keys(words).toSorted()).toEqual(["de", "en", "pl"]);
  });
});

describe("what is refused", () => {
  const cases: [what: string, item: unknown, field: string][] = [
    ["no title", { text: "x" }, "title"],
    ["a blank title", { title: " ", text: "x" }, "title"],
    ["a title that is no text", { title: 7, text: "x" }, "title"],
    ["a text that is too long", { title: "x", text: "x".repeat(10_001) }, "text"],
    ["a NUL byte", { title: "x\0", text: "x" }, "title"],
  ];
  test.each(cases)("%s: 422 for the field, and nothing is stored", async (_what, item, name) => {
    const before = await total();
    const answer = await make(item);
    expect(answer.status).toBe(422);
    expect(answer.json).toHaveProperty(name);
    expect(await total()).toBe(before);
  });

  test("a caller without a token is 401; a malformed id, and one of another account, is 404", async () => {
    const { id } = (await make({ title: "Shelf", text: "Two boards" })).json;
    expect((await app.get(path, { token: null })).status).toBe(401);
    expect((await app.get(`${path}/none`)).status).toBe(404);
    expect((await other.get(`${path}/${id}`)).status).toBe(404);
    expect((await other.patch(`${path}/${id}`, { item: { title: "x" } })).status).toBe(404);
    expect((await other.delete(`${path}/${id}`)).status).toBe(404);
  });
});

test.each([
  ["", 0],
  ["  ,. ", 0],
  ["Zażółć gęślą jaźń!", 3],
])("%j has %i words", (text, words) => {
  expect(countWords(text)).toBe(words);
});
