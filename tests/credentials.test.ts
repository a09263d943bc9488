/** A credential changes only with proof: every credential by every kind of caller. behaviour B.19. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startMailReceiver, type MailReceiver } from "./fixtures/mail-receiver.ts";
import { connect } from "./fixtures/mcp-client.ts";
import { tokens } from "../plugins/tokens/api.ts";
import { eventually, person, startTestApp, type RequestOptions, type TestApp } from "./harness.ts";

let app: TestApp;
let receiver: MailReceiver;
let appId: string;
beforeAll(async () => {
  receiver = await startMailReceiver();
  const env = { SMTP_URL: `smtp://127.0.0.1:${receiver.port}`, MAIL_FROM: "office@example.com" };
  app = await startTestApp({ env });
  const page = { name: "Page", app_engine: "html", source_code: "x" };
  appId = (await app.post("/core/apps.json", { app: page })).json.id;
  await person(app, { login: "pattern", password });
});
afterAll(async () => {
  await app.stop();
  receiver.stop();
});

const password = "the old password";
let serial = 0;

interface Owner {
  readonly id: number;
  readonly token: string;
  readonly email: string;
}

/** An administrator, whom every route is open to: what keeps them off is the proof alone. */
async function owner(role: "admin" | "manager" | "user" = "admin", privileges: readonly string[] = []): Promise<Owner> {
  const email = `owner-${++serial}@example.com`;
  const { id, token } = await person(app, { role, email, privileges });
  // Hashing one for each would take minutes.
  await app.sql`
    update users set password_hash = (select password_hash from users where login = 'pattern') where id = ${id}`;
  return { id, token, email };
}

async function sessionOf({ id }: Owner, minutesOld = 0): Promise<RequestOptions> {
  const made = await app.service(tokens).startSession({ accountId: 1, userId: id, seconds: 3600 });
  await app.sql`
    update api_tokens set created_at = now() - ${minutesOld}::integer * interval '1 minute' where id = ${made?.id ?? 0}`;
  return { token: null, headers: { cookie: `core_session=${made?.token}`, origin: app.origin } };
}

const issued = async ({ id: userId }: Owner, more: object) =>
  (await app.service(tokens).issue({ accountId: 1, userId, ...more }))?.token ?? "";

async function openedBy(web: string): Promise<RequestOptions> {
  const { headers } = await app.get(`/account/auto_login?token=${web}`, { token: null });
  const cookie = (headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  return { token: null, headers: { cookie, origin: app.origin } };
}

/** That of a page which its viewer has opened in a fresh session. */
async function pageToken(of: Owner): Promise<RequestOptions> {
  const { text } = await app.get(`/a/${appId}`, await sessionOf(of));
  return { token: JSON.parse(/id="core-page">([^<]*)</.exec(text)?.[1] ?? "").token.value };
}

const callers: Record<string, (of: Owner) => Promise<RequestOptions>> = {
  "a fresh session": (of) => sessionOf(of),
  "an old session": (of) => sessionOf(of, 11),
  "an API token": async ({ token }) => ({ token }),
  "a narrowed token": async (of) => ({
    token: await issued(of, { privileges: ["users", "api_tokens", "sign_in_providers"] }),
  }),
  "a web token": async (of) => ({ token: await issued(of, { kind: "web_token" }) }),
  "a web token as a cookie": async (of) => ({
    token: null,
    headers: { cookie: `core_session=${await issued(of, { kind: "web_token" })}`, origin: app.origin },
  }),
  "a session that a web token opened": async (of) => openedBy(await issued(of, { kind: "web_token" })),
  "an app's page": pageToken,
};

type Attempt = readonly [what: string, method: string, path: (id: number) => string, body: () => object | undefined];
const row = (id: number) => `/account/users/${id}.json`;
const me = () => "/account/me.json";
const nothing = () => undefined;
const provider = () => ({
  name: `P${++serial}`,
  issuer: "https://login.example.com",
  client_id: "x",
  client_secret: "a secret",
});
const withPassword = { current_password: password };

/** What each caller gets, in the order of `callers`. */
const own: readonly (readonly [Attempt, readonly number[]])[] = [
  [
    ["login", "PATCH", row, () => ({ user: { login: `login-${++serial}` } })],
    [200, 403, 403, 403, 403, 403, 403, 403],
  ],
  [
    ["address", "PATCH", me, () => ({ user: { email: `new-${++serial}@example.com` } })],
    [200, 422, 403, 403, 403, 403, 422, 403],
  ],
  [
    [
      "address, with the password",
      "PATCH",
      me,
      () => ({ user: { email: `new-${++serial}@example.com`, ...withPassword } }),
    ],
    [200, 200, 403, 403, 403, 403, 200, 403],
  ],
  [
    ["address, to none", "PATCH", me, () => ({ user: { email: null } })],
    [200, 422, 403, 403, 403, 403, 422, 403],
  ],
  [
    ["address among the people", "PATCH", row, () => ({ user: { email: `new-${++serial}@example.com` } })],
    [200, 403, 403, 403, 403, 403, 403, 403],
  ],
  [
    ["password", "PATCH", me, () => ({ user: { password: "the new password" } })],
    [422, 422, 422, 403, 422, 422, 422, 403],
  ],
  [
    [
      "password, with a wrong one",
      "PATCH",
      me,
      () => ({ user: { password: "the new password", current_password: "wrong" } }),
    ],
    [422, 422, 422, 403, 422, 422, 422, 403],
  ],
  [
    ["password, with the one in use", "PATCH", me, () => ({ user: { password: "the new password", ...withPassword } })],
    [200, 200, 200, 403, 200, 200, 200, 403],
  ],
  [
    ["password among the people", "PATCH", row, () => ({ user: { password: "the new password" } })],
    [200, 403, 403, 403, 403, 403, 403, 403],
  ],
  [
    ["app", "POST", () => "/account/me/totp.json", nothing],
    [200, 403, 403, 403, 403, 403, 403, 403],
  ],
  [
    ["app's end", "DELETE", () => "/account/me/totp.json", nothing],
    [204, 403, 403, 403, 403, 403, 403, 403],
  ],
  [
    ["recovery codes", "POST", () => "/account/me/recovery_codes.json", nothing],
    [422, 403, 403, 403, 403, 403, 403, 403],
  ],
  [
    ["passkey", "POST", () => "/account/me/passkeys/options.json", nothing],
    [422, 403, 403, 403, 403, 403, 403, 403],
  ],
  [
    ["factors among the people", "DELETE", (id) => `/account/users/${id}/factors.json`, nothing],
    [403, 403, 403, 403, 403, 403, 403, 403],
  ],
  [
    ["invitation", "POST", (id) => `/account/users/${id}/invitation.json`, () => ({ invitation: {} })],
    [403, 403, 403, 403, 403, 403, 403, 403],
  ],
  [
    ["provider", "POST", () => "/account/sign_in_providers.json", () => ({ sign_in_provider: provider() })],
    [201, 201, 201, 403, 201, 201, 201, 403],
  ],
  [
    ["token", "POST", () => "/account/api_tokens.json", () => ({ api_token: { privileges: ["users"] } })],
    [201, 201, 201, 201, 201, 201, 201, 403],
  ],
];

/** Everything by which the person signs in. */
const credentialsOf = ({ id }: Owner) => app.sql`
  select login, email, password_hash, (select count(*) from email_changes where user_id = ${id}) as changes,
    (select count(*) from totp_factors where user_id = ${id}) as apps, (select count(*) from passkeys where user_id = ${id}) as passkeys,
    (select count(*) from api_tokens where user_id = ${id} and purpose = 'invitation') as invitations
  from users where id = ${id}`;

describe("one's own", () => {
  test.each(own.map(([[what, ...rest], statuses]) => [what, rest, statuses] as const))(
    "%s",
    async (_, [method, path, body], statuses) => {
      const seen: Record<string, number> = {};
      for (const [name, of] of Object.entries(callers)) {
        const one = await owner();
        const options = await of(one);
        const before = await credentialsOf(one);
        const { status } = await app.request(method, path(one.id), body(), options);
        seen[name] = status;
        if (status >= 400) expect({ name, now: await credentialsOf(one) }).toEqual({ name, now: before });
      }
      expect(seen).toEqual(Object.fromEntries(Object.keys(callers).map((name, at) => [name, statuses[at] ?? 0])));
    },
  );

  test("address is a manager's own word neither, who manages people", async () => {
    const one = await owner("manager", ["users"]);
    const change = (user: object) => sessionOf(one).then((options) => app.patch(row(one.id), { user }, options));
    expect((await change({ email: "boss@example.com" })).status).toBe(403);
    expect((await change({ email: one.email, login: `login-${++serial}`, name: "New" })).status).toBe(200);
  });

  test("login and address stay as they are over MCP", async () => {
    const one = await owner();
    const before = await credentialsOf(one);
    const agent = await connect(app.origin, one.token);
    for (const fields of [{ email: "x@example.com" }, { login: "x-login" }, { password: "the new password" }]) {
      const { isError, text } = await agent.call("update", { resource: "users", id: `${one.id}`, fields });
      expect([isError, text]).toEqual([true, expect.stringContaining("403")]);
    }
    await agent.client.close();
    expect(await credentialsOf(one)).toEqual(before);
  });

  test("row with the same values is no change of a credential", async () => {
    const one = await owner();
    const { login } = (await app.get(row(one.id))).json;
    const user = { login, email: one.email, name: "New" };
    expect((await app.patch(row(one.id), { user }, { token: one.token })).json.name).toBe("New");
    expect((await app.patch(me(), { user: { email: one.email } }, { token: one.token })).status).toBe(200);
  });
});

describe("another's", () => {
  const attempts: readonly Attempt[] = [
    ["login", "PATCH", row, () => ({ user: { login: `login-${++serial}` } })],
    ["address", "PATCH", row, () => ({ user: { email: `new-${++serial}@example.com` } })],
    ["password", "PATCH", row, () => ({ user: { password: "the new password" } })],
    ["factors", "DELETE", (id) => `/account/users/${id}/factors.json`, nothing],
    ["sessions", "DELETE", (id) => `/account/users/${id}/sessions.json`, nothing],
    ["invitation", "POST", (id) => `/account/users/${id}/invitation.json`, () => ({ invitation: {} })],
  ];
  const tried = async (of: Owner, by: RequestOptions) => {
    const seen = [];
    for (const [, method, path, body] of attempts)
      seen.push((await app.request(method, path(of.id), body(), by)).status);
    return seen;
  };
  const done = [200, 200, 200, 204, 204, 201];
  const refused = attempts.map(() => 403);

  test("credentials are changed by whoever manages people, up to their own rights", async () => {
    const manager = await owner("manager", ["users"]);
    const [admin, user, guest] = [await owner(), await owner("user"), await owner("user")];
    expect(await tried(user, await sessionOf(admin, 11))).toEqual(done);
    expect(await tried(user, { token: admin.token })).toEqual(done);
    expect(await tried(user, { token: manager.token })).toEqual(done);
    expect(await tried(admin, { token: manager.token })).toEqual(refused);
    expect(await tried(user, { token: guest.token })).toEqual(refused);
    expect(await tried(user, { token: await issued(admin, { privileges: ["users"] }) })).toEqual(refused);
    expect(await tried(user, await pageToken(admin))).toEqual(refused);
  });

  test("address before hears of the new one, which counts at once", async () => {
    const user = await owner("user");
    const email = `set-${++serial}@example.com`;
    expect((await app.patch(row(user.id), { user: { email } })).json.email).toBe(email);
    const mail = await eventually(() => receiver.mails.find(({ to }) => to === user.email));
    expect([mail.subject, mail.text]).toEqual([
      "Your e-mail address for Main was changed",
      expect.stringContaining(email),
    ]);
  });
});

describe("a new address", () => {
  const mailTo = (address: string, subject: string) =>
    eventually(() => receiver.mails.find((mail) => mail.to === address && mail.subject.includes(subject)));
  const ask = async (of: Owner, email = `new-${++serial}@example.com`, options?: RequestOptions) => {
    const answer = await app.patch(me(), { user: { email } }, options ?? (await sessionOf(of)));
    expect(answer.json).toMatchObject({ email: of.email, pending_email: email });
    const link = /https?:\/\/\S+token=\S+/.exec((await mailTo(email, "Confirm")).text)?.[0] ?? "";
    return { email, path: link.slice(app.origin.length), token: link.split("token=")[1] ?? "" };
  };
  const confirm = (token: string, headers: Record<string, string> = {}) =>
    app.request("POST", "/confirm_email", undefined, {
      token: null,
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
      raw: new URLSearchParams({ token }).toString(),
    });
  const addressesOf = async ({ token }: Owner) => {
    const { email, pending_email } = (await app.get(me(), { token })).json;
    return [email, pending_email];
  };
  const signIn = async (login: string) =>
    (await app.post("/account/session.json", { login, password }, { token: null })).status;

  test("counts once its link is confirmed, and the one before hears of both", async () => {
    const one = await owner("user");
    const { email, path, token } = await ask(one);
    expect((await mailTo(one.email, "is to change")).text).toContain(email);
    // Mail programs look at links.
    for (const method of ["HEAD", "GET"])
      expect((await app.request(method, path, undefined, { token: null })).status).toBe(200);
    expect(await addressesOf(one)).toEqual([one.email, email]);
    expect([await signIn(email), await signIn(one.email)]).toEqual([401, 201]);
    const done = await confirm(token);
    expect([done.status, done.text]).toEqual([200, expect.stringContaining("is confirmed")]);
    expect(await addressesOf(one)).toEqual([email, null]);
    expect([await signIn(email), await signIn(one.email)]).toEqual([201, 401]);
    expect((await mailTo(one.email, "was changed")).text).toContain(email);
    expect([(await confirm(token)).status, (await app.get(path, { token: null })).status]).toEqual([404, 404]);
  });

  test("that nobody has confirmed gets no link for a new password", async () => {
    const one = await owner("user");
    const { email } = await ask(one);
    for (const login of [email, one.email])
      expect((await app.post("/account/password_resets.json", { login }, { token: null })).status).toBe(202);
    await mailTo(one.email, "new password");
    await eventually(async () => (await app.sql`select 1 from jobs where name = 'passwords.reset'`).length === 0);
    expect(await app.sql`select 1 from mails where recipient = ${email} and template = 'password_reset'`).toHaveLength(
      0,
    );
  });

  const ends: [string, (of: Owner) => Promise<unknown>][] = [
    ["a new password", (of) => app.patch(row(of.id), { user: { password: "the new password" } })],
    ["another address", (of) => app.patch(row(of.id), { user: { email: `set-${++serial}@example.com` } })],
    ["giving it up", ({ token }) => app.patch(me(), { user: { pending_email: null } }, { token })],
    ["being switched off", (of) => app.patch(row(of.id), { user: { active: false } })],
    ["the end of its day", (of) => app.sql`update email_changes set expires_at = now() where user_id = ${of.id}`],
  ];
  test.each(ends)("ends by %s", async (_, end) => {
    const one = await owner("user");
    const { token } = await ask(one);
    await end(one);
    expect((await confirm(token)).status).toBe(404);
    expect((await app.get(row(one.id))).json.email).not.toContain("new-");
  });

  test("takes the place of the one that was asked for before it", async () => {
    const one = await owner("user");
    const [first, second] = [await ask(one), await ask(one)];
    expect((await confirm(first.token)).status).toBe(404);
    expect((await confirm(second.token)).status).toBe(200);
  });

  test("that waits keeps nobody else from it, and goes to whom it is given first", async () => {
    const [one, other] = [await owner("user"), await owner("user")];
    const { email, token } = await ask(one);
    expect((await app.patch(row(other.id), { user: { email } })).status).toBe(200);
    expect((await confirm(token)).status).toBe(422);
    expect(await addressesOf(one)).toEqual([one.email, email]);
    const again = await app.patch(me(), { user: { email } }, await sessionOf(one));
    expect([again.status, again.json]).toEqual([422, { email: ["is already taken"] }]);
  });

  test("is confirmed by no other site's page, and by no token that is made up", async () => {
    const one = await owner("user");
    const { token } = await ask(one);
    expect((await confirm(token, { origin: "https://evil.example" })).status).toBe(403);
    for (const wrong of ["", "x".repeat(43), `${token}x`, "\0"]) expect((await confirm(wrong)).status).toBe(404);
    expect((await confirm(token)).status).toBe(200);
  });

  test("is not asked for without end", async () => {
    const one = await owner("user");
    const options = await sessionOf(one);
    const statuses: number[] = [];
    for (let at = 0; at < 11; at++)
      statuses.push((await app.patch(me(), { user: { email: `many-${at}@example.com` } }, options)).status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
  });

  test.each([
    ["full width", "ｋate@example.com"],
    ["the sign for kelvin", "\u212Aate@example.com"],
    ["a sign that nobody sees", "ka\u200Bte@example.com"],
    ["half a character", "ka\ud800te@example.com"],
  ])("or login with %s is nobody's", async (_, text) => {
    for (const user of [{ login: `x${serial}`, email: text }, { login: text }]) {
      const answer = await app.post("/account/users.json", { user });
      expect([answer.status, Object.keys(answer.json)]).toEqual([422, [Object.keys(user).at(-1) ?? ""]]);
    }
  });

  test("is one, however its letters are composed", async () => {
    const [composed, apart] = ["zo\u00eb@example.com", "zoe\u0308@example.com"];
    const { id } = await person(app, { email: apart, login: "zoe\u0308", password });
    expect((await app.get(row(id))).json).toMatchObject({ email: composed, login: "zo\u00eb" });
    for (const user of [{ login: "other", email: composed }, { login: apart }])
      expect((await app.post("/account/users.json", { user })).status).toBe(422);
    expect([await signIn(apart), await signIn("ZOE\u0308")]).toEqual([201, 201]);
  });
});
