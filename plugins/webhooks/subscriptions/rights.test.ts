import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually, person, startTestApp, type Answer, type TestApp } from "../../../tests/harness.ts";
import { startReceiver, type Receiver } from "../../../tests/receiver.ts";
import { follower, traces } from "../../../tests/traces.ts";
import { definePlugin } from "../../../runtime/plugin/plugin.ts";
import { plugins } from "../../index.ts";

let app: TestApp;
let receiver: Receiver;
/** A manager: everything but `users`. */
let manager: { id: number; token: string };

/** A folder plugin's models: one names its privilege, one names none. */
const things = definePlugin({
  name: "things",
  privileges: [{ name: "things", doc: "keep things", roles: ["user"] }],
  models: [
    { name: "Things::Thing", privilege: "things", sample: { id: 1, name: "Thing" } },
    { name: "Things::Secret", sample: { id: 1, name: "Secret" } },
  ],
  setup: () => ({}),
});
const env = { WEBHOOK_RETRY_SECONDS: "0.05", LOG_LEVEL: "error" };

beforeAll(async () => {
  receiver = startReceiver();
  app = await startTestApp({ plugins: [...plugins, things, follower], env });
  manager = await person(app, { role: "manager" });
  const flow = { name: "Keeps", code: "keeps", fields: { program: [{ type: "return", value: 1 }] } };
  expect((await app.post("/connect/flows.json", { flow })).status).toBe(201);
});
beforeEach(async () => {
  await settledEvents();
  for (const { id } of (await app.get("/account/webhooks.json")).json) await app.delete(`/account/webhooks/${id}.json`);
  receiver.requests.length = 0;
});
afterAll(async () => {
  await app.stop();
  await receiver.stop();
});

const path = "/account/webhooks.json";
const tables = ["webhooks", "webhook_deliveries", "webhook_queue"];
let made = 0;
const post = (fields: object, token?: string) =>
  app.post(path, { webhook: { kind: "create", url: `${receiver.url}/${++made}`, ...fields } }, token ? { token } : {});
const patch = (id: number, fields: object, token?: string) =>
  app.patch(`/account/webhooks/${id}.json`, { webhook: fields }, token ? { token } : {});

async function webhook(fields: object, token?: string): Promise<{ id: number; at: string }> {
  const answer = await post(fields, token);
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return { id: answer.json.id, at: `/account/webhooks/${answer.json.id}` };
}
const token = async (...narrowedTo: string[]) => (await person(app, { role: "admin", narrowedTo })).token;

/** Every event that was written has become deliveries, or none, and what came of those is written. */
const settledEvents = () =>
  eventually(async () => {
    const left = await app.sql`
      select 1 from jobs where name like '%webhooks%' and name not like '%clear%'
      union all select 1 from webhook_deliveries where status = 'pending'`;
    return left.length === 0;
  }, "the end of all events");
const bodies = async ({ id }: { id: number }) => {
  await settledEvents();
  const rows = await app.sql<{ body: string }[]>`
    select body from webhook_deliveries where webhook_id = ${id} and event_id is not null order by id`;
  return rows.map(({ body }) => JSON.parse(body));
};

/** Refused for want of this privilege (or role), and without a trace. */
async function expectRefused(send: () => Promise<Answer>, needed: string): Promise<void> {
  const before = await traces(app, ...tables);
  const answer = await send();
  expect([answer.status, answer.json.error]).toEqual([403, expect.stringContaining(needed)]);
  expect(await traces(app, ...tables)).toEqual(before);
}

const privileges = {
  "Core::Prompt": "prompts",
  "Core::App": "apps",
  "Core::Backup": "backups",
  "Core::Comment": "dbs",
  "Core::Db": "dbs",
  "Core::Record": "dbs",
  "Core::MediaFile": "media",
  "Core::Activity": "activity",
  "Account::ApiToken": "users",
  "Account::User": "users",
  "Connect::FlowProcess": "flows",
  "Cms::Page": "cms",
  "Cms::Article": "cms",
  "Things::Thing": "things",
};

describe("the events of a model", () => {
  test.each(Object.entries(privileges))("%s take the privilege %s", async (source_type, privilege) => {
    const without = await token("webhooks", privilege === "dbs" ? "apps" : "dbs");
    await expectRefused(() => post({ source_type }, without), `\`${privilege}\``);
    const { id } = await webhook({ source_type: "Helpdesk::Ticket" }, without);
    await expectRefused(() => patch(id, { source_type }, without), `\`${privilege}\``);
    expect((await post({ source_type }, await token("webhooks", privilege))).status).toBe(201);
  });

  test("that names no privilege are for administrators with a whole token", async () => {
    const fields = { source_type: "Things::Secret" };
    await expectRefused(() => post(fields, manager.token), "`admin`");
    const narrowed = await token("webhooks", "things");
    await expectRefused(() => post(fields, narrowed), "`admin`");
    expect((await post(fields)).status).toBe(201);
  });

  test("are listed with their privilege, to those who may follow them", async () => {
    const listed = async (by?: string) => {
      const { json, headers } = await app.get("/account/webhooks/source_types.json", by ? { token: by } : {});
      expect(headers.get("x-total-count")).toBe(`${json.length}`);
      return Object.fromEntries(
        json.map(({ source_type, privilege }: { source_type: string; privilege: string }) => [source_type, privilege]),
      );
    };
    expect(await listed()).toEqual({ ...privileges, "Things::Secret": null });
    const ofAdmins = ["Account::User", "Account::ApiToken", "Core::Activity", "Core::Backup", "Things::Thing"];
    const ofManagers = Object.fromEntries(Object.entries(privileges).filter(([name]) => !ofAdmins.includes(name)));
    expect(await listed(manager.token)).toEqual(ofManagers);
    expect(await listed(await token("webhooks", "dbs"))).toEqual({
      "Core::Comment": "dbs",
      "Core::Db": "dbs",
      "Core::Record": "dbs",
    });
  });

  test("of a privilege that no plugin declares keep the server from starting, with the plugin's name", async () => {
    const models = [{ name: "Odd::Thing" as const, privilege: "oddities", sample: { id: 1 } }];
    const odd = definePlugin({ name: "odd", models, setup: () => ({}) });
    const started = await startTestApp({ plugins: [...plugins, odd] }).catch((error: unknown) => error);
    expect(started).toEqual(
      expect.objectContaining({
        cause: new Error('plugin "odd": the model Odd::Thing names the privilege "oddities", which no plugin declares'),
      }),
    );
  });
});

describe("a webhook on what its caller may not follow", () => {
  test("is neither changed, looked into nor made to send; it is listed, switched off and deleted", async () => {
    const { id, at } = await webhook({ source_type: "Account::User" });
    await person(app);
    const [delivery] = await eventually(async () => {
      const { json } = await app.get(`${at}/deliveries.json?status=delivered`);
      return json.length === 1 ? json : undefined;
    });
    const by = { token: manager.token };
    const refused: (() => Promise<Answer>)[] = [
      () => patch(id, { url: `${receiver.url}/mine` }, manager.token),
      () => patch(id, { active: false, url: `${receiver.url}/mine` }, manager.token),
      () => patch(id, { source_type: "Core::Db" }, manager.token),
      () => patch(id, {}, manager.token),
      () => app.post(`${at}/rotate_secret.json`, undefined, by),
      () => app.get(`${at}/deliveries.json`, by),
      () => app.get(`${at}/deliveries/${delivery.id}.json`, by),
      () => app.post(`${at}/deliveries/${delivery.id}/redeliver.json`, undefined, by),
      () => app.post(`${at}/redeliver.json`, { from: "2020-01-01T00:00:00Z", status: "delivered" }, by),
      () => app.post(`${at}/test.json`, undefined, by),
      () => app.get(`${at}/preview.json`, by),
    ];
    for (const send of refused) await expectRefused(send, "`users`");
    expect((await app.get(path, by)).json).toHaveLength(1);
    expect((await app.get(`${at}.json`, by)).status).toBe(200);
    expect((await patch(id, { active: false }, manager.token)).json.active).toBe(false);
    await expectRefused(() => patch(id, { active: true }, manager.token), "`users`");
    expect((await app.delete(`${at}.json`, by)).status).toBe(204);
  });

  test("is not sent once its maker may no longer follow it, and says why", async () => {
    const maker = await person(app, { role: "manager", privileges: ["users"] });
    const hook = await webhook({ source_type: "Account::User" }, maker.token);
    await person(app);
    expect(await bodies(hook)).toHaveLength(1);
    await app.patch(`/account/users/${maker.id}.json`, { user: { privileges: [] } });
    await person(app);
    const shown = await eventually(async () => {
      const { json } = await app.get(`${hook.at}.json`);
      return json.active ? undefined : json;
    });
    expect(shown.disabled_reason).toContain("`users`");
    await person(app);
    expect(await bodies(hook)).toHaveLength(1);
  });

  test("is not sent where nobody knows who made it, until somebody who may follow it saves it", async () => {
    const hook = await webhook({ source_type: "Account::User" });
    const ordinary = await webhook({ source_type: "Core::Db" });
    await app.sql`update webhooks set created_by_id = null`;
    await patch((await webhook({ source_type: "Helpdesk::Ticket" })).id, {}); // every process reads them again
    const tried = await app.post(`${hook.at}/test.json`);
    expect(tried.json).toMatchObject({ status: "failed", error: expect.stringContaining("not allowed") });
    await person(app);
    await app.post("/core/dbs.json", { db: { name: "Followed" } });
    expect(await bodies(hook)).toEqual([]);
    expect(await bodies(ordinary)).toHaveLength(1);
    expect((await patch(hook.id, { active: true })).status).toBe(200);
    await person(app);
    expect(await bodies(hook)).toHaveLength(1);
  });

  test("does not send again what it followed before its model was changed", async () => {
    const hook = await webhook({ source_type: "Account::User" });
    await person(app);
    const [delivery] = await eventually(async () => {
      const { json } = await app.get(`${hook.at}/deliveries.json?status=delivered`);
      return json.length === 1 ? json : undefined;
    });
    expect((await patch(hook.id, { source_type: "Core::Db" })).status).toBe(200);
    const by = { token: manager.token };
    await expectRefused(() => app.get(`${hook.at}/deliveries/${delivery.id}.json`, by), "`users`");
    const sent = receiver.requests.length;
    expect((await app.post(`${hook.at}/deliveries/${delivery.id}/redeliver.json`, undefined, by)).status).toBe(200);
    const ended = await eventually(async () => {
      const [one] = (await app.get(`${hook.at}/deliveries.json?status=failed`)).json;
      return one;
    });
    expect(ended.error).toContain("not allowed");
    expect(receiver.requests).toHaveLength(sent);
  });
});

describe("prompts that are not the account's", () => {
  const prompt = async (fields: object) => {
    const code = `p_${crypto.randomUUID().slice(0, 8)}`;
    const given = { name: "A prompt", code, content: "text", ...fields };
    const answer = await app.post("/core/prompts.json", { prompt: given });
    expect(answer.status).toBe(201);
    return answer.json;
  };
  /** One of each scope; those of user, team and department are the administrator's own. */
  const ofEachScope = async () => {
    const team = (await app.post("/account/teams.json", { team: { name: "T" } })).json.id;
    const department = (await app.post("/account/departments.json", { department: { name: "D" } })).json.id;
    await prompt({ scope: "user" });
    await prompt({ scope: "team", scope_id: team });
    await prompt({ scope: "department", scope_id: department });
    return prompt({ scope: "account" });
  };
  const scopes = async (hook: { id: number }) => (await bodies(hook)).map(({ scope }) => String(scope)).toSorted();

  test("go only to webhooks that an administrator made, to addresses and flows alike", async () => {
    const fields = { source_type: "Core::Prompt" };
    const toFlow = { ...fields, target_kind: "flow", url: null, target_code: "keeps" };
    const hooks = [await webhook(fields, manager.token), await webhook(toFlow, manager.token)];
    const [ours] = [await webhook(fields)];
    await ofEachScope();
    for (const hook of hooks) expect(await scopes(hook)).toEqual(["account"]);
    if (ours) expect(await scopes(ours)).toEqual(["account", "department", "team", "user"]);
    await eventually(async () => (await app.get("/connect/flow_processes.json?flow_code=keeps")).json.length > 0);
    const processes = (await app.get("/connect/flow_processes.json?flow_code=keeps")).json;
    expect(processes.map(({ input }: { input: { data: { scope: string } } }) => input.data.scope)).toEqual(["account"]);
  });

  test("that leave or come to the account are told of by what they are then", async () => {
    const hook = await webhook({ source_type: "Core::Prompt", kind: "update" }, manager.token);
    const gone = await webhook({ source_type: "Core::Prompt", kind: "destroy" }, manager.token);
    const { id } = await prompt({ scope: "account" });
    const move = (scope: string) => app.patch(`/core/prompts/${id}.json`, { prompt: { scope } });
    await move("user");
    await move("account");
    await move("user");
    await app.delete(`/core/prompts/${id}.json`);
    expect(await scopes(hook)).toEqual(["account"]);
    expect(await bodies(gone)).toEqual([]);
  });

  test("reach no manager by a webhook of an administrator", async () => {
    const hook = await webhook({ source_type: "Core::Prompt" });
    const other = await webhook({ source_type: "Core::Db" });
    await ofEachScope();
    expect(await scopes(hook)).toHaveLength(4);
    const by = { token: manager.token };
    const refused: (() => Promise<Answer>)[] = [
      () => patch(hook.id, { url: `${receiver.url}/mine` }, manager.token),
      () => app.get(`${hook.at}/deliveries.json`, by),
      () => app.post(`${hook.at}/redeliver.json`, { from: "2020-01-01T00:00:00Z", status: "delivered" }, by),
      () => app.post(`${hook.at}/test.json`, undefined, by),
    ];
    for (const send of refused) await expectRefused(send, "administrator");
    // Turned to prompts by a manager, it is the manager's.
    expect((await patch(other.id, { source_type: "Core::Prompt" }, manager.token)).status).toBe(200);
    await ofEachScope();
    expect(await scopes(other)).toEqual(["account"]);
  });

  test("do not go on to webhooks of somebody who is no longer an administrator", async () => {
    const maker = await person(app, { role: "admin" });
    const hook = await webhook({ source_type: "Core::Prompt" }, maker.token);
    await app.patch(`/account/users/${maker.id}.json`, { user: { role: "manager" } });
    await ofEachScope();
    expect(await scopes(hook)).toEqual(["account"]);
  });

  test("that were delivered while nobody asked are seen by administrators only", async () => {
    const hook = await webhook({ source_type: "Core::Prompt" }, manager.token);
    await prompt({ scope: "account" });
    await bodies(hook);
    await app.sql`update webhook_deliveries set body = ${JSON.stringify({ id: 1, scope: "user" })}`;
    const [{ id }] = (await app.get(`${hook.at}/deliveries.json`)).json;
    const shown = `${hook.at}/deliveries/${id}.json`;
    expect((await app.get(shown, { token: manager.token })).status).toBe(403);
    expect((await app.get(shown)).status).toBe(200);
  });
});

describe("naming a flow or a connector", () => {
  test("takes `flows`; what the webhook named stays", async () => {
    const narrow = await token("webhooks");
    const source = { source_type: "Helpdesk::Ticket" };
    const named = { ...source, target_kind: "flow", url: null, target_code: "keeps" };
    await expectRefused(() => post(named, narrow), "`flows`");
    await expectRefused(() => post({ ...named, target_kind: "connector" }, narrow), "`flows`");
    const { id } = await webhook(source, narrow);
    await expectRefused(() => patch(id, { target_kind: "flow", target_code: "keeps" }, narrow), "`flows`");
    const theirs = await webhook(named);
    await expectRefused(() => patch(theirs.id, { target_code: "other" }, narrow), "`flows`");
    await expectRefused(() => patch(theirs.id, { target_kind: "connector" }, narrow), "`flows`");
    expect((await patch(theirs.id, { target_code: "keeps", filter: { a: 1 } }, narrow)).status).toBe(200);
  });
});

describe("a url with another origin", () => {
  const api_token = "a token of the receiver";

  test("wants api_token again, so that it is not sent to whoever names an address", async () => {
    const { id } = await webhook({ source_type: "Helpdesk::Ticket", url: "https://one.example.com/a", api_token });
    for (const url of [
      "https://two.example.com/a",
      "http://one.example.com/a",
      "https://one.example.com:8443/a",
      "https://one.example.com.evil.test/a",
    ]) {
      const before = await traces(app, ...tables);
      const answer = await patch(id, { url });
      expect([url, answer.status, Object.keys(answer.json)]).toEqual([url, 422, ["api_token"]]);
      expect(await traces(app, ...tables)).toEqual(before);
    }
    for (const url of ["https://one.example.com/b", "https://ONE.example.com:443/c?d=e"])
      expect((await patch(id, { url })).status).toBe(200);
    const moved = await patch(id, { url: "https://two.example.com/", api_token: "another token of it" });
    expect([moved.status, moved.json.api_token_info]).toEqual([200, "..."]);
    const bare = await patch(id, { url: "https://three.example.com/", api_token: null });
    expect([bare.status, bare.json.api_token_info]).toEqual([200, null]);
    expect((await patch(id, { url: "https://four.example.com/" })).status).toBe(200);
  });

  test("by way of a flow as well", async () => {
    const { id } = await webhook({ source_type: "Helpdesk::Ticket", url: "https://one.example.com/a", api_token });
    expect((await patch(id, { target_kind: "flow", target_code: "keeps" })).status).toBe(200);
    const back = await patch(id, { target_kind: "url", url: "https://two.example.com/a" });
    expect([back.status, Object.keys(back.json)]).toEqual([422, ["api_token"]]);
    const given = await patch(id, { target_kind: "url", url: "https://two.example.com/a", api_token });
    expect(given.status).toBe(200);
  });

  test("of a test goes without the token to nobody", async () => {
    const { id, at } = await webhook({ source_type: "Helpdesk::Ticket", url: "https://one.example.com/a", api_token });
    const url = `${receiver.url}/other`;
    expect((await patch(id, { url })).status).toBe(422);
    expect((await patch(id, { url, api_token: null })).status).toBe(200);
    await app.post(`${at}/test.json`);
    expect(receiver.at("/other").map(({ headers }) => headers.get("authorization"))).toEqual([null]);
  });
});
