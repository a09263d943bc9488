import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  otherAccount,
  person,
  startTestApp,
  type Answer,
  type OtherAccount,
  type TestApp,
} from "../../../tests/harness.ts";
import { follower, traces } from "../../../tests/traces.ts";
import { plugins } from "../../index.ts";
import { tokens } from "../../tokens/api.ts";
import { accounts } from "../api.ts";

let app: TestApp;
let other: OtherAccount;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
  other = await otherAccount(app);
});
afterAll(() => app.stop());

const users = "/account/users.json";
const unique = (prefix: string) => `${prefix}-${crypto.randomUUID().slice(0, 8)}`;
const add = async (fields: Record<string, unknown> = {}, token?: string) =>
  app.post(users, { user: { login: unique("p"), ...fields } }, token === undefined ? {} : { token });
const change = (id: number, fields: unknown, token?: string) =>
  app.patch(`/account/users/${id}.json`, { user: fields }, token === undefined ? {} : { token });

/** What `run` asks for is refused: it leaves no row and no event. */
async function refused(run: () => Promise<Answer>): Promise<Answer> {
  const tables = ["users", "memberships", "units"];
  const before = await traces(app, ...tables);
  const result = await run();
  expect(await traces(app, ...tables)).toEqual(before);
  return result;
}

describe("a person", () => {
  test("is made with standard values, shown whole, and never with a password", async () => {
    const login = unique("anna");
    const made = await add({ login, password: "a long pass phrase" });
    expect(made.status).toBe(201);
    expect(made.json).toEqual({
      id: expect.any(Number),
      login,
      email: null,
      name: login,
      role: "user",
      active: true,
      privileges: [],
      team_ids: [],
      group_ids: [],
      department_ids: [],
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const [row] = await app.sql`select password_hash from users where id = ${made.json.id}`;
    expect(row?.["passwordHash"]).toStartWith("$argon2id$");
    const read = await app.get(`/account/users/${made.json.id}.json`);
    expect(read.status).toBe(200);
    expect(read.json).toEqual(made.json);
  });

  test("is changed field by field; what is left out stays", async () => {
    const [team, department, group] = await Promise.all(
      ["team", "department", "group"].map(async (kind) => {
        const answer = await app.post(`/account/${kind}s.json`, { [kind]: { name: kind } });
        return answer.json.id as number;
      }),
    );
    const { json } = await add({ team_ids: [team], department_ids: [department], email: `${unique("x")}@example.com` });
    const after = await change(json.id, { name: "Anna", role: "manager", group_ids: [group], privileges: ["users"] });
    expect(after.status).toBe(200);
    expect(after.json).toEqual({
      ...json,
      name: "Anna",
      role: "manager",
      group_ids: [group],
      privileges: ["users"],
      updated_at: expect.any(String),
    });
    const cleared = await change(json.id, { team_ids: [], email: null });
    expect(cleared.json).toMatchObject({ team_ids: [], department_ids: [department], group_ids: [group], email: null });
  });

  test("has no address if it is empty, and each privilege once", async () => {
    const { json } = await add({ email: "", privileges: ["dbs", "dbs"] });
    expect(json).toMatchObject({ email: null, privileges: ["dbs"] });
    await change(json.id, { email: `${unique("x")}@example.com` });
    expect((await change(json.id, { email: "" })).json.email).toBeNull();
  });

  test("is deleted once", async () => {
    const { json } = await add();
    const gone = await app.delete(`/account/users/${json.id}.json`);
    expect([gone.status, gone.text]).toEqual([204, ""]);
    expect((await app.get(`/account/users/${json.id}.json`)).status).toBe(404);
    expect((await app.delete(`/account/users/${json.id}.json`)).status).toBe(404);
  });

  test("has a login and an address of their own, letter case aside, in their account", async () => {
    const login = unique("Ola");
    const email = `${unique("Ola")}@Example.com`;
    expect((await add({ login, email })).status).toBe(201);
    const taken = ["is already taken"];
    expect((await refused(() => add({ login: login.toUpperCase() }))).json).toEqual({ login: taken });
    expect((await refused(() => add({ email: email.toLowerCase() }))).json).toEqual({ email: taken });
    // One could otherwise catch another's sign-in.
    expect((await refused(() => add({ login: email.toLowerCase() }))).json).toHaveProperty("login");
    const elsewhere = await other.post(users, { user: { login, email } });
    expect(elsewhere.status).toBe(201);
  });

  test("of two hundred made at once with one login is made once", async () => {
    const login = unique("many");
    const answers = await Promise.all(Array.from({ length: 200 }, () => add({ login })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(199);
  });

  const wrong: [string, Record<string, unknown>][] = [
    ["login", { login: 5 }],
    ["login", { login: "" }],
    ["login", { login: "with blank" }],
    ["login", { login: "nul\0" }],
    ["login", { login: null }],
    ["login", { login: "x".repeat(101) }],
    ["email", { email: 5 }],
    ["email", { email: "no address" }],
    ["email", { email: "a@b c" }],
    ["name", { name: [] }],
    ["name", { name: "  " }],
    ["name", { name: "n".repeat(1_000_000) }],
    ["role", { role: "root" }],
    ["role", { role: 1 }],
    ["active", { active: "yes" }],
    ["privileges", { privileges: "users" }],
    ["privileges", { privileges: [5] }],
    ["privileges", { privileges: ["nonsense"] }],
    ["privileges", { privileges: ["__proto__"] }],
    ["password", { password: "short" }],
    ["password", { password: 12_345_678 }],
    ["team_ids", { team_ids: ["1"] }],
    ["team_ids", { team_ids: [999_999] }],
    ["team_ids", { team_ids: [1.5] }],
    ["team_ids", { team_ids: [-1] }],
    ["group_ids", { group_ids: {} }],
    ["department_ids", { department_ids: [2 ** 60] }],
  ];
  test.each(wrong)("with a wrong %s is refused, made and changed: %j", async (field, fields) => {
    const made = await refused(() => add(fields));
    expect([made.status, Object.keys(made.json)]).toEqual([422, [field]]);
    const { json } = await add();
    const changed = await refused(() => change(json.id, fields));
    expect([changed.status, Object.keys(changed.json)]).toEqual([422, [field]]);
  });

  test("with null for what may be left out is made as without; a change to null is refused", async () => {
    const nothing = { role: null, active: null, password: null };
    const { json, status } = await add(nothing);
    expect([status, json.role, json.active]).toEqual([201, "user", true]);
    const changed = await refused(() => change(json.id, nothing));
    expect([changed.status, Object.keys(changed.json)]).toEqual([422, ["role", "active", "password"]]);
  });

  test("without a login, or without the body's key, is refused", async () => {
    expect((await refused(() => app.post(users, { user: {} }))).json).toEqual({ login: ["is required"] });
    expect((await refused(() => app.post(users, { person: {} }))).status).toBe(400);
    expect((await refused(() => app.post(users, []))).status).toBe(400);
    const headers = { "content-type": "application/json" };
    expect((await refused(() => app.request("POST", users, undefined, { raw: "{", headers }))).status).toBe(400);
  });

  test("keeps fields that a request may not set", async () => {
    const { json } = await add();
    const raw = `{"user":{"__proto__":{"role":"admin"},"constructor":{"role":"admin"},"id":1,"account_id":2,"password_hash":"x","name":"N"}}`;
    const answer = await app.request("PATCH", `/account/users/${json.id}.json`, undefined, {
      raw,
      headers: { "content-type": "application/json" },
    });
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ id: json.id, role: "user", name: "N" });
  });

  test.each(["0", "-1", "1.5", "abc", "99999999999999999999", "9999999", "1%20or%201=1", "%00"])(
    "with the id %s is nobody",
    async (id) => {
      for (const method of ["GET", "PATCH", "DELETE"]) {
        const body = method === "PATCH" ? { user: { name: "x" } } : undefined;
        expect((await refused(() => app.request(method, `/account/users/${id}.json`, body))).status).toBe(404);
      }
    },
  );

  test("of another account is nobody, and its teams are none", async () => {
    const theirs = await person(app, { of: other });
    for (const method of ["GET", "PATCH", "DELETE"]) {
      const body = method === "PATCH" ? { user: { name: "x" } } : undefined;
      expect((await refused(() => app.request(method, `/account/users/${theirs.id}.json`, body))).status).toBe(404);
    }
    const team = await other.post("/account/teams.json", { team: { name: "theirs" } });
    expect((await refused(() => add({ team_ids: [team.json.id] }))).json).toHaveProperty("team_ids");
    const { json } = await add();
    expect((await refused(() => change(json.id, { team_ids: [team.json.id] }))).status).toBe(422);
    const all = await app.get(`${users}?limit=1000`);
    expect(all.json.some(({ id }: { id: number }) => id === theirs.id)).toBe(false);
  });
});

describe("the list of people", () => {
  test("is narrowed by q, role, active and team, in pages by id", async () => {
    const mark = unique("list");
    const team = await app.post("/account/teams.json", { team: { name: mark } });
    await add({ login: `${mark}-1`, role: "guest" });
    await add({ login: `${mark}-2`, name: "100% Żółw_", active: false });
    await add({ login: `${mark}-3`, team_ids: [team.json.id] });
    const logins = async (query: string) => {
      const answer = await app.get(`${users}?${query}`);
      expect(answer.status).toBe(200);
      const names = answer.json.map(({ login }: { login: string }) => login.replace(`${mark}-`, ""));
      return [names.join(), answer.headers.get("x-total-count")];
    };
    expect(await logins(`q=${mark}`)).toEqual(["1,2,3", "3"]);
    expect(await logins(`q=${mark.toUpperCase()}&limit=1&offset=1`)).toEqual(["2", "3"]);
    expect(await logins(`q=${mark}&offset=9`)).toEqual(["", "3"]);
    expect(await logins(`q=${mark}&role=guest`)).toEqual(["1", "1"]);
    expect(await logins(`q=${mark}&active=false`)).toEqual(["2", "1"]);
    expect(await logins(`q=${mark}&active=true`)).toEqual(["1,3", "2"]);
    expect(await logins(`q=${encodeURIComponent("żółw_")}`)).toEqual(["2", "1"]);
    expect(await logins(`team_id=${team.json.id}`)).toEqual(["3", "1"]);
    expect(await logins(`q=${mark}&team_id=x`)).toEqual(["", "0"]);
    expect(await logins(`q=${mark}&limit=abc&offset=-5`)).toEqual(["1,2,3", "3"]);
  });

  test("does no harm with hostile questions", async () => {
    for (const q of ["'; drop table users; --", "%25%25", "\\", "x".repeat(5000)]) {
      expect((await app.get(`${users}?q=${encodeURIComponent(q)}`)).status).toBe(200);
    }
    expect((await app.get(`${users}?q=%00`)).status).toBeLessThan(500);
  });
});

describe("the privilege users", () => {
  const routes = [
    ["GET", users],
    ["POST", users],
    ["GET", "/account/users/1.json"],
    ["PATCH", "/account/users/1.json"],
    ["DELETE", "/account/users/1.json"],
    ["GET", "/account/teams.json"],
    ["POST", "/account/departments.json"],
    ["PATCH", "/account/groups/1.json"],
  ] as const;
  test.each(routes)("is needed for %s %s", async (method, path) => {
    const body = method === "POST" || method === "PATCH" ? {} : undefined;
    expect((await refused(() => app.request(method, path, body, { token: null }))).status).toBe(401);
    for (const role of ["manager", "user", "guest"] as const) {
      const { token } = await person(app, { role });
      expect((await refused(() => app.request(method, path, body, { token }))).status).toBe(403);
    }
    const { token } = await person(app, { role: "admin", narrowedTo: ["api_tokens"] });
    const narrowed = await refused(() => app.request(method, path, body, { token }));
    expect([narrowed.status, narrowed.json.error]).toEqual([403, expect.stringContaining("users")]);
  });

  test("opens to its holder what is not above them", async () => {
    const { token } = await person(app, { role: "manager", privileges: ["users"] });
    const made = await add({ role: "manager", privileges: ["users"] }, token);
    expect(made.status).toBe(201);
    expect((await change(made.json.id, { role: "user", password: "new password" }, token)).status).toBe(200);
    expect((await app.delete(`/account/users/${made.json.id}.json`, { token })).status).toBe(204);
  });

  test("never gives a role or a privilege that its holder lacks", async () => {
    const { token } = await person(app, { role: "user", privileges: ["users"] });
    for (const role of ["manager", "admin"])
      expect((await refused(() => add({ role }, token))).json).toEqual({ role: ["is above your own"] });
    expect((await add({ role: "guest" }, token)).status).toBe(201);
    const { json } = await add({}, token);
    expect((await refused(() => change(json.id, { role: "admin" }, token))).json).toHaveProperty("role");
    const guest = await person(app, { role: "guest", privileges: ["users"] });
    for (const [ask, field] of [
      [() => add({ role: "guest", privileges: ["api_tokens"] }, guest.token), "privileges"],
      [() => change(guest.id, { privileges: ["users", "api_tokens"] }, guest.token), "privileges"],
      [() => change(guest.id, { role: "user" }, guest.token), "role"],
    ] as const)
      expect((await refused(ask)).json).toHaveProperty(field);
  });

  test("never touches somebody above its holder", async () => {
    const { token } = await person(app, { role: "manager", privileges: ["users"] });
    const admin = await person(app, { role: "admin" });
    for (const fields of [{ password: "taken over!" }, { name: "x" }, { role: "guest" }, { active: false }]) {
      expect((await refused(() => change(admin.id, fields, token))).status).toBe(403);
    }
    const deleted = await refused(() => app.delete(`/account/users/${admin.id}.json`, { token }));
    expect(deleted.status).toBe(403);
    const lowly = await person(app, { role: "guest", privileges: ["users"] });
    const peer = await person(app, { role: "guest", privileges: ["api_tokens"] });
    expect((await refused(() => change(peer.id, { password: "taken over!" }, lowly.token))).status).toBe(403);
  });

  test("of a narrowed administrator's token does not reach administrators, and so cannot widen itself", async () => {
    const { id, token } = await person(app, { role: "admin", narrowedTo: ["users"] });
    const added = await refused(() => add({ role: "admin", password: "a new admin" }, token));
    expect(added.json).toHaveProperty("role");
    expect((await refused(() => change(id, { password: "my own new one" }, token))).status).toBe(403);
    expect((await refused(() => add({ privileges: ["api_tokens"] }, token))).json).toHaveProperty("privileges");
    expect((await add({ role: "guest" }, token)).status).toBe(201);
  });

  describe("of a narrowed token", () => {
    const tables = ["users", "memberships"];
    const manager = (...narrowedTo: string[]) => person(app, { role: "manager", privileges: ["users"], narrowedTo });

    test.each([
      ["its owner's role", { role: "manager", privileges: ["users"], password: "escalated1" }, "role"],
      ["a role below that", { role: "user", password: "escalated1" }, "role"],
      ["the standard role", {}, "role"],
      ["a privilege", { role: "guest", privileges: ["users", "dbs"] }, "privileges"],
    ])("does not give a new person what the token lacks: %s", async (_, fields, field) => {
      const { token } = await manager("users");
      const before = await traces(app, ...tables);
      const answer = await add(fields, token);
      expect([answer.status, Object.keys(answer.json)]).toEqual([422, [field]]);
      expect(await traces(app, ...tables)).toEqual(before);
    });

    test.each([
      ["the role", { role: "manager" }, "role"],
      ["the role below its owner's", { role: "user" }, "role"],
      ["a privilege", { privileges: ["dbs"] }, "privileges"],
    ])("does not lift somebody up by %s", async (_, fields, field) => {
      const { token } = await manager("users");
      const { id } = await person(app, { role: "guest" });
      const before = await traces(app, ...tables);
      const answer = await change(id, fields, token);
      expect([answer.status, Object.keys(answer.json)]).toEqual([422, [field]]);
      expect(await traces(app, ...tables)).toEqual(before);
    });

    const fieldsAbove = [
      { password: "taken over!" },
      { role: "guest" },
      { privileges: [] },
      { login: "taken-over" },
      { email: "taken@example.com" },
      { team_ids: [] },
      { active: false },
      { name: "x" },
    ];
    test("touches nobody who can do more than the token: its own owner, a peer, a user", async () => {
      const own = await manager("users");
      const others = [await person(app, { role: "manager" }), await person(app, { role: "user" })];
      const granted = await person(app, { role: "guest", privileges: ["dbs"] });
      for (const { id } of [own, ...others, granted]) {
        const before = await traces(app, ...tables);
        for (const fields of fieldsAbove) expect((await change(id, fields, own.token)).status).toBe(403);
        expect((await app.delete(`/account/users/${id}.json`, { token: own.token })).status).toBe(403);
        expect(await traces(app, ...tables)).toEqual(before);
      }
    });

    test("does not change by what its owner signs in; the name it does", async () => {
      const login = unique("owner");
      const owner = await add({ login, role: "manager", password: "the old password" });
      const issued = await app.service(tokens).issue({ accountId: 1, userId: owner.json.id, privileges: ["dbs"] });
      const options = { token: issued?.token ?? "" };
      const before = await traces(app, ...tables);
      for (const user of [
        { password: "a new password", current_password: "the old password" },
        { password: "a new password", current_password: "wrong" },
        { email: "mine@example.com" },
        { email: null, name: "x" },
      ])
        expect((await app.patch("/account/me.json", { user }, options)).status).toBe(403);
      expect(await traces(app, ...tables)).toEqual(before);
      expect((await app.patch("/account/me.json", { user: { name: "New" } }, options)).json.name).toBe("New");
    });

    test("does all that with people who can do no more than it", async () => {
      const { token } = await manager("users", "prompts", "api_tokens", "apps", "dbs");
      const made = await add({ password: "a long pass phrase", privileges: ["dbs"] }, token);
      expect([made.status, made.json.role]).toEqual([201, "user"]);
      const fields = { password: "another pass phrase", role: "guest", privileges: [], login: unique("renamed") };
      expect((await change(made.json.id, fields, token)).status).toBe(200);
      expect((await app.delete(`/account/users/${made.json.id}.json`, { token })).status).toBe(204);
      const guests = await manager("users");
      const guest = await add({ role: "guest", password: "a long pass phrase" }, guests.token);
      expect((await change(guest.json.id, { password: "another pass phrase" }, guests.token)).status).toBe(200);
    });
  });
});

describe("the last active administrator", () => {
  test("can be neither deleted, switched off nor demoted", async () => {
    const own = await otherAccount(app);
    const [{ id }] = (await own.get(users)).json;
    const path = `/account/users/${id}.json`;
    expect((await refused(() => own.delete(path))).json).toHaveProperty("base");
    expect((await refused(() => own.patch(path, { user: { active: false } }))).json).toHaveProperty("active");
    expect((await refused(() => own.patch(path, { user: { role: "manager" } }))).json).toHaveProperty("role");
    const idle = await own.post(users, { user: { login: "idle", role: "admin", active: false } });
    expect((await refused(() => own.delete(path))).status).toBe(422);
    expect((await own.patch(path, { user: { name: "Renamed" } })).status).toBe(200);
    await own.patch(`/account/users/${idle.json.id}.json`, { user: { active: true } });
    expect((await own.patch(path, { user: { role: "manager" } })).status).toBe(200);
  });

  test("is left over when all demote, delete and switch off each other at once", async () => {
    const own = await otherAccount(app);
    const admins = await Promise.all(Array.from({ length: 6 }, () => person(app, { role: "admin", of: own })));
    const first = (await own.get(users)).json[0].id;
    const ids = [first, ...admins.map(({ id }) => id)];
    const answers = await Promise.all(
      ids.map((id, at) => {
        const { token } = admins[(at + 1) % admins.length] ?? { token: own.adminToken };
        const path = `/account/users/${id}.json`;
        if (at % 3 === 0) return own.delete(path, { token });
        return own.patch(path, { user: at % 3 === 1 ? { role: "user" } : { active: false } }, { token });
      }),
    );
    expect(answers.every(({ status }) => [200, 204, 401, 403, 422].includes(status))).toBe(true);
    const left = await app.sql`select 1 from users where account_id = ${own.id} and role = 'admin' and active`;
    expect(left.length).toBeGreaterThanOrEqual(1);
  });
});

describe("a change of a person counts at once", () => {
  let second: TestApp;
  beforeAll(async () => {
    second = await startTestApp({ target: app.target });
  });
  afterAll(() => second.stop());

  const changes: [string, (id: number) => Promise<unknown>, number][] = [
    ["switched off", (id) => change(id, { active: false }), 401],
    ["deleted", (id) => app.delete(`/account/users/${id}.json`), 401],
    ["demoted", (id) => change(id, { role: "guest" }), 403],
  ];
  test.each(changes)("in every server process: %s", async (_what, make, status) => {
    const { id, token } = await person(app, { role: "user" });
    for (const server of [app, second])
      expect((await server.get("/account/api_tokens.json", { token })).status).toBe(200);
    await make(id);
    for (const server of [app, second])
      expect((await server.get("/account/api_tokens.json", { token })).status).toBe(status);
  });

  test("also the other way round", async () => {
    const { id, token } = await person(app, { role: "guest" });
    for (const server of [app, second])
      expect((await server.get("/account/api_tokens.json", { token })).status).toBe(403);
    await change(id, { privileges: ["api_tokens"] });
    for (const server of [app, second])
      expect((await server.get("/account/api_tokens.json", { token })).status).toBe(200);
  });

  test("and so does a deleted team", async () => {
    const team = await app.post("/account/teams.json", { team: { name: "short-lived" } });
    const { id } = await person(app, { teamIds: [team.json.id] });
    const teamsOf = async (server: TestApp) => (await server.service(accounts).access(id))?.user.teamIds;
    for (const server of [app, second]) expect(await teamsOf(server)).toEqual([team.json.id]);
    expect((await app.delete(`/account/teams/${team.json.id}.json`)).status).toBe(204);
    for (const server of [app, second]) expect(await teamsOf(server)).toEqual([]);
  });
});
