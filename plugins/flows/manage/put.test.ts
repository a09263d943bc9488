import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../../tests/harness.ts";
import { flows, type NewFlow } from "../api.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const returning = (value: unknown) => ({ program: [{ type: "return", value }] });
const put = (given: Partial<NewFlow> = {}) =>
  app
    .service(flows)
    .putFlow({ accountId: 1, userId: null }, { name: "Put", code: "put", fields: returning(1), ...given });

test("a flow is put at a code: made, changed, or left as it is", async () => {
  const run = async () => (await app.post("/connect/flows/put/run.json", {})).json.data;
  const { id, done } = await put();
  expect(done).toBe("made");
  expect(await run()).toBe(1);
  expect(await put()).toEqual({ id, done: "unchanged" });
  expect(await put({ fields: returning(2) })).toEqual({ id, done: "changed" });
  expect(await run()).toBe(2);
  const wrong: Promise<unknown> = put({ fields: { program: [{ type: "nothing" }] } });
  expect(await wrong.catch((error: unknown) => error)).toMatchObject({
    status: 422,
    fields: { program: [expect.any(String)] },
  });
});
