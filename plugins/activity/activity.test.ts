/** Who did what: HTTP in, entries out; and what happens to somebody who changes the log. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { definePlugin } from "platform";
import {
  adminPassword,
  adminToken,
  eventually,
  otherAccount,
  secretKey,
  startTestApp,
  type TestApp,
} from "../../tests/harness.ts";
import { startReceiver } from "../../tests/receiver.ts";
import { transaction, type Tx } from "../../runtime/db/db.ts";
import { createSecrets } from "../../runtime/base/secrets.ts";
import { accounts } from "../accounts/api.ts";
import { plugins } from "../index.ts";
import { forgetOld } from "./sealer.ts";
import { verifyAll } from "./verify.ts";

/** A plugin that has never heard of the log. */
const notes = definePlugin({
  name: "notes",
  migrations: [
    {
      name: "001_notes",
      sql: `create table notes (
        id bigint generated always as identity primary key, account_id bigint not null, title text, body text,
        api_key text, fields jsonb, hidden text)`,
    },
  ],
  setup: () => ({}),
});

const secrets = createSecrets(secretKey);
const sign = (text: string) => secrets.derive("activity", text);
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ plugin: notes });
});
afterAll(() => app.stop());

const entries = async (query: string) => (await app.get(`/core/activity.json?${query}`)).json;
const newest = async (model: string) => (await entries(`model=${encodeURIComponent(model)}&limit=1`))[0];
const verify = () => app.command("activity", "verify");
const fault = () => verify().catch((error: Error) => error.message);
const person = async (login: string, role = "user") => {
  await app.post("/account/users.json", { user: { login, name: login, role, password: adminPassword } });
  const signedIn = await app.post("/account/session.json", { login, password: adminPassword }, { token: null });
  return (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
};

describe("a change of a record", () => {
  test("is logged with who, where from and the difference", async () => {
    const from = { headers: { "user-agent": "tests/1" } };
    const made = (await app.post("/account/teams.json", { team: { name: "Red" } }, from)).json;
    expect(await newest("Account::Unit")).toMatchObject({
      action: "create",
      record_id: `${made.id}`,
      name: "Red",
      actor: "person",
      user_id: 1,
      login: "admin",
      address: "127.0.0.1",
      user_agent: "tests/1",
      changes: { name: { new: "Red" } },
    });
    const changed = await app.patch(`/account/teams/${made.id}.json`, { team: { name: "Blue" } });
    const entry = await newest("Account::Unit");
    expect(entry).toMatchObject({ action: "update", changes: { name: { old: "Red", new: "Blue" } } });
    expect(entry.request_id).toBe(changed.headers.get("x-request-id"));
    expect(entry.token_id).toBeNumber();
    await app.delete(`/account/teams/${made.id}.json`);
    expect(await newest("Account::Unit")).toMatchObject({ action: "delete", changes: { name: { old: "Blue" } } });
    expect((await app.get(`/core/activity/${entry.id}.json`)).json.changes).toEqual(entry.changes);
  });

  test("that changes nothing, or is refused, is not logged", async () => {
    const [before] = await entries("limit=1");
    await app.patch("/account/users/1.json", { user: { name: (await app.get("/account/me.json")).json.name } });
    await app.post("/account/teams.json", { team: { name: "" } });
    expect((await entries("limit=1"))[0].id).toBe(before.id);
  });

  test("of any plugin's table is logged, with secrets left out and long values cut", async () => {
    const body = "ł".repeat(5_000);
    const sealed = `v1.${"a".repeat(60)}`;
    await app.sql`insert into notes (account_id, title, body, api_key, fields, hidden)
      values (1, 'First', ${body}, 'sk_live_1', '{"a": 1}', ${sealed})`;
    expect(await newest("notes")).toMatchObject({
      actor: "system",
      name: "First",
      changes: {
        title: { new: "First" },
        body: { new: body.slice(0, 1_000), new_size: 5_000 },
        api_key: { secret: true },
        fields: { new: { a: 1 } },
        hidden: { secret: true },
      },
    });
  });

  test.each([
    ["of one letter", "a".repeat(20_000)],
    ["that no compression makes smaller", Array.from({ length: 555 }, () => crypto.randomUUID()).join("")],
  ])("of a large row %s is logged by what differs, and not if that is nothing", async (_, body) => {
    await app.sql`insert into notes (account_id, title, body, api_key) values (1, 'Large', ${body}, 'sk_live_2')`;
    expect(await newest("notes")).toMatchObject({ action: "create", name: "Large" });
    await app.sql`update notes set title = 'Huge', api_key = 'sk_live_3' where body = ${body}`;
    const changes = { title: { old: "Large", new: "Huge" }, api_key: { secret: true } };
    expect(await newest("notes")).toMatchObject({ action: "update", name: "Huge", changes });
    await app.sql`update notes set body = body where body = ${body}`;
    expect((await newest("notes")).changes).toEqual(changes);
    await app.sql`update notes set body = ${`${body}b`} where body = ${body}`;
    const cut = body.slice(0, 1_000);
    const sizes = { old_size: body.length, new_size: body.length + 1 };
    expect((await newest("notes")).changes).toEqual({ body: { old: cut, new: cut, ...sizes } });
    await app.sql`delete from notes where title = 'Huge'`;
    expect((await newest("notes")).changes).toMatchObject({ title: { old: "Huge" }, body: { old: cut } });
  });

  test("has its entry as soon as it is committed, and none if it is undone", async () => {
    const undone = app.sql.begin(async (tx) => {
      await tx`insert into notes (account_id, title) values (1, 'undone')`;
      throw new Error("undone");
    });
    await undone.catch(() => {});
    await app.sql`insert into notes (account_id, title) values (1, 'kept')`;
    const lists = await Promise.all(Array.from({ length: 8 }, () => entries("model=notes&limit=2")));
    for (const list of lists) {
      expect(list).toEqual(lists[0]);
      expect(list[0].name).toBe("kept");
      expect(list[1].name).not.toBe("undone");
    }
  });

  test("by a command or a cascade says so", async () => {
    await app.post("/account/users.json", { user: { login: "gone", name: "Gone", password: adminPassword } });
    const { record_id } = await newest("Account::User");
    await app.command("token", "create", "--user", "gone", "--name", "Robot");
    expect(await newest("Account::ApiToken")).toMatchObject({ action: "create", name: "Robot" });
    await app.delete(`/account/users/${record_id}.json`);
    expect(await newest("Account::ApiToken")).toMatchObject({ action: "delete", name: "Robot", login: "admin" });
  });

  test("every model is one of a logged table, and every table is logged or said to be the server's own", async () => {
    const watched = await app.sql<{ name: string; facts: string | null }[]>`
      select c.relname::text as name, obj_description(t.oid, 'pg_trigger') as facts from pg_class c
      left join pg_trigger t on t.tgrelid = c.oid and t.tgname = 'activity_note'
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relpersistence = 'p'
        and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'account_id')`;
    const own = new Set(
      plugins.flatMap(({ activity = {} }) => Object.entries(activity).flatMap(([name, one]) => (one ? [] : name))),
    );
    expect(watched.filter(({ name, facts }) => (facts === null) !== own.has(name)).map(({ name }) => name)).toEqual([]);
    const models = new Set(watched.flatMap(({ facts }) => (facts === null ? [] : JSON.parse(facts).model)));
    // Processes are what flows do, not what somebody changes; what they change is logged. Backups are noted.
    const others = new Set(["Core::Record", "Connect::FlowProcess", "Core::Activity", "Core::Backup"]);
    const missing = plugins.flatMap((one) => one.models.map(({ name }) => name)).filter((name) => !models.has(name));
    expect(missing.filter((name) => !others.has(name))).toEqual([]);
  });
});

describe("without a change", () => {
  test("signing in, being refused, exporting and seeing a secret are logged", async () => {
    const cookie = await person("eve");
    expect((await entries("action=sign-in&limit=1"))[0]).toMatchObject({
      model: "Account::ApiToken",
      login: "eve",
      address: "127.0.0.1",
    });
    await app.post("/account/session.json", { login: "eve", password: "hunter2 hunter2" }, { token: null });
    await app.post("/account/session.json", { login: "my password", password: "x" }, { token: null });
    const refused = await eventually(async () => {
      const found = await entries("action=sign-in%20refused");
      return found.length === 2 ? found : undefined;
    });
    expect(refused.map(({ name }: { name: string }) => name)).toEqual([null, "eve"]);
    expect(JSON.stringify(refused)).not.toContain("password");
    expect((await app.get("/account/users.json", { token: null, headers: { cookie } })).status).toBe(403);
    const made = (await app.post("/account/api_tokens.json", { api_token: { name: "Shown" } })).json;
    const all = await eventually(async () => {
      const found = [...(await entries("action=refused")), ...(await entries("action=secret%20shown"))];
      return found.length >= 2 ? found : undefined;
    });
    expect(all.map(({ action, name }: { action: string; name: string }) => `${action} ${name}`)).toEqual(
      expect.arrayContaining(["refused GET /account/users.json", "secret shown POST /account/api_tokens.json"]),
    );
    expect(JSON.stringify(await entries("limit=1000"))).not.toContain(made.token);
  });

  test("a program that is refused over and over does not fill the log", async () => {
    const cookie = await person("mallory");
    for (let n = 0; n < 40; n++) await app.get("/account/users.json", { token: null, headers: { cookie } });
    const [{ id } = { id: 0 }] = await app.sql<{ id: number }[]>`select id from users where login = 'mallory'`;
    expect((await entries(`action=refused&user_id=${id}&limit=1000`)).length).toBeLessThanOrEqual(30);
  });
});

describe("the list", () => {
  test("is paged by its cursor, and filtered", async () => {
    for (const name of ["a", "b", "c"]) await app.post("/account/groups.json", { group: { name } });
    const first = await app.get("/core/activity.json?model=Account::Unit&action=create&limit=2");
    expect(first.json.map(({ name }: { name: string }) => name)).toEqual(["c", "b"]);
    const before = first.headers.get("x-next-cursor");
    const second = await app.get(`/core/activity.json?model=Account::Unit&action=create&limit=2&before=${before}`);
    expect(second.json[0].name).toBe("a");
    const now = new Date(Date.now() + 60_000).toISOString();
    for (const nothing of [
      `from=${now}`,
      "to=2020-01-01",
      "user_id=999",
      "token_id=999",
      "q=%25%25nothing",
      "actor=app",
    ])
      expect(await entries(nothing)).toEqual([]);
    expect((await entries("q=%22new%22:%20%22b%22&model=Account::Unit")).length).toBe(1);
  });

  test.each([
    ["before=x", "before"],
    ["user_id=1%20or%201=1", "user_id"],
    ["token_id=99999999999999999999", "token_id"],
    ["from=yesterday", "from"],
    ["to=2026-13-01", "to"],
    ["q=%00", "q"],
    [`model=${"x".repeat(201)}`, "model"],
  ])("refuses %s by the name of the filter", async (query, name) => {
    const answer = await app.get(`/core/activity.json?${query}`);
    expect([answer.status, answer.json.error]).toEqual([400, expect.stringContaining(`\`${name}\``)]);
    expect((await app.get(`/core/activity/export?${query}`)).status).toBe(name === "before" ? 200 : 400);
  });

  test("shows nothing of another account, and nothing without the privilege", async () => {
    await app.sql`insert into notes (account_id, title) values (2, 'Theirs')`;
    const [{ id } = { id: 0 }] = await app.sql<{ id: number }[]>`select id from activity where account_id = 2`;
    expect((await app.get(`/core/activity/${id}.json`)).status).toBe(404);
    expect(await entries("q=Theirs")).toEqual([]);
    expect((await app.get("/core/activity/export")).text).not.toContain("Theirs");
    const cookie = await person("manager", "manager");
    for (const path of ["/core/activity.json", "/core/activity/1.json", "/core/activity/export"])
      expect((await app.get(path, { token: null, headers: { cookie } })).status).toBe(403);
  });

  test("is exported whole, one object a line, whatever the texts in it", async () => {
    const name = 'x"}\n{"action":"delete"}\r\n\u2028\u0085';
    await app.sql`insert into notes (account_id, title) select 1, ${name} from generate_series(1, 4500)`;
    const answer = await app.get("/core/activity/export?model=notes&action=create");
    expect(answer.headers.get("content-type")).toStartWith("application/x-ndjson");
    const lines = answer.text.split("\n").slice(0, -1);
    const [{ count } = { count: 0 }] = await app.sql<{ count: number }[]>`
      select count(*) from activity where model = 'notes' and action = 'create' and account_id = 1`;
    expect(lines.length).toBe(count);
    expect(lines.every((line) => JSON.parse(line).action === "create")).toBe(true);
    const first = JSON.parse(lines[1] ?? "");
    expect(JSON.parse(lines[2] ?? "").id).toBeGreaterThan(first.id);
  });
});

describe("a log that somebody tampers with", () => {
  /** As the owner of the database, past its triggers; undone afterwards. */
  const tampered = async (change: string, then = async () => {}): Promise<string> => {
    await verify();
    const tables = ["activity", "activity_seals", "activity_heads", "activity_sealed"];
    for (const name of tables) {
      await app.sql.unsafe(`create table saved_${name} as table ${name}`);
      await app.sql.unsafe(`alter table ${name} disable trigger user`);
    }
    await app.sql.unsafe(change);
    await then();
    const found = await fault();
    for (const name of tables) {
      await app.sql.unsafe(`delete from ${name}`);
      const columns = name === "activity" ? "overriding system value" : "";
      await app.sql.unsafe(`insert into ${name} ${columns} select * from saved_${name}; drop table saved_${name}`);
      await app.sql.unsafe(`alter table ${name} enable trigger user`);
    }
    await app.post("/account/teams.json", { team: { name: "later" } });
    expect(await verify()).toContain("unchanged");
    return found;
  };
  const ids = async () => {
    await verify();
    const rows = await app.sql<{ id: number }[]>`select id from activity where account_id = 1 order by id`;
    return rows.map(({ id }) => id);
  };

  test("by SQL that its triggers refuse", async () => {
    await verify();
    for (const change of [
      "update activity set name = 'x'",
      "delete from activity",
      "delete from activity_seals",
      "update activity_inbox set action = 'x'",
      "delete from activity_inbox",
    ]) {
      const said = await app.sql.unsafe(change).catch((error: Error) => error.message);
      expect(said).toContain("never changed");
    }
  });

  test("is found: a changed, removed, added or exchanged entry is named", async () => {
    const all = await ids();
    const [a = 0, b = 0] = [all[3], all[4]];
    expect(await tampered(`update activity set user_id = 2 where id = ${a}`)).toBe(`account 1: entry ${a} was changed`);
    expect(await tampered(`delete from activity where id = ${b}`)).toBe(`account 1: entry ${b} was removed`);
    const swap = `update activity set id = -1 where id = ${a}; update activity set id = ${a} where id = ${b};
      update activity set id = ${b} where id = -1`.replaceAll("set id =", "set id =");
    await app.sql.unsafe("alter table activity alter column id set generated by default");
    expect(await tampered(swap)).toBe(`account 1: entry ${a} was changed`);
    await app.sql.unsafe("alter table activity alter column id set generated always");
    const [gap] = await app.sql<{ id: number }[]>`
      insert into activity (account_id, action, actor) values (2, 'create', 'system') returning id`;
    await verify();
    const forged = `insert into activity (id, account_id, action, actor) overriding system value
      values (${gap?.id}, 1, 'create', 'system')`;
    expect(await tampered(forged)).toBe(`account 1: entry ${gap?.id} was added later`);
  });

  test("is found: a chain that was cut off, shortened at its beginning or made anew", async () => {
    await app.post("/account/teams.json", { team: { name: "one" } });
    await verify();
    await app.post("/account/teams.json", { team: { name: "two" } });
    await verify();
    const [{ number, upTo } = { number: 0, upTo: 0 }] = await app.sql<{ number: number; upTo: number }[]>`
      select number, up_to from activity_seals where account_id = 1 order by number desc offset 1 limit 1`;
    const cut = `delete from activity where account_id = 1 and id > ${upTo};
      delete from activity_seals where account_id = 1 and number > ${number};`;
    const end = `account 1: the chain ends at seal ${number} instead of ${number + 1}: its end was removed`;
    expect(await tampered(cut)).toBe(end);
    const head = `update activity_heads set number = ${number}, up_to = ${upTo},
      last_signature = (select signature from activity_seals where account_id = 1 and number = ${number}) where account_id = 1`;
    expect(await tampered(`${cut} ${head}`)).toBe("account 1: the head of the chain was changed");
    expect(await tampered(`${cut} delete from activity_heads`)).toContain("the head of the chain was removed");
    const start = "delete from activity_seals where account_id = 1 and number = 1";
    expect(await tampered(start)).toBe("account 1: seal 1 is missing");
    const digests = "update activity_seals set digests = sha256('x') where account_id = 1 and number = 1";
    expect(await tampered(digests)).toContain("seal 1 ");
  });

  test("is found: an end that was cut off together with its head, though the head before was put back", async () => {
    await app.post("/account/teams.json", { team: { name: "kept" } });
    const [, last = ""] = /account 1: .* unchanged; the last is seal (\d+)/.exec(await verify()) ?? [];
    const [head] = await app.sql`select * from activity_heads where account_id = 1`;
    await app.post("/account/teams.json", { team: { name: "harm" } });
    await verify();
    const cut = `delete from activity where account_id = 1 and id > ${head?.["upTo"]};
      delete from activity_seals where account_id = 1 and number > ${last};
      update activity_heads set number = ${last}, up_to = ${head?.["upTo"]}, signature = '${head?.["signature"]}',
        last_signature = '${head?.["lastSignature"]}' where account_id = 1;`;
    const lost = /^account 1: its seal \d+, which is in DATA_DIR\/anchors, is not in the chain/;
    expect(await tampered(cut)).toMatch(lost);
    // What is sealed afterwards hides nothing.
    const more = async () => {
      for (const name of ["one", "two", "three"]) {
        await app.post("/account/teams.json", { team: { name } });
        await fault();
      }
    };
    expect(await tampered(cut, more)).toMatch(lost);
    expect(app.logged.join("")).toContain("the log of activity was cut off");
    const atLeast = (wanted: string) => app.command("activity", "verify", "--at-least", wanted);
    expect(await atLeast(`1:${Number(last) + 1}`)).toContain("unchanged");
    expect(atLeast("1:9999,2:1")).rejects.toThrow("and had 9999: its end was removed");
    expect(atLeast("9999")).rejects.toThrow("and had 9999: its end was removed");
    for (const wrong of ["", "x", "1:2:3", "1:2,1:3", "-1"]) expect(atLeast(wrong)).rejects.toThrow("--at-least takes");
  });

  test("is found: an account whose whole log is gone, and whose log is not begun anew", async () => {
    const other = await otherAccount(app);
    await verify();
    const [{ id } = { id: 0 }] = await app.sql<{ id: number }[]>`select max(id)::int as id from accounts`;
    const gone = `select set_config('corestead.retention', 'on', true);
      delete from activity_inbox where account_id = ${id}; delete from activity where account_id = ${id}; delete from activity_seals where account_id = ${id};
      delete from activity_heads where account_id = ${id};`;
    // Without DATA_DIR, such as on another host.
    const anchor = { read: async () => undefined, write: async () => {} };
    const ctx = {
      anchor,
      sql: app.sql,
      sign,
      transaction: <T>(run: (tx: Tx) => Promise<T>) => transaction(app.sql, run),
    };
    const without: unknown[] = [];
    const look = async () =>
      void without.push(...(await verifyAll(ctx, () => 0)).filter(({ accountId }) => accountId === id));
    await tampered(gone, look);
    expect(without).toMatchObject([{ fault: "there is no chain: its entries, seals and head are gone" }]);
    expect(await tampered(gone)).toContain(`account ${id}: its seal `);
    const again = async () => void (await other.post("/account/teams.json", { team: { name: "as if new" } }));
    expect(await tampered(gone, again)).toContain(`account ${id}: its seal `);
  });

  test("nothing is sealed past an entry that a server of the release before has not committed yet", async () => {
    const held = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    const late = app.sql.begin(async (tx) => {
      await tx`insert into activity (account_id, action, actor) values (1, 'create', 'system')`;
      written.resolve();
      await held.promise;
    });
    await written.promise;
    let isSealed = false;
    const sealing = verify().then(() => (isSealed = true));
    for (let n = 0; n < 50; n++) await app.get("/health");
    expect(isSealed).toBe(false);
    held.resolve();
    await Promise.all([late, sealing]);
    expect(await verify()).toContain("unchanged");
  });

  test("entries of transactions that end in another order are all sealed", async () => {
    const held = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    const late = app.sql.begin(async (tx) => {
      await tx`insert into notes (account_id, title) values (1, 'late')`;
      written.resolve();
      await held.promise;
    });
    await written.promise;
    await app.sql`insert into notes (account_id, title) values (1, 'early')`;
    const verifying = verify();
    await app.sql`insert into notes (account_id, title) values (1, 'between')`;
    held.resolve();
    await late;
    expect(await verifying).toContain("unchanged");
    expect(await verify()).toContain("unchanged");
    const unsealed = await app.sql`
      select from activity a where account_id = 1 and id <= (select up_to from activity_sealed)
        and not exists (select from activity_seals s where s.account_id = 1 and a.id = any(s.ids))`;
    expect(unsealed.length).toBe(0);
  });
});

describe("entries", () => {
  test("are sent to webhooks, but not what their receivers change in turn", async () => {
    const receiver = startReceiver();
    const hook = { source_type: "Core::Activity", kind: "create", url: `${receiver.url}/log` };
    receiver.answer = async ({ headers }) => {
      const causation = headers.get("x-core-causation") ?? "";
      await app.post("/account/teams.json", { team: { name: "Echo" } }, { headers: { "x-core-causation": causation } });
      return new Response("ok");
    };
    expect((await app.post("/account/webhooks.json", { webhook: hook })).status).toBe(201);
    await app.post("/account/teams.json", { team: { name: "Streamed" } });
    await eventually(() => receiver.requests.some(({ body }) => body.includes("Streamed")));
    const echoes = async () => (await entries("model=Account::Unit&q=Echo")).length;
    await eventually(async () => (await echoes()) === receiver.requests.length);
    await verify();
    // What is sent next would come after the echoes.
    await app.post("/account/teams.json", { team: { name: "Last" } });
    await eventually(() => receiver.requests.some(({ body }) => body.includes("Last")));
    expect(receiver.requests.filter(({ body }) => body.includes("Echo"))).toEqual([]);
    const [{ id }] = (await app.get("/account/webhooks.json")).json;
    await app.delete(`/account/webhooks/${id}.json`);
    await receiver.stop();
  });

  test("older than the account keeps them are forgotten, and the rest stays verifiable", async () => {
    const days = await app.patch("/account/settings.json", { settings: { activity_days: "30" } });
    expect(days.status).toBe(200);
    await verify();
    const [{ upTo } = { upTo: 0 }] = await app.sql<{ upTo: number }[]>`
      select up_to from activity_seals where account_id = 1 and number = 2`;
    await app.sql`alter table activity_seals disable trigger user`;
    await app.sql`update activity_seals set at = now() - interval '31 days' where account_id = 1 and number <= 2`;
    await app.sql`alter table activity_seals enable trigger user`;
    const ctx = {
      transaction: <T>(run: (tx: Tx) => Promise<T>) => transaction(app.sql, run),
      stopping: new AbortController().signal,
      sql: app.sql,
      accounts: app.service(accounts),
      sign,
    };
    await forgetOld(ctx);
    const [{ first } = { first: 0 }] = await app.sql<{ first: number }[]>`
      select min(id) as first from activity where account_id = 1`;
    expect(first).toBeGreaterThan(upTo);
    expect(await verify()).toContain("unchanged");
  });
});

test("the administrator's own token is named by its id, never by itself", async () => {
  await app.post("/account/teams.json", { team: { name: "t" } });
  expect((await app.get("/core/activity/export")).text).not.toContain(adminToken);
});
