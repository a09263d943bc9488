import { afterAll, beforeAll, expect, test } from "bun:test";
import { otherAccount, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { jsonDatabases, type NewDatabase } from "../api.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const put = (fields: Partial<NewDatabase> = {}, accountId = 1) =>
  app.service(jsonDatabases).put({ accountId, userId: null }, { name: "Put", code: "put", ...fields });

test("a database is put at a code: made, changed, or left as it is", async () => {
  const schema = { fields: { b: "string", a: { type: "integer", required: true } } };
  const { id, done } = await put({ schema });
  expect(done).toBe("made");
  expect(await put({ schema })).toEqual({ id, done: "unchanged" });
  expect(await put()).toEqual({ id, done: "unchanged" });
  expect(await put({ public_methods: { list: {} } })).toEqual({ id, done: "changed" });
  expect((await app.get("/core/dbs/put.json")).json).toMatchObject({
    id,
    schema,
    public_methods: { list: {} },
    created_by_id: null,
    updated_by_id: null,
  });
  expect((await app.get("/core/db/put/list", { token: null })).status).toBe(200);
  const wrong: Promise<unknown> = put({ schema: { fields: { a: "nothing" } } });
  expect(await wrong.catch((error: unknown) => error)).toMatchObject({
    status: 422,
    fields: { schema: [expect.any(String)] },
  });
  const other = await otherAccount(app);
  expect((await put({ schema }, other.id)).done).toBe("made");
});
