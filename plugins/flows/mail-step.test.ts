/** The step `mail.send`. behaviour B.9. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually, person, startTestApp, type TestApp } from "../../tests/harness.ts";
import { receiverPassword, startMailReceiver, type MailReceiver } from "../../tests/fixtures/mail-receiver.ts";
import { mail } from "../mail/api.ts";

let app: TestApp;
let receiver: MailReceiver;
beforeAll(async () => {
  receiver = await startMailReceiver();
  app = await startTestApp();
});
afterAll(async () => {
  await app.stop();
  receiver.stop();
});

const step = {
  type: "mail.send",
  id: "tell",
  params: { to: "{{ input.to }}", subject: "Order {{ input.n }}", text: "{{ input.text }}" },
};
const save = (code: string, token?: string) =>
  app.post("/connect/flows.json", { flow: { name: code, code, fields: { program: [step] } } }, token ? { token } : {});
const run = async (input: object) => (await app.post("/connect/flows/tell/run.json?wait=20", input)).json;

test("without a mail server it fails and says why", async () => {
  expect((await save("tell")).status).toBe(201);
  const { status, error } = await run({ to: "ann@example.com", n: 1, text: "x" });
  expect([status, error]).toEqual(["error", expect.stringContaining("mail is not set up")]);
});

test("sends to each address, as the log shows", async () => {
  const server = {
    url: `smtp://127.0.0.1:${receiver.port}`,
    user: "mailer",
    password: receiverPassword,
    from: "Tea <tea@example.com>",
  };
  expect((await app.patch("/core/mail_server.json", { mail_server: server })).status).toBe(200);
  const text = "Dear <b>Ann</b>,\n\nit is on its way.";
  const { status, steps } = await run({ to: "ann@example.com, Bob <bob@example.com>", n: 12, text });
  expect(status).toBe("finished");
  await eventually(() => receiver.mails.length === 2);
  const logged = (await app.get("/core/mails.json")).json;
  expect(new Set(logged.map(({ id }: { id: string }) => id))).toEqual(new Set(steps[0].output.mails));
  expect(logged.map(({ to }: { to: string }) => to).toSorted()).toEqual(["ann@example.com", "bob@example.com"]);
  expect(logged[0]).toMatchObject({ template: "flow" });
  const [sent] = receiver.mails;
  expect(sent?.subject).toBe("Order 12");
  expect(sent?.text.replaceAll("\r", "")).toStartWith(text);
  expect(sent?.html.replaceAll("\r", "")).toContain('pre-line">Dear &lt;b&gt;Ann&lt;/b&gt;,\n\nit is on its way.');
});

test("one mail is sent to oneself alone, whoever it is for", async () => {
  const { token } = await person(app, { privileges: ["flows", "mails"], email: "me@example.com" });
  const own = { type: "mail.send", params: { to: "ann@example.com", subject: "Just me", text: "x" } };
  const { status, json } = await app.post("/connect/flow_steps/try.json", { step: own }, { token });
  expect([status, json.ok, json.data.mails.length]).toEqual([200, true, 1]);
  await eventually(() =>
    receiver.mails.some(({ subject, to }) => subject === "Just me" && to.includes("me@example.com")),
  );
  expect(receiver.mails.filter(({ subject }) => subject === "Just me")).toHaveLength(1);
});

test.each([
  [{ to: "nobody", n: 1, text: "x" }, "to is not a mail address"],
  [{ to: " , ", n: 1, text: "x" }, "to can't be blank"],
  [{ to: Array.from({ length: 21 }, (_, at) => `a${at}@example.com`).join(), n: 1, text: "x" }, "more than 20"],
  [{ to: "a@example.com", n: 1 }, "text"],
])("the input %j is a failure of the step", async (input, message) => {
  const { status, error } = await run(input);
  expect([status, error]).toEqual(["error", expect.stringContaining(message)]);
});

test("a mail with the id of another one is not sent again", async () => {
  const sent = { accountId: 1, to: "once@example.com", template: "flow", values: { subject: "s", text: "t" } };
  const id = "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e11";
  for (let at = 0; at < 2; at++) expect(await app.service(mail).send({ ...sent, id })).toBe(id);
  await eventually(async () => (await app.get(`/core/mails/${id}.json`)).json.state === "sent");
  expect(receiver.mails.filter(({ to }) => to.includes("once@example.com"))).toHaveLength(1);
});

test("whoever saves it needs the privilege `mails`", async () => {
  const { token } = await person(app, { role: "manager" });
  const refused = await save("theirs", token);
  expect([refused.status, refused.json.error]).toEqual([403, expect.stringContaining("`mails`")]);
});
