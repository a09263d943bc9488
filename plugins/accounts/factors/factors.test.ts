/** Second factors: set up, asked for at a sign-in by the API and by the page, attacked, lost. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { otherAccount, person, startTestApp, type Answer, type TestApp } from "../../../tests/harness.ts";
import { tokens } from "../../tokens/api.ts";
import { createSecrets } from "../../../runtime/base/secrets.ts";
import { codeAt } from "./totp.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { TRUSTED_PROXIES: "127.0.0.1" } });
});
afterAll(() => app.stop());
// Failures of other tests come from this address as well.
beforeEach(async () => void (await app.sql`delete from sign_in_failures`));

const password = "a password of theirs";
/** As the server of the tests has them. */
const secrets = createSecrets("a secret key of the tests, 32 characters or more");
const session = "/account/session.json";
const second = "/account/session/second_factor.json";
const mine = "/account/me/factors.json";
const codesOf = "/account/me/recovery_codes.json";

interface Someone {
  readonly id: number;
  readonly login: string;
  readonly secret: string;
  readonly codes: readonly string[];
  readonly cookie: string;
}

const cookieOf = ({ headers }: Answer) => (headers.get("set-cookie") ?? "").split(";")[0] ?? "";
const as = (cookie: string) => ({ token: null, headers: { cookie, origin: app.origin } });
const from = (address: string) => ({ token: null, headers: { "x-forwarded-for": address } });
const stepNow = () => Math.floor(Date.now() / 30_000);
const bytesOf = (secret: string) => {
  const bits = secret.split("").map((c) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(c).toString(2).padStart(5, "0"));
  return Uint8Array.from(bits.join("").match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
};
const code = (secret: string, ahead = 0) => codeAt(bytesOf(secret), stepNow() + ahead);
/** A code that no step near now has. */
async function wrongCode(secret: string): Promise<string> {
  const right = await Promise.all([-2, -1, 0, 1, 2].map((ahead) => code(secret, ahead)));
  return ["111111", "222222", "333333", "444444", "555555", "666666"].find((one) => !right.includes(one)) ?? "";
}

async function signedIn(login: string): Promise<string> {
  const answer = await app.post(session, { login, password }, { token: null });
  expect(answer.status).toBe(201);
  return cookieOf(answer);
}

/** Somebody with an authenticator app, whose codes may be used again from the current step on. */
async function withApp(options: Parameters<typeof person>[1] = {}): Promise<Someone> {
  const { id, login } = await person(app, { password, ...options });
  const cookie = await signedIn(login);
  const { setup, secret } = (await app.post("/account/me/totp.json", undefined, as(cookie))).json;
  const done = await app.post("/account/me/totp/confirm.json", { setup, code: await code(secret) }, as(cookie));
  expect(done.status).toBe(201);
  await fresh(id);
  return { id, login, secret, codes: done.json.recovery_codes, cookie };
}
/** As if the last code had been used long ago. */
const fresh = (userId: number) => app.sql`update totp_factors set last_step = 0 where user_id = ${userId}`;

async function pendingOf(login: string, options = { token: null, headers: {} }): Promise<string> {
  const answer = await app.post(session, { login, password }, options);
  expect(answer.status).toBe(401);
  return answer.json.pending;
}
const finish = (pending: string, given: string, options = { token: null, headers: {} }) =>
  app.post(second, { pending, code: given }, options);

describe("an authenticator app", () => {
  test("counts once a code of it is confirmed, and shows recovery codes then", async () => {
    const { id, login } = await person(app, { password });
    const cookie = await signedIn(login);
    expect((await app.get(mine, as(cookie))).json).toEqual({
      totp_at: null,
      passkeys: [],
      recovery_codes: 0,
      required: false,
      fresh: true,
    });
    const begun = (await app.post("/account/me/totp.json", undefined, as(cookie))).json;
    expect(begun.uri).toContain(`otpauth://totp/Main:${login}?secret=${begun.secret}&issuer=Main`);
    expect(begun.qr).toStartWith("<svg");
    expect(await app.sql`select 1 from totp_factors where user_id = ${id}`).toHaveLength(0);
    await signedIn(login);

    const confirm = (body: object) => app.post("/account/me/totp/confirm.json", body, as(cookie));
    const wrong = await confirm({ setup: begun.setup, code: await wrongCode(begun.secret) });
    expect([wrong.status, wrong.json]).toEqual([422, { code: ["is wrong"] }]);
    const done = await confirm({ setup: begun.setup, code: await code(begun.secret) });
    expect(done.status).toBe(201);
    expect(new Set(done.json.recovery_codes).size).toBe(10);
    for (const one of done.json.recovery_codes) expect(one).toMatch(/^([0-9a-z]{4}-){3}[0-9a-z]{4}$/);
    expect((await app.get(mine, as(cookie))).json).toMatchObject({ totp_at: expect.any(String), recovery_codes: 10 });

    const stored = JSON.stringify(
      await app.sql`
      select t.secret, array_agg(c.code_hash) from totp_factors t join recovery_codes c using (user_id)
      where t.user_id = ${id} group by t.secret`,
    );
    expect(stored).not.toContain(bytesOf(begun.secret).toBase64());
    for (const one of done.json.recovery_codes) expect(stored).not.toContain(one);
  });

  test("is asked for after the password, and the password alone opens nothing", async () => {
    const { id, login, secret } = await withApp();
    const before = await app.sql`select 1 from api_tokens where user_id = ${id} and purpose = 'session'`;
    const first = await app.post(session, { login, password }, { token: null });
    expect([first.status, first.headers.get("set-cookie")]).toEqual([401, null]);
    expect(first.json).toMatchObject({ factors: ["totp", "recovery_code"], expires_at: expect.any(String) });
    const { pending } = first.json;
    expect((await app.get("/account/me.json", { token: pending })).status).toBe(401);
    expect((await app.get("/account/me.json", as(`core_session=${pending}`))).status).toBe(401);
    expect(await app.sql`select 1 from api_tokens where user_id = ${id} and purpose = 'session'`).toHaveLength(
      before.length,
    );

    const spaced = (await code(secret)).replace(/^.{3}/, "$& ");
    const answer = await finish(pending, spaced);
    expect([answer.status, answer.json.login]).toEqual([201, login]);
    expect((await app.get("/account/me.json", as(cookieOf(answer)))).json.id).toBe(id);
  });

  test("takes codes of the step before and the step after, and no others", async () => {
    const { id, login, secret } = await withApp();
    for (const [ahead, status] of [
      [-1, 201],
      [1, 201],
      [-3, 401],
      [3, 401],
    ] as const) {
      await fresh(id);
      expect([ahead, (await finish(await pendingOf(login), await code(secret, ahead))).status]).toEqual([
        ahead,
        status,
      ]);
    }
  });

  test("takes no code twice, also when both come at once or in another sign-in", async () => {
    const { login, secret } = await withApp();
    const [one, two] = [await pendingOf(login), await pendingOf(login)];
    const right = await code(secret);
    const answers = await Promise.all([finish(one, right), finish(two, right)]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 401]);
    expect((await finish(await pendingOf(login), right)).status).toBe(401);
    // Nor an older one that nobody has used.
    expect((await finish(await pendingOf(login), await code(secret, -1))).status).toBe(401);
  });

  test("also refuses the code that confirmed it", async () => {
    const { login } = await person(app, { password });
    const cookie = await signedIn(login);
    const { setup, secret } = (await app.post("/account/me/totp.json", undefined, as(cookie))).json;
    const used = await code(secret);
    await app.post("/account/me/totp/confirm.json", { setup, code: used }, as(cookie));
    expect((await finish(await pendingOf(login), used)).status).toBe(401);
  });

  test("is not set up with somebody else's setup, one of ours that is old, or one made up", async () => {
    const [one, two] = [await person(app, { password }), await person(app, { password })];
    const [cookie, other] = [await signedIn(one.login), await signedIn(two.login)];
    const { setup, secret } = (await app.post("/account/me/totp.json", undefined, as(other))).json;
    const past = { secret: bytesOf(secret).toBase64(), until: Date.now() - 1 };
    const old = secrets.seal(JSON.stringify(past), `factors.setup:${one.id}`);
    for (const wrong of [setup, old, "v1.x", "x", secret]) {
      const answer = await app.post(
        "/account/me/totp/confirm.json",
        { setup: wrong, code: await code(secret) },
        as(cookie),
      );
      expect([answer.status, answer.json]).toEqual([422, { setup: ["has expired: begin again"] }]);
    }
  });
});

describe("the state between password and code", () => {
  test("ends after five minutes, by five wrong codes, by its use and by a new password", async () => {
    const { id, login, secret } = await withApp();
    const hashOf = (pending: string) => new Bun.CryptoHasher("sha256").update(pending).digest("hex");
    const late = await pendingOf(login);
    await app.sql`update sign_in_steps set expires_at = now() - interval '1 second' where token_hash = ${hashOf(late)}`;
    const guessed = await pendingOf(login);
    for (let at = 0; at < 5; at++) expect((await finish(guessed, "k7pd-2mxa-9f3w-c0qe")).status).toBe(401);
    const used = await pendingOf(login);
    expect((await finish(used, await code(secret))).status).toBe(201);
    const changed = await pendingOf(login);
    await app.patch(`/account/users/${id}.json`, { user: { password } });
    await fresh(id);
    for (const ended of [late, guessed, used, changed, "made up"]) {
      const answer = await finish(ended, await code(secret));
      expect([answer.status, answer.json.error]).toEqual([401, "this sign-in has expired: begin again"]);
    }
    await app.sql`delete from sign_in_failures`;
    expect((await finish(await pendingOf(login), await code(secret))).status).toBe(201);
  });

  test("is of one person and one account", async () => {
    const { login, secret } = await withApp();
    const { secret: others } = await withApp();
    const pending = await pendingOf(login);
    expect((await finish(pending, await code(others))).status).toBe(401);
    const stranger = await otherAccount(app);
    const there = { token: null, headers: { host: stranger.host } };
    expect((await finish(pending, await code(secret), there)).status).toBe(401);
    expect((await finish(pending, await code(secret))).status).toBe(201);
  });

  test("lets in nobody who was switched off meanwhile", async () => {
    const { id, login, secret } = await withApp();
    const pending = await pendingOf(login);
    await app.patch(`/account/users/${id}.json`, { user: { active: false } });
    expect((await finish(pending, await code(secret))).status).toBe(401);
  });

  test("takes nothing from another site's page", async () => {
    const { login, secret } = await withApp();
    const pending = await pendingOf(login);
    const evil = { token: null, headers: { origin: "https://evil.com" } };
    expect((await finish(pending, await code(secret), evil)).status).toBe(403);
    expect((await app.post("/account/session/second_factor/setup.json", { pending }, evil)).status).toBe(403);
  });

  test.each([
    ["pending", { code: "123456" }],
    ["code", { pending: "x" }],
    ["code", { pending: "x", code: 5 }],
    ["code", { pending: "x", code: "x".repeat(1000) }],
  ])("names a wrong %s", async (field, body) => {
    const answer = await app.post(second, body, { token: null });
    expect([answer.status, Object.keys(answer.json)]).toEqual([422, [field]]);
  });
});

describe("somebody who knows the password and guesses codes", () => {
  test("must wait ever longer from all addresses together; a recovery code lets the owner in meanwhile", async () => {
    const { id, login, secret, codes } = await withApp();
    const wrong = await wrongCode(secret);
    // The passwords are checked before, which takes long: the first wait is short.
    const begun = await Promise.all(Array.from({ length: 14 }, () => pendingOf(login)));
    const answers = await Promise.all(begun.map((one, n) => finish(one, wrong, from(`203.0.113.${n}`))));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    const waits = answers.filter(({ status }) => status === 429);
    expect(waits).toHaveLength(4);
    expect(Number(waits[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
    // Not even the right one is taken now: the answer must not tell.
    const pending = await pendingOf(login, from("198.51.100.1"));
    expect((await finish(pending, await code(secret), from("198.51.100.1"))).status).toBe(429);
    await app.sql`update totp_factors set failures = 1000, blocked_until = now() + interval '900 seconds' where user_id = ${id}`;
    expect((await finish(pending, codes[0] ?? "", from("198.51.100.1"))).status).toBe(201);
    expect((await finish(await pendingOf(login), await code(secret))).status).toBe(201);
  });

  test("waits at most a quarter of an hour after any number of them", async () => {
    const { id, login, secret } = await withApp();
    await app.sql`update totp_factors set failures = 1000 where user_id = ${id}`;
    expect((await finish(await pendingOf(login), await wrongCode(secret))).status).toBe(401);
    const [row] = await app.sql`
      select extract(epoch from blocked_until - now())::float8 as seconds from totp_factors where user_id = ${id}`;
    expect(row?.["seconds"]).toBeLessThanOrEqual(900);
    expect(row?.["seconds"]).toBeGreaterThan(800);
  });

  test("from one address waits alone", async () => {
    const { login, codes } = await withApp();
    for (let at = 0; at < 11; at++) await finish(await pendingOf(login), "aaaa-aaaa-aaaa-aaaa", from("203.0.113.99"));
    expect((await finish(await pendingOf(login), codes[0] ?? "", from("203.0.113.99"))).status).toBe(429);
    expect((await finish(await pendingOf(login), codes[0] ?? "", from("203.0.113.98"))).status).toBe(201);
  });
});

describe("a recovery code", () => {
  test("works once, however it is typed, also when it comes twice at once", async () => {
    const { login, cookie, codes } = await withApp();
    const [one = "", two = ""] = codes;
    expect((await finish(await pendingOf(login), ` ${one.toUpperCase().replaceAll("-", " ")} `)).status).toBe(201);
    expect((await finish(await pendingOf(login), one)).status).toBe(401);
    const pendings = [await pendingOf(login), await pendingOf(login)];
    const answers = await Promise.all(pendings.map((pending) => finish(pending, two)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 401]);
    expect((await app.get(mine, as(cookie))).json.recovery_codes).toBe(8);
  });

  test("is replaced by new ones, and is nobody else's", async () => {
    const [one, two] = [await withApp(), await withApp()];
    const made = await app.post(codesOf, undefined, as(one.cookie));
    expect([made.status, made.json.recovery_codes.length]).toEqual([201, 10]);
    for (const wrong of [one.codes[0], two.codes[0]])
      expect((await finish(await pendingOf(one.login), wrong ?? "")).status).toBe(401);
    expect((await finish(await pendingOf(one.login), made.json.recovery_codes[9])).status).toBe(201);
    const { login } = await person(app, { password });
    expect((await app.post(codesOf, undefined, as(await signedIn(login)))).status).toBe(422);
  });
});

describe("changes of factors", () => {
  const changes: readonly (readonly ["POST" | "DELETE", string, object | undefined])[] = [
    ["POST", "/account/me/totp.json", undefined],
    ["POST", "/account/me/totp/confirm.json", { setup: "x", code: "123456" }],
    ["POST", codesOf, undefined],
    ["DELETE", "/account/me/totp.json", undefined],
  ];
  test.each(changes)("%s %s needs a sign-in of the last ten minutes", async (method, path, body) => {
    const { id, login, cookie } = await withApp();
    await app.sql`update api_tokens set created_at = now() - interval '11 minutes' where user_id = ${id}`;
    const { token: web = "" } =
      (await app.service(tokens).issue({ accountId: 1, userId: id, kind: "web_token" })) ?? {};
    const opened = cookieOf(await app.get(`/account/auto_login?token=${web}`, { token: null }));
    const bearer = (await app.service(tokens).issue({ accountId: 1, userId: id }))?.token ?? "";
    for (const by of [as(cookie), as(opened), { token: bearer }]) {
      const answer = await app.request(method, path, body, by);
      expect([answer.status, answer.json.error]).toEqual([403, expect.stringContaining("sign in again")]);
      expect((await app.get(mine, by)).json.fresh).toBe(false);
    }
    expect((await app.request(method, path, body, { token: null })).status).toBe(401);
    expect((await app.post(session, { login, password }, { token: null })).status).toBe(401);
  });

  test("after its removal the password is enough again", async () => {
    const { login, cookie } = await withApp();
    expect((await app.delete("/account/me/totp.json", as(cookie))).status).toBe(204);
    expect((await app.get(mine, as(cookie))).json).toMatchObject({ totp_at: null, recovery_codes: 0 });
    await signedIn(login);
  });
});

describe("lost factors", () => {
  test("are removed by whoever may change the person, which ends their sessions", async () => {
    const { id, login, cookie } = await withApp();
    const helper = await person(app, { privileges: ["users"] });
    const admin = await withApp({ role: "admin" });
    const remove = (userId: number, by: object) => app.delete(`/account/users/${userId}/factors.json`, by);
    expect((await remove(admin.id, { token: helper.token })).status).toBe(403);
    expect((await remove(admin.id, as(admin.cookie))).status).toBe(403);
    expect((await remove(999_999, {})).status).toBe(404);
    const stranger = await otherAccount(app);
    expect((await stranger.delete(`/account/users/${id}/factors.json`)).status).toBe(404);
    await pendingOf(login);
    expect((await remove(id, { token: helper.token })).status).toBe(204);
    expect((await app.get(mine, as(cookie))).status).toBe(401);
    await signedIn(login);
  });

  test("are removed by a command, for the only administrator", async () => {
    const { login } = await withApp();
    expect(await app.command("user", "factors", "--login", login)).toContain(login);
    await signedIn(login);
    expect(app.command("user", "factors", "--login", "nobody-here")).rejects.toThrow("nobody-here");
    expect(app.command("user", "factors")).rejects.toThrow("whose?");
  });
});

describe("the sign-in page", () => {
  const submit = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    app.request("POST", path, undefined, {
      token: null,
      raw: new URLSearchParams(fields).toString(),
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    });
  const pendingIn = ({ text }: Answer) => /name="pending" value="([^"]+)"/.exec(text)?.[1] ?? "";

  test("asks for the code on a second page, without scripts, and goes on to where one came from", async () => {
    const { id, login, secret } = await withApp();
    const page = await submit("/login", { login, password, return_to: "/a/x?y=1&z=2" });
    expect([page.status, page.headers.get("set-cookie")]).toEqual([200, null]);
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(page.headers.get("content-security-policy")).not.toContain("unsafe");
    expect(page.text).toContain('autocomplete="one-time-code"');
    expect(page.text).not.toMatch(/<script|\sstyle=|\son\w+=/);
    const fields = { pending: pendingIn(page), return_to: "/a/x?y=1&z=2" };
    const wrong = await submit("/login/second_factor", { ...fields, code: `"><script>` });
    expect([wrong.status, wrong.text.includes("Wrong code.")]).toEqual([401, true]);
    expect(wrong.text).not.toContain("<script");
    expect(pendingIn(wrong)).toBe(fields.pending);
    const done = await submit("/login/second_factor", { ...fields, code: await code(secret) });
    expect([done.status, done.headers.get("location")]).toEqual([303, "/a/x?y=1&z=2"]);
    expect((await app.get("/account/me.json", as(cookieOf(done)))).json.id).toBe(id);
  });

  test("begins again once the second step has ended", async () => {
    for (const fields of [{}, { pending: "x" }, { pending: "x".repeat(9000), code: "1" }]) {
      const answer = await submit("/login/second_factor", { ...fields, return_to: "//evil.com" });
      expect([answer.status, answer.text.includes("This sign-in has expired.")]).toEqual([401, true]);
      expect(answer.text).toContain('name="return_to" value="/"');
    }
  });

  test("refuses another site's page, and says how long to wait", async () => {
    const { id, login, secret } = await withApp();
    const pending = pendingIn(await submit("/login", { login, password }));
    const fields = { pending, code: await code(secret) };
    expect((await submit("/login/second_factor", fields, { origin: "https://evil.com" })).status).toBe(403);
    await app.sql`update totp_factors set blocked_until = now() + interval '60 seconds' where user_id = ${id}`;
    const answer = await submit("/login/second_factor", fields, { "accept-language": "de" });
    expect([answer.status, answer.text.includes("Zu viele fehlgeschlagene Versuche")]).toEqual([429, true]);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(50);
  });
});
