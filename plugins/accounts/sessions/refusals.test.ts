/** A refused sign-in or sign-out opens and ends no session, holds no host and tells nobody. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { otherAccount, person, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { follower, traces } from "../../../tests/traces.ts";
import { plugins } from "../../index.ts";

let app: TestApp;
let otherHost: string;
const logins: Record<string, string> = {};
const webTokens: Record<string, string> = {};
const password = "a password of theirs";
let cookie: string;

beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
  for (const name of ["anna", "inactive", "signed in"]) {
    const { id, login, token } = await person(app, { password });
    logins[name] = login;
    webTokens[name] = (
      await app.post("/account/api_tokens.json", { api_token: { kind: "web_token" } }, { token })
    ).json.token;
    if (name === "inactive") await app.patch(`/account/users/${id}.json`, { user: { active: false } });
  }
  webTokens["ordinary"] = (await app.post("/account/api_tokens.json", { api_token: {} })).json.token;
  otherHost = (await otherAccount(app)).host;
  const signedIn = await app.post("/account/session.json", { login: logins["signed in"], password }, { token: null });
  cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  // When a token was last used is written by refused requests too.
  await app.sql`
    create view kept_tokens as select id, user_id, purpose, active, expires_at, token_hash, parent_id, opened_at
    from api_tokens`;
});
afterAll(() => app.stop());

const tables = ["kept_tokens", "users", "account_sign_in_hosts", "idempotency_keys"];

interface SentRequest {
  readonly method?: string;
  readonly path?: string;
  readonly body?: unknown;
  readonly form?: Record<string, string>;
  readonly headers?: Record<string, string>;
}

const api = "/account/session.json";
const key = { "idempotency-key": "of a refused sign-in" };
const right = () => ({ login: logins["anna"] ?? "", password });
const formType = { "content-type": "application/x-www-form-urlencoded" };

const cases: [what: string, status: number, sent: () => SentRequest][] = [
  ["a wrong password", 401, () => ({ body: { ...right(), password: "wrong" } })],
  ["a wrong password with a key", 401, () => ({ body: { ...right(), password: "wrong" }, headers: key })],
  ["an unknown login", 401, () => ({ body: { login: "nobody", password } })],
  ["somebody inactive", 401, () => ({ body: { login: logins["inactive"], password } })],
  ["a person of another account", 401, () => ({ body: right(), headers: { host: otherHost } })],
  ["no password", 422, () => ({ body: { login: "anna" } })],
  ["a list", 400, () => ({ body: [] })],
  ["another site's page", 403, () => ({ body: right(), headers: { origin: "https://evil.example" } })],
  [
    "another site's page with a key",
    403,
    () => ({ body: right(), headers: { ...key, "sec-fetch-site": "cross-site" } }),
  ],
  ["a key that is too long", 400, () => ({ body: right(), headers: { "idempotency-key": "k".repeat(256) } })],

  ["a wrong password in the form", 401, () => ({ path: "/login", form: { ...right(), password: "wrong" } })],
  ["an empty form", 422, () => ({ path: "/login", form: {} })],
  ["a login that is too long", 401, () => ({ path: "/login", form: { login: "l".repeat(256), password } })],
  ["another site's form", 403, () => ({ path: "/login", form: right(), headers: { origin: "https://evil.example" } })],

  ["an ordinary token", 401, () => ({ method: "GET", path: `/account/auto_login?token=${webTokens["ordinary"]}` })],
  [
    "a web token of somebody inactive",
    401,
    () => ({ method: "GET", path: `/account/auto_login?token=${webTokens["inactive"]}` }),
  ],
  [
    "a web token on another account's host",
    401,
    () => ({ method: "GET", path: `/account/auto_login?token=${webTokens["anna"]}`, headers: { host: otherHost } }),
  ],
  [
    "a web token in the place of who is signed in",
    403,
    () => ({
      method: "GET",
      path: `/account/auto_login?token=${webTokens["anna"]}`,
      headers: { cookie, "sec-fetch-site": "cross-site" },
    }),
  ],
  [
    "a look at where a web token leads",
    303,
    () => ({ method: "HEAD", path: `/account/auto_login?token=${webTokens["anna"]}` }),
  ],

  ["a sign-out without a session", 401, () => ({ method: "DELETE" })],
  [
    "a sign-out by another site",
    403,
    () => ({ method: "DELETE", headers: { cookie, "sec-fetch-site": "cross-site" } }),
  ],
  [
    "a page's sign-out by another site",
    403,
    () => ({ path: "/logout", form: {}, headers: { cookie, "sec-fetch-site": "cross-site" } }),
  ],
];

test.each(cases)("%s", async (_, status, sent) => {
  await app.sql`delete from sign_in_failures`;
  const { method = "POST", path = api, body, form, headers = {} } = sent();
  const before = await traces(app, ...tables);
  const answer = await app.request(method, path, body, {
    token: null,
    headers: { ...(form && formType), ...headers },
    ...(form && { raw: new URLSearchParams(form).toString() }),
  });
  expect([answer.status, answer.headers.get("set-cookie")]).toEqual([status, null]);
  expect(await traces(app, ...tables)).toEqual(before);
  expect((await app.get("/account/me.json", { token: null, headers: { cookie } })).json.login).toBe(
    logins["signed in"],
  );
});

test("what is accepted is seen, after all of these", async () => {
  const before = await traces(app, ...tables);
  const signedIn = await app.post(api, right(), { token: null, headers: key });
  expect(signedIn.status).toBe(201);
  const after = await traces(app, ...tables);
  for (const name of ["kept_tokens", "idempotency_keys"]) expect(after[name]).not.toBe(before[name]);
  const opened = await app.get(`/account/auto_login?token=${webTokens["anna"]}`, { token: null });
  expect(opened.status).toBe(303);
});
