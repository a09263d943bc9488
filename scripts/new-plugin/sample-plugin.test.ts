import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { plugins as builtIn } from "../../plugins/index.ts";
import { eventually, otherAccount, startTestApp, type OtherAccount, type TestApp } from "../../tests/harness.ts";
import { countWords } from "./items.ts";
import plugin from "./plugin.ts";

let app: TestApp;
let other: OtherAccount;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...new Set([...builtIn, plugin])] });
  other = await otherAccount(app);
});
afterAll(() => app.stop());

const path = "/sample-plugin/items";
const make = (item: unknown) => app.post(path, { item });

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

  test("gets its words counted in the background, after a change anew", async () => {
    const { id } = (await make({ title: "Shelf", text: "Two boards" })).json;
    const words = async () => (await app.get(`${path}/${id}`)).json.words;
    await eventually(async () => (await words()) === 2);
    await app.patch(`${path}/${id}`, { item: { text: "Two boards and four screws" } });
    await eventually(async () => (await words()) === 5);
  });

  test("is not changed by who read an older version", async () => {
    const made = await make({ title: "Shelf", text: "Two boards" });
    const headers = { "if-match": made.headers.get("etag") ?? "" };
    const change = (title: string) => app.patch(`${path}/${made.json.id}`, { item: { title } }, { headers });
    expect((await change("Long shelf")).status).toBe(200);
    expect((await change("Short shelf")).status).toBe(412);
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
  test.each(cases)("%s: 422 for the field", async (_what, item, name) => {
    const answer = await make(item);
    expect(answer.status).toBe(422);
    expect(answer.json).toHaveProperty(name);
  });

  test("a caller without a token, 401; an id that is none, or is another account's, 404", async () => {
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
