/** What a list of tokens can be narrowed to. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { person, startTestApp, type TestApp } from "../../tests/harness.ts";

let app: TestApp;
let token: string;
beforeAll(async () => {
  app = await startTestApp();
  ({ token } = await person(app));
  const make = (fields: object) => app.post("/account/api_tokens.json", { api_token: fields }, { token });
  await make({ name: "Nightly import", code: "night" });
  await make({ name: "Off", active: false });
  await make({ name: "Old", code: "old_import", expires_at: "2099-01-01" });
  await make({ name: "Later", expires_at: "2099-01-01" });
  await app.sql`update api_tokens set expires_at = now() - interval '1 day' where name = 'Old'`;
});
afterAll(() => app.stop());

test.each([
  ["", ["Later", "Nightly import", "Off", "Old"]],
  ["?ended=true", ["Off", "Old"]],
  ["?ended=false", ["Later", "Nightly import"]],
  ["?q=import", ["Nightly import", "Old"]],
  ["?q=IMPORT&ended=true", ["Old"]],
  ["?q=nothing", []],
])("%p shows %j", async (query, names) => {
  const { json, headers } = await app.get(`/account/api_tokens.json${query}`, { token });
  const shown: (string | null)[] = json.map(({ name }: { name: string | null }) => name);
  const own = shown.filter((name) => name !== null);
  expect(own.toSorted()).toEqual(names);
  expect(headers.get("x-total-count")).toBe(`${shown.length}`);
});

test("a filter that is neither true nor false is refused", async () => {
  const answer = await app.get("/account/api_tokens.json?ended=maybe", { token });
  expect([answer.status, Object.keys(answer.json)]).toEqual([422, ["errors"]]);
});
