/** Who did what: HTTP in, entries out; and what happens to somebody who changes the log. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const entries = async (query: string) => (await app.get(`/core/activity.json?${query}`)).json;
const newest = async (model: string) => (await entries(`model=${encodeURIComponent(model)}&limit=1`))[0];

describe("a change of a record", () => {
  test("is logged with who, where from and the difference", async () => {
    const made = (
      await app.post("/account/teams.json", { team: { name: "Red" } }, { headers: { "user-agent": "tests/1" } })
    ).json;
    expect(await newest("Account::Unit")).toMatchObject({
      action: "create",
      record_id: `${made.id}`,
      name: "Red",
      actor: "person",
      user_id: 1,
      login: "admin",
      address: "127.0.0.1",
      user_agent: "tests/1",
      changes: { name: { new: "Red" } },
    });
    const changed = await app.patch(`/account/teams/${made.id}.json`, { team: { name: "Blue" } });
    const entry = await newest("Account::Unit");
    expect(entry).toMatchObject({ action: "update", changes: { name: { old: "Red", new: "Blue" } } });
    expect(entry.request_id).toBe(changed.headers.get("x-request-id"));
    expect(entry.token_id).toBeNumber();
    await app.delete(`/account/teams/${made.id}.json`);
    expect(await newest("Account::Unit")).toMatchObject({ action: "delete", changes: { name: { old: "Blue" } } });
    expect((await app.get(`/core/activity/${entry.id}.json`)).json.changes).toEqual(entry.changes);
  });
});
