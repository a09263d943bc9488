/** People hear of sign-ins by devices that are new. A real mail server takes the mails. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually, person, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { startMailReceiver, type MailReceiver } from "../../../tests/fixtures/mail-receiver.ts";

let app: TestApp;
let receiver: MailReceiver;
beforeAll(async () => {
  receiver = await startMailReceiver();
  const env = { SMTP_URL: `smtp://127.0.0.1:${receiver.port}`, MAIL_FROM: "office@example.com", DATABASE_POOL: "2" };
  app = await startTestApp({ env });
});
afterAll(async () => {
  await app.stop();
  receiver.stop();
});

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const chrome = "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36";
const password = "a long enough password";
const signIn = async (login: string, agent: string) => {
  const options = { token: null, headers: { "user-agent": agent } };
  expect((await app.post("/account/session.json", { login, password }, options)).status).toBe(201);
};
/** How many mails were written; all of them are sent. */
const mails = async (to: string) => {
  await eventually(
    async () => (await app.sql`select 1 from mails where state = 'queued'`).length === 0,
    "an empty queue",
  );
  return receiver.mails.filter((mail) => mail.to === to);
};

test("a browser that is new is told by mail, once; the first one is no news", async () => {
  const email = "anna@example.com";
  const { login } = await person(app, { email, password });
  await signIn(login, firefox);
  await signIn(login, firefox.replaceAll("140", "141"));
  expect(await mails(email)).toHaveLength(0);
  await signIn(login, chrome);
  await signIn(login, chrome);
  const [mail, ...more] = await mails(email);
  expect(more).toHaveLength(0);
  expect(mail?.subject).toBe("A new sign-in at Main");
  expect(mail?.text).toContain("Browser: Chrome, Windows");
  expect(mail?.text).toContain("Address: 127.0.0.1");
});

test("a sign-in with an Idempotency-Key tells of it too, many at once", async () => {
  const people = await Promise.all(
    Array.from({ length: 8 }, async (_, at) => {
      const email = `many-${at}@example.com`;
      return { email, ...(await person(app, { email, password })) };
    }),
  );
  for (const agent of [firefox, chrome]) {
    const signedIn = people.map(({ login }) =>
      app.post(
        "/account/session.json",
        { login, password },
        {
          token: null,
          headers: { "user-agent": agent, "idempotency-key": `${login} ${agent}` },
        },
      ),
    );
    expect((await Promise.all(signedIn)).map(({ status }) => status)).toEqual(people.map(() => 201));
  }
  for (const { email } of people) expect(await mails(email)).toHaveLength(1);
});

test("nobody is told without an address, or where the account has switched it off", async () => {
  const none = await person(app, { password });
  await signIn(none.login, firefox);
  await signIn(none.login, chrome);
  const email = "jan@example.com";
  const { login } = await person(app, { email, password });
  await signIn(login, firefox);
  const set = (value: boolean | null) => app.patch("/account/settings.json", { settings: { sign_in_alerts: value } });
  expect((await set(false)).status).toBe(200);
  await signIn(login, chrome);
  expect(await mails(email)).toHaveLength(0);
  expect((await set(null)).status).toBe(200);
  await signIn(login, "curl/8.14");
  expect((await mails(email)).map(({ text }) => text)).toEqual([expect.stringContaining("curl/8.14")]);
  const manager = await person(app, { role: "manager", privileges: ["settings"] });
  const refused = await app.patch(
    "/account/settings.json",
    { settings: { sign_in_alerts: false } },
    { token: manager.token },
  );
  expect(refused.status).toBe(403);
});
