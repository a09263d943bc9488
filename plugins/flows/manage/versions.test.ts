/** The programs that a flow has had, and what a test says of the steps' inputs. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "platform/test";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const returning = (value: unknown) => [{ type: "return", value }];

test("every other program is a version, the current one first", async () => {
  const flow = { name: "Versions", code: "versions", fields: { program: returning(1) } };
  expect((await app.post("/connect/flows.json", { flow })).status).toBe(201);
  const save = async (changed: object) =>
    expect((await app.patch("/connect/flows/versions.json", { flow: changed })).status).toBe(200);
  await save({ fields: { program: returning(2) } });
  await save({ name: "Another name" });
  await save({ fields: { program: returning(2), tool: true } });
  await save({ fields: { program: returning(1) } });

  const all = await app.get("/connect/flows/versions/versions.json");
  expect(all.json).toEqual([
    { version: 3, program: returning(1), created_by_id: 1, created_at: expect.any(String) },
    { version: 2, program: returning(2), created_by_id: 1, created_at: expect.any(String) },
    { version: 1, program: returning(1), created_by_id: 1, created_at: expect.any(String) },
  ]);
  const page = await app.get("/connect/flows/versions/versions.json?limit=1&offset=1");
  expect([page.json.length, page.json[0].version, page.headers.get("x-total-count")]).toEqual([1, 2, "3"]);
  expect((await app.get("/connect/flows/nothing/versions.json")).status).toBe(404);
});

test("a test tells what its steps were given, if it is asked", async () => {
  const program = [{ type: "connector", connector: "w", method: "m", params: { city: "{{ city }}" }, as: "w" }];
  const flow = { name: "Inputs", code: "inputs", fields: { program } };
  expect((await app.post("/connect/flows.json", { flow })).status).toBe(201);
  const body = { input: { city: "Osaka" }, answers: { "w.m": { temp: 1 } } };
  const asked = await app.post("/connect/flows/inputs/test.json?include=inputs", body);
  expect(asked.json.steps[0]).toMatchObject({ output: { temp: 1 }, input: { params: { city: "Osaka" } } });
  const plain = await app.post("/connect/flows/inputs/test.json", body);
  expect(Object.keys(plain.json.steps[0])).not.toContain("input");
  expect((await app.post("/connect/flows/inputs/test.json?include=nonsense", body)).status).toBe(400);
});
