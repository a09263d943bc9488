/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
/** The alarm of a flow: a mail and an item of the inbox after failures in a row. behaviour B.9. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { receiverPassword, startMailReceiver, type MailReceiver } from "../../tests/fixtures/mail-receiver.ts";
import { eventually, person, startTestApp, type TestApp } from "../../tests/harness.ts";

let app: TestApp;
let receiver: MailReceiver;
let ann: Awaited<ReturnType<typeof person>>;
beforeAll(async () => {
  receiver = await startMailReceiver();
  app = await startTestApp();
  ann = await person(app, { email: "ann@example.com", privileges: [] });
});
afterAll(async () => {
  await app.stop();
  receiver.stop();
});

const failing = { type: "if", condition: "input.fails", then: [{ type: "fail", message: "no tea" }] };
/** Fails at once, where it begins. */
const atOnce = [failing];
/** Fails when a job goes on with it. */
const later = [{ type: "http", url: "http://127.0.0.1:1/", on_error: [{ type: "mutation", set: { a: 1 } }] }, failing];
const save = (code: string, alarm: unknown, program: object[] = atOnce) =>
  app.post("/connect/flows.json", { flow: { name: `Flow ${code}`, code, fields: { program, alarm } } });
const run = async (code: string, fails: boolean) => {
  const { status, json } = await app.post(`/connect/flows/${code}/run.json?wait=20`, { fails });
  expect([status, json.status]).toEqual([201, fails ? "error" : "finished"]);
  return json.flow_process_id;
};
const inbox = async (token?: string, query = "kind=failure"): Promise<Readonly<Record<string, unknown>>[]> =>
  (await app.get(`/core/inbox.json?${query}`, token === undefined ? {} : { token })).json;
const found = async (code: string, token?: string) => (await inbox(token)).find((one) => one["flow_code"] === code);
const mailsOf = (code: string) => receiver.mails.filter(({ subject }) => subject.includes(`Flow ${code}`));
/** As soon as nothing is left to be told. */
const quiet = () => eventually(async () => (await app.sql`select from jobs where name = 'flows.failed'`).length === 0);

test("without a mail server the inbox alone tells", async () => {
  expect((await save("no-mail", { after: 1, to: "user:1" })).status).toBe(201);
  await run("no-mail", true);
  expect(await found("no-mail")).toMatchObject({ count: 1 });
  const server = { url: `smtp://127.0.0.1:${receiver.port}`, user: "mailer", password: receiverPassword };
  const mail_server = { ...server, from: "Tea <tea@example.com>" };
  expect((await app.patch("/core/mail_server.json", { mail_server })).status).toBe(200);
});

test.each([
  ["at-once", atOnce],
  ["later", later],
])("a flow that fails %s tells after the second failure in a row, once, until it goes well", async (code, program) => {
  expect((await save(code, { after: 2, to: [`user:${ann.id}`] }, program)).status).toBe(201);
  await run(code, true);
  expect(await found(code, ann.token)).toBeUndefined();
  const second = await run(code, true);
  expect(await found(code, ann.token)).toEqual({
    id: expect.any(String),
    kind: "failure",
    title: `Flow ${code}`,
    text: "",
    count: 2,
    flow_code: code,
    flow_process_id: second,
    created_at: expect.stringContaining("T"),
    read_at: null,
  });
  await eventually(() => mailsOf(code).length === 1);
  expect(mailsOf(code)[0]?.to).toContain("ann@example.com");
  expect(mailsOf(code)[0]?.text).toContain(`/studio/flows/${code}?tab=runs`);
  await run(code, true);
  expect(await found(code, ann.token)).toMatchObject({ count: 3 });
  await run(code, false);
  expect(await found(code, ann.token)).toBeUndefined();
  await run(code, true);
  expect(await found(code, ann.token)).toBeUndefined();
  await run(code, true);
  expect(await found(code, ann.token)).toMatchObject({ count: 2 });
  await eventually(() => mailsOf(code).length === 2);
  await app.patch(`/connect/flows/${code}.json`, { flow: { active: false } });
  expect(await found(code, ann.token)).toBeUndefined();
  await quiet();
  expect(mailsOf(code)).toHaveLength(2);
});

test("is for those whom it names alone, and for the others of the inbox as it was", async () => {
  expect((await save("managers", { after: 1, to: "role:manager" })).status).toBe(201);
  const manager = await person(app, { role: "manager", privileges: [] });
  await run("managers", true);
  expect(await found("managers", manager.token)).toMatchObject({ count: 1 });
  expect(await found("managers", ann.token)).toBeUndefined();
  expect(await found("managers")).toBeUndefined();
  expect(await inbox(manager.token, "kind=ask")).toEqual([]);
  const [item] = await inbox(manager.token, "open=true");
  expect(item).toMatchObject({ kind: "failure" });
  const unread = async () => (await app.get("/studio/-/frame.json", { token: manager.token })).json.unread;
  const before = await unread();
  const value = { done: [`/connect/flows managers failing ${String(item?.["created_at"])}`] };
  await app.patch("/account/me/preferences.json", { preferences: { "studio.inbox": value } }, { token: manager.token });
  expect(await unread()).toBe(before - 1);
});

test("a run that was cancelled is neither a failure nor a success", async () => {
  const waits = [{ type: "if", condition: "input.waits", then: [{ type: "ask", to: "user:1", title: "?" }] }, failing];
  expect((await save("cancelled", { after: 2, to: "user:1" }, waits)).status).toBe(201);
  await run("cancelled", true);
  const { id } = (await app.post("/connect/flows/cancelled/run.json?wait=0", { waits: true })).json;
  expect((await app.post(`/connect/flow_processes/${id}/cancel.json`)).status).toBe(200);
  expect(await found("cancelled")).toBeUndefined();
  await run("cancelled", true);
  expect(await found("cancelled")).toMatchObject({ count: 2 });
});

const to = "user:1";
test.each([
  ["yes", "must be an object"],
  [{ after: 0, to }, "after must be a whole number from 1 to 100"],
  [{ after: 101, to }, "after must be"],
  [{ after: 1.5, to }, "after must be"],
  [{ after: "3", to }, "after must be"],
  [{ to }, "after must be"],
  [{ after: 3 }, "to must be"],
  [{ after: 3, to: [] }, "to must be"],
  [{ after: 3, to: ["user:1", 7] }, "to must be"],
  [{ after: 3, to: "ann@example.com" }, "to must be"],
  [{ after: 3, to: Array.from({ length: 21 }, (_, at) => `user:${at + 1}`) }, "to must be"],
  [{ after: 3, to, who: 1 }, "must be an object"],
])("the alarm %j is refused", async (alarm, says) => {
  const { status, json } = await save("refused", alarm);
  expect([status, json.alarm]).toEqual([422, [expect.stringContaining(says)]]);
});
