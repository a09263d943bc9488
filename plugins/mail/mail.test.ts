import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually, otherAccount, person, startTestApp, type TestApp } from "../../tests/harness.ts";
import { transaction } from "../../runtime/db/db.ts";
import { definePlugin } from "../../runtime/sdk.ts";
import { accounts } from "../accounts/api.ts";
import { mail, mailTexts, type OutgoingMail } from "./api.ts";
import { prune as pruneMails } from "./store.ts";
import {
  receiverPassword,
  startMailReceiver,
  type MailReceiver,
  type ReceivedMail,
} from "../../tests/fixtures/mail-receiver.ts";

const alarm = (words: string) => mailTexts({ subject: `${words}: {{ reason }}`, paragraphs: ["{{ reason }}"] });
/** Another plugin, with a mail of its own. */
const alarms = definePlugin({
  name: "alarms",
  needs: { mail },
  setup({ services }) {
    services.mail.registerTemplate({
      code: "alarm",
      doc: "something has failed",
      values: { reason: { doc: "why", example: "the disk is full" } },
      texts: { en: alarm("Backup failed"), pl: alarm("Kopia nieudana"), de: alarm("Sicherung fehlgeschlagen") },
    });
    return {};
  },
});

let app: TestApp;
let receiver: MailReceiver;
let accountId: number;
beforeAll(async () => {
  [app, receiver] = await Promise.all([
    startTestApp({ plugin: alarms, env: { MAIL_HOURLY_LIMIT: "60" } }),
    startMailReceiver(),
  ]);
  accountId = (await app.service(accounts).defaultAccount()).id;
});
beforeEach(() => {
  receiver.mails.length = 0;
  receiver.refusal = undefined;
});
afterAll(async () => {
  await app.stop();
  receiver.stop();
});

const link = "https://core.example.com/set_password?token=0123456789abcdefghijklmnopqrstuv";
const values = { name: "Ewa", login: "ewa", link, minutes: "60" };
const reset = (more: Partial<OutgoingMail> = {}): OutgoingMail => ({
  accountId,
  to: "ewa@example.com",
  template: "password_reset",
  values,
  ...more,
});
const send = (more: Partial<OutgoingMail> = {}) => app.service(mail).send(reset(more));
const logged = async (id: string) => (await app.get(`/core/mails/${id}.json`)).json;
const ended = (id: string, state: string) =>
  eventually(async () => {
    const row = await logged(id);
    return row.state === state ? row : undefined;
  }, `the state ${state}`);
/** After its first attempt, which failed. */
const tried = (id: string) =>
  eventually(async () => {
    const row = await logged(id);
    return row.attempts === 1 ? row : undefined;
  }, "an attempt");
const received = (): Promise<ReceivedMail> => eventually(() => receiver.mails[0], "a mail");
const server = () => ({
  url: `smtp://127.0.0.1:${receiver.port}`,
  user: "mailer",
  password: receiverPassword,
  from: "Żółw <office@example.com>",
});
const patchServer = (fields: object) => app.patch("/core/mail_server.json", { mail_server: fields });

describe("without a mail server", () => {
  test("everything that would send one says so", async () => {
    expect((await app.get("/core/mail_server.json")).json).toMatchObject({ source: null, from: null, url: null });
    expect(await app.service(mail).isSetUp(accountId)).toBe(false);
    const refusal = { base: [expect.stringContaining("mail is not set up")] };
    const sent = await app.post("/core/mail_server/test.json", { mail: { to: "a@example.com" } });
    expect([sent.status, sent.json]).toEqual([422, refusal]);
    const failure: unknown = await send().catch((error: unknown) => error);
    expect(failure).toMatchObject({ status: 422, fields: refusal });
    const inside: unknown = await transaction(app.sql, (tx) => app.service(mail).send(reset(), tx)).catch(
      (error: unknown) => error,
    );
    expect(inside).toMatchObject({ status: 422, fields: refusal });
  });
});

describe("the mail server of an account", () => {
  test.each([
    [{ from: "a@example.com" }, ["url"]],
    [{ url: "smtp://mail.example.com" }, ["from"]],
    [{ url: "http://mail.example.com", from: "a@example.com" }, ["url"]],
    [{ url: "smtp://u:p@mail.example.com", from: "a@example.com" }, ["url"]],
    [{ url: "smtp://mail.example.com", from: "nobody" }, ["from"]],
    [{ url: "smtp://mail.example.com", from: "a@example.com\r\nBcc: b@example.com" }, ["from"]],
    [{ url: "smtp://mail.example.com", from: "a@example.com", reply_to: "nobody" }, ["reply_to"]],
    [{ url: "smtp://mail.example.com", from: "a@example.com", user: "u" }, ["password"]],
    [{ url: "smtp://mail.example.com", from: "a@example.com", password: "p" }, ["user"]],
    [{ url: "smtps://mail.example.com", from: "a@example.com", tls: "none" }, ["tls"]],
  ])("is refused for %j, which names %p", async (fields, names) => {
    const answer = await patchServer(fields);
    expect([answer.status, Object.keys(answer.json)]).toEqual([422, names]);
    expect(await app.sql`select 1 from mail_servers`).toHaveLength(0);
  });

  test("keeps its password to itself, and does not take it to another address", async () => {
    const made = await patchServer(server());
    expect([made.status, made.json]).toEqual([
      200,
      {
        source: "account",
        url: `smtp://127.0.0.1:${receiver.port}`,
        user: "mailer",
        has_password: true,
        from: "Żółw <office@example.com>",
        reply_to: null,
        tls: null,
        updated_at: expect.any(String),
      },
    ]);
    const [row] = await app.sql`select s::text as row from mail_servers s`;
    expect(row?.["row"]).not.toContain("pass word");
    const moved = await patchServer({ url: "smtp://127.0.0.1:2" });
    expect([moved.status, Object.keys(moved.json)]).toEqual([422, ["password"]]);
    const stale = await app.patch(
      "/core/mail_server.json",
      { mail_server: { reply_to: "answers@example.com" } },
      { headers: { "if-match": `"${accountId}-9"` } },
    );
    expect(stale.status).toBe(412);
    expect((await patchServer({ reply_to: "answers@example.com" })).json).toMatchObject({ has_password: true });
  });

  test("can be tried out, and a wrong password is said", async () => {
    const answer = await app.post("/core/mail_server/test.json", { mail: { to: "me@example.com" } });
    expect([answer.status, answer.json]).toEqual([
      200,
      { message_id: expect.stringMatching(/^<[\w-]+@example\.com>$/), response: "250 taken as 42" },
    ]);
    expect(receiver.mails[0]).toMatchObject({ to: "me@example.com", user: "mailer", subject: "Mails of Main arrive" });
    const nobody = await app.post("/core/mail_server/test.json", { mail: {} });
    expect([nobody.status, Object.keys(nobody.json)]).toEqual([422, ["to"]]);
    await patchServer({ password: "wrong" });
    const refused = await app.post("/core/mail_server/test.json", { mail: { to: "me@example.com" } });
    expect([refused.status, refused.json]).toEqual([422, { base: ["the mail server refused the sign-in (535)"] }]);
    await patchServer({ password: receiverPassword });
  });
});

describe("a mail", () => {
  test("is sent when its transaction commits, and never otherwise", async () => {
    const failed = transaction(app.sql, async (tx) => {
      await app.service(mail).send(reset({ to: "never@example.com" }), tx);
      throw new Error("rolled back");
    });
    expect(await failed.catch((error: unknown) => error)).toEqual(new Error("rolled back"));
    const id = await transaction(app.sql, (tx) => app.service(mail).send(reset(), tx));
    const row = await ended(id, "sent");
    expect(receiver.mails.map(({ to }) => to)).toEqual(["ewa@example.com"]);
    expect(row).toEqual({
      id,
      to: "ewa@example.com",
      template: "password_reset",
      language: null,
      state: "sent",
      attempts: 1,
      last_error: null,
      message_id: `<${id}@example.com>`,
      next_attempt_at: null,
      expires_at: null,
      created_at: expect.any(String),
      sent_at: expect.any(String),
    });
  });

  test("has a text and an HTML part, and headers that keep autoresponders quiet", async () => {
    const id = await send();
    const { headers, text, html, subject, from } = await received();
    expect(from).toBe("office@example.com");
    expect(headers.get("content-type")).toStartWith("multipart/alternative");
    expect(headers.get("message-id")).toBe(`<${id}@example.com>`);
    expect(headers.get("auto-submitted")).toBe("auto-generated");
    expect(headers.get("x-auto-response-suppress")).toBe("All");
    expect(headers.get("reply-to")).toBe("answers@example.com");
    expect(Math.abs(Date.parse(headers.get("date") ?? "") - Date.now())).toBeLessThan(120_000);
    expect(subject).toBe("A new password for Main");
    expect(text).toContain(link);
    expect(html).toContain(`<a href="${link}"`);
    expect(html).toContain('<html lang="en">');
  });

  test.each([
    ["en", "A new password for Main"],
    ["pl", "Nowe hasło do Main"],
    ["de", "Ein neues Passwort für Main"],
  ] as const)("in the language %s", async (language, subject) => {
    await send({ language });
    expect((await received()).subject).toBe(subject);
  });

  test("reaches international addresses", async () => {
    await send({ to: "józef@żółw.example" });
    expect((await received()).to).toBe("józef@żółw.example");
  });

  test.each(["nobody", "a@b.c\r\nBcc: x@y.z", "a@b.c, d@e.f", "", "<>", `${"a".repeat(300)}@b.c`])(
    "to %j is refused",
    async (to) => {
      expect(await send({ to }).catch((error: unknown) => error)).toMatchObject({
        status: 422,
        fields: { to: [expect.any(String)] },
      });
    },
  );

  test("gets no further header from a line break in a name, and no tag", async () => {
    const name = 'Eve\r\nBcc: thief@example.com\r\n\r\n<script>alert(1)</script>"';
    const signIn = { name, login: "eve", inviter: name, link, days: "7" };
    await send({ template: "invitation", values: signIn });
    const { headers, subject, html, text, to } = await received();
    expect(headers.has("bcc")).toBe(false);
    expect(to).toBe("ewa@example.com");
    expect(subject).toStartWith("Eve  Bcc: thief@example.com");
    expect(html).not.toContain("<script");
    expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&quot;");
    expect(text).toContain("<script>alert(1)</script>");
  });

  test("that is of no use any more is not sent", async () => {
    const id = await send({ expiresAt: new Date(Date.now() - 1) });
    await ended(id, "expired");
    expect(receiver.mails).toHaveLength(0);
    const again = await app.post(`/core/mails/${id}/retry.json`);
    expect([again.status, Object.keys(again.json)]).toEqual([422, ["state"]]);
  });
});

describe("the queue", () => {
  test("tries again later what the server does not take now, with the same Message-ID", async () => {
    receiver.refusal = () => ({ code: 451, says: "greylisted, try again later" });
    const id = await send();
    const waiting = await tried(id);
    expect(waiting).toMatchObject({
      state: "queued",
      last_error: "the mail server answered 451 greylisted, try again later",
    });
    expect(Date.parse(waiting.next_attempt_at) - Date.parse(waiting.created_at)).toBeGreaterThan(25_000);
    receiver.refusal = undefined;
    const hurried = await app.post(`/core/mails/${id}/retry.json`);
    expect([hurried.status, hurried.json.state]).toEqual([200, "queued"]);
    const row = await ended(id, "sent");
    expect(row).toMatchObject({ attempts: 2, last_error: null, message_id: `<${id}@example.com>` });
    expect(receiver.mails).toHaveLength(1);
    const sent = await app.post(`/core/mails/${id}/retry.json`);
    expect([sent.status, Object.keys(sent.json)]).toEqual([422, ["state"]]);
  });

  test("gives up at once what is refused for good, and its log tells no link even if the server quotes it", async () => {
    receiver.refusal = (raw) => ({ code: 554, says: `spam: ${link} ${raw.length > 0 ? values.link.slice(8) : ""}` });
    const id = await send();
    const row = await ended(id, "failed");
    expect(row).toMatchObject({ attempts: 1, next_attempt_at: null });
    expect(row.last_error).toStartWith("the mail server answered 554 spam: [hidden]");
    expect(JSON.stringify(row)).not.toContain("token=0123");
    const stored = await app.sql`select m::text as row from mails m`;
    expect(JSON.stringify(stored)).not.toContain("token=0123");
    expect(app.logged.join("\n")).not.toContain("token=0123");
    receiver.refusal = undefined;
    expect((await app.post(`/core/mails/${id}/retry.json`)).status).toBe(200);
    await ended(id, "sent");
    expect(await app.sql`select 1 from mails where state = 'sent' and content is not null`).toHaveLength(0);
  });

  test("keeps links unreadable while they wait, and forgets them with their use", async () => {
    receiver.refusal = () => ({ code: 451, says: "later" });
    const id = await send({ expiresAt: new Date(Date.now() + 3_600_000) });
    await tried(id);
    const [job] = await app.sql`select j::text as row from jobs j where j::text like ${`%${id}%`}`;
    const [row] = await app.sql`select m::text as row, content from mails m where id = ${id}`;
    expect(row?.["content"]).toBeString();
    expect(`${row?.["row"]} ${job?.["row"]}`).not.toContain("token=");
    await app.sql`update mails set expires_at = now() - interval '1 second' where id = ${id}`;
    await prune();
    expect(await logged(id)).toMatchObject({ state: "expired", next_attempt_at: null });
    const [after] = await app.sql`select content from mails where id = ${id}`;
    expect(after?.["content"]).toBeNull();
  });

  test("forgets old mails", async () => {
    const id = await send();
    await ended(id, "sent");
    await app.sql`update mails set created_at = now() - interval '31 days' where id = ${id}`;
    await prune();
    expect((await app.get(`/core/mails/${id}.json`)).status).toBe(404);
  });

  test("lets an account send only so many mails in an hour: others wait, and none is lost", async () => {
    const other = await otherAccount(app);
    const fields = { url: `smtp://127.0.0.1:${receiver.port}`, from: "other@example.com" };
    expect((await other.patch("/core/mail_server.json", { mail_server: fields })).status).toBe(200);
    const ids = await Promise.all(Array.from({ length: 61 }, () => send({ accountId: other.id })));
    expect(ids).toHaveLength(61);
    const waiting = await eventually(async () => {
      const { json } = await other.get("/core/mails.json?state=queued");
      return json.length === 1 && Date.parse(json[0].next_attempt_at) > Date.now() ? json[0] : undefined;
    }, "all others");
    expect(waiting).toMatchObject({ attempts: 0, last_error: null });
    expect(receiver.mails).toHaveLength(60);
    const tested = await other.post("/core/mail_server/test.json", { mail: { to: "a@example.com" } });
    expect(tested.status).toBe(429);
    // What another account sends counts for itself, and its log is its own.
    await ended(await send(), "sent");
    expect((await app.get(`/core/mails/${waiting.id}.json`)).status).toBe(404);
    expect((await app.post(`/core/mails/${waiting.id}/retry.json`)).status).toBe(404);
  });

  const prune = () => pruneMails(app.sql, 30);
});

test("another plugin sends a mail of its own, which an account may change too", async () => {
  const alarmMail = { template: "alarm", values: { reason: "<disk & co>" } };
  await send({ ...alarmMail, language: "pl" });
  const { subject, html } = await received();
  expect(subject).toBe("Kopia nieudana: <disk & co>");
  expect(html).toContain("&lt;disk &amp; co&gt;");
  const words = { code: "alarm", language: "en", subject: "Oh no", text: "{{ reason }}" };
  expect((await app.post("/core/mail_templates.json", { mail_template: words })).status).toBe(201);
  receiver.mails.length = 0;
  await send(alarmMail);
  expect((await received()).subject).toBe("Oh no");
  const unknown = await send({ template: "nothing" }).catch((error: unknown) => error);
  expect(unknown).toEqual(new Error('no plugin has registered the mail template "nothing"'));
});

test("the log is filtered by receiver, template and state", async () => {
  const id = await send({
    to: "Filtered@example.com",
    template: "sign_in_alert",
    values: { name: "E", login: "e", address: "::1", browser: "b", time: "now" },
  });
  await ended(id, "sent");
  for (const query of ["to=filtered@example.com", "template=sign_in_alert", "state=sent&limit=1"])
    expect((await app.get(`/core/mails.json?${query}`)).json.map((row: { id: string }) => row.id)).toEqual([id]);
  expect((await app.get("/core/mails.json?to=nobody@example.com")).json).toEqual([]);
});

describe("an account's own words", () => {
  const own = {
    code: "password_reset",
    language: "en",
    subject: "Hello {{ name }}",
    text: "Hello {{ name | upcase }}.\n\n{{ link }}\n\nBye & good luck",
  };
  const post = (fields: object) => app.post("/core/mail_templates.json", { mail_template: { ...own, ...fields } });

  test("take the place of the built-in ones in their language, until they are deleted", async () => {
    const made = await post({});
    expect(made.status).toBe(201);
    expect((await post({})).status).toBe(422);
    await send({ values: { ...values, name: "<b>Ewa</b>" } });
    const { subject, text, html } = await received();
    expect(subject).toBe("Hello <b>Ewa</b>");
    expect(text).toStartWith("Hello <B>EWA</B>.");
    expect(html).toContain("Hello &lt;B&gt;EWA&lt;/B&gt;.");
    expect(html).toContain("Bye &amp; good luck");
    expect(html).toContain(`<a href="${link}"`);
    receiver.mails.length = 0;
    await send({ language: "de" });
    expect((await received()).subject).toBe("Ein neues Passwort für Main");
    expect((await app.delete(`/core/mail_templates/${made.json.id}.json`)).status).toBe(204);
    receiver.mails.length = 0;
    await send();
    expect((await received()).subject).toBe("A new password for Main");
  });

  test.each<[object, string, string]>([
    [{ subject: "{% if %}" }, "subject", "line 1"],
    [{ text: "no link" }, "text", "must have {{ link }}"],
    [{ html: "<p>no link</p>" }, "html", "must have {{ link }}"],
    [{ text: "{{ link }} {{ nmae }}" }, "text", "there is no {{ nmae }}"],
    [{ text: "{{ link }}{% for i in (1..1000000) %}{{ i }}{% endfor %}" }, "text", "line 1"],
    [{ text: '{{ link }}{% include "/etc/passwd" %}' }, "text", "line 1"],
    [{ text: "{{ link }}{{ constructor.constructor }}" }, "text", "there is no {{ constructor }}"],
    [{ text: "{{ link | no_such_filter }}" }, "text", "line 1"],
    [{ subject: "{{ account.missing }}" }, "subject", "is empty"],
    [{ subject: "x".repeat(501) }, "subject", "500"],
    [{ text: `{{ link }}${"x".repeat(50_001)}` }, "text", "50000"],
    [{ code: "no_such_mail" }, "code", "is not a mail"],
    [{ language: "fr" }, "language", ""],
  ])("are refused (%#)", async (fields, name, message) => {
    for (const path of ["/core/mail_templates.json", "/core/mail_templates/preview.json"]) {
      const answer = await app.post(path, { mail_template: { ...own, ...fields } });
      expect([answer.status, Object.keys(answer.json)]).toEqual([422, [name]]);
      expect(answer.json[name].join()).toContain(message);
    }
  });

  test("are shown and sent to their author with example values, each value escaped in HTML", async () => {
    const html = '<p title="{{ name }}">{{ name | escape }} {{ account.name | upcase }}</p> <a href="{{ link }}">x</a>';
    const preview = await app.post("/core/mail_templates/preview.json", { mail_template: { ...own, html } });
    expect([preview.status, preview.json.subject]).toEqual([200, "Hello Anna Nowak"]);
    expect(preview.json.html).toContain('<p title="Anna Nowak">Anna Nowak EXAMPLE</p>');
    const made = await post({ html });
    const author = await person(app, { role: "admin", email: "author@example.com" });
    const sent = await app.post(`/core/mail_templates/${made.json.id}/test.json`, undefined, { token: author.token });
    expect(sent.status).toBe(200);
    expect(receiver.mails[0]).toMatchObject({ to: "author@example.com", subject: "Hello Anna Nowak" });
    receiver.mails.length = 0;
    await send({ values: { ...values, name: '"><img src=x onerror=alert(1)>' } });
    const escaped = "&quot;&gt;&lt;img src=x onerror=alert(1)&gt;";
    expect((await received()).html).toContain(`<p title="${escaped}">${escaped} MAIN</p>`);
    const changed = await app.patch(`/core/mail_templates/${made.json.id}.json`, { mail_template: { html: null } });
    expect([changed.status, changed.json.html]).toEqual([200, null]);
  });

  test("are listed beside the built-in ones, with the values that they may use", async () => {
    const { json } = await app.get("/core/mail_templates/system.json");
    const codes = new Set(json.map(({ code }: { code: string }) => code));
    expect([...codes]).toContain("invitation");
    expect(json).toHaveLength(codes.size * 3);
    for (const { code, language, subject, text, html } of json) {
      const copy = { code, language, subject, text, html };
      const preview = await app.post("/core/mail_templates/preview.json", { mail_template: copy });
      expect([code, language, preview.status]).toEqual([code, language, 200]);
      expect(preview.json.text).not.toContain("{{");
    }
  });
});

test("without its server again, what waits fails and says why, and a retry sends it once there is one", async () => {
  receiver.refusal = () => ({ code: 451, says: "later" });
  const id = await send();
  await tried(id);
  receiver.refusal = undefined;
  expect((await app.delete("/core/mail_server.json")).status).toBe(204);
  expect((await app.post(`/core/mails/${id}/retry.json`)).status).toBe(200);
  expect(await ended(id, "failed")).toMatchObject({ last_error: "mail is not set up" });
  await patchServer(server());
  expect((await app.post(`/core/mails/${id}/retry.json`)).status).toBe(200);
  await ended(id, "sent");
});
