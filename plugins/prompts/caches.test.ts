import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../tests/harness.ts";

/** Two processes' worth of caches on one database: what one has answered, the other must know. */
let one: TestApp;
let two: TestApp;
beforeAll(async () => {
  one = await startTestApp();
  two = await startTestApp({ target: one.target });
});
afterAll(async () => {
  await two.stop();
  await one.stop();
});

const unique = (prefix: string) => `${prefix}_${crypto.randomUUID().slice(0, 8)}`;
const read = async (app: TestApp, code: string) => {
  const { status, text } = await app.get(`/core/prompt/${code}.md`);
  return status === 200 ? text : status;
};

describe("a change that one server has answered", () => {
  test("is what the other one renders: made, changed, renamed, moved, restored, deleted", async () => {
    const code = unique("c");
    const renamed = unique("c");
    const both = async (name: string, expected: string | number) =>
      expect([name, await read(two, name), await read(one, name)]).toEqual([name, expected, expected]);
    await both(code, 404);
    const made = await one.post("/core/prompts.json", { prompt: { name: "a", code, content: "one" } });
    const path = `/core/prompts/${made.json.id}`;
    await both(code, "one");
    await two.patch(`${path}.json`, { prompt: { content: "two" } });
    await both(code, "two");
    await one.patch(`${path}.json`, { prompt: { code: renamed } });
    await both(code, 404);
    await both(renamed, "two");
    await two.post(`${path}/versions/1/restore.json`);
    await both(code, "one");
    await both(renamed, 404);
    await one.patch(`${path}.json`, { prompt: { scope: "user" } });
    await both(code, "one");
    await two.patch(`${path}.json`, { prompt: { scope: "user", scope_id: 1 } });
    const extra = await two.post("/core/prompts.json", { prompt: { name: "a", code: `${code}_extra`, content: "more" } });
    await both(code, "one\n\n## Dodatkowe instrukcje\n\nmore");
    await both(`${code}_extra`, "more");
    await one.delete(`/core/prompts/${extra.json.id}.json`);
    await both(code, "one");
    await two.delete(`${path}.json`);
    await both(code, 404);
  });

  test("of a built-in prompt is taken and given back", async () => {
    const original = (await two.get("/core/prompt/prompts_api.md")).text;
    const { json } = await one.post("/core/prompts.json", { prompt: { name: "a", code: "prompts_api", content: "ours" } });
    expect(await read(two, "prompts_api")).toBe("ours");
    await one.delete(`/core/prompts/${json.id}.json`);
    expect(await read(two, "prompts_api")).toBe(original);
  });

  test("is never behind, while both are read all the time", async () => {
    const code = unique("c");
    const { json } = await one.post("/core/prompts.json", { prompt: { name: "a", code, content: "0" } });
    let answered = 0;
    let done = false;
    const reader = async (app: TestApp) => {
      while (!done) {
        const least = answered;
        expect(Number(await read(app, code))).toBeGreaterThanOrEqual(least);
      }
    };
    const readers = [reader(one), reader(two), reader(two)];
    for (let n = 1; n <= 40; n++) {
      const writer = n % 2 === 0 ? one : two;
      expect((await writer.patch(`/core/prompts/${json.id}.json`, { prompt: { content: `${n}` } })).status).toBe(200);
      answered = n;
    }
    done = true;
    await Promise.all(readers);
  });
});
