import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type Answer, type TestApp } from "../../../tests/harness.ts";
import { follower, traces } from "../../../tests/traces.ts";
import { plugins } from "../../index.ts";

let app: TestApp;
let other: string;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
  const password = "a long pass phrase";
  await app.post("/account/users.json", { user: { login: "other", name: "Other", role: "guest", password } });
  const answer = await fetch(`${app.origin}/account/session.json`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: app.origin },
    body: JSON.stringify({ login: "other", password }),
  });
  other = (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
});
afterAll(() => app.stop());

const path = "/account/me/preferences.json";
const save = (preferences: object) => app.patch(path, { preferences });
/** What is refused leaves no row and no event. */
async function refused(ask: () => Promise<Answer>): Promise<Answer> {
  const before = await traces(app, "user_preferences");
  const answer = await ask();
  expect(await traces(app, "user_preferences")).toEqual(before);
  return answer;
}
const saved = async () => (await app.get(path)).json;

describe("one's own preferences", () => {
  test("are kept by name; null removes one, and others stay", async () => {
    expect(await saved()).toEqual({});
    expect((await save({ "studio.columns": ["name"], theme: "dark" })).json).toEqual({
      "studio.columns": ["name"],
      theme: "dark",
    });
    expect((await save({ theme: null, "a:b-c_1": false })).json).toEqual({
      "studio.columns": ["name"],
      "a:b-c_1": false,
    });
    expect((await save({ "a:b-c_1": null, nothing: null, "studio.columns": { a: [1, "ü"] } })).json).toEqual({
      "studio.columns": { a: [1, "ü"] },
    });
  });

  test("of which two tabs change one lose nothing: the later one is told, whatever was changed", async () => {
    const { headers } = await save({ "studio.tiles": ["a"] });
    const ifMatch = { headers: { "if-match": headers.get("etag") ?? "" } };
    const change = (value: unknown) => app.patch(path, { preferences: { "studio.tiles": value } }, ifMatch);
    expect((await app.get(path)).headers.get("etag")).toBe(ifMatch.headers["if-match"]);
    const both = await Promise.all([change(["a", "b"]), change(["a", "c"])]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 412]);
    expect((await refused(() => change(null))).status).toBe(412);
    expect(
      (await app.patch(path, { preferences: { "studio.tiles": null } }, { headers: { "if-match": '"1-0"' } })).status,
    ).toBe(412);
    expect((await save({ "studio.tiles": null })).status).toBe(200);
  });

  test("are nobody else's", async () => {
    await save({ mine: 1 });
    const headers = { cookie: other };
    expect(await (await fetch(app.origin + path, { headers })).json()).toEqual({});
    const body = JSON.stringify({ preferences: { mine: 2 } });
    const changed = await fetch(app.origin + path, {
      method: "PATCH",
      headers: { ...headers, "content-type": "application/json", origin: app.origin },
      body,
    });
    expect(await changed.json()).toEqual({ mine: 2 });
    expect(await saved()).toMatchObject({ mine: 1 });
    expect((await app.get(path, { token: null })).status).toBe(401);
  });

  test.each([
    ["no name", { "": 1 }, "preferences"],
    ["a name with a blank", { "a b": 1 }, "preferences"],
    ["a long name", { ["x".repeat(101)]: 1 }, "preferences"],
    ["a large value", { large: "x".repeat(16_384) }, "large"],
    ["what PostgreSQL cannot store", { text: "\u0000" }, "preferences"],
    ["a word that is no flag", { "mail.mentions": "no" }, "mail.mentions"],
    ["a language that mails do not have", { "mail.language": "fr" }, "mail.language"],
    ["many at once", Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`n${n}`, n])), "preferences"],
  ])("with %s are refused, and nothing changes", async (_, preferences, named) => {
    const before = await saved();
    const answer = await refused(() => save({ good: 1, ...preferences }));
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.json)[0]).toStartWith(named);
    expect(await saved()).toEqual(before);
  });

  test("must be an object", async () => {
    for (const preferences of [[], "x", null, 5, true])
      expect((await refused(() => app.patch(path, { preferences }))).status).toBe(422);
    expect((await refused(() => app.patch(path, { preferences: {} }, { token: null }))).status).toBe(401);
  });

  test("are at most a hundred, also of two that save at once", async () => {
    const names = (prefix: string) => Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`${prefix}${n}`, n]));
    const answers = await Promise.all([save(names("a")), save(names("b"))]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 422]);
    expect(Object.keys(await saved()).length).toBeLessThanOrEqual(100);
  });

  test("go with their person", async () => {
    const made = await app.post("/account/users.json", { user: { login: "gone", name: "Gone", role: "guest" } });
    const [account] = await app.sql`select id from accounts limit 1`;
    await app.sql`
      insert into user_preferences (account_id, user_id, name, value) values (${account?.["id"]}, ${made.json.id}, 'a', '1')`;
    await app.delete(`/account/users/${made.json.id}.json`);
    expect(await app.sql`select from user_preferences where user_id = ${made.json.id}`).toHaveLength(0);
  });
});
