import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Caller } from "../../runtime/http/auth.ts";
import { modelChanged } from "../../runtime/events/models.ts";
import { definePlugin, onEvent } from "../../runtime/plugin/plugin.ts";
import { eventually, person, startTestApp, type TestApp } from "../../tests/harness.ts";
import { plugins } from "../index.ts";
import { tokens, type Tokens } from "./api.ts";
import { pruneExpired } from "./end-store.ts";

const seen: { sourceType: string; kind: string; data: Record<string, unknown> }[] = [];
const listener = definePlugin({
  name: "listener",
  setup: () => ({ handlers: [onEvent(modelChanged, "listener.all", async (change) => void seen.push({ ...change }))] }),
});

let app: TestApp;
let service: Tokens;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, listener] });
  service = app.service(tokens);
});
afterAll(() => app.stop());

const me = async (token: string) => app.get("/account/me.json", { token });
const session = async (options: Parameters<typeof person>[1] = {}) => {
  const { id, token } = await person(app, options);
  const started = await service.startSession({ accountId: 1, userId: id, seconds: 3600 });
  if (!started) throw new Error("no session");
  return { id: started.id, raw: started.token, userId: id, token };
};
const callerOf = async (raw: string, viaCookie = true): Promise<Caller> => {
  const { caller } = await service.identify("127.0.0.1", { token: raw, viaCookie });
  if (!caller) throw new Error("nobody");
  return caller;
};

describe("a session", () => {
  test("is left out of the list unless web tokens are asked for, and can only be ended", async () => {
    const { id, token, raw } = await session();
    const ids = async (query: string) =>
      (await app.get(`/account/api_tokens.json${query}`, { token })).json.map((row: { id: number }) => row.id);
    expect(await ids("")).not.toContain(id);
    expect(await ids("?kind=web_token")).toContain(id);
    const path = `/account/api_tokens/${id}.json`;
    expect((await app.patch(path, { api_token: { expires_at: null } }, { token })).json.errors).toHaveProperty("base");
    expect((await app.delete(path, { token })).status).toBe(204);
    expect((await me(raw)).status).toBe(401);
  });

  test("that a web_token opened is narrowed as it is, lasts no longer and ends with it", async () => {
    const { token, id: userId } = await person(app, { role: "manager" });
    const expires = new Date(Date.now() + 60_000).toISOString();
    const fields = { kind: "web_token", privileges: ["api_tokens"], expires_at: expires };
    const webToken = async () => (await app.post("/account/api_tokens.json", { api_token: fields }, { token })).json;
    const open = ({ id: openedBy }: { id: number }) =>
      service.startSession({ accountId: 1, userId, openedBy, seconds: 3600 });
    for (const change of [{ active: false }, { privileges: [] }, { expires_at: null }]) {
      const opener = await webToken();
      const started = await open(opener);
      const shown = await me(started?.token ?? "");
      if (change.active === false) {
        expect(started?.expiresAt?.toISOString()).toBe(expires);
        expect(shown.json.effective_privileges).toEqual(["api_tokens"]);
      }
      expect(shown.status).toBe(200);
      await app.patch(`/account/api_tokens/${opener.id}.json`, { api_token: change }, { token });
      expect((await me(started?.token ?? "")).status).toBe(401);
    }
    const opener = await webToken();
    const last = await open(opener);
    expect(await open(opener)).toBeUndefined();
    await app.patch(`/account/api_tokens/${opener.id}.json`, { api_token: { name: "renamed" } }, { token });
    expect((await me(last?.token ?? "")).status).toBe(200);
    await app.delete(`/account/api_tokens/${opener.id}.json`, { token });
    expect((await me(last?.token ?? "")).status).toBe(401);
    expect(await open(opener)).toBeUndefined();
  });

  test("of nobody is none", async () => {
    expect(await service.startSession({ accountId: 1, userId: 999_999, seconds: 60 })).toBeUndefined();
    const { id } = await person(app);
    expect(await service.startSession({ accountId: 2, userId: id, seconds: 60 })).toBeUndefined();
    expect(await service.issue({ accountId: 1, userId: 999_999 })).toBeUndefined();
  });

  test("ends by endSession, which leaves other tokens alone", async () => {
    const { raw, token } = await session();
    expect(await service.endSession(await callerOf(token, false))).toBe(false);
    expect((await me(token)).status).toBe(200);
    expect(await service.endSession(await callerOf(raw))).toBe(true);
    expect((await me(raw)).status).toBe(401);
  });

  test("that has expired is pruned, and nothing else is", async () => {
    const { id, raw, userId } = await session();
    const past = new Date(Date.now() - 1000);
    await app.sql`update api_tokens set expires_at = ${past} where id = ${id}`;
    const kept = (await service.issue({ accountId: 1, userId, expiresAt: past }))?.id;
    await service.temporaryToken(await callerOf((await session()).raw));
    await pruneExpired(app.sql);
    const left = await app.sql`select id from api_tokens where id in (${id}, ${kept ?? 0})`;
    expect(left.map((row) => row["id"])).toEqual([kept]);
    expect((await me(raw)).status).toBe(401);
  });
});

describe("a temporary token", () => {
  test("does what its session can, is one for many calls, and is listed nowhere", async () => {
    const { raw, token } = await session({ role: "manager" });
    const caller = await callerOf(raw);
    const made = await Promise.all(Array.from({ length: 20 }, () => service.temporaryToken(caller)));
    // Two where the half hour turns just now.
    expect(new Set(made).size).toBeLessThanOrEqual(2);
    const [first = ""] = made;
    expect(first).toMatch(/^core_\w{42}$/);
    expect((await me(first)).json).toMatchObject({
      id: caller.user.id,
      effective_privileges: [...caller.privileges].toSorted(),
    });
    for (const query of ["", "?kind=web_token"]) {
      const listed = (await app.get(`/account/api_tokens.json${query}`, { token })).json;
      expect(listed.some(({ name }: { name: string }) => name === "prompt")).toBe(false);
    }
    const [row] =
      await app.sql`select id, expires_at from api_tokens where purpose = 'temporary' and user_id = ${caller.user.id}`;
    expect((await app.get(`/account/api_tokens/${row?.["id"]}.json`)).status).toBe(404);
    const minutes = (Number(row?.["expiresAt"]) - Date.now()) / 60_000;
    expect(minutes).toBeGreaterThan(29);
    expect(minutes).toBeLessThanOrEqual(60);
  });

  test("is narrowed as its session, lasts no longer, and ends with it", async () => {
    const { token, id: userId } = await person(app, { role: "manager" });
    const fields = {
      kind: "web_token",
      privileges: ["api_tokens"],
      expires_at: new Date(Date.now() + 60_000).toISOString(),
    };
    const opener = (await app.post("/account/api_tokens.json", { api_token: fields }, { token })).json;
    const opened = await service.startSession({ accountId: 1, userId, openedBy: opener.id, seconds: 3600 });
    const caller = await callerOf(opened?.token ?? "");
    const made = await service.temporaryToken(caller);
    expect((await me(made)).json.effective_privileges).toEqual(["api_tokens"]);
    const [row] = await app.sql`select expires_at from api_tokens where purpose = 'temporary' and user_id = ${userId}`;
    expect(row?.["expiresAt"]?.toISOString()).toBe(fields.expires_at);
    expect(await service.endSession(caller)).toBe(true);
    expect((await me(made)).status).toBe(401);
  });

  test("of one that is limited changes no limits, and one made by it lasts no longer than it does", async () => {
    const { id, token } = (await app.post("/account/api_tokens.json", { api_token: {} })).json;
    await app.patch(`/core/tokens/${id}.json`, { token: { rate_limit: 1000 } });
    const first = await service.temporaryToken(await callerOf(token, false));
    const lifted = await app.patch(`/core/tokens/${id}.json`, { token: { rate_limit: null } }, { token: first });
    expect([lifted.status, (await app.get(`/core/tokens/${id}.json`)).json.rate_limit]).toEqual([403, 1000]);
    const caller = await callerOf(first, false);
    const soon = new Date(Date.now() + 60_000);
    await app.sql`update api_tokens set expires_at = ${soon} where id = ${caller.tokenId}`;
    await service.temporaryToken(caller);
    const [row] = await app.sql`select expires_at from api_tokens where parent_id = ${caller.tokenId}`;
    expect(row?.["expiresAt"]).toEqual(soon);
  });
});

test("changes of tokens are told without their secret, and sessions are not told", async () => {
  const { id, token } = (await app.post("/account/api_tokens.json", { api_token: { name: "told" } })).json;
  await session();
  await app.patch(`/account/api_tokens/${id}.json`, { api_token: { name: "renamed" } });
  await app.delete(`/account/api_tokens/${id}.json`);
  const mine = () => seen.filter(({ sourceType, data }) => sourceType === "Account::ApiToken" && data["id"] === id);
  await eventually(() => mine().length === 3, "three changes");
  expect(mine().map(({ kind, data }) => [kind, data["name"]])).toEqual([
    ["create", "told"],
    ["update", "renamed"],
    ["destroy", "renamed"],
  ]);
  expect(JSON.stringify(seen)).not.toContain(token);
  // The log of activity, which may come later, has sessions, and names a secret that it does not tell.
  const told = seen.filter(({ sourceType }) => sourceType !== "Core::Activity");
  expect(JSON.stringify(told)).not.toContain("session");
  const text = JSON.stringify(seen).replaceAll(/"(token|password)_hash":\{"secret":true\},?/g, "");
  expect(text).not.toMatch(/token_?hash|password_?hash|argon2/i);
  expect(seen.some(({ sourceType }) => sourceType === "Account::User")).toBe(true);
});
