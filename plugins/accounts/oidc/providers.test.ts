/** Who may say by which providers people sign in, and what is taken. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { otherAccount, person, startTestApp, type TestApp } from "../../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const path = "/account/sign_in_providers";
const right = {
  name: "Example",
  issuer: "https://login.example.com",
  client_id: "core",
  client_secret: "a client's secret",
};
const create = (fields: object = {}, options = {}) =>
  app.post(`${path}.json`, { sign_in_provider: { ...right, ...fields } }, options);
const change = (id: string, fields: object, options = {}) =>
  app.patch(`${path}/${id}.json`, { sign_in_provider: fields }, options);

describe("a provider", () => {
  test("has what is not given by rule, a free code, and never shows its secret", async () => {
    const first = await create({ issuer: `${right.issuer}/.well-known/openid-configuration` });
    expect([first.status, first.json]).toEqual([
      201,
      expect.objectContaining({
        code: "example",
        issuer: right.issuer,
        scopes: "openid email profile",
        has_client_secret: true,
        create_people: false,
        link_by_email: false,
        trust_second_factor: false,
        default_role: "user",
        redirect_uri: `${app.origin}/login/with/example/callback`,
      }),
    ]);
    expect((await create()).json.code).toBe("example-2");
    for (const shown of [first, await app.get(`${path}.json`), await app.get(`${path}/${first.json.id}.json`)])
      expect(shown.text).not.toContain(right.client_secret);
    const [row] = await app.sql<{ clientSecret: string }[]>`select client_secret from sign_in_providers`;
    expect(row?.clientSecret).toStartWith("v1.");
    const log = await app.get("/core/activity.json?model=Account::SignInProvider");
    expect(log.text).toContain('"client_secret":{"secret":true}');
  });

  const wrong: [fields: object, field: string, says: string][] = [
    [{ issuer: "login.example.com" }, "issuer", "must be the provider's address"],
    [{ issuer: "http://login.example.com" }, "issuer", "must begin with https://"],
    [{ issuer: "file:///etc/passwd" }, "issuer", "must begin with https://"],
    [{ issuer: "http://10.0.0.1" }, "issuer", "must begin with https://"],
    [{ issuer: "https://a:b@login.example.com" }, "issuer", "must have no user"],
    [{ issuer: "https://login.example.com?a=b" }, "issuer", "must have no user, query"],
    [{ name: " " }, "name", "not blank"],
    [{ client_id: "" }, "client_id", ""],
    [{ code: "a/b" }, "code", ""],
    [{ code: "../x" }, "code", ""],
    [{ scopes: "email" }, "scopes", "must name openid"],
    [{ scopes: 'openid "a' }, "scopes", "must be words"],
    [{ create_people: true }, "email_domains", "is required with create_people"],
    [{ email_domains: ["a b"] }, "email_domains", "a b is not a domain"],
    [{ email_domains: ["*.example.com"] }, "email_domains", "is not a domain"],
    [
      { create_people: true, email_domains: ["*"], default_role: null },
      "default_role",
      "is required with create_people",
    ],
    [{ roles: { a: "admin" } }, "role_claim", "is required with roles"],
    [{ role_claim: "a", roles: { a: "root" } }, "roles", ""],
    [{ roles: { a: "user" }, role_claim: " " }, "role_claim", "is required with roles"],
    [{ team_claim: "a", teams: { a: 999_999 } }, "teams", "there is no team 999999"],
    [{ default_role: "root" }, "default_role", ""],
  ];
  test.each(wrong)("with %j is refused under %s", async (fields, field, says) => {
    const answer = await create({ code: "wrong", ...fields });
    expect([answer.status, Object.keys(answer.json)]).toEqual([422, [field]]);
    expect(answer.json[field].join("; ")).toContain(says);
    expect((await app.get(`${path}.json`)).text).not.toContain('"wrong"');
  });

  test("keeps its secret with its issuer, and its people with both", async () => {
    const { id } = (await create({ code: "moving" })).json;
    await app.sql`
      insert into sign_in_identities (account_id, provider_id, user_id, issuer, subject, email)
      select account_id, ${id}, id, 'x', 'y', 'z' from users where login = 'admin'`;
    const linked = async () => (await app.get(`${path}/${id}/identities.json`)).json.length;
    expect((await change(id, { name: "Another name" })).status).toBe(200);
    expect(await linked()).toBe(1);
    const moved = { issuer: "https://evil.example.com" };
    expect((await change(id, moved)).json).toEqual({ client_secret: [expect.stringContaining("given again")] });
    expect(await linked()).toBe(1);
    expect((await change(id, { ...moved, client_secret: "another" })).status).toBe(200);
    expect(await linked()).toBe(0);
    expect((await change(id, { client_secret: null })).json.has_client_secret).toBe(false);
  });

  test("is changed in the version that was seen, and taken codes stay taken", async () => {
    const { id, ...made } = (await create({ code: "versions" })).json;
    const seen = (await app.get(`${path}/${id}.json`)).headers.get("etag") ?? "";
    const ifMatch = { headers: { "if-match": seen } };
    expect((await change(id, { label: "One" }, ifMatch)).status).toBe(200);
    expect((await change(id, { label: "Two" }, ifMatch)).status).toBe(412);
    expect((await app.delete(`${path}/${id}.json`, ifMatch)).status).toBe(412);
    expect((await create({ code: made.code })).json).toEqual({ code: [expect.any(String)] });
    expect((await app.delete(`${path}/${id}.json`)).status).toBe(204);
    expect((await app.get(`${path}/${id}.json`)).status).toBe(404);
  });
});

test("only administrators with a whole token decide how people sign in", async () => {
  const { id } = (await create({ code: "guarded" })).json;
  const privileges = ["sign_in_providers"];
  const manager = await person(app, { role: "manager", privileges });
  const narrowed = await person(app, { role: "admin", narrowedTo: [...privileges, "users"] });
  for (const { token } of [manager, narrowed]) {
    expect((await app.get(`${path}/${id}.json`, { token })).status).toBe(200);
    const answers = [
      await create({ code: "mine" }, { token }),
      await change(id, { link_by_email: true }, { token }),
      await app.delete(`${path}/${id}.json`, { token }),
      await app.delete(`${path}/${id}/identities/1.json`, { token }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
  }
  const { token } = await person(app, { role: "manager" });
  expect((await app.get(`${path}.json`, { token })).status).toBe(403);
});

test("another account sees, changes and tries out none of them", async () => {
  const { id } = (await create({ code: "ours" })).json;
  const other = await otherAccount(app);
  expect((await other.get(`${path}.json`)).json).toEqual([]);
  const answers = [
    await other.get(`${path}/${id}.json`),
    await other.patch(`${path}/${id}.json`, { sign_in_provider: { name: "Taken" } }),
    await other.post(`${path}/${id}/test.json`),
    await other.get(`${path}/${id}/identities.json`),
    await other.delete(`${path}/${id}.json`),
  ];
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
  const theirs = (await app.post("/account/teams.json", { team: { name: "Ours" } })).json.id;
  const foreign = { ...right, team_claim: "groups", teams: { a: Number(theirs) } };
  const refused = await other.post(`${path}.json`, { sign_in_provider: foreign });
  expect(refused.json).toEqual({ teams: [`there is no team ${theirs}`] });
});
