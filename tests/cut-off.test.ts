import { afterAll, beforeAll, expect, test } from "bun:test";
import { createDatabase, person, startTestApp, type TestApp } from "./harness.ts";
import { startProxy, type Proxy } from "./standby.ts";

let proxy: Proxy;
let near: TestApp;
let far: TestApp;

beforeAll(async () => {
  const target = await createDatabase();
  if ("url" in target) throw new Error("tests run on the embedded PostgreSQL");
  near = await startTestApp({ target });
  proxy = await startProxy(`${target.socketDir}/.s.PGSQL.${target.port}`);
  const url = `postgres://${target.user}@127.0.0.1:${proxy.port}/${target.database}`;
  far = await startTestApp({ target: { url }, env: { DATABASE_ANSWER_SECONDS: "1", DATABASE_QUEUE_SECONDS: "1" } });
});
afterAll(async () => {
  await Promise.all([near.stop(), far.stop()]);
  await proxy.close();
});

test("a server that is cut off from the database accepts no token that another has answered to be switched off", async () => {
  const { id, token } = await person(near);
  const prompt = { name: "Known", code: "known", kind: "chat", content: "known" };
  expect((await near.post("/core/prompts.json", { prompt })).status).toBe(201);
  const read = () => far.get("/core/prompt/known.md", { token });
  expect((await read()).status).toBe(200);
  proxy.silence();
  // It knows of no change yet, and still answers from its caches.
  expect((await read()).status).toBe(200);
  expect((await near.patch(`/account/users/${id}.json`, { user: { active: false } })).status).toBe(200);
  expect((await read()).status).toBe(503);
});
