import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { definePlugin, modelChanged, type ModelEvent } from "platform";
import { person, startTestApp, type TestApp, type TestPerson } from "../../tests/harness.ts";
import { plugins } from "../index.ts";

const seen: ModelEvent[] = [];
const follower = definePlugin({
  name: "follower",
  setup: (ctx) => {
    ctx.listen(modelChanged, (change) => void seen.push(change));
    return {};
  },
});

let app: TestApp;
let user: TestPerson;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
  user = await person(app);
});
afterAll(() => app.stop());

const unique = (prefix: string) => `${prefix}_${crypto.randomUUID().slice(0, 8)}`;
const make = async (fields: object = {}, token?: string) => {
  const prompt = { name: "One", code: unique("v"), content: "one", ...fields };
  const { status, json } = await app.post("/core/prompts.json", { prompt }, token ? { token } : {});
  expect(status).toBe(201);
  return json;
};
const change = (id: string, fields: object) => app.patch(`/core/prompts/${id}.json`, { prompt: fields });
const versions = (id: string, query = "") => app.get(`/core/prompts/${id}/versions.json${query}`);
const restore = (id: string, n: number | string, options = {}) =>
  app.post(`/core/prompts/${id}/versions/${n}/restore.json`, undefined, options);

describe("versions", () => {
  test("are every save, the latest first, with the saved fields", async () => {
    const made = await make({ ai_placeholder: "p", kind: "agent" });
    await change(made.id, { content: "two" });
    await change(made.id, { name: "Three", ai_placeholder: null });
    const { status, json, headers } = await versions(made.id);
    expect([status, headers.get("x-total-count")]).toEqual([200, "3"]);
    const first = {
      version: 1,
      created_at: made.created_at,
      created_by_id: made.created_by_id,
      name: "One",
      code: made.code,
      content: "one",
      kind: "agent",
      scope: "account",
      scope_id: null,
      ai_placeholder: "p",
      fields: { ai_placeholder: "p" },
    };
    const time = { created_at: expect.any(String) };
    const third = { ai_placeholder: null, fields: expect.any(Object) };
    expect(json).toEqual([
      { ...first, ...time, version: 3, name: "Three", content: "two", ...third },
      { ...first, ...time, version: 2, content: "two" },
      first,
    ]);
    expect((await versions(made.id, "?limit=1&offset=1")).json).toEqual([json[1]]);
  });

  test("are kept, the latest two hundred of them", async () => {
    const { id } = await make();
    await app.sql`update prompts set version = 200 where id = ${id}`;
    await change(id, { content: "two hundred and one" });
    await change(id, { content: "two hundred and two" });
    expect((await versions(id)).json.map(({ version }: { version: number }) => version)).toEqual([202, 201]);
    expect((await restore(id, 1)).status).toBe(404);
  });

  test("are not made by what was refused", async () => {
    const { id } = await make();
    await change(id, { content: "{% if %}" });
    await change(id, { scope: "team" });
    expect((await versions(id)).json).toHaveLength(1);
  });

  test("say who saved them", async () => {
    const { id } = await make({}, user.token);
    await change(id, { name: "by the administrator" });
    const { json } = await versions(id);
    expect(json.map(({ created_by_id }: { created_by_id: number }) => created_by_id)).toEqual([1, user.id]);
  });

  test("of when a prompt was private stay hidden after it is published", async () => {
    const other = await person(app);
    const { id } = await make({ scope: "user", content: "draft" }, user.token);
    await app.patch(
      `/core/prompts/${id}.json`,
      { prompt: { scope: "account", content: "final" } },
      { token: user.token },
    );
    const theirs = await app.get(`/core/prompts/${id}/versions.json`, { token: other.token });
    expect(theirs.json.map(({ content }: { content: string }) => content)).toEqual(["final"]);
    expect(theirs.headers.get("x-total-count")).toBe("1");
    expect((await app.get(`/core/prompts/${id}/versions.json`, { token: user.token })).json).toHaveLength(2);
  });
});

describe("restoring a version", () => {
  test("saves what it was as a new one, and keeps those between", async () => {
    const made = await make({ ai_placeholder: "p" });
    await change(made.id, { content: "two", name: "Two", kind: "agent", ai_placeholder: "q", scope: "user" });
    const answer = await restore(made.id, 1);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ ...made, updated_by_id: 1, updated_at: expect.any(String) });
    expect((await app.get(`/core/prompts/${made.id}.json`)).json).toEqual(answer.json);
    expect((await versions(made.id)).json.map(({ name }: { name: string }) => name)).toEqual(["One", "Two", "One"]);
    expect((await app.get(`/core/prompt/${made.code}.md`)).text).toBe("one");
  });

  test("of what there is not is 404", async () => {
    const { id } = await make();
    for (const n of [2, 0, "x", "-1", "1.5", 2 ** 31, 99999999999999, "99999999999999999"])
      expect([n, (await restore(id, n)).status]).toEqual([n, 404]);
  });

  test("of one's code that is taken meanwhile is 422 on `code`", async () => {
    const made = await make();
    await change(made.id, { code: unique("v") });
    await make({ code: made.code });
    const answer = await restore(made.id, 1);
    expect([answer.status, answer.json]).toEqual([422, { code: ["is already taken"] }]);
  });

  test("to a team that is gone is 422, with a stale If-Match 412", async () => {
    const team = (await app.post("/account/teams.json", { team: { name: "Gone" } })).json.id;
    const made = await make({ scope: "team", scope_id: team });
    const stale = (await app.get(`/core/prompts/${made.id}.json`)).headers.get("etag");
    await change(made.id, { scope: "account" });
    expect((await restore(made.id, 1, { headers: { "if-match": stale } })).status).toBe(412);
    await app.delete(`/account/teams/${team}.json`);
    const answer = await restore(made.id, 1);
    expect([answer.status, Object.keys(answer.json)]).toEqual([422, ["scope_id"]]);
  });

  test("does not bring back a place that one may not write to", async () => {
    const { id } = await make({ scope: "account" });
    await app.sql`update prompts set created_by_id = ${user.id} where id = ${id}`;
    await app.sql`update prompt_versions set code = 'common_api' where prompt_id = ${id}`;
    expect((await restore(id, 1, { token: user.token })).status).toBe(403);
  });
});

test("every change is an event of Core::Prompt, with the prompt as the API shows it", async () => {
  seen.length = 0;
  const made = await make();
  const changed = (await change(made.id, { name: "Two" })).json;
  const restored = (await restore(made.id, 1)).json;
  await change(made.id, { name: "" });
  await app.post("/core/prompts.json", { prompt: { name: "a", code: made.code, content: "a" } });
  await app.delete(`/core/prompts/${made.id}.json`);
  const said = seen.filter(({ sourceType }) => sourceType === "Core::Prompt");
  expect(said.map(({ kind }) => kind)).toEqual(["create", "update", "update", "destroy"]);
  const data = said.map((event) => JSON.parse(JSON.stringify(event.data)));
  expect(data).toEqual([made, changed, restored, restored]);
  expect(new Set(said.map(({ id, accountId }) => `${id} ${accountId}`))).toEqual(new Set([`${made.id} 1`]));
  expect(JSON.stringify(said)).not.toContain('"token"');
});
