import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../../tests/harness.ts";
import { apps } from "../api.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

test("an app is put at a url_code: made, changed, or left as it is", async () => {
  const put = (fields: object = {}) => {
    const one = {
      name: "Put",
      url_code: "put",
      app_engine: "html",
      source_code: "<p>1</p>",
      db_code: "d",
      ...fields,
    } as const;
    return app.service(apps).put({ accountId: 1, userId: null }, one);
  };
  const actions = [{ action: "a", flow_code: "f", public: true, description: "d" }];
  const { id, done } = await put();
  expect(done).toBe("made");
  expect(await put()).toEqual({ id, done: "unchanged" });
  expect(await put({ source_code: "<p>2</p>", trusted: true, actions, fields: { z: 1, a: [{ y: 1, x: 2 }] } })).toEqual(
    {
      id,
      done: "changed",
    },
  );
  const same = { source_code: "<p>2</p>", actions, fields: { z: 1, a: [{ y: 1, x: 2 }] } };
  expect(await put(same)).toEqual({ id, done: "unchanged" });
  expect(await put({ source_code: "<p>2</p>" })).toEqual({ id, done: "unchanged" });
  expect((await app.get("/core/apps/put.json")).json).toMatchObject({
    id,
    source_code: "<p>2</p>",
    trusted: true,
    created_by_id: null,
    updated_by_id: null,
  });
  const wrong: Promise<unknown> = put({ name: "x", app_engine: "svelte", source_code: "<p>{" });
  expect(await wrong.catch((error: unknown) => error)).toMatchObject({
    status: 422,
    fields: { source_code: [expect.any(String)] },
  });
});
