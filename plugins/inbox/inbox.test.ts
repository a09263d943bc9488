/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { receiverPassword, startMailReceiver, type MailReceiver } from "../../tests/fixtures/mail-receiver.ts";
import { eventually, otherAccount, person, startTestApp, type TestApp } from "../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

let number = 0;
const flow = async (step: object, then: object[] = [{ type: "return", value: "{{ answer }}" }]) => {
  const code = `ask-${++number}`;
  const program = [{ type: "ask", title: "Approve {{ input.order }}?", as: "answer", ...step }, ...then];
  const answer = await app.post("/connect/flows.json", { flow: { name: code, code, fields: { program } } });
  return { code, ...answer };
};
const run = async (step: object, input: object = { order: 12 }) => {
  const { code, status, text } = await flow(step);
  expect([status, text]).toEqual([201, expect.any(String)]);
  const { id } = (await app.post(`/connect/flows/${code}/run.json?wait=0`, input)).json;
  return { code, id };
};
const process = async (id: string) => (await app.get(`/connect/flow_processes/${id}.json`)).json;
const ended = (id: string) =>
  eventually(async () => {
    const one = await process(id);
    return one.status !== "pending" && one;
  });
const inbox = async (options: object = {}, query = "kind=ask&open=true") =>
  (await app.get(`/core/inbox.json?${query}`, options)).json;
/** The question of a process, as soon as it stands there. */
const asked = (id: string, options: object = {}) =>
  eventually(async () => (await inbox(options)).find((one: { flow_process_id: string }) => one.flow_process_id === id));

describe("a question", () => {
  test("parks the process, stands in the inbox, and its answer goes on", async () => {
    const fields = { amount: { type: "number", required: true, label: "Amount" } };
    const { id, code } = await run({ to: "user:1", text: "It is **big**.", fields, choices: ["yes", "no"] });
    const ask = await asked(id);
    expect(ask).toMatchObject({
      kind: "ask",
      title: "Approve 12?",
      text: "It is **big**.",
      choices: [{ value: "yes" }, { value: "no" }],
      fields,
      status: "open",
      to: ["user:1"],
      flow_code: code,
      read_at: null,
    });
    expect(await process(id)).toMatchObject({ status: "pending" });
    const answer = { choice: "yes", fields: { amount: 5 }, comment: "Fine" };
    const given = await app.post(`/core/inbox/${ask.id}/answer.json`, { answer });
    expect([given.status, given.json]).toEqual([200, expect.objectContaining({ status: "answered", choice: "yes" })]);
    const { data } = await ended(id);
    expect(data).toEqual({ ...answer, by: { id: 1, name: expect.any(String) }, at: expect.stringContaining("T") });
    expect(await inbox()).not.toContainEqual(expect.objectContaining({ id: ask.id }));
    const done = (await inbox({}, "kind=ask")).find((one: { id: string }) => one.id === ask.id);
    expect(done).toMatchObject({ status: "answered", read_at: expect.stringContaining("T") });
    const again = await app.post(`/core/inbox/${ask.id}/answer.json`, { answer });
    expect([again.status, again.json.error]).toEqual([409, expect.stringContaining("has answered already")]);
  });

  test("is for a role, a team, a login, or an id from data; each of them may answer, once", async () => {
    const one = await person(app, { role: "manager", privileges: [] });
    const other = await person(app, { role: "manager", privileges: [] });
    const { id } = await run({ to: ["role:manager"] });
    const ask = await asked(id, { token: one.token });
    expect((await asked(id, { token: other.token })).id).toBe(ask.id);
    const answer = (token: string, choice: string) =>
      app.post(`/core/inbox/${ask.id}/answer.json`, { answer: { choice } }, { token });
    const both = await Promise.all([answer(one.token, "approve"), answer(other.token, "decline")]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    const taken = both.find(({ status }) => status === 200)?.json.choice;
    expect((await ended(id)).data.choice).toBe(taken);
    const { login } = (await app.get(`/account/users/${one.id}.json`)).json;
    const byLogin = await run({ to: "{{ input.who }}" }, { who: login });
    expect(await asked(byLogin.id, { token: one.token })).toMatchObject({ to: [`user:${one.id}`] });
    const byId = await run({ to: "{{ input.who }}" }, { who: one.id });
    expect(await asked(byId.id, { token: one.token })).toMatchObject({ to: [`user:${one.id}`] });
  });

  test("that nobody answers in time ends by its choice, or fails and may be asked again", async () => {
    const chosen = await run({ to: "user:1", timeout: 0.3, otherwise: "decline" });
    expect((await ended(chosen.id)).data).toMatchObject({ choice: "decline", by: null, expired: true });
    const failed = await run({ to: "user:1", timeout: 0.3 });
    const first = await ended(failed.id);
    expect(first).toMatchObject({ status: "error", error: "nobody has answered in time" });
    const closed = (await inbox({}, "kind=ask")).find(
      (one: { flow_process_id: string }) => one.flow_process_id === failed.id,
    );
    expect(closed).toMatchObject({ status: "expired" });
    expect((await app.post(`/core/inbox/${closed.id}/answer.json`, { answer: { choice: "approve" } })).status).toBe(
      409,
    );
    await app.post(`/connect/flow_processes/${failed.id}/retry.json`);
    expect((await asked(failed.id)).id).not.toBe(closed.id);
  });

  test("of a process that is cancelled, or has ended, waits no more", async () => {
    const { id } = await run({ to: "user:1" });
    const ask = await asked(id);
    await app.post(`/connect/flow_processes/${id}/cancel.json`);
    const answer = await app.post(`/core/inbox/${ask.id}/answer.json`, { answer: { choice: "approve" } });
    expect([answer.status, answer.json.error]).toEqual([409, "the flow does not wait for it any more"]);
    expect(await inbox()).not.toContainEqual(expect.objectContaining({ id: ask.id }));
    // An element fails, and the others' questions with it.
    const each = [
      { type: "if", condition: "item == 2", then: [{ type: "fail", message: "no" }] },
      { type: "ask", to: "user:1", title: "{{ item }}" },
    ];
    const code = `each-${++number}`;
    const program = [{ type: "each", in: [1, 2], concurrency: 2, do: each }];
    await app.post("/connect/flows.json", { flow: { name: code, code, fields: { program } } });
    const { id: failing } = (await app.post(`/connect/flows/${code}/run.json?wait=0`, {})).json;
    await ended(failing);
    await eventually(
      async () => !(await inbox()).some((one: { flow_process_id: string }) => one.flow_process_id === failing),
    );
  });

  test("for each element waits for all of them", async () => {
    const code = `each-${++number}`;
    const program = [
      { type: "each", in: ["a", "b"], concurrency: 2, do: [{ type: "ask", to: "user:1", title: "{{ item }}" }] },
      { type: "return", value: "done" },
    ];
    await app.post("/connect/flows.json", { flow: { name: code, code, fields: { program } } });
    const { id } = (await app.post(`/connect/flows/${code}/run.json?wait=0`, {})).json;
    const both = await eventually(async () => {
      const own = (await inbox()).filter((one: { flow_process_id: string }) => one.flow_process_id === id);
      return own.length === 2 && own;
    });
    for (const ask of both)
      expect((await app.post(`/core/inbox/${ask.id}/answer.json`, { answer: { choice: "approve" } })).status).toBe(200);
    expect(await ended(id)).toMatchObject({ status: "finished", data: "done" });
  });

  test("is passed on to somebody else alone", async () => {
    const { id: helper, token } = await person(app, { privileges: [] });
    const { id } = await run({ to: "user:1" });
    const ask = await asked(id);
    const passed = await app.post(`/core/inbox/${ask.id}/pass_on.json`, { to: `user:${helper}` });
    expect(passed.json).toMatchObject({ to: [`user:${helper}`], passed_on: [{ to: `user:${helper}` }] });
    expect(await inbox()).not.toContainEqual(expect.objectContaining({ id: ask.id }));
    expect((await app.post(`/core/inbox/${ask.id}/answer.json`, { answer: { choice: "approve" } })).status).toBe(404);
    for (const to of ["nobody-here", "user:999999", "eve@example.com"])
      expect((await app.post(`/core/inbox/${ask.id}/pass_on.json`, { to }, { token })).status).toBe(422);
    const answer = await app.post(`/core/inbox/${ask.id}/answer.json`, { answer: { choice: "approve" } }, { token });
    expect(answer.status).toBe(200);
  });

  test("has a sample answer in a test of the flow", async () => {
    const { code } = await flow({ to: "user:1", choices: ["blue", "red"] });
    const tried = await app.post(`/connect/flows/${code}/test.json`, { input: {} });
    expect(tried.json).toMatchObject({ status: "finished", data: { choice: "blue" } });
    expect(await inbox()).not.toContainEqual(expect.objectContaining({ flow_code: code }));
  });
});

describe("refused", () => {
  const saved: [what: string, step: object, says: string][] = [
    ["nobody to ask", {}, "program[0].to is required"],
    ["no title", { to: "user:1", title: undefined }, "program[0].title is required"],
    ["fields of no type", { to: "user:1", fields: { a: { type: "moon" } } }, "program[0].fields"],
    ["a field that links", { to: "user:1", fields: { a: { type: "string", link: "orders" } } }, "program[0].fields"],
    ["a choice twice", { to: "user:1", choices: ["a", "a"] }, "program[0].choices has the same value twice"],
    ["another way out", { to: "user:1", otherwise: "maybe" }, "program[0].otherwise must be one of approve, decline"],
    ["an unknown key", { to: "user:1", who: "me" }, "program[0].who is unknown"],
    ["a century", { to: "user:1", timeout: 3_000_000_000 }, "program[0].timeout"],
  ];
  test.each(saved)("%s, when the flow is saved", async (_, step, says) => {
    const { status, json } = await flow(step);
    expect([status, json.program?.[0]]).toEqual([422, expect.stringContaining(says)]);
  });

  test("somebody outside by who may not send mails", async () => {
    const { token } = await person(app, { privileges: ["flows"] });
    const save = (to: unknown) => {
      const code = `outside-${++number}`;
      const program = [{ type: "ask", to, title: "?" }];
      return app.post("/connect/flows.json", { flow: { name: code, code, fields: { program } } }, { token });
    };
    expect((await save("jan@example.com")).status).toBe(403);
    expect((await save("{{ input.to }}")).status).toBe(403);
    expect((await save("user:1")).status).toBe(201);
  });

  test("nobody, when it runs", async () => {
    const { id } = await run({ to: "nobody-here" });
    expect((await ended(id)).error).toContain('nobody here is called "nobody-here"');
  });

  const answers: [what: string, answer: object, says: object][] = [
    ["no choice", {}, { choice: expect.anything() }],
    ["another choice", { choice: "maybe" }, { choice: ["must be one of approve, decline"] }],
    ["a missing value", { choice: "approve" }, { amount: ["is required"] }],
    ["a wrong value", { choice: "approve", fields: { amount: "x" } }, { amount: ["must be a number"] }],
    ["another field", { choice: "approve", fields: { amount: 1, b: 2 } }, { b: ["is unknown"] }],
  ];
  test.each(answers)("an answer with %s, which changes nothing", async (_, answer, says) => {
    const { id } = await run({ to: "user:1", fields: { amount: { type: "number", required: true } } });
    const ask = await asked(id);
    const refused = await app.post(`/core/inbox/${ask.id}/answer.json`, { answer });
    expect([refused.status, refused.json]).toEqual([422, says]);
    expect((await asked(id)).status).toBe("open");
  });

  test("a question that is for others, and one of another account", async () => {
    const { token } = await person(app, { privileges: ["flows"] });
    const { id } = await run({ to: "user:1" });
    const ask = await asked(id);
    const body = { answer: { choice: "approve" } };
    const other = await otherAccount(app);
    const all = [
      await app.post(`/core/inbox/${ask.id}/answer.json`, body, { token }),
      await app.post(`/core/inbox/${ask.id}/pass_on.json`, { to: "user:1" }, { token }),
      await other.post(`/core/inbox/${ask.id}/answer.json`, body),
    ];
    expect(all.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect((await app.get("/core/inbox.json?kind=moon")).status).toBe(422);
  });
});

describe("somebody outside", () => {
  let receiver: MailReceiver;
  afterAll(() => receiver.stop());

  test("cannot be asked before mail is set up", async () => {
    receiver = await startMailReceiver();
    const { id } = await run({ to: "jan@example.com" });
    expect((await ended(id)).error).toContain("mail is not set up");
    const server = { url: `smtp://127.0.0.1:${receiver.port}`, user: "mailer", password: receiverPassword };
    const mail_server = { ...server, from: "Tea <tea@example.com>" };
    expect((await app.patch("/core/mail_server.json", { mail_server })).status).toBe(200);
  });

  const fields = {
    amount: { type: "number", required: true, label: { en: "Amount & more" } },
    paid: "boolean",
    size: { type: "string", choices: ["S", "L"] },
  };
  /** The path of the link in the mail that came. */
  const linked = async (step: object = {}) => {
    const before = receiver.mails.length;
    const { id } = await run({ to: "Jan@example.com", text: "Is <b>it</b> right?", fields, ...step });
    await eventually(() => receiver.mails.length > before);
    const { text = "", to } = receiver.mails.at(-1) ?? {};
    const path = /\/asks\/\S+/.exec(text)?.[0] ?? "";
    return { id, path, text, to };
  };
  const send = (path: string, body: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${app.origin}${path}`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
      body: new URLSearchParams(body),
    });

  test("answers once by the link in a mail, with a form that escapes what it shows", async () => {
    const { id, path, text } = await linked();
    expect(text).toContain("Is <b>it</b> right?");
    const shown = await fetch(`${app.origin}${path}`);
    const page = await shown.text();
    expect([shown.status, shown.headers.get("content-security-policy")]).toEqual([
      200,
      expect.stringContaining("frame-ancestors 'none'"),
    ]);
    expect(page).toContain("Is &lt;b&gt;it&lt;/b&gt; right?");
    expect(page).toContain("Amount &amp; more");
    expect((await process(id)).status).toBe("pending");
    const wrong = await send(path, { choice: "approve", amount: "much", size: "L" });
    expect([wrong.status, await wrong.text()]).toEqual([422, expect.stringContaining("must be a number")]);
    expect((await send(path, { choice: "maybe", amount: "1" })).status).toBe(422);
    const sent = await send(path, { choice: "approve", amount: "2.5", size: "L", paid: "true", comment: "ok" });
    expect(sent.status).toBe(200);
    expect((await ended(id)).data).toMatchObject({
      choice: "approve",
      fields: { amount: 2.5, size: "L", paid: true },
      comment: "ok",
      by: { email: "jan@example.com" },
    });
    expect((await send(path, { choice: "decline", amount: "1" })).status).toBe(409);
    expect((await fetch(`${app.origin}${path}`)).status).toBe(409);
  });

  test("cannot change the link, nor send it from another site", async () => {
    const { id, path } = await linked();
    const [payload = "", signature = ""] = path.split("/").at(-1)?.split(".") ?? [];
    for (const token of ["x", `${payload}.${signature.slice(0, -2)}AA`, payload, "%00"])
      expect([token, (await fetch(`${app.origin}/asks/${token}`)).status]).toEqual([token, 404]);
    const foreign = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
    expect((await send(path, { choice: "approve", amount: "1" }, foreign)).status).toBe(403);
    expect((await process(id)).status).toBe("pending");
  });

  test("is reminded, and a person who is asked gets a mail that leads to the Studio", async () => {
    const { login, id: userId } = await person(app, { email: "ann@example.com", privileges: [] });
    const before = receiver.mails.length;
    const { id } = await run({ to: login, remind: 60 });
    await eventually(() => receiver.mails.length === before + 1);
    expect(receiver.mails.at(-1)?.text).toContain(`/studio/inbox?open=`);
    await app.sql`update asks set remind_at = now() - interval '1 second' where process_id = ${id}`;
    await app.runSchedule("inbox.remind");
    await eventually(() => receiver.mails.length === before + 2);
    await app.runSchedule("inbox.remind");
    expect(userId).toBeGreaterThan(0);
    expect(receiver.mails).toHaveLength(before + 2);
  });
});
