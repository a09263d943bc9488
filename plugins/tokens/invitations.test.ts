/** A link that signs a person in who has no password yet. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  adminToken,
  otherAccount,
  person,
  startTestApp,
  type OtherAccount,
  type TestApp,
} from "../../tests/harness.ts";
import { tokens } from "./api.ts";

let app: TestApp;
let other: OtherAccount;
beforeAll(async () => {
  app = await startTestApp();
  other = await otherAccount(app);
});
afterAll(() => app.stop());

const day = 86_400_000;
const invite = (id: number, fields: Record<string, unknown> = {}, token = adminToken) =>
  app.post(`/account/users/${id}/invitation.json`, { invitation: fields }, { token });
const addressOf = (url: string) => url.slice(new URL(url).origin.length);
const follow = (url: string) => app.get(addressOf(url), { token: null });
const invitationsOf = (id: number) =>
  app.sql`select id from api_tokens where user_id = ${id} and purpose = 'invitation' order by id`;

/** The headers of a browser after it has followed the link. */
async function sessionBy(url: string): Promise<Record<string, string>> {
  const answer = await follow(url);
  expect(answer.status).toBe(303);
  const [cookie = ""] = (answer.headers.get("set-cookie") ?? "").split(";");
  return { cookie, origin: app.origin };
}
const asSession = (headers: Record<string, string>) => ({ token: null, headers });
const signIn = (login: string, password: string) =>
  app.post("/account/session.json", { login, password }, { token: null });

describe("an invitation", () => {
  test("signs in once, and lets the person set a password, after which the link is gone", async () => {
    const { id, login } = await person(app);
    const made = await invite(id);
    expect(made.status).toBe(201);
    expect(Object.keys(made.json).toSorted()).toEqual(["expires_at", "url"]);
    expect(Math.abs(Date.parse(made.json.expires_at) - Date.now() - 7 * day)).toBeLessThan(60_000);
    const session = await sessionBy(made.json.url);
    expect((await app.get("/account/me.json", asSession(session))).json.id).toBe(id);
    expect((await follow(made.json.url)).status).toBe(401);
    const set = await app.patch("/account/me.json", { user: { password: "chosen by myself" } }, asSession(session));
    expect(set.status).toBe(200);
    expect((await signIn(login, "chosen by myself")).status).toBe(201);
    expect(await invitationsOf(id)).toHaveLength(0);
    // The session stays, and is now one like any other: the next password needs the present one.
    const next = { user: { password: "chosen once more" } };
    const refused = await app.patch("/account/me.json", next, asSession(session));
    expect([refused.status, Object.keys(refused.json)]).toEqual([422, ["current_password"]]);
  });

  test("is no credential but for this one sign-in", async () => {
    const { id } = await person(app);
    const { url } = (await invite(id)).json;
    const raw = new URL(url).searchParams.get("token") ?? "";
    const cookie = { cookie: `core_session=${raw}`, origin: app.origin };
    expect((await app.get("/account/me.json", { token: raw })).status).toBe(401);
    expect((await app.get("/account/me.json", asSession(cookie))).status).toBe(401);
    await sessionBy(url);
    expect((await app.get("/account/me.json", asSession(cookie))).status).toBe(401);
  });

  test("takes the place of one that was not used, and ends with a password that somebody else sets", async () => {
    const { id } = await person(app);
    const first = (await invite(id)).json.url;
    const second = (await invite(id, { days: 1 })).json.url;
    expect((await follow(first)).status).toBe(401);
    expect(await invitationsOf(id)).toHaveLength(1);
    await app.patch(`/account/users/${id}.json`, { user: { password: "set by an administrator" } });
    expect((await follow(second)).status).toBe(401);
  });

  test("ends at its time", async () => {
    const { id } = await person(app);
    const { url } = (await invite(id, { days: 30 })).json;
    await app.sql`update api_tokens set expires_at = now() - interval '1 second' where user_id = ${id} and purpose = 'invitation'`;
    expect((await follow(url)).status).toBe(401);
  });

  test("lets nobody in who is switched off, or at another account's address", async () => {
    const { id } = await person(app);
    const { url } = (await invite(id)).json;
    expect((await other.get(addressOf(url), { token: null })).status).toBe(401);
    await app.patch(`/account/users/${id}.json`, { user: { active: false } });
    expect((await follow(url)).status).toBe(401);
    const answer = await invite(id);
    expect([answer.status, answer.json]).toEqual([422, { base: ["this person is switched off"] }]);
  });

  test("does not show itself in lists of tokens, and its address is stored nowhere", async () => {
    const { id, token } = await person(app);
    const { url } = (await invite(id)).json;
    const raw = new URL(url).searchParams.get("token") ?? "";
    expect((await app.get("/account/api_tokens.json?kind=web_token", { token })).json).toEqual([]);
    const stored = await app.sql`select t::text as row from api_tokens t where user_id = ${id}`;
    expect(JSON.stringify(stored)).not.toContain(raw);
  });
});

describe("who may invite", () => {
  test.each([[0], [31], [1.5], ["7"]])("%j is no number of days", async (days) => {
    const { id } = await person(app);
    const answer = await invite(id, { days });
    expect([answer.status, Object.keys(answer.json)]).toEqual([422, ["days"]]);
    expect(await invitationsOf(id)).toHaveLength(0);
  });

  test("needs the privilege `users`, and reach over the person", async () => {
    const [low, manager] = await Promise.all([person(app), person(app, { role: "manager", privileges: ["users"] })]);
    const [admin] = await app.sql`select id from users where login = 'admin'`;
    expect((await invite(low.id, {}, low.token)).status).toBe(403);
    expect((await invite(low.id, {}, manager.token)).status).toBe(201);
    expect((await invite(admin?.["id"], {}, manager.token)).status).toBe(403);
    expect((await invite(999_999)).status).toBe(404);
    const there = await other.post("/account/users.json", { user: { login: "there" } });
    expect((await invite(there.json.id)).status).toBe(404);
    expect(await invitationsOf(there.json.id)).toHaveLength(0);
  });

  test("with a narrowed token may not make a session that can do more", async () => {
    const [low, narrowed] = await Promise.all([person(app), person(app, { role: "admin", narrowedTo: ["users"] })]);
    expect((await invite(low.id, {}, narrowed.token)).status).toBe(403);
  });

  test("with a token that ends makes no link that lasts longer", async () => {
    const { id } = await person(app);
    const account = await app.get("/account/me.json");
    const expiresAt = new Date(Date.now() + 2 * day);
    const issued = await app
      .service(tokens)
      .issue({ accountId: account.json.account.id, userId: account.json.id, expiresAt });
    const refused = await invite(id, { days: 3 }, issued?.token);
    expect([refused.status, Object.keys(refused.json)]).toEqual([422, ["expires_at"]]);
    expect((await invite(id, { days: 1 }, issued?.token)).status).toBe(201);
  });
});

test("an ordinary session, or one by a web_token, still needs the present password", async () => {
  const { token } = await person(app);
  const made = await app.post("/account/api_tokens.json", { api_token: { kind: "web_token" } }, { token });
  const session = await sessionBy(`${app.origin}/account/auto_login?token=${made.json.token}`);
  const answer = await app.patch("/account/me.json", { user: { password: "a new password" } }, asSession(session));
  expect([answer.status, Object.keys(answer.json)]).toEqual([422, ["current_password"]]);
});
