/** What clients without a valid credential may send: small bodies, and nothing that keeps the process busy. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "./harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  const flow = { name: "Echo", code: "echo", fields: { program: [{ type: "return", value: "{{ input.size }}" }] } };
  expect((await app.post("/connect/flows.json", { flow })).status).toBe(201);
  const actions = [{ action: "echo", flow_code: "echo", public: true }];
  const made = {
    name: "Open",
    url_code: "open",
    app_engine: "html",
    css_engine: "none",
    source_code: "x",
    public: true,
  };
  expect((await app.post("/core/apps.json", { app: { ...made, actions } })).status).toBe(201);
  const db = { name: "Open", code: "open", schema: { fields: { text: "text" } }, public_methods: { create: true } };
  expect((await app.post("/core/dbs.json", { db })).status).toBe(201);
});
afterAll(() => app.stop());

const bodyOf = (key: string, bytes: number) => `{"${key}":"${"x".repeat(bytes - key.length - 7)}"}`.padEnd(bytes);
const send = (path: string, raw: string, token: string | null = null) =>
  app.request("POST", path, undefined, { token, raw, headers: { "content-type": "application/json" } });

describe("a stranger's body", () => {
  test.each([
    ["/account/session.json", 16_384, 422],
    ["/account/session", 16_384, 422],
    ["/login", 16_384, 422],
    ["/connect/connectors/nowhere/get", 1_000_000, 404],
    ["/core/db/nowhere/create", 2_500_000, 404],
    ["/core/db/open/create", 2_500_000, 422],
  ])("at %s has at most %d bytes", async (path, bytes, within) => {
    expect((await send(path, bodyOf("login", bytes))).status).toBe(within);
    const answer = await send(path, bodyOf("login", bytes + 1));
    expect([answer.status, answer.json]).toEqual([413, { error: expect.stringContaining(`${bytes}`) }]);
  });

  test("at an action has at most 1 MB", async () => {
    const id = (await app.get("/core/apps.json")).json[0].id;
    expect((await send(`/core/apps/${id}/action/echo`, bodyOf("size", 1_000_000))).status).toBe(200);
    expect((await send(`/core/apps/${id}/action/echo`, bodyOf("size", 1_000_001))).status).toBe(413);
  });

  test("is small at every open route that says nothing else", async () => {
    const open = app.app.routes.filter(({ spec }) => "open" in spec.access && (spec.body ?? spec.input === "any"));
    const paths = open.map(({ method, path, spec }) => [method, path, spec.strangerBytes ?? 16_384] as const);
    expect(paths.length).toBeGreaterThan(4);
    for (const [method, path, bytes] of paths) {
      expect([path, bytes <= 2_500_000]).toEqual([path, true]);
      const address = path.replaceAll(/:[a-z_]+/g, "nowhere");
      const raw = bodyOf("x", bytes + 1);
      const headers = { "content-type": "application/json" };
      expect([path, (await app.request(method, address, undefined, { token: null, raw, headers })).status]).toEqual([
        path,
        413,
      ]);
    }
  });

  test("says no length beforehand and is cut off all the same", async () => {
    const body = new ReadableStream({
      start(controller) {
        for (let piece = 0; piece < 20; piece++) controller.enqueue(new TextEncoder().encode(" ".repeat(1_000)));
        controller.close();
      },
    });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${app.origin}/account/session`, { method: "POST", body, headers });
    expect(answer.status).toBe(413);
  });
});

test("who is signed in sends more, but not to sign in", async () => {
  const raw = bodyOf("text", 3_000_000);
  const headers = { "content-type": "application/json" };
  expect((await app.post("/connect/connectors/nowhere/get", undefined, { raw, headers })).status).toBe(404);
  expect((await app.post("/account/session", undefined, { raw, headers })).status).toBe(413);
});
