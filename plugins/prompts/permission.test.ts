import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { adminToken, person, startTestApp, type Answer, type TestApp, type TestPerson } from "../../tests/harness.ts";
import { follower, traces } from "../../tests/traces.ts";
import { plugins } from "../index.ts";
import type { PromptScope } from "./cascade.ts";

let app: TestApp;
let units: { team: number; otherTeam: number; department: number; otherDepartment: number };
const tables = ["prompts", "prompt_versions"];
const people = new Map<string, TestPerson>();
let stranger: TestPerson;

beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
  const unit = async (kind: "team" | "department"): Promise<number> =>
    (await app.post(`/account/${kind}s.json`, { [kind]: { name: kind } })).json.id;
  const [team, otherTeam] = [await unit("team"), await unit("team")];
  const [department, otherDepartment] = [await unit("department"), await unit("department")];
  units = { team, otherTeam, department, otherDepartment };
  const member = { teamIds: [team], departmentIds: [department] };
  stranger = await person(app, { teamIds: [otherTeam], departmentIds: [otherDepartment] });
  people.set("user", await person(app, member));
  people.set("manager", await person(app, { role: "manager", ...member }));
  people.set("guest with the privilege", await person(app, { role: "guest", privileges: ["prompts"], ...member }));
  people.set("admin", await person(app, { role: "admin" }));
});
afterAll(() => app.stop());

const unique = (prefix: string) => `${prefix}_${crypto.randomUUID().slice(0, 8)}`;
const { id: nobody } = { id: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e0f" };

type Asker = "user" | "manager" | "guest with the privilege" | "admin";
const askers: readonly Asker[] = ["user", "manager", "guest with the privilege", "admin"];
type Outcome = "writes" | "reads" | "nothing";

/** Whose prompt, where it stands, and what user, manager, guest with the privilege and admin may do with it. */
const table: [
  string,
  (me: number) => PromptScope & { mine?: boolean; code?: string },
  [Outcome, Outcome, Outcome, Outcome],
][] = [
  ["one's own", (me) => ({ scope: "user", scopeId: me }), ["writes", "writes", "writes", "writes"]],
  ["another person's", () => ({ scope: "user", scopeId: stranger.id }), ["nothing", "nothing", "nothing", "writes"]],
  ["one's team's", () => ({ scope: "team", scopeId: units.team }), ["writes", "writes", "writes", "writes"]],
  ["another team's", () => ({ scope: "team", scopeId: units.otherTeam }), ["nothing", "nothing", "nothing", "writes"]],
  [
    "one's department's",
    () => ({ scope: "department", scopeId: units.department }),
    ["writes", "writes", "writes", "writes"],
  ],
  [
    "another department's",
    () => ({ scope: "department", scopeId: units.otherDepartment }),
    ["nothing", "nothing", "nothing", "writes"],
  ],
  [
    "the account's, made by oneself",
    () => ({ scope: "account", scopeId: null, mine: true }),
    ["writes", "writes", "writes", "writes"],
  ],
  [
    "the account's, made by another",
    () => ({ scope: "account", scopeId: null }),
    ["reads", "writes", "reads", "writes"],
  ],
  [
    "the account's in place of a built-in one",
    () => ({ scope: "account", scopeId: null, mine: true, code: "prompts_api" }),
    ["reads", "writes", "reads", "writes"],
  ],
  [
    "the account's in addition to a built-in one",
    () => ({ scope: "account", scopeId: null, mine: true, code: "prompts_api_extra" }),
    ["reads", "writes", "reads", "writes"],
  ],
];
const cases = table.flatMap(([what, place, outcomes]) =>
  askers.map((asker, at) => [asker, what, place, outcomes[at] ?? "nothing"] as const),
);

/** A prompt at this place, made by an administrator, or made to look as if the asker had. */
async function stored(asker: Asker, place: ReturnType<(typeof table)[number][1]>): Promise<string> {
  const code = place.code ?? unique("p");
  await app.sql`delete from prompts where code = ${code}`;
  const { scope, scopeId: scope_id } = place;
  const answer = await app.post("/core/prompts.json", { prompt: { name: "a", code, content: "a", scope, scope_id } });
  expect(answer.status).toBe(201);
  const me = people.get(asker)?.id ?? 0;
  if (place.mine) await app.sql`update prompts set created_by_id = ${me} where id = ${answer.json.id}`;
  return answer.json.id;
}

describe("what a person may do", () => {
  test.each(cases)("%s with %s prompt", async (asker, _, placeOf, outcome) => {
    const me = people.get(asker);
    if (!me) throw new Error("nobody");
    const place = placeOf(me.id);
    const id = await stored(asker, place);
    const options = { token: me.token };
    const path = `/core/prompts/${id}`;
    const listed = (await app.get("/core/prompts.json?limit=1000", options)).json.some(
      (row: { id: string }) => row.id === id,
    );
    const code = place.code ?? unique("p");
    const { scope, scopeId: scope_id } = place;
    const before = await traces(app, ...tables);
    const statuses = {
      listed,
      get: (await app.get(`${path}.json`, options)).status,
      md: (await app.get(`${path}.md`, options)).status,
      versions: (await app.get(`${path}/versions.json`, options)).status,
      restore: (await app.post(`${path}/versions/1/restore.json`, undefined, options)).status,
      patch: (await app.patch(`${path}.json`, { prompt: { name: "b" } }, options)).status,
      delete: (await app.delete(`${path}.json`, options)).status,
    };
    const expected = {
      writes: { listed: true, get: 200, md: 200, versions: 200, restore: 200, patch: 200, delete: 204 },
      reads: { listed: true, get: 200, md: 200, versions: 200, restore: 403, patch: 403, delete: 403 },
      nothing: { listed: false, get: 404, md: 404, versions: 404, restore: 404, patch: 404, delete: 404 },
    };
    expect(statuses).toEqual(expected[outcome]);
    if (outcome !== "writes") expect(await traces(app, ...tables)).toEqual(before);
    if (place.code) await app.sql`delete from prompts where code = ${place.code}`;
    // Whoever makes a prompt of the account is its creator.
    const now = await traces(app, ...tables);
    const mayMake = outcome === "writes" || (scope === "account" && !place.code);
    const made = await app.post(
      "/core/prompts.json",
      { prompt: { name: "a", code, content: "a", scope, scope_id } },
      options,
    );
    expect(made.status).toBe(mayMake ? 201 : 403);
    if (!mayMake) expect(await traces(app, ...tables)).toEqual(now);
  });

  test("is nothing without the privilege, but for what is rendered", async () => {
    const guest = await person(app, { role: "guest" });
    const narrowed = await person(app, { role: "admin", narrowedTo: ["dbs"] });
    const id = await stored("admin", { scope: "account", scopeId: null });
    const { code } = (await app.get(`/core/prompts/${id}.json`)).json;
    for (const token of [guest.token, narrowed.token]) {
      const path = `/core/prompts/${id}`;
      const answers = [
        await app.get("/core/prompts.json", { token }),
        await app.get(`${path}.json`, { token }),
        await app.get(`${path}.md`, { token }),
        await app.post("/core/prompts.json", { prompt: { name: "a", code: unique("p"), content: "a" } }, { token }),
        await app.patch(`${path}.json`, { prompt: { name: "b" } }, { token }),
        await app.delete(`${path}.json`, { token }),
      ];
      for (const { status, json } of answers)
        expect([status, json.error]).toEqual([403, expect.stringContaining("prompts")]);
      expect((await app.get(`/core/prompt/${code}.md`, { token })).status).toBe(200);
      expect((await app.get("/core/prompts/system/prompts_api.md", { token })).status).toBe(200);
    }
    for (const path of [`/core/prompt/${code}.md`, "/core/prompts/system/prompts_api.md", `/core/prompts/${id}.md`])
      expect((await app.get(path, { token: null })).status).toBe(401);
  });
});

describe("an _extra", () => {
  const tokenOf = (asker: string) => ({ token: people.get(asker)?.token ?? "" });
  const post = (fields: object, options = {}) =>
    app.post("/core/prompts.json", { prompt: { name: "a", content: "a", ...fields } }, options);
  const made = async (fields: object, options = {}): Promise<string> => {
    const answer = await post(fields, options);
    expect(answer.status).toBe(201);
    return answer.json.id;
  };
  const expectRefused = async (send: () => Promise<Answer>, status = 403): Promise<void> => {
    const before = await traces(app, ...tables);
    expect((await send()).status).toBe(status);
    expect(await traces(app, ...tables)).toEqual(before);
  };
  const ofTeam = () => ({ scope: "team", scope_id: units.team });
  const ofDepartment = () => ({ scope: "department", scope_id: units.department });

  type Made = readonly [by: "user" | "admin", place: () => object];
  const account = () => ({});
  const own = () => ({ scope: "user" });
  /** What stands under the code, where its `_extra` would be, and whether a user who made what `user` says may write it. */
  const rules: [string, readonly Made[], () => object, boolean][] = [
    ["of others' account prompt", [["admin", account]], account, false],
    ["of others' account prompt, for the team", [["admin", account]], ofTeam, false],
    ["of others' account prompt, for oneself", [["admin", account]], own, true],
    ["of one's own account prompt", [["user", account]], account, true],
    ["of one's own account prompt, for the team", [["user", account]], ofTeam, true],
    ["of nothing", [], account, false],
    ["of nothing, for the department", [], ofDepartment, false],
    ["of what only oneself has", [["user", own]], account, false],
    [
      "of others', which one has another of",
      [
        ["admin", account],
        ["user", own],
      ],
      account,
      false,
    ],
    [
      "of others', which one's team has another of",
      [
        ["admin", account],
        ["user", ofTeam],
      ],
      account,
      false,
    ],
    [
      "of one's team's, for the team",
      [
        ["admin", account],
        ["user", ofTeam],
      ],
      ofTeam,
      true,
    ],
    [
      "of one's team's, for the department",
      [
        ["admin", account],
        ["user", ofTeam],
      ],
      ofDepartment,
      false,
    ],
    [
      "of others' in the team, for the team",
      [
        ["user", account],
        ["admin", ofTeam],
      ],
      ofTeam,
      false,
    ],
    [
      "of one's own, which a team has another of",
      [
        ["user", account],
        ["admin", ofTeam],
      ],
      account,
      false,
    ],
    [
      "of one's own, which another has for themselves",
      [
        ["user", account],
        ["admin", own],
      ],
      account,
      true,
    ],
  ];

  test.each(rules)("%s is made by those who may", async (_, bases, place, may) => {
    const code = unique("p");
    for (const [by, of] of bases) await made({ code, ...of() }, by === "user" ? tokenOf("user") : {});
    const extra = { code: `${code}_extra`, ...place() };
    if (may) await made(extra, tokenOf("user"));
    else await expectRefused(() => post(extra, tokenOf("user")));
    await made({ code: `${code}_extra`, scope: "user" }, tokenOf("manager"));
    if (!may) await made(extra, tokenOf("manager"));
  });

  test("is what no prompt is renamed, moved or restored to, either", async () => {
    const code = unique("p");
    await made({ code });
    const extra = `${code}_extra`;
    const by = tokenOf("user");
    const patch = (id: string, prompt: object) => app.patch(`/core/prompts/${id}.json`, { prompt }, by);
    const other = await made({ code: unique("p") }, by);
    await expectRefused(() => patch(other, { code: extra }));
    const mine = await made({ code: extra, scope: "user" }, by);
    for (const place of [{ scope: "account" }, ofTeam(), ofDepartment()]) await expectRefused(() => patch(mine, place));
    expect((await patch(mine, { content: "b" })).status).toBe(200);
    const restored = await made({ code: extra });
    await app.patch(`/core/prompts/${restored}.json`, { prompt: { code: unique("p") } });
    await app.sql`update prompts set created_by_id = ${people.get("user")?.id ?? 0} where id = ${restored}`;
    await expectRefused(() => app.post(`/core/prompts/${restored}/versions/1/restore.json`, undefined, by));
  });

  test("of others' prompt is neither changed nor deleted by the user who once made it", async () => {
    const code = unique("p");
    await made({ code });
    const id = await made({ code: `${code}_extra` });
    await app.sql`update prompts set created_by_id = ${people.get("user")?.id ?? 0} where id = ${id}`;
    await expectRefused(() => app.patch(`/core/prompts/${id}.json`, { prompt: { name: "b" } }, tokenOf("user")));
    await expectRefused(() => app.delete(`/core/prompts/${id}.json`, tokenOf("user")));
    expect((await app.delete(`/core/prompts/${id}.json`, tokenOf("manager"))).status).toBe(204);
  });

  test("does not wait for the next prompt of a code: it goes before the one that it adds to", async () => {
    const [code, by] = [unique("p"), tokenOf("user")];
    const id = await made({ code }, by);
    const extra = await made({ code: `${code}_extra` }, by);
    const patch = (prompt: object) => app.patch(`/core/prompts/${id}.json`, { prompt }, by);
    await expectRefused(() => app.delete(`/core/prompts/${id}.json`, by), 422);
    await expectRefused(() => patch({ code: unique("p") }), 422);
    await expectRefused(() => patch({ scope: "user" }), 422);
    expect((await patch({ name: "b" })).status).toBe(200);
    expect((await app.delete(`/core/prompts/${extra}.json`, by)).status).toBe(204);
    expect((await patch({ code: unique("p") })).status).toBe(200);
    expect((await app.delete(`/core/prompts/${id}.json`, by)).status).toBe(204);
  });
});

describe("a prompt that is moved", () => {
  const move = (id: string, asker: Asker, fields: object) =>
    app.patch(`/core/prompts/${id}.json`, { prompt: fields }, { token: people.get(asker)?.token ?? "" });

  test("needs the right to write where it goes", async () => {
    const me = people.get("user")?.id ?? 0;
    const cases2: [object, number][] = [
      [{ scope: "team", scope_id: units.team }, 200],
      [{ scope: "department", scope_id: units.department }, 200],
      [{ scope: "user", scope_id: me }, 200],
      [{ scope: "user" }, 200],
      [{ scope: "team", scope_id: units.otherTeam }, 403],
      [{ scope: "department", scope_id: units.otherDepartment }, 403],
      [{ scope: "user", scope_id: stranger.id }, 403],
      [{ scope: "team", scope_id: 999_999 }, 422],
      [{ scope: "team", scope_id: units.department }, 422],
      [{ scope: "department", scope_id: units.team }, 422],
      [{ scope: "team" }, 422],
      [{ scope: "department", scope_id: null }, 422],
    ];
    for (const [fields, status] of cases2) {
      const id = await stored("user", { scope: "user", scopeId: me });
      const answer = await move(id, "user", fields);
      expect({ fields, status: answer.status }).toEqual({ fields, status });
      if (status === 422) expect(Object.keys(answer.json)).toEqual(["scope_id"]);
      if (status === 200) expect(answer.json).toMatchObject({ scope_id: me, ...fields });
    }
  });

  test("goes to the account by its creator or a manager only, and has no scope_id there", async () => {
    const teams = { scope: "team", scopeId: units.team } as const;
    expect((await move(await stored("user", teams), "user", { scope: "account" })).status).toBe(403);
    const byManager = await move(await stored("user", teams), "manager", { scope: "account", scope_id: 5 });
    expect([byManager.status, byManager.json.scope, byManager.json.scope_id]).toEqual([200, "account", null]);
    expect((await move(await stored("user", { ...teams, mine: true }), "user", { scope: "account" })).status).toBe(200);
  });

  test("cannot be renamed to a built-in one's code by a user", async () => {
    const id = await stored("user", { scope: "account", scopeId: null, mine: true });
    expect((await move(id, "user", { code: "common_api" })).status).toBe(403);
    expect((await move(id, "user", { scope: "user", code: "common_api" })).status).toBe(200);
    expect((await move(id, "user", { scope: "account" })).status).toBe(403);
  });

  test("to nobody, or to another account's person, is 422", async () => {
    const id = await stored("admin", { scope: "account", scopeId: null });
    for (const scope_id of [999_999_999, Number.MAX_SAFE_INTEGER]) {
      const answer = await move(id, "admin", { scope: "user", scope_id });
      expect([answer.status, Object.keys(answer.json)]).toEqual([422, ["scope_id"]]);
    }
  });
});

test("who leaves a team no longer sees or writes its prompts, at once", async () => {
  const member = await person(app, { teamIds: [units.team] });
  const id = await stored("admin", { scope: "team", scopeId: units.team });
  const options = { token: member.token };
  expect((await app.get(`/core/prompts/${id}.json`, options)).status).toBe(200);
  await app.patch(`/account/users/${member.id}.json`, { user: { team_ids: [] } }, { token: adminToken });
  expect((await app.get(`/core/prompts/${id}.json`, options)).status).toBe(404);
  expect((await app.delete(`/core/prompts/${nobody}.json`, options)).status).toBe(404);
});
