import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { adminToken, eventually, otherAccount, person, startTestApp } from "../../tests/harness.ts";
import type { OtherAccount, TestApp } from "../../tests/harness.ts";
import { tokens } from "./api.ts";

let app: TestApp;
let other: OtherAccount;
beforeAll(async () => {
  app = await startTestApp();
  other = await otherAccount(app, { timezone: "Europe/Warsaw" });
});
afterAll(() => app.stop());

const path = "/account/api_tokens.json";
const as = (token: string | undefined) => (token === undefined ? {} : { token });
const make = (fields: Record<string, unknown> = {}, token?: string) => app.post(path, { api_token: fields }, as(token));
const change = (id: number, fields: unknown, token?: string) =>
  app.patch(`/account/api_tokens/${id}.json`, { api_token: fields }, as(token));
const read = (id: number, token?: string) => app.get(`/account/api_tokens/${id}.json`, as(token));
const remove = (id: number, token?: string) => app.delete(`/account/api_tokens/${id}.json`, as(token));
const works = async (token: string) => (await app.get("/account/me.json", { token })).status === 200;
const unique = (prefix: string) => `${prefix}-${crypto.randomUUID().slice(0, 8)}`;

test("a token that is deleted while it is used makes and prolongs none", async () => {
  const { id, token } = await person(app, { privileges: ["api_tokens"] });
  const limited = (await make({ name: "limited" }, token)).json;
  const later = (await make({ name: "later", expires_at: "2030-12-31" }, token)).json;
  const [before] = await app.sql<{ n: number }[]>`select count(*)::int as n from api_tokens where user_id = ${id}`;
  expect(await works(limited.token)).toBe(true);
  // Its request has been let in: nobody has heard of the deletion.
  await app.sql`delete from api_tokens where id = ${limited.id}`;
  expect(await make({ name: "without limits" }, limited.token)).toMatchObject({ status: 401 });
  expect(await change(later.id, { expires_at: "2031-12-31" }, limited.token)).toMatchObject({ status: 401 });
  const [after] = await app.sql<{ n: number }[]>`select count(*)::int as n from api_tokens where user_id = ${id}`;
  expect(after?.n).toBe((before?.n ?? 0) - 1);
});

describe("a new token", () => {
  test("is shown raw once, with its fields", async () => {
    const made = await make({
      name: "import",
      code: unique("code"),
      expires_at: "2030-12-31",
      privileges: ["api_tokens"],
    });
    expect(made.status).toBe(201);
    const { token, ...shown } = made.json;
    expect(token).toMatch(/^core_[0-9A-Za-z]{42}$/);
    expect(shown).toEqual({
      id: expect.any(Number),
      name: "import",
      code: expect.stringContaining("code-"),
      kind: null,
      active: true,
      expires_at: "2030-12-31T23:59:59.999Z",
      integration_app_code: null,
      for_account: false,
      privileges: ["api_tokens"],
      databases: null,
      read_only: false,
      token_info: `${token.slice(0, 8)}...${token.slice(-4)}`,
      user_id: 1,
      last_used_at: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const later = await read(shown.id);
    expect(later.json).toEqual(shown);
    const listed = await app.get(path);
    expect(listed.text).not.toContain(token);
    expect(listed.json).toContainEqual(shown);
    const stored = await app.sql`select t::text as row from api_tokens t where id = ${shown.id}`;
    expect(JSON.stringify(stored)).not.toContain(token);
  });

  test("needs no field at all", async () => {
    const made = await make();
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({
      name: null,
      code: null,
      kind: null,
      expires_at: null,
      active: true,
      privileges: [],
    });
    const blank = await make({
      name: "",
      code: " ",
      kind: "",
      expires_at: "",
      integration_app_code: null,
      privileges: null,
    });
    expect(blank.json).toMatchObject({
      code: null,
      kind: null,
      expires_at: null,
      integration_app_code: null,
      privileges: [],
    });
    expect((await make({ kind: "web_token" })).json.kind).toBe("web_token");
  });

  test("works at once, and does not where it was made inactive", async () => {
    expect(await works((await make()).json.token)).toBe(true);
    expect(await works((await make({ active: false })).json.token)).toBe(false);
  });

  test("ends with the day in the account's time zone", async () => {
    const made = await other.post(path, { api_token: { expires_at: "2030-07-01" } });
    expect(made.json.expires_at).toBe("2030-07-01T21:59:59.999Z");
    const timed = await other.post(path, { api_token: { expires_at: "2030-07-01T10:00:00" } });
    expect(timed.json.expires_at).toBe("2030-07-01T08:00:00.000Z");
    const today = new Date().toISOString().slice(0, 10);
    expect((await make({ expires_at: today })).status).toBe(201);
  });

  const wrong: [string, Record<string, unknown>][] = [
    ["name", { name: 5 }],
    ["name", { name: "n".repeat(256) }],
    ["name", { name: "nul\0" }],
    ["code", { code: {} }],
    ["code", { code: "c".repeat(101) }],
    ["active", { active: "true" }],
    ["expires_at", { expires_at: 1_900_000_000 }],
    ["expires_at", { expires_at: "tomorrow" }],
    ["expires_at", { expires_at: "2030-02-30" }],
    ["expires_at", { expires_at: [] }],
    ["kind", { kind: "session" }],
    ["kind", { kind: 1 }],
    ["kind", { kind: "__proto__" }],
    ["integration_app_code", { integration_app_code: true }],
    ["for_account", { for_account: "yes" }],
    ["privileges", { privileges: "api_tokens" }],
    ["privileges", { privileges: [1] }],
    ["privileges", { privileges: [""] }],
    ["privileges", { privileges: ["nonsense"] }],
    ["privileges", { privileges: ["constructor"] }],
    ["privileges", { privileges: Array.from({ length: 101 }, () => "api_tokens") }],
  ];
  test.each(wrong)("with a wrong %s is refused, made and changed: %j", async (field, fields) => {
    const made = await make(fields);
    expect([made.status, Object.keys(made.json), Object.keys(made.json.errors)]).toEqual([422, ["errors"], [field]]);
    const { id } = (await make()).json;
    const changed = await change(id, fields);
    expect([changed.status, Object.keys(changed.json.errors)]).toEqual([422, [field]]);
  });

  test("says which element of a list is wrong", async () => {
    const said = async (privileges: unknown) => (await make({ privileges })).json.errors.privileges;
    expect(await said(["prompts", 5])).toEqual(["1 must be a string"]);
    expect(await said([""])).toEqual(["0 can't be blank"]);
  });

  test("in the past is refused; a token is brought to its end by a change", async () => {
    for (const expires_at of ["2020-01-01", new Date(Date.now() - 1000).toISOString(), "1000-01-01"])
      expect((await make({ expires_at })).json.errors).toHaveProperty("expires_at");
    const { id, token } = (await make()).json;
    expect((await change(id, { expires_at: "2020-01-01" })).status).toBe(200);
    expect(await works(token)).toBe(false);
    expect((await change(id, { expires_at: null })).status).toBe(200);
    expect(await works(token)).toBe(true);
  });

  test("without the body's key, or not as JSON, is refused in the plain form", async () => {
    expect((await app.post(path, {})).json).toEqual({ error: expect.any(String) });
    expect((await app.post(path, { api_token: [] })).status).toBe(400);
    expect(
      (await app.request("POST", path, undefined, { raw: "x", headers: { "content-type": "text/plain" } })).status,
    ).toBe(415);
  });

  test("has a code and an integration code like no other of the account", async () => {
    for (const field of ["code", "integration_app_code"]) {
      const value = unique(field);
      expect((await make({ [field]: value })).status).toBe(201);
      const again = await make({ [field]: value });
      expect([again.status, again.json]).toEqual([422, { errors: { [field]: ["is already taken"] } }]);
      const { id } = (await make()).json;
      expect((await change(id, { [field]: value })).json.errors).toHaveProperty(field);
      expect((await other.post(path, { api_token: { [field]: value } })).status).toBe(201);
    }
  });

  test("of two hundred with one code at once is made once", async () => {
    const code = unique("race");
    const answers = await Promise.all(Array.from({ length: 200 }, () => make({ code })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(199);
  });

  test("is not shown again to the same Idempotency-Key", async () => {
    const headers = { "idempotency-key": unique("key") };
    const body = { api_token: { name: "once" } };
    const first = await app.post(path, body, { headers });
    const again = await app.post(path, body, { headers });
    expect([first.status, again.status]).toEqual([201, 409]);
    expect(again.text).not.toContain(first.json.token);
    const kept = await app.sql`select k::text as row from idempotency_keys k`;
    expect(JSON.stringify(kept)).not.toContain(first.json.token);
  });
});

describe("whose tokens one sees", () => {
  test("one's own; an administrator by id also others', and nobody those of another account", async () => {
    const [anna, ola] = [await person(app), await person(app)];
    const mine = (await make({ name: "anna's" }, anna.token)).json;
    expect((await read(mine.id, anna.token)).status).toBe(200);
    expect((await read(mine.id)).json.user_id).toBe(anna.id);
    for (const call of [read, remove, (id: number, token?: string) => change(id, { name: "x" }, token)]) {
      expect((await call(mine.id, ola.token)).status).toBe(404);
      expect((await call(mine.id, other.adminToken)).status).toBe(404);
    }
    const names = async (token: string) => (await app.get(path, { token })).json.map(({ id }: { id: number }) => id);
    expect(await names(anna.token)).toContain(mine.id);
    expect(await names(ola.token)).not.toContain(mine.id);
    expect(await names(adminToken)).not.toContain(mine.id);
    expect((await remove(mine.id)).status).toBe(204);
  });

  test("in pages, oldest first, with their number", async () => {
    const { token } = await person(app);
    for (const name of ["a", "b", "c"]) await make({ name }, token);
    const page = await app.get(`${path}?limit=2&offset=1`, { token });
    expect(page.json.map(({ name }: { name: string }) => name)).toEqual(["a", "b"]);
    expect(page.headers.get("x-total-count")).toBe("4"); // with the one that the person began with
  });

  test.each(["abc", "0", "-1", "1e3", "99999999999999999999", "999999999"])(
    "with the id %s there is none",
    async (id) => {
      for (const method of ["GET", "PATCH", "DELETE"]) {
        const body = method === "PATCH" ? { api_token: {} } : undefined;
        expect((await app.request(method, `/account/api_tokens/${id}.json`, body)).status).toBe(404);
      }
    },
  );
});

describe("tokens of the whole account", () => {
  test("are for administrators", async () => {
    const { token } = await person(app, { role: "manager" });
    expect((await make({ for_account: true }, token)).status).toBe(403);
    expect((await app.get(`${path}?for_account=yes`, { token })).status).toBe(403);
    const { id } = (await make({}, token)).json;
    expect((await change(id, { for_account: true }, token)).status).toBe(403);
    expect((await change(id, { for_account: true })).status).toBe(200);
    expect((await change(id, { name: "mine?" }, token)).status).toBe(403);
    expect((await change(id, { for_account: false }, token)).status).toBe(403);
  });

  test("are listed with for_account=yes, of whomever", async () => {
    const second = await person(app, { role: "admin" });
    const [one, two] = [
      (await make({ for_account: true })).json,
      (await make({ for_account: true }, second.token)).json,
    ];
    const theirs = (await other.post(path, { api_token: { for_account: true } })).json;
    const ids = (await app.get(`${path}?for_account=yes`)).json.map(({ id }: { id: number }) => id);
    expect(ids).toContain(one.id);
    expect(ids).toContain(two.id);
    expect(ids).not.toContain(theirs.id);
    const shown = (await app.get(`${path}?for_account=yes`)).json;
    expect(shown.every((token: { for_account: boolean }) => token.for_account)).toBe(true);
  });

  test("cannot be deleted and go on working; switched off they can be", async () => {
    const { id, token } = (await make({ for_account: true })).json;
    const refused = await remove(id);
    expect([refused.status, Object.keys(refused.json.errors)]).toEqual([422, ["base"]]);
    expect(await works(token)).toBe(true);
    await change(id, { active: false });
    expect(await works(token)).toBe(false);
    await change(id, { for_account: false });
    expect((await remove(id)).status).toBe(204);
  });
});

describe("privileges", () => {
  test("narrow: what is not in the list is 403, and names what is missing", async () => {
    const { token } = (await make({ privileges: ["api_tokens"] })).json;
    expect((await app.get(path, { token })).status).toBe(200);
    const refused = await app.get("/account/users.json", { token });
    expect([refused.status, refused.json.error]).toEqual([403, expect.stringContaining("users")]);
  });

  test("never widen: what the owner lacks is refused, and lost with the owner's", async () => {
    const { token } = await person(app, { role: "user" });
    expect((await make({ privileges: ["users"] }, token)).json.errors).toHaveProperty("privileges");
    const manager = await person(app, { role: "manager", privileges: ["users"] });
    const made = (await make({ privileges: ["users"] }, manager.token)).json;
    expect((await app.get("/account/users.json", { token: made.token })).status).toBe(200);
    await app.patch(`/account/users/${manager.id}.json`, { user: { privileges: [] } });
    expect((await app.get("/account/users.json", { token: made.token })).status).toBe(403);
    // An administrator narrows by what the owner has, not by what they have themselves.
    expect((await change(made.id, { privileges: ["users"] })).json.errors).toHaveProperty("privileges");
  });

  test("without api_tokens nothing of this is open", async () => {
    for (const { token } of [
      await person(app, { role: "guest" }),
      await person(app, { role: "admin", narrowedTo: ["users"] }),
    ]) {
      expect((await app.get(path, { token })).status).toBe(403);
      expect((await make({}, token)).status).toBe(403);
      for (const call of [read, remove]) expect((await call(1, token)).status).toBe(403);
      expect((await change(1, {}, token)).status).toBe(403);
    }
  });

  describe("of a narrowed token", () => {
    const narrowed = () => person(app, { role: "admin", narrowedTo: ["api_tokens"] });

    test("are the most that it gives", async () => {
      const { token } = await narrowed();
      for (const privileges of [undefined, null, [], ["users"], ["api_tokens", "users"]]) {
        const refused = await make(privileges === undefined ? {} : { privileges }, token);
        expect([refused.status, Object.keys(refused.json.errors)]).toEqual([422, ["privileges"]]);
      }
      const made = await make({ privileges: ["api_tokens"] }, token);
      expect(made.status).toBe(201);
      for (const privileges of [null, [], ["users"]])
        expect((await change(made.json.id, { privileges }, token)).status).toBe(422);
      expect((await change(made.json.id, { name: "renamed" }, token)).status).toBe(200);
    });

    test("are those of the tokens that it changes", async () => {
      const { token } = await narrowed();
      const me = (await app.get("/account/me.json", { token })).json;
      const [row] = await app.sql`select id from api_tokens where user_id = ${me.id}`;
      const wide = await app.service(tokens).issue({ accountId: 1, userId: me.id });
      expect((await change(Number(row?.["id"]), { privileges: [] }, token)).status).toBe(422);
      for (const fields of [{ active: true }, { expires_at: null }, { name: "x" }, { privileges: ["api_tokens"] }])
        expect((await change(wide?.id ?? 0, fields, token)).status).toBe(422);
      expect((await remove(wide?.id ?? 0, token)).status).toBe(403);
      expect((await remove(1, token)).status).toBe(403);
      expect((await remove(Number(row?.["id"]), token)).status).toBe(204); // itself
      expect(await works(token)).toBe(false);
    });
  });
});

describe("a change counts at once", () => {
  let second: TestApp;
  beforeAll(async () => {
    second = await startTestApp({ target: app.target });
  });
  afterAll(() => second.stop());

  const statuses = async (token: string, of = "/account/users.json") =>
    Promise.all([app, second].map(async (server) => (await server.get(of, { token })).status));

  test("in every server process", async () => {
    const { id, token } = (await make()).json;
    expect(await statuses(token)).toEqual([200, 200]);
    await change(id, { active: false });
    expect(await statuses(token)).toEqual([401, 401]);
    await change(id, { active: true });
    expect(await statuses(token)).toEqual([200, 200]);
    await change(id, { privileges: ["api_tokens"] });
    expect(await statuses(token)).toEqual([403, 403]);
    await remove(id);
    expect(await statuses(token)).toEqual([401, 401]);
  });

  test("for a token that did not exist when it was first tried", async () => {
    const token = "core_0000000000000000000000000000000000000000";
    expect(await statuses(token)).toEqual([401, 401]);
  });

  test("when the clock reaches expires_at, though the token is cached", async () => {
    const { token } = (await make({ expires_at: new Date(Date.now() + 1500).toISOString() })).json;
    expect(await works(token)).toBe(true);
    await eventually(async () => !(await works(token)), "the end of the token");
  });
});

describe("a credential", () => {
  test.each([
    "Bearer",
    "Bearer ",
    "Bearer x",
    "Bearer core_",
    `Bearer ${"x".repeat(5000)}`,
    `Bearer core_${"A".repeat(42)}`,
    "Bearer a b",
    `Basic ${btoa("admin:correct horse battery staple")}`,
    `Token ${adminToken}`,
    adminToken,
    "Bearer ' or 1=1 --",
  ])("that is none is 401: %s", async (authorization) => {
    const answer = await app.get("/account/me.json", { token: null, headers: { authorization } });
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  });

  test("is the same whatever the letter case of Bearer", async () => {
    const headers = { authorization: `bearer  ${adminToken}` };
    expect((await app.get("/account/me.json", { token: null, headers })).status).toBe(200);
  });

  test("of one account is nobody's on another's host", async () => {
    const headers = { host: other.host };
    expect((await app.get("/account/me.json", { headers })).status).toBe(401);
    expect((await app.get("/account/me.json", { headers, token: other.adminToken })).status).toBe(200);
  });

  test("in a cookie is a web_token or none", async () => {
    const inCookie = async (token: string) =>
      (await app.get("/account/me.json", { token: null, headers: { cookie: `core_session=${token}` } })).status;
    expect(await inCookie((await make()).json.token)).toBe(401);
    expect(await inCookie((await make({ kind: "web_token" })).json.token)).toBe(200);
  });
});

describe("last_used_at", () => {
  test("is kept, and written at most once a minute", async () => {
    const { id, token } = (await make()).json;
    expect((await read(id)).json.last_used_at).toBeNull();
    await works(token);
    const first = (await read(id)).json.last_used_at;
    expect(Math.abs(Date.parse(first) - Date.now())).toBeLessThan(60_000);
    await works(token);
    expect((await read(id)).json.last_used_at).toBe(first);
  });

  test("of many requests at once is one write", async () => {
    const { id, token } = (await make()).json;
    const uses = () => Promise.all(Array.from({ length: 100 }, () => works(token)));
    const writtenBy = async () => {
      await read(id); // a read writes what is noted
      const [row] = await app.sql`select xmin::text as transaction, last_used_at from api_tokens where id = ${id}`;
      expect(row?.["lastUsedAt"]).toBeDate();
      return row?.["transaction"];
    };
    await uses();
    const first = await writtenBy();
    await uses();
    expect(await writtenBy()).toBe(first);
  });
});

test("token create prints a token once, narrowed as asked", async () => {
  const command = app.app.commands.find(({ name }) => name === "token create");
  const run = async (options: Record<string, string>) => (await command?.run(options)) ?? [];
  const [token = ""] = await run({ user: "ADMIN", name: "cli", privileges: "api_tokens", "expires-at": "2030-12-31" });
  expect(token).toMatch(/^core_\w{42}$/);
  expect((await app.get("/account/me.json", { token })).json.effective_privileges).toEqual(["api_tokens"]);
  const [theirs = ""] = await run({ user: "admin", account: other.host });
  expect((await other.get("/account/me.json", { token: theirs })).status).toBe(200);
  expect(run({})).rejects.toThrow("token create");
  expect(run({ user: "nobody-here" })).rejects.toThrow("nobody");
  expect(run({ user: "admin", privileges: "nonsense" })).rejects.toThrow("nonsense");
  expect(run({ user: "admin", "expires-at": "2020-01-01" })).rejects.toThrow("date in the future");
  expect(run({ user: "admin", account: "unknown.test" })).rejects.toThrow("unknown.test");
});
