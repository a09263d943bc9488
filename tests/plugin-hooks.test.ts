/** `before`: a plugin refuses changes that other plugins make, in their transaction. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { before, definePlugin, invalid } from "platform";
import { plugins as builtIn } from "../plugins/index.ts";
import { startTestApp, type TestApp } from "./harness.ts";
import { follower, traces } from "./traces.ts";

const asked: string[] = [];

/** Refuses objects named `forbidden`, and records in its own table what it accepts. */
const guard = definePlugin({
  name: "guard",
  migrations: [{ name: "001_guard", sql: "create table guarded (model text not null, kind text not null)" }],
  setup: () => ({
    hooks: ["Core::Record", "Core::Prompt", "Core::Db", "Account::User", "Cms::Page"].map((model) =>
      before(model as `${string}::${string}`, ["create", "update", "destroy"], async ({ kind, data }, tx) => {
        asked.push(`${model} ${kind}`);
        if (data["name"] === "forbidden") throw invalid({ name: ["is forbidden by the guard"] });
        await tx`insert into guarded (model, kind) values (${model}, ${kind})`;
      }),
    ),
  }),
});

let app: TestApp;
let db: string;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...builtIn, guard, follower] });
  const schema = { fields: { name: "string" } };
  const public_methods = { create: true };
  db = (await app.post("/core/dbs.json", { db: { name: "People", code: "people", schema, public_methods } })).json.code;
  expect(db).toBe("people");
});
afterAll(() => app.stop());
beforeEach(async () => {
  await app.sql`delete from guarded`;
  asked.length = 0;
});

const records = "/core/dbs/people/records.json";
/** What a refusal must leave unchanged. */
const left = () => traces(app, "records", "prompts", "dbs", "users", "guarded");
const refusal = { name: ["is forbidden by the guard"] };

describe("a hook before a change", () => {
  test("lets it pass, and what the hook wrote is committed with it", async () => {
    const made = await app.post(records, { record: { data: { name: "Ada" } } });
    expect(made.status).toBe(201);
    const { id } = made.json;
    expect((await app.patch(`/core/dbs/people/records/${id}.json`, { record: { data: { name: "Bob" } } })).status).toBe(
      200,
    );
    expect((await app.delete(`/core/dbs/people/records/${id}.json`)).status).toBe(204);
    const noted = await app.sql<{ model: string; kind: string }[]>`select model, kind from guarded order by kind`;
    expect([...noted]).toEqual([
      { model: "Core::Record", kind: "create" },
      { model: "Core::Record", kind: "destroy" },
      { model: "Core::Record", kind: "update" },
    ]);
  });

  test("refuses it by field: nothing is stored, and nobody is told", async () => {
    const { id } = (await app.post(records, { record: { data: { name: "Ada" } } })).json;
    const standing = await left();
    const one = `/core/dbs/people/records/${id}.json`;
    const attempts = [
      await app.post(records, { record: { data: { name: "forbidden" } } }),
      await app.patch(one, { record: { data: { name: "forbidden" } } }),
      await app.post("/core/prompts.json", { prompt: { name: "forbidden", code: "x", content: "x" } }),
      await app.post("/core/dbs.json", { db: { name: "forbidden" } }),
      await app.post("/account/users.json", { user: { login: "x", name: "forbidden" } }),
    ];
    for (const { status, json } of attempts) expect({ status, json }).toEqual({ status: 422, json: refusal });
    expect(await left()).toEqual(standing);
    expect((await app.get(one)).json.data).toEqual({ name: "Ada" });
    expect(asked).toContain("Core::Db create");
  });

  test("is asked whoever writes: a visitor, a batch, an import", async () => {
    const standing = await left();
    const visitor = await app.post("/core/db/people/create", { data: { name: "forbidden" } }, { token: null });
    expect(visitor.status).toBe(422);
    const batch = await app.post("/core/dbs/people/batch", {
      operations: [{ op: "create", data: { name: "forbidden" } }],
    });
    expect(batch.status).toBe(422);
    const headers = { "content-type": "text/csv" };
    const imported = await app.post("/core/dbs/people/import", undefined, { raw: "name\nAda\nforbidden\n", headers });
    expect(imported.status).toBe(422);
    expect(asked.filter((one) => one === "Core::Record create").length).toBeGreaterThanOrEqual(3);
    expect(await left()).toEqual(standing);
  });
});
