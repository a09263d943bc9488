/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually, otherAccount, person, startTestApp, type TestApp } from "../../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  const fields = { status: { type: "string" }, amount: { type: "number" } };
  const db = await app.post("/core/dbs.json", { db: { name: "Orders", code: "orders", schema: { fields } } });
  expect([db.status, db.text]).toEqual([201, expect.any(String)]);
  await flow("intake");
  await flow("other");
});
afterAll(() => app.stop());

const flow = async (code: string, program: object[] = []) => {
  const answer = await app.post("/connect/flows.json", { flow: { name: code, code, fields: { program } } });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
};
const at = (code: string) => `/connect/flows/${code}/triggers.json`;
const put = (code: string, triggers: object[], options: object = {}) =>
  app.request("PUT", at(code), { triggers }, options);
const stored = async (code: string, triggers: object[]) => {
  const answer = await put(code, triggers);
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return answer.json;
};
const listed = async (code: string) => (await app.get(at(code))).json;

const record = { kind: "record", db: "orders", on: "update", filter: { status: "paid" }, changed: ["status"] };
const cron = { kind: "cron", schedule: "0 7 * * 1", timezone: "Europe/Warsaw" };
const hook = { kind: "hook", name: "Payments", scheme: "token", secret: "a secret of ours" };

describe("the list is replaced", () => {
  test("by webhooks, crons and hooks, which are seen in both places", async () => {
    await flow("whole");
    const made = await stored("whole", [record, { kind: "event", source_type: "Core::App", on: "create" }, cron, hook]);
    expect(made).toMatchObject([
      { ...record, table: null, active: true, trouble: null },
      { kind: "event", source_type: "Core::App", on: "create", filter: null },
      { ...cron, missed: "skip", active: true, next_run_at: expect.stringContaining("T") },
      { kind: "hook", name: "Payments", scheme: "token", url: expect.stringContaining("/hooks/") },
    ]);
    expect(JSON.stringify(made)).not.toContain("a secret of ours");
    const byId = (all: { id: string }[]) => all.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(byId(await listed("whole"))).toEqual(byId(made));
    const [first, , third] = made;
    expect((await app.get(first.path)).json).toMatchObject({
      source_type: "Core::Record",
      kind: "update",
      filter: { db_code: "orders", status: "paid" },
      changed: ["status"],
      target_kind: "flow",
      target_code: "whole",
    });
    expect((await app.get(third.path)).json).toMatchObject({ target_code: "whole", schedule: "0 7 * * 1" });
  });

  test("what is left out of one that stands stays; what is not there is deleted", async () => {
    await flow("kept");
    const [a, b, c] = await stored("kept", [record, cron, hook]);
    const now = await stored("kept", [
      { id: c.id, kind: "hook", active: false },
      { id: a.id, kind: "record", filter: null },
    ]);
    expect(now).toMatchObject([
      { id: c.id, name: "Payments", active: false },
      { id: a.id, ...record, filter: null },
    ]);
    expect((await app.get(b.path)).status).toBe(404);
    const body = { order: 1 };
    await stored("kept", [{ id: c.id, kind: "hook", active: true }, record]);
    const sent = await fetch(c.url.replace(/^https?:\/\/[^/]+/, app.origin), {
      method: "POST",
      headers: { authorization: "Bearer a secret of ours", "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(sent.status).toBe(200);
    await eventually(async () => (await app.get("/connect/flow_processes.json?flow_code=kept")).json.length === 1);
    expect(await stored("kept", [])).toEqual([]);
    expect(await listed("kept")).toEqual([]);
  });

  test("a record trigger starts the flow", async () => {
    await flow("started", [{ type: "return", value: "{{ input.data.amount }}" }]);
    await stored("started", [{ kind: "record", db: "orders", on: "create", filter: { status: "new" } }]);
    await app.post("/core/dbs/orders/records.json", { record: { data: { status: "new", amount: 7 } } });
    const runs = async () => (await app.get("/connect/flow_processes.json?flow_code=started")).json;
    await eventually(async () => (await runs())[0]?.status === "finished");
    expect(await runs()).toMatchObject([{ data: 7 }]);
  });

  test("a webhook of all records, and what webhooks have beside, are kept", async () => {
    await flow("all");
    const webhook = {
      source_type: "Core::Record",
      kind: "create",
      target_kind: "flow",
      target_code: "all",
      ordered: true,
    };
    const { id } = (await app.post("/account/webhooks.json", { webhook })).json;
    const [one] = await listed("all");
    expect(one).toMatchObject({ id: `webhook-${id}`, kind: "event", source_type: "Core::Record" });
    expect(await stored("all", [{ id: one.id, kind: "record", db: "orders", on: "create" }])).toMatchObject([
      { kind: "record", db: "orders" },
    ]);
    expect((await app.get(`/account/webhooks/${id}.json`)).json).toMatchObject({ ordered: true });
  });

  test("actions of apps are told, and changed there", async () => {
    await flow("asked");
    const actions = [{ action: "send", flow_code: "asked", description: "Sends", public: true }];
    const made = await app.post("/core/apps.json", {
      app: { name: "Sender", url_code: "sender", app_engine: "html", source_code: "<p>Hi</p>", actions },
    });
    expect([made.status, made.text]).toEqual([201, expect.any(String)]);
    const [one] = await listed("asked");
    expect(one).toMatchObject({ kind: "action", app: "sender", action: "send" });
    expect(await stored("asked", [cron])).toMatchObject([cron, { kind: "action" }]);
    expect(await stored("asked", [one])).toMatchObject([{ kind: "action" }]);
    const refused = await put("asked", [{ kind: "action", app: "sender", action: "other" }]);
    expect([refused.status, refused.json.triggers[0]]).toEqual([422, expect.stringContaining("where it belongs")]);
  });
});

describe("refused, and then nothing has changed", () => {
  const cases: [what: string, triggers: object[], says: string][] = [
    ["an unknown kind", [{ kind: "moon" }], "triggers[0].kind must be one of action, cron, record, event, hook"],
    ["a key of another kind", [{ ...cron, db: "orders" }], "triggers[0].db is unknown: cron takes"],
    ["a schedule that is none", [record, { kind: "cron", schedule: "soon" }], "triggers[1].schedule"],
    ["a schedule that is missing", [{ kind: "cron" }], "triggers[0].schedule"],
    ["a hook without its secret", [{ kind: "hook", name: "A" }], "triggers[0].secret"],
    ["an unknown id", [{ ...cron, id: "cron-999" }], "triggers[0].id names no trigger of this flow"],
    ["a record of no database", [{ kind: "record", on: "create" }], "triggers[0].db"],
    ["an event that there is not", [{ ...record, on: "moved" }], "triggers[0].on must be one of"],
    ["a wrong type", [{ ...record, db: 7 }], "0.db"],
  ];
  test.each(cases)("%s", async (_, triggers, says) => {
    const before = await stored("intake", [{ ...cron, name: "Stays" }]);
    const answer = await put("intake", triggers);
    expect([answer.status, answer.json.triggers?.[0]]).toEqual([422, expect.stringContaining(says)]);
    expect(await listed("intake")).toEqual(before);
  });

  test("one of another flow, and one twice", async () => {
    const [theirs] = await stored("other", [cron]);
    expect((await put("intake", [{ ...cron, id: theirs.id }])).status).toBe(422);
    const [own] = await stored("intake", [cron]);
    const answer = await put("intake", [own, own]);
    expect(answer.json).toEqual({ triggers: [`${own.id} stands there twice`] });
  });

  test("more than 50, and a list that is none", async () => {
    expect(
      (
        await put(
          "intake",
          Array.from({ length: 51 }, () => cron),
        )
      ).status,
    ).toBe(422);
    expect((await app.request("PUT", at("intake"), { triggers: "all" })).status).toBe(422);
    expect((await app.request("PUT", at("intake"), {})).status).toBe(422);
  });
});

describe("rights", () => {
  test("each kind needs its own privilege; what one may not see stays", async () => {
    await flow("rights");
    const [webhook, timer] = await stored("rights", [record, cron]);
    const { token } = await person(app, { privileges: ["flows", "crons", "dbs"] });
    expect((await app.get(at("rights"), { token })).json).toEqual([timer]);
    expect((await put("rights", [record], { token })).status).toBe(403);
    expect((await put("rights", [], { token })).json).toEqual([]);
    expect(await listed("rights")).toMatchObject([{ id: webhook.id }]);
    const { token: none } = await person(app, { privileges: ["crons"] });
    expect((await app.get(at("rights"), { token: none })).status).toBe(403);
  });

  test("another account finds nothing", async () => {
    const other = await otherAccount(app);
    expect((await other.get(at("intake"))).status).toBe(404);
    expect((await other.request("PUT", at("intake"), { triggers: [cron] })).status).toBe(404);
  });
});

describe("a flow that does what starts it", () => {
  const update = { type: "db", op: "update", db: "orders", id: "{{ input.id }}", data: { status: "paid" } };
  const cases: [what: string, program: object[], triggers: object[], place: string | undefined][] = [
    ["itself", [update], [record], "program[0]"],
    ["in a branch", [{ type: "if", condition: "true", then: [update] }], [record], "program[0].then[0]"],
    ["by a flow that it calls", [{ type: "flow", flow: "writer" }], [record], 'flow "writer": program[0]'],
    ["another field", [{ ...update, data: { amount: 1 } }], [record], undefined],
    ["another value", [{ ...update, data: { status: "sent" } }], [record], undefined],
    ["a value of the input", [{ ...update, data: { status: "{{ input.to }}" } }], [record], "program[0]"],
    ["another event", [update], [{ ...record, on: "create", changed: null }], undefined],
    ["a trigger that is off", [update], [{ ...record, active: false }], undefined],
  ];
  test.each(cases)("%s", async (what, program, triggers, place) => {
    await app.post("/connect/flows.json", { flow: { name: "writer", code: "writer", fields: { program: [update] } } });
    const code = `loop-${what.replaceAll(" ", "-")}`;
    await flow(code, program);
    const saved = await put(code, triggers);
    expect(saved.status).toBe(200);
    const again = await app.patch(`/connect/flows/${code}.json`, { flow: { name: "Again" } });
    for (const { headers } of [saved, again]) {
      const warning = headers.get("warning") ?? "";
      if (place === undefined) expect(warning).not.toContain("starts this flow");
      else expect(warning.replaceAll("\\", "")).toContain(`\`${place}\` does what starts this flow`);
    }
  });
});

test("what somebody else has changed meanwhile is not replaced", async () => {
  await flow("tagged");
  const seen = (await app.get(at("tagged"))).headers.get("etag") ?? "";
  const headers = { "if-match": seen };
  const done = await put("tagged", [cron], { headers });
  expect(done.status).toBe(200);
  expect((await put("tagged", [hook], { headers })).status).toBe(412);
  const next = done.headers.get("etag") ?? "";
  expect((await app.get(at("tagged"))).headers.get("etag")).toBe(next);
  expect((await put("tagged", [hook], { headers: { "if-match": next } })).status).toBe(200);
});

test("two changes at once that delete the same one", async () => {
  await flow("twice");
  const [one] = await stored("twice", [cron]);
  const both = await Promise.all([put("twice", []), put("twice", [])]);
  expect(both.map(({ status }) => status)).toContain(200);
  for (const { status } of both) expect([200, 404]).toContain(status);
  expect((await app.get(one.path)).status).toBe(404);
});
