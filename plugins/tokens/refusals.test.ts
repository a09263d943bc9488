/** A refused write of a token leaves no row and no event, and the token in question works as before. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { otherAccount, person, startTestApp, type TestApp } from "../../tests/harness.ts";
import { follower, traces } from "../../tests/traces.ts";
import { plugins } from "../index.ts";

let app: TestApp;
const callers: Record<string, string> = {};
const ids: Record<string, number> = {};
const path = "/account/api_tokens";
const soon = new Date(Date.now() + 3_600_000).toISOString();
const later = new Date(Date.now() + 7_200_000).toISOString();

beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
  const make = async (name: string, fields: object, token?: string) => {
    const given = { api_token: { name, ...fields } };
    const { json } = await app.post(`${path}.json`, given, token ? { token } : {});
    [ids[name], callers[name]] = [json.id, json.token];
  };
  await make("plain", { code: "taken", integration_app_code: "taken" });
  await make("whole account", { for_account: true });
  await make("narrowed", { privileges: ["api_tokens", "prompts"] });
  await make("ending", { expires_at: soon });
  await make("inactive", { active: false });
  callers["user"] = (await person(app)).token;
  await make("of a user", {}, callers["user"]);
  callers["guest"] = (await person(app, { role: "guest" })).token;
  callers["of another account"] = (await otherAccount(app)).adminToken;
  const password = "a password of theirs";
  const { login } = await person(app, { password, role: "admin" });
  await app.post("/account/session.json", { login, password }, { token: null });
  const [session] = await app.sql<{ id: number }[]>`select id from api_tokens where purpose = 'session'`;
  ids["session"] = Number(session?.id);
  // When a token was last used is written by refused requests too.
  await app.sql`
    create view kept_tokens as select id, user_id, purpose, name, code, kind, integration_app_code, for_account, active,
      privileges, expires_at, token_hash, parent_id, opened_at, updated_at from api_tokens`;
});
afterAll(() => app.stop());

interface Case {
  /** Whose token it is; null = without sign-in. Default: the administrator's. */
  readonly as?: string | null;
  readonly fields?: object;
  readonly body?: unknown;
  /** The field of a 422, or part of another refusal's text. */
  readonly says?: string;
}

async function refused(method: string, of: string, status: number, { as, fields, body, says }: Case) {
  const at = of === "" ? path : `${path}/${ids[of] ?? of}`;
  const token = as === undefined ? {} : { token: as === null ? null : (callers[as] ?? "") };
  const before = await traces(app, "kept_tokens");
  const answer = await app.request(method, `${at}.json`, body ?? (fields && { api_token: fields }), token);
  expect([answer.status, answer.text]).toEqual([status, expect.any(String)]);
  if (status === 422) expect(Object.keys(answer.json.errors)).toEqual([says ?? ""]);
  else if (says !== undefined) expect(answer.json.error).toContain(says);
  expect(answer.headers.get("www-authenticate")).toBe(status === 401 ? "Bearer" : null);
  expect(await traces(app, "kept_tokens")).toEqual(before);
}

const wrong: [string, object, string][] = [
  ["a name of another type", { name: {} }, "name"],
  ["a name that is too long", { name: "n".repeat(256) }, "name"],
  ["a taken code", { code: "taken" }, "code"],
  ["a taken application code", { integration_app_code: "taken" }, "integration_app_code"],
  ["another kind", { kind: "session" }, "kind"],
  ["a day that no calendar has", { expires_at: "2030-02-30" }, "expires_at"],
  ["a time without a date", { expires_at: "12:00" }, "expires_at"],
  ["a flag that is not one", { active: "perhaps" }, "active"],
  ["privileges that are not a list", { privileges: "dbs" }, "privileges"],
  ["a privilege that does not exist", { privileges: ["everything"] }, "privileges"],
  ["a privilege of another type", { privileges: [1] }, "privileges"],
];

test.each(wrong)("a new token with %s", async (_, fields, says) => {
  await refused("POST", "", 422, { fields, says });
});
test.each(wrong)("a change to %s", async (_, fields, says) => {
  await refused("PATCH", "narrowed", 422, { fields, says });
});

const cases: [what: string, method: string, of: string, status: number, rest: Case][] = [
  ["a new token without sign-in", "POST", "", 401, { as: null, fields: {} }],
  ["a new token of an inactive one", "POST", "", 401, { as: "inactive", fields: {} }],
  ["a guest's new token", "POST", "", 403, { as: "guest", fields: {}, says: "api_tokens" }],
  ["a new token outside of its key", "POST", "", 400, { body: { name: "x" }, says: "api_token" }],
  ["a new token that ended yesterday", "POST", "", 422, { fields: { expires_at: "2020-01-01" }, says: "expires_at" }],
  [
    "a privilege that the owner lacks",
    "POST",
    "",
    422,
    { as: "user", fields: { privileges: ["users"] }, says: "privileges" },
  ],
  [
    "a user's token of the whole account",
    "POST",
    "",
    403,
    { as: "user", fields: { for_account: true }, says: "administrators" },
  ],
  ["a whole token by a narrowed one", "POST", "", 422, { as: "narrowed", fields: {}, says: "privileges" }],
  [
    "a wider token by a narrowed one",
    "POST",
    "",
    422,
    { as: "narrowed", fields: { privileges: ["apps"] }, says: "privileges" },
  ],
  ["an endless token by one that ends", "POST", "", 422, { as: "ending", fields: {}, says: "expires_at" }],
  [
    "a longer token by one that ends",
    "POST",
    "",
    422,
    { as: "ending", fields: { expires_at: later }, says: "expires_at" },
  ],

  ["a change without sign-in", "PATCH", "plain", 401, { as: null, fields: { name: "x" } }],
  ["a change of somebody else's", "PATCH", "plain", 404, { as: "user", fields: { name: "x" } }],
  ["a change from another account", "PATCH", "plain", 404, { as: "of another account", fields: { name: "x" } }],
  ["a change of none", "PATCH", "0", 404, { fields: { name: "x" } }],
  ["a change of an id that is a word", "PATCH", "first", 404, { fields: { name: "x" } }],
  ["a change outside of its key", "PATCH", "plain", 400, { body: { name: "x" } }],
  [
    "a user's own, made the account's",
    "PATCH",
    "of a user",
    403,
    { as: "user", fields: { for_account: true }, says: "administrators" },
  ],
  [
    "a whole token changed by a narrowed one",
    "PATCH",
    "plain",
    422,
    { as: "narrowed", fields: { name: "x" }, says: "privileges" },
  ],
  [
    "a narrowed token widening itself",
    "PATCH",
    "narrowed",
    422,
    { as: "narrowed", fields: { privileges: [] }, says: "privileges" },
  ],
  [
    "a token that ends prolonging itself",
    "PATCH",
    "ending",
    422,
    { as: "ending", fields: { expires_at: later }, says: "expires_at" },
  ],
  [
    "a token that ends making another endless",
    "PATCH",
    "plain",
    422,
    { as: "ending", fields: { expires_at: null }, says: "expires_at" },
  ],
  ["a change of a session", "PATCH", "session", 422, { fields: { name: "x" }, says: "base" }],

  ["a deletion without sign-in", "DELETE", "plain", 401, { as: null }],
  ["a guest's deletion", "DELETE", "plain", 403, { as: "guest", says: "api_tokens" }],
  ["a deletion of somebody else's", "DELETE", "plain", 404, { as: "user" }],
  ["a deletion from another account", "DELETE", "plain", 404, { as: "of another account" }],
  ["a deletion of the whole account's", "DELETE", "whole account", 422, { says: "base" }],
  ["a whole token deleted by a narrowed one", "DELETE", "plain", 403, { as: "narrowed", says: "can do more" }],
];
test.each(cases)("%s", async (_, method, of, status, rest) => refused(method, of, status, rest));

test("and every token works as before", async () => {
  for (const name of ["plain", "whole account", "narrowed", "ending", "of a user"])
    expect([name, (await app.get("/account/me.json", { token: callers[name] ?? "" })).status]).toEqual([name, 200]);
});

test("what is accepted is seen: a row and an event", async () => {
  const before = await traces(app, "kept_tokens");
  expect((await app.patch(`${path}/${ids["plain"]}.json`, { api_token: { name: "Renamed" } })).status).toBe(200);
  const after = await traces(app, "kept_tokens");
  for (const name of ["kept_tokens", "events"]) expect(after[name]).not.toBe(before[name]);
});
