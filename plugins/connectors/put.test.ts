import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../tests/harness.ts";
import { connectors, type NewConnector } from "./api.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const fields = { methods: { now: { path: "/now", method: "GET" } } };
const put = (given: Partial<NewConnector> = {}) =>
  app
    .service(connectors)
    .put({ accountId: 1, userId: null }, { name: "Put", code: "put", url: "https://example.com", fields, ...given });

test("a connector is put at a code: made, changed but for its secret, or left as it is", async () => {
  const { id, done } = await put();
  expect(done).toBe("made");
  expect(await put()).toEqual({ id, done: "unchanged" });
  const connector = { secret_token: "a secret that is long enough" };
  await app.patch("/connect/connectors/put.json", { connector });
  expect(await put({ name: "Other" })).toEqual({ id, done: "changed" });
  const { json } = await app.get("/connect/connectors/put.json");
  expect(json).toMatchObject({ id, name: "Other", secret_token_info: "a se...ough" });
  expect(await app.service(connectors).methodsOf(1, "put")).toMatchObject([{ name: "now" }]);
  // The secret was given for the address that it goes to.
  const moved: Promise<unknown> = put({ url: "https://example.org" });
  expect(await moved.catch((error: unknown) => error)).toMatchObject({
    status: 422,
    fields: { secret_token: [expect.any(String)] },
  });
});
