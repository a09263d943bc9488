/** Mails to those whom a comment mentions. behaviour B.7. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { startMailReceiver, type MailReceiver } from "../../../tests/fixtures/mail-receiver.ts";
import { eventually, person, startTestApp, type TestApp } from "../../../tests/harness.ts";

interface Who {
  readonly id: number;
  readonly token: string;
  readonly login: string;
  readonly email: string;
}

let app: TestApp;
let receiver: MailReceiver;
let ann: Who;
let bob: Who;
let record: string;

const comments = "/core/dbs/deals/records";
const say = (text: string, who: Who = ann) =>
  app.post(`${comments}/${record}/comments`, { comment: { text } }, { token: who.token });
const prefer = (who: Who, preferences: object) =>
  app.patch("/account/me/preferences", { preferences }, { token: who.token });
const patchServer = (mail_server: object) => app.patch("/core/mail_server", { mail_server });
const logged = async () => (await app.get("/core/mails?template=mention")).json;
const received = (count = 1) =>
  eventually(() => (receiver.mails.length >= count ? receiver.mails : undefined), "mails");
const openTo = (...people: Who[]) =>
  app.patch("/core/dbs/deals", { db: { access: people.map(({ id }) => ({ to: `user:${id}`, may: "edit" })) } });
beforeAll(async () => {
  [app, receiver] = await Promise.all([startTestApp(), startMailReceiver()]);
  const one = async (login: string, role: "user" | "guest" = "user") => {
    const email = `${login}@example.com`;
    return { ...(await person(app, { login, role, email })), email };
  };
  [ann, bob] = [await one("ann"), await one("bob", "guest")];
  await app.post("/core/dbs", { db: { name: "Deals & more", code: "deals" } });
  await openTo(ann, bob);
  record = (await app.post(comments, { record: { data: {} } })).json.id;
});
afterAll(async () => {
  await app.stop();
  receiver.stop();
});
beforeEach(() => {
  receiver.mails.length = 0;
  receiver.refusal = undefined;
});

test("without a mail server nothing is queued, and the inbox has the notice", async () => {
  expect((await say("@bob without mail")).status).toBe(201);
  expect(await logged()).toEqual([]);
  expect((await app.get("/core/inbox", { token: bob.token })).json).toHaveLength(1);
  const url = `smtp://127.0.0.1:${receiver.port}`;
  expect((await patchServer({ url, from: "office@example.com" })).status).toBe(200);
});

test("whom a comment mentions gets one mail, with what it says", async () => {
  const text = `<b>hello</b> @bob and @ann ${"x".repeat(600)} the end`;
  const made = await say(text);
  const [mail] = await received();
  expect(mail).toMatchObject({ to: bob.email, subject: "ann mentions you in Deals & more" });
  expect(mail?.text).toContain("<b>hello</b> @bob and @ann xxx");
  expect(mail?.text).toContain(`/studio/tables/deals?open=${record}`);
  expect(mail?.text).not.toContain("the end");
  expect(mail?.html).toContain("&lt;b&gt;hello&lt;/b&gt;");
  const change = (words: string) =>
    app.patch(`${comments}/${record}/comments/${made.json.id}`, { comment: { text: words } }, { token: ann.token });
  await change("nobody");
  expect((await change(text)).json.mentions).toEqual([bob.id, ann.id]);
  expect((await logged()).map(({ to }: { to: string }) => to)).toEqual([bob.email]);
});

test("in the person's language, and not to those who want none", async () => {
  for (const preferences of [{ "mail.mentions": "no" }, { "mail.language": "fr" }, { "mail.language": ["pl"] }]) {
    const { status, json } = await prefer(bob, preferences);
    expect([status, Object.keys(json)]).toEqual([422, Object.keys(preferences)]);
  }
  for (const [language, subject] of [
    ["pl", "ann wspomina o Tobie w Deals & more"],
    ["de", "ann erwähnt Sie in Deals & more"],
  ] as const) {
    receiver.mails.length = 0;
    expect((await prefer(bob, { "mail.language": language })).status).toBe(200);
    await say("@bob hello");
    expect((await received())[0]?.subject).toBe(subject);
  }
  expect((await prefer(bob, { "mail.mentions": false })).status).toBe(200);
  const before = (await logged()).length;
  await say("@bob unheard");
  expect(await logged()).toHaveLength(before);
  await prefer(bob, { "mail.mentions": null, "mail.language": null });
});

test("what waits is not sent to who may not read the record any more, nor of a comment that is gone", async () => {
  const waits: [change: () => Promise<unknown>, undo: () => Promise<unknown>][] = [
    [() => openTo(ann), () => openTo(ann, bob)],
    [() => prefer(bob, { "mail.mentions": false }), () => prefer(bob, { "mail.mentions": null })],
    [
      () => app.patch(`/account/users/${bob.id}`, { user: { email: "else@example.com" } }),
      () => app.patch(`/account/users/${bob.id}`, { user: { email: bob.email } }),
    ],
    [async () => app.sql`delete from inbox_notices where user_id = ${bob.id}`, async () => undefined],
  ];
  receiver.refusal = () => ({ code: 451, says: "later" });
  for (const [change, undo] of waits) {
    await say("@bob secret");
    const { id } = await eventually(async () =>
      (await logged()).find(
        ({ state, attempts }: { state: string; attempts: number }) => state === "queued" && attempts === 1,
      ),
    );
    await change();
    receiver.refusal = undefined;
    expect((await app.post(`/core/mails/${id}/retry`)).status).toBeLessThan(300);
    await eventually(async () => (await app.get(`/core/mails/${id}`)).json.state === "expired", "expired");
    await undo();
    receiver.refusal = () => ({ code: 451, says: "later" });
  }
  expect(receiver.mails.filter(({ subject }) => subject.includes("mentions"))).toEqual([]);
});
