import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually, startTestApp, type TestApp } from "../../tests/harness.ts";

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

/** The writing server knows at once; the other one hears of it within the time that a message takes. */
async function expectRead(code: string, expected: string | number, writer: TestApp) {
  expect(await read(writer, code)).toBe(expected);
  const other = writer === one ? two : one;
  await eventually(async () => (await read(other, code)) === expected, `"${code}" is ${expected} on the other server`);
}

describe("a change that one server has answered", () => {
  test("is what both render: made, changed, renamed, moved, restored, deleted", async () => {
    const code = unique("c");
    const renamed = unique("c");
    await expectRead(code, 404, one);
    const made = await one.post("/core/prompts.json", { prompt: { name: "a", code, content: "one" } });
    const path = `/core/prompts/${made.json.id}`;
    await expectRead(code, "one", one);
    await two.patch(`${path}.json`, { prompt: { content: "two" } });
    await expectRead(code, "two", two);
    await one.patch(`${path}.json`, { prompt: { code: renamed } });
    await expectRead(code, 404, one);
    await expectRead(renamed, "two", one);
    await two.post(`${path}/versions/1/restore.json`);
    await expectRead(code, "one", two);
    await expectRead(renamed, 404, two);
    await one.patch(`${path}.json`, { prompt: { scope: "team", scope_id: await team() } });
    await expectRead(code, 404, one);
    await two.patch(`${path}.json`, { prompt: { scope: "user" } });
    await expectRead(code, "one", two);
    const extra = await two.post("/core/prompts.json", {
      prompt: { name: "a", code: `${code}_extra`, content: "more" },
    });
    await expectRead(code, "one\n\n## Dodatkowe instrukcje\n\nmore", two);
    await expectRead(`${code}_extra`, "more", two);
    await one.delete(`/core/prompts/${extra.json.id}.json`);
    await expectRead(code, "one", one);
    await two.delete(`${path}.json`);
    await expectRead(code, 404, two);
  });

  test("takes the place of a built-in prompt and gives it back", async () => {
    const original = (await two.get("/core/prompt/prompts_api.md")).text;
    const override = { name: "a", code: "prompts_api", content: "ours" };
    const { json } = await one.post("/core/prompts.json", { prompt: override });
    await expectRead("prompts_api", "ours", one);
    await one.delete(`/core/prompts/${json.id}.json`);
    await eventually(async () => (await read(two, "prompts_api")) === original, "the built-in prompt is back");
  });

  test("is never behind where it was made, and nowhere goes back, while both are read all the time", async () => {
    const code = unique("c");
    const { json } = await one.post("/core/prompts.json", { prompt: { name: "a", code, content: "0" } });
    let answered = 0;
    const reading = new AbortController();
    const reader = async (app: TestApp) => {
      let last = 0;
      while (!reading.signal.aborted) {
        const least = app === one ? answered : last;
        last = Number(await read(app, code));
        expect(last).toBeGreaterThanOrEqual(least);
      }
    };
    const readers = Promise.all([reader(one), reader(two), reader(two)]);
    for (let n = 1; n <= 40; n++) {
      expect((await one.patch(`/core/prompts/${json.id}.json`, { prompt: { content: `${n}` } })).status).toBe(200);
      answered = n;
    }
    await eventually(async () => (await read(two, code)) === "40", "the other server has the last one");
    reading.abort();
    await readers;
  });
});

async function team(): Promise<number> {
  return (await one.post("/account/teams.json", { team: { name: "A" } })).json.id;
}
