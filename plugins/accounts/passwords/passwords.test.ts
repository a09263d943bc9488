/** Links in mails by which people set a password, and attacks on them. A real mail server takes the mails. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  adminPassword,
  eventually,
  otherAccount,
  person,
  startTestApp,
  type OtherAccount,
  type TestApp,
} from "../../../tests/harness.ts";
import { codeAt, stepSeconds } from "../factors/totp.ts";
import { startMailReceiver, type MailReceiver, type ReceivedMail } from "../../../tests/fixtures/mail-receiver.ts";

let app: TestApp;
let other: OtherAccount;
let receiver: MailReceiver;
beforeAll(async () => {
  receiver = await startMailReceiver();
  const env = {
    SMTP_URL: `smtp://127.0.0.1:${receiver.port}`,
    MAIL_FROM: "office@example.com",
    TRUSTED_PROXIES: "127.0.0.1",
  };
  app = await startTestApp({ env });
  other = await otherAccount(app);
});
beforeEach(() => void (receiver.mails.length = 0));
afterAll(async () => {
  await app.stop();
  receiver.stop();
});

let serial = 0;
/** Each visitor has an address of their own, so that their limits do not meet. */
const visitor = (headers: Record<string, string> = {}) => ({
  token: null,
  headers: { "x-forwarded-for": `198.51.${Math.floor(++serial / 250)}.${(serial % 250) + 1}`, ...headers },
});
const password = "chosen by myself";
async function somebody(fields: Parameters<typeof person>[1] = {}) {
  const email = `somebody-${++serial}@example.com`;
  return { email, ...(await person(app, { email, password: "the old password", ...fields })) };
}
const ask = (login: string, headers?: Record<string, string>) =>
  app.post("/account/password_resets.json", { login }, visitor(headers));
const mailTo = (address: string): Promise<ReceivedMail> =>
  eventually(() => receiver.mails.find(({ to }) => to === address), `a mail to ${address}`);
const linkIn = ({ text }: ReceivedMail) => /https?:\/\/\S+token=\S+/.exec(text)?.[0] ?? "";
async function linkFor(login: string, address: string): Promise<string> {
  expect((await ask(login)).status).toBe(202);
  const link = linkIn(await mailTo(address));
  receiver.mails.length = 0;
  return link;
}
const pathOf = (link: string) => link.slice(new URL(link).origin.length);
/** The cookie that a browser has after it has followed the link. */
async function follow(link: string, client: Pick<TestApp, "get"> = app): Promise<string> {
  const answer = await client.get(pathOf(link), visitor());
  expect([answer.status, answer.headers.get("location")]).toEqual([303, "/set_password"]);
  return (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
}
const page = (cookie: string, client: Pick<TestApp, "get"> = app) => client.get("/set_password", visitor({ cookie }));
const form = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  app.request("POST", path, undefined, {
    ...visitor({ "content-type": "application/x-www-form-urlencoded", ...headers }),
    raw: new URLSearchParams(fields).toString(),
  });
const setBy = (cookie: string, to = password) => form("/set_password", { password: to }, { cookie });
const signIn = async (login: string, by: string) =>
  (await app.post("/account/session.json", { login, password: by }, visitor())).status;
const links = (id: number) => app.sql`select purpose from password_links where user_id = ${id}`;
/** Waits until all requests for new passwords are dealt with. */
const settled = () =>
  eventually(
    async () => (await app.sql`select 1 from jobs where name in ('passwords.reset', 'mail.send')`).length === 0,
  );

describe("a new password", () => {
  test("is set by the link in the mail, once, and ends all sessions and links", async () => {
    const { id, email, login } = await somebody();
    const session = await app.post("/account/session.json", { login, password: "the old password" }, visitor());
    const cookie = (session.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const [first, second] = [await linkFor(login, email), await linkFor(email.toUpperCase(), email)];
    expect(first).toStartWith(`${app.origin}/set_password?token=`);
    const held = await follow(first);
    const shown = await page(held);
    expect(shown.status).toBe(200);
    expect(shown.text).toContain(`For the login ${login}.`);
    expect((await setBy(held)).status).toBe(200);
    expect([await signIn(login, password), await signIn(login, "the old password")]).toEqual([201, 401]);
    expect((await app.get("/account/me.json", { token: null, headers: { cookie } })).status).toBe(401);
    expect([(await setBy(held, "set a second time")).status, (await page(await follow(first))).status]).toEqual([
      404, 404,
    ]);
    expect((await setBy(await follow(second))).status).toBe(404);
    expect(await links(id)).toHaveLength(0);
    const { subject, text } = await mailTo(email);
    expect(subject).toBe("Your password for Main was changed");
    expect(text).toContain("198.51.");
  });

  test("may be asked for in the browser's language, by a page without scripts", async () => {
    const { login, email } = await somebody();
    const polish = { "accept-language": "pl" };
    const asked = await app.get("/forgot_password", visitor(polish));
    expect([asked.status, asked.text]).toEqual([200, expect.stringContaining("Nie pamiętasz hasła?")]);
    expect(asked.text).not.toContain("<script");
    const answer = await form("/forgot_password", { login }, polish);
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining("wiadomość jest w drodze")]);
    expect((await mailTo(email)).subject).toBe("Nowe hasło do Main");
    expect((await form("/forgot_password", { login: " " })).status).toBe(422);
    expect((await app.get("/login", visitor())).text).toContain('<a href="/forgot_password">Forgot password?</a>');
  });

  test.each(["short", "x".repeat(1001), ""])(
    "that is too short or too long is refused, and the link still works",
    async (wrong) => {
      const { login, email } = await somebody();
      const held = await follow(await linkFor(login, email));
      const refused = await setBy(held, wrong);
      expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('role="alert"')]);
      expect((await setBy(held)).status).toBe(200);
    },
  );

  test("keeps to the account's own rules for passwords", async () => {
    const list = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ url }) => new Response(url.endsWith(stolen.slice(0, 5)) ? `${stolen.slice(5)}:9\n` : ""),
    });
    const rules = { password_min_length: 12, breached_passwords_url: `http://127.0.0.1:${list.port}/` };
    const none = { password_min_length: null, breached_passwords_url: null };
    const stolen = new Bun.CryptoHasher("sha1").update("a stolen password").digest("hex").toUpperCase();
    const { login, email } = await somebody();
    const held = await follow(await linkFor(login, email));
    try {
      expect((await app.patch("/account/settings.json", { settings: rules })).status).toBe(200);
      const [short, known] = [await setBy(held, "11 letters."), await setBy(held, "a stolen password")];
      expect([short.status, short.text]).toEqual([
        422,
        expect.stringContaining('role="alert">At least 12 characters.'),
      ]);
      expect([known.status, known.text]).toEqual([422, expect.stringContaining("a list of stolen ones")]);
      expect((await setBy(held, "nobody else knows it")).status).toBe(200);
    } finally {
      await app.patch("/account/settings.json", { settings: none });
      await list.stop(true);
    }
  });

  test("works for 60 minutes", async () => {
    const { id, login, email } = await somebody();
    const held = await follow(await linkFor(login, email));
    const [row] =
      await app.sql`select extract(epoch from expires_at - created_at) as seconds from password_links where user_id = ${id}`;
    expect(Math.round(Number(row?.["seconds"]) / 60)).toBe(60);
    await app.sql`update password_links set expires_at = now() - interval '1 second' where user_id = ${id}`;
    expect([(await page(held)).status, (await setBy(held)).status]).toEqual([404, 404]);
    expect(await signIn(login, "the old password")).toBe(201);
  });
});

describe("an attacker", () => {
  test("learns nothing of who is here: the answer is the same, and so is what it causes at once", async () => {
    const [known, off] = [await somebody(), await somebody()];
    await app.patch(`/account/users/${off.id}.json`, { user: { active: false } });
    const nobody = await person(app, { password: "without an address" });
    const answers = [];
    for (const login of [known.login, known.email, off.login, nobody.login, "no-such-person", "'; drop table users"]) {
      const { status, text, headers } = await ask(login);
      const kept = [...headers.keys()].filter((name) => name !== "x-request-id").toSorted();
      answers.push(JSON.stringify([status, text, kept]));
      const { status: shown, text: html } = await form("/forgot_password", { login });
      expect([shown, html]).toEqual([200, expect.stringContaining("a mail is on its way")]);
    }
    expect(new Set(answers).size).toBe(1);
    await settled();
    expect(new Set(receiver.mails.map(({ to }) => to))).toEqual(new Set([known.email]));
    // What people type there by mistake may be a password.
    const jobs = await app.sql`select j::text as row from job_history j where name = 'passwords.reset'`;
    expect(jobs.length).toBeGreaterThan(0);
    expect(JSON.stringify(jobs)).not.toContain(known.login);
  });

  test("cannot flood a person with mails, nor ask without end from one address", async () => {
    const { login, email } = await somebody();
    await Promise.all(Array.from({ length: 8 }, () => ask(login)));
    await settled();
    expect(receiver.mails.filter(({ to }) => to === email)).toHaveLength(3);
    const same = visitor();
    const asked = () => app.post("/account/password_resets.json", { login: "nobody" }, same);
    const statuses = [];
    for (let at = 0; at < 21; at++) statuses.push((await asked()).status);
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 202), 429]);
    const refused = await asked();
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  test.each([
    ["host", { host: "evil.example" }],
    ["forwarded host", { "x-forwarded-host": "evil.example" }],
    ["both", { host: "evil.example", "x-forwarded-host": "evil.example:443", "x-forwarded-proto": "https" }],
  ])("gets no link to a server of their own by another %s", async (_, headers) => {
    const { login, email } = await somebody();
    expect((await ask(login, headers)).status).toBe(202);
    const mail = await mailTo(email);
    expect(linkIn(mail)).toStartWith(`${app.origin}/set_password?token=`);
    expect(mail.raw).not.toContain("evil");
  });

  test("cannot guess a link, and finds none in the database, the log or a page's address", async () => {
    const { id, login, email } = await somebody();
    const link = await linkFor(login, email);
    const token = new URL(link).searchParams.get("token") ?? "";
    expect(Buffer.from(token, "base64url")).toHaveLength(32);
    const stored = await app.sql`select l::text as row from password_links l where user_id = ${id}`;
    expect(JSON.stringify(stored)).not.toContain(token);
    const hash = /[0-9a-f]{64}/.exec(JSON.stringify(stored))?.[0] ?? "";
    const guesses = [
      hash,
      token.slice(0, -1),
      `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`,
      "",
      "a".repeat(5000),
    ];
    for (const guess of guesses) {
      const held = await follow(`${app.origin}/set_password?token=${guess}`);
      expect([guess, (await page(held)).status, (await setBy(held)).status]).toEqual([guess, 404, 404]);
    }
    const same = visitor({ cookie: `core_password_link=${"a".repeat(43)}` });
    const statuses = [];
    for (let at = 0; at < 31; at++) statuses.push((await app.get("/set_password", same)).status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
    // The owner of the link is not kept out.
    const owner = { ...same, headers: { ...same.headers, cookie: await follow(link) } };
    expect((await app.get("/set_password", owner)).status).toBe(200);
  });

  test("gets no link by a Referer: the address has no token, and its pages tell nobody where they are", async () => {
    const { login, email } = await somebody();
    const link = await linkFor(login, email);
    const answer = await app.get(pathOf(link), visitor());
    expect(answer.headers.get("location")).toBe("/set_password");
    expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("set-cookie")).toMatch(
      /^core_password_link=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=1800$/,
    );
    const shown = await page((answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "");
    expect(shown.headers.get("referrer-policy")).toBe("same-origin");
    expect(shown.headers.get("cache-control")).toBe("no-store");
    expect(shown.text).not.toContain("token");
    // A mail program that looks where the link leads uses nothing up.
    expect((await app.request("HEAD", pathOf(link), undefined, visitor())).status).toBe(303);
    expect((await page(await follow(link))).status).toBe(200);
    const https = await app.get(pathOf(link), visitor({ "x-forwarded-proto": "https" }));
    expect(https.headers.get("set-cookie")).toMatch(/^__Host-core_password_link=[\w-]{43};.*; Secure$/);
  });

  test("who uses a link at the same moment as its owner does not set a second password", async () => {
    const { login, email } = await somebody();
    const held = await follow(await linkFor(login, email));
    const words = Array.from({ length: 6 }, (_, at) => `password number ${at}`);
    const statuses = await Promise.all(words.map(async (word) => (await setBy(held, word)).status));
    expect(statuses.filter((status) => status === 404)).toHaveLength(5);
    const right = words[statuses.indexOf(200)] ?? "";
    expect(await signIn(login, right)).toBe(201);
  });

  test("cannot use a link for somebody who was switched off, deleted or got another address meanwhile", async () => {
    const people = [await somebody(), await somebody(), await somebody(), await somebody()];
    const held = [];
    for (const { login, email } of people) held.push(await follow(await linkFor(login, email)));
    const [off, gone, moved, again] = people;
    await app.patch(`/account/users/${off?.id}.json`, { user: { active: false } });
    await app.delete(`/account/users/${gone?.id}.json`);
    await app.patch(`/account/users/${moved?.id}.json`, { user: { email: "moved@example.com" } });
    // Switched off and on again: a link from before is of the past.
    await app.patch(`/account/users/${again?.id}.json`, { user: { active: false } });
    await app.patch(`/account/users/${again?.id}.json`, { user: { active: true } });
    for (const cookie of held) expect([(await page(cookie)).status, (await setBy(cookie)).status]).toEqual([404, 404]);
    expect(await signIn(moved?.login ?? "", "the old password")).toBe(201);
  });

  test("cannot use a link at another account's address", async () => {
    const { login, email } = await somebody();
    const link = await linkFor(login, email);
    const held = await follow(link, other);
    expect((await page(held, other)).status).toBe(404);
    expect((await page(held)).status).toBe(200);
  });

  test("cannot have a visitor of another site send the forms", async () => {
    const { login, email } = await somebody();
    const held = await follow(await linkFor(login, email));
    const from = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
    expect((await form("/set_password", { password }, { cookie: held, ...from })).status).toBe(403);
    expect((await form("/forgot_password", { login }, from)).status).toBe(403);
    expect((await ask(login, from)).status).toBe(403);
    expect(await signIn(login, "the old password")).toBe(201);
  });

  test("cannot use a link after the person has set a password in another way", async () => {
    const { id, login, email, token } = await somebody();
    const held = await follow(await linkFor(login, email));
    const own = { user: { password: "by their own hand", current_password: "the old password" } };
    expect((await app.patch("/account/me.json", own, { token })).status).toBe(200);
    expect((await setBy(held)).status).toBe(404);
    expect(await links(id)).toHaveLength(0);
  });
});

test("a new password by a link leaves a second factor as it is, and signs nobody in", async () => {
  const { id, login, email } = await somebody();
  const before = await app.post("/account/session.json", { login, password: "the old password" }, visitor());
  const session = { cookie: (before.headers.get("set-cookie") ?? "").split(";")[0] ?? "", origin: app.origin };
  const begun = await app.post("/account/me/totp.json", undefined, visitor(session));
  const secret = Uint8Array.from(
    [...begun.json.secret]
      .map((letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0"))
      .join("")
      .match(/.{8}/g) ?? [],
    (byte) => Number.parseInt(byte, 2),
  );
  const code = await codeAt(secret, Math.floor(Date.now() / 1000 / stepSeconds));
  const confirm = { setup: begun.json.setup, code };
  expect((await app.post("/account/me/totp/confirm.json", confirm, visitor(session))).status).toBe(201);
  const set = await setBy(await follow(await linkFor(login, email)));
  expect(set.status).toBe(200);
  expect(set.headers.get("set-cookie")).not.toContain("session");
  const answer = await app.post("/account/session.json", { login, password }, visitor());
  expect([answer.status, answer.json.factors, answer.headers.get("set-cookie")]).toEqual([
    401,
    ["totp", "recovery_code"],
    null,
  ]);
  expect(await app.sql`select 1 from totp_factors where user_id = ${id}`).toHaveLength(1);
});

describe("an invitation by mail", () => {
  const invite = (fields: object, options?: object) =>
    app.post("/account/invitations.json", { invitation: fields }, options);
  const newcomer = () => `newcomer-${++serial}@example.com`;

  test("adds a person who is switched off, and who sets a password by the link", async () => {
    const email = newcomer();
    const made = await invite({ email, name: "Zoë", role: "manager", language: "de" });
    expect([made.status, made.json]).toEqual([
      201,
      {
        id: expect.any(Number),
        user_id: expect.any(Number),
        login: email,
        name: "Zoë",
        email,
        language: "de",
        is_new: true,
        state: "pending",
        invited_by_id: expect.any(Number),
        mail_id: expect.any(String),
        expires_at: expect.any(String),
        created_at: expect.any(String),
      },
    ]);
    const week = Date.parse(made.json.expires_at) - Date.now() - 7 * 86_400_000;
    expect(Math.abs(week)).toBeLessThan(60_000);
    const { user_id: id } = made.json;
    expect((await app.get(`/account/users/${id}.json`)).json).toMatchObject({ active: false, role: "manager" });
    const mail = await mailTo(email);
    expect(mail.subject).toBe("admin lädt Sie zu Main ein");
    const held = await follow(linkIn(mail));
    expect((await setBy(held)).status).toBe(200);
    expect((await app.get(`/account/users/${id}.json`)).json).toMatchObject({ active: true });
    expect(await signIn(email, password)).toBe(201);
    expect((await setBy(held, "once more, please")).status).toBe(404);
    expect((await app.get(`/account/invitations/${made.json.id}.json`)).status).toBe(404);
    // Who is in the account already is invited by id.
    const known = await invite({ email });
    expect([known.status, Object.keys(known.json)]).toEqual([422, ["email"]]);
  });

  test("ends with another one, by inviting or resending, and can be withdrawn", async () => {
    const email = newcomer();
    const first = await invite({ email });
    const firstLink = linkIn(await mailTo(email));
    receiver.mails.length = 0;
    const second = await invite({ email });
    expect([second.status, second.json.user_id]).toEqual([201, first.json.user_id]);
    const secondLink = linkIn(await mailTo(email));
    receiver.mails.length = 0;
    expect((await page(await follow(firstLink))).status).toBe(404);
    await app.sql`update password_links set expires_at = now() where id = ${second.json.id}`;
    expect((await app.get(`/account/invitations/${second.json.id}.json`)).json.state).toBe("expired");
    const third = await app.post(`/account/invitations/${second.json.id}/resend.json`);
    expect([third.status, third.json.state, third.json.id]).toEqual([201, "pending", first.json.id]);
    const thirdLink = linkIn(await mailTo(email));
    expect((await page(await follow(secondLink))).status).toBe(404);
    const held = await follow(thirdLink);
    expect((await page(held)).status).toBe(200);
    const listed = (await app.get("/account/invitations.json")).json.filter(
      (row: { email: string }) => row.email === email,
    );
    expect(listed).toEqual([third.json]);
    expect((await app.delete(`/account/invitations/${third.json.id}.json`)).status).toBe(204);
    expect((await setBy(held)).status).toBe(404);
    expect((await app.get(`/account/users/${first.json.user_id}.json`)).status).toBe(404);
  });

  test("resent several times at once has one link that works", async () => {
    const email = newcomer();
    const { id } = (await invite({ email })).json;
    const statuses = await Promise.all(
      Array.from({ length: 5 }, async () => (await app.post(`/account/invitations/${id}/resend.json`)).status),
    );
    expect(statuses).toEqual([201, 201, 201, 201, 201]);
    const mails = await eventually(() => {
      const all = receiver.mails.filter(({ to }) => to === email);
      return all.length === 6 ? all : undefined;
    }, "six mails");
    const shown = await Promise.all(mails.map(async (mail) => (await page(await follow(linkIn(mail)))).status));
    expect(shown.filter((status) => status === 200)).toHaveLength(1);
  });

  test("does not bring back somebody who came in, or was switched on, and was switched off since", async () => {
    const email = newcomer();
    const made = await invite({ email });
    const held = await follow(linkIn(await mailTo(email)));
    const path = `/account/users/${made.json.user_id}.json`;
    await app.patch(path, { user: { active: true } });
    await app.patch(path, { user: { active: false } });
    expect([(await page(held)).status, (await setBy(held)).status]).toEqual([404, 404]);
    expect((await app.get(path)).json.active).toBe(false);
  });

  test("reaches somebody who is there already by id, and leaves them there if it is withdrawn", async () => {
    const { id, email } = await somebody();
    const made = await invite({ user_id: id });
    expect([made.status, made.json.email]).toEqual([201, email]);
    expect((await app.delete(`/account/invitations/${made.json.id}.json`)).status).toBe(204);
    expect((await app.get(`/account/users/${id}.json`)).status).toBe(200);
    const off = await somebody();
    await app.patch(`/account/users/${off.id}.json`, { user: { active: false } });
    expect((await invite({ user_id: off.id })).json).toEqual({ user_id: ["is somebody who is switched off"] });
    expect((await invite({ user_id: (await person(app)).id })).json).toEqual({
      user_id: ["is somebody without an e-mail address"],
    });
  });

  test("is refused with a mistake, by field, and leaves nothing behind", async () => {
    const counts = () =>
      app.sql`select (select count(*)::int from users) as users, (select count(*)::int from mails) as mails`;
    const before = await counts();
    for (const [fields, names] of [
      [{}, ["email"]],
      [{ email: "a@b.example", user_id: 1 }, ["email"]],
      [{ email: "nobody" }, ["email"]],
      [{ email: "a@b.example\r\nBcc: c@d.example" }, ["email"]],
      [{ email: newcomer(), login: "admin" }, ["login"]],
      [{ email: newcomer(), role: "king" }, ["role"]],
      [{ email: newcomer(), privileges: ["none"] }, ["privileges"]],
      [{ email: newcomer(), team_ids: [999_999] }, ["team_ids"]],
      [{ email: newcomer(), language: "fr" }, ["language"]],
    ] as const) {
      const answer = await invite(fields);
      expect([fields, answer.status, Object.keys(answer.json)]).toEqual([fields, 422, [...names]]);
    }
    expect(await counts()).toEqual(before);
  });

  test("needs `users`, gives nothing that the inviter lacks, and reaches nobody above them", async () => {
    const manager = await person(app, { role: "manager", privileges: ["users"] });
    const by = { token: manager.token };
    expect((await invite({ email: newcomer(), role: "admin" }, by)).status).toBe(422);
    const [admin] = await app.sql`select id from users where login = 'admin' order by id limit 1`;
    expect((await invite({ user_id: admin?.["id"] }, by)).status).toBe(403);
    const email = newcomer();
    const boss = await invite({ email, role: "admin" });
    expect((await invite({ email }, by)).status).toBe(403);
    expect((await app.post(`/account/invitations/${boss.json.id}/resend.json`, undefined, by)).status).toBe(403);
    expect((await app.delete(`/account/invitations/${boss.json.id}.json`, by)).status).toBe(403);
    const { token } = await person(app);
    expect((await invite({ email: newcomer() }, { token })).status).toBe(403);
    const elsewhere = await other.post("/account/invitations.json", { invitation: { user_id: admin?.["id"] } });
    expect([elsewhere.status, elsewhere.json]).toEqual([422, { user_id: ["is nobody of this account"] }]);
  });
});

test("without a mail server nothing of this is offered, and everything says so", async () => {
  const plain = await startTestApp();
  const refusal = { base: [expect.stringContaining("mail is not set up")] };
  const asked = await plain.post("/account/password_resets.json", { login: "admin" }, { token: null });
  const invited = await plain.post("/account/invitations.json", { invitation: { email: "a@example.com" } });
  expect([asked.status, asked.json, invited.status, invited.json]).toEqual([422, refusal, 422, refusal]);
  expect((await plain.get("/login", { token: null })).text).not.toContain("forgot");
  const forgot = await plain.get("/forgot_password", { token: null });
  expect([forgot.status, forgot.text]).toEqual([404, expect.stringContaining("does not send mails")]);
  const signedIn = await plain.post(
    "/account/session.json",
    { login: "admin", password: adminPassword },
    { token: null },
  );
  expect(signedIn.status).toBe(201);
  await plain.stop();
});
