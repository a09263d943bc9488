import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { adminToken, otherAccount, person, startTestApp, type TestApp } from "../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const unique = (prefix: string) => `${prefix}_${crypto.randomUUID().slice(0, 8)}`;
const add = async (code: string, content: string, fields: object = {}): Promise<string> => {
  const answer = await app.post("/core/prompts.json", { prompt: { name: `${code}!`, code, content, ...fields } });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return answer.json.id;
};
const preview = (prompt: object, token: string | null = adminToken) =>
  app.post("/core/prompts/preview.json", { prompt }, { token });

describe("a preview of a prompt that is not saved", () => {
  test("is what an agent would get, and says which parameters the content asks for", async () => {
    const content = "On {{ date }} for {{ client.name }}{{ client_id }} at {{ ACCOUNT_URL }}{% if x %}!{% endif %}";
    const answer = await preview({ content, params: { date: "2026-01-31", client_id: "7", ACCOUNT_URL: "https://x" } });
    expect(answer.json).toEqual({
      text: `On 2026-01-31 for 7 at ${app.origin}`,
      variables: ["date", "client", "client_id", "x"],
      joined_to: null,
    });
    expect(answer.headers.get("cache-control")).toContain("no-store");
  });

  test("has no token that works: neither the caller's nor a new one", async () => {
    const before = await app.sql`select count(*)::int as n from api_tokens`;
    const answer = await preview({
      content: 'Authorization: Bearer {{ TOKEN }}\n{{ "" | api_block }}\n{{ api_token }}',
    });
    expect(answer.json.text).toContain("Authorization: Bearer {{ TOKEN }}\n");
    expect(answer.json.text).not.toContain(adminToken);
    expect(answer.json.text).not.toMatch(/core_\w{20}/);
    expect(await app.sql`select count(*)::int as n from api_tokens`).toEqual(before);
  });

  test("stores nothing, not even with an Idempotency-Key", async () => {
    const before = await app.sql`select count(*)::int as n from prompts`;
    const headers = { "idempotency-key": unique("key") };
    const text = async (content: string) =>
      (await app.post("/core/prompts/preview.json", { prompt: { content } }, { headers })).json.text;
    expect([await text("one"), await text("two")]).toEqual(["one", "two"]);
    expect(await app.sql`select count(*)::int as n from prompts`).toEqual(before);
  });

  test("is joined to its _extra, and an _extra to its prompt", async () => {
    const code = unique("joined");
    await add(code, "Main {{ a }}");
    await add(`${code}_extra`, "Extra {{ a }}");
    const params = { a: "1" };
    expect((await preview({ code, content: "Draft {{ a }}", params })).json).toEqual({
      text: "Draft 1\n\n## Dodatkowe instrukcje\n\nExtra 1",
      variables: ["a"],
      joined_to: `${code}_extra`,
    });
    expect((await preview({ code: `${code}_extra`, content: "Draft {{ a }}", params })).json).toMatchObject({
      text: "Main 1\n\n## Dodatkowe instrukcje\n\nDraft 1",
      joined_to: code,
    });
    expect((await preview({ code: `${unique("alone")}_extra`, content: "Draft" })).json).toMatchObject({
      text: "Draft",
      joined_to: null,
    });
  });

  test("blames the stored prompt, not the draft, if that one cannot be rendered", async () => {
    const code = unique("blamed");
    await add(`${code}_extra`, "{{ n | divided_by: 0 }}{% for a in (1..n) %}{{ a }}{% endfor %}");
    const answer = await preview({ code, content: "Draft", params: { n: "99999999" } });
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.json)).toEqual(["code"]);
    expect(answer.json.code[0]).toContain(`${code}_extra`);
  });

  test("shows nobody the _extra of another team, person or account", async () => {
    const code = unique("secret");
    const me = await person(app);
    const team = (await app.post("/account/teams.json", { team: { name: "T" } })).json.id;
    await add(`${code}_extra`, "secret", { scope: "team", scope_id: team });
    await add(`${code}_extra`, "secret", { scope: "user", scope_id: (await person(app)).id });
    expect((await preview({ code, content: "Draft" }, me.token)).json).toMatchObject({
      text: "Draft",
      joined_to: null,
    });
    const other = await otherAccount(app);
    await add(unique("x"), "x");
    await add(`${code}2_extra`, "secret");
    const answer = await other.post("/core/prompts/preview.json", { prompt: { code: `${code}2`, content: "Draft" } });
    expect(answer.json.text).toBe("Draft");
  });
});

describe("a preview refuses", () => {
  test.each([
    ["a filter that does not exist", { content: "a\nb {{ x | nothing }}" }, "content", "line 2, column"],
    ["a tag that is not closed", { content: "{% if x %}" }, "content", "line 1"],
    ["a token inside an address", { content: "https://x.com/?t={{ TOKEN }}" }, "content", "TOKEN"],
    ["a token that is changed", { content: "{{ TOKEN | upcase }}" }, "content", "line 1, column"],
    [
      "an address that a parameter completes",
      { content: "{{ a }}{{ TOKEN }}", params: { a: "https://x.com/" } },
      "content",
      "TOKEN",
    ],
    ["the token of the request", { content: `Bearer ${adminToken}` }, "content", "real token"],
    ["the same in the placeholder", { content: "a", ai_placeholder: adminToken }, "ai_placeholder", "real token"],
    ["a loop without end", { content: "{% for a in (1..99999999) %}{{ a }}{% endfor %}" }, "content", "line 1"],
    [
      "a text that becomes too large",
      {
        content: '{% assign a = "xxxxxxxx" %}'.concat(
          "{% assign a = a | append: a | append: a | append: a %}".repeat(20),
          "{{ a }}",
        ),
      },
      "content",
      "line 1",
    ],
    ["an empty content", { content: " " }, "content", ""],
    ["a content that is too long", { content: "x".repeat(200_001) }, "content", "200000"],
    ["a code that is none", { content: "a", code: "a b" }, "code", ""],
    ["another kind", { content: "a", kind: "x" }, "kind", ""],
    ["a parameter that is no text", { content: "a", params: { n: 1 } }, "params.n", "string"],
    ["a parameter that is too long", { content: "a", params: { n: "x".repeat(10_001) } }, "params", "10000"],
    [
      "too many parameters",
      { content: "a", params: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`p${n}`, ""])) },
      "params",
      "100",
    ],
    ["parameters that are no object", { content: "a", params: [] }, "params", ""],
  ])("%s", async (_, prompt, name, message) => {
    const answer = await preview(prompt);
    expect([answer.status, Object.keys(answer.json)]).toEqual([422, [name]]);
    expect(answer.json[name][0]).toContain(message);
  });

  test("those without the privilege, and strangers", async () => {
    const guest = await person(app, { role: "guest" });
    expect((await preview({ content: "a" }, guest.token)).status).toBe(403);
    expect((await preview({ content: "a" }, null)).status).toBe(401);
    expect((await app.get("/core/prompts/cascade.json?code=a", { token: guest.token })).status).toBe(403);
    expect((await app.get("/core/prompts/words.json", { token: null })).status).toBe(401);
  });

  test("names of parameters that are not names, without harm", async () => {
    const params: unknown = JSON.parse('{"__proto__":"b","constructor":"c"}');
    const answer = await preview({ content: "a{{ __proto__ }}{{ toString }}", params });
    expect([answer.status, answer.text]).toEqual([200, expect.not.stringContaining("native code")]);
  });
});

describe("the cascade explained", () => {
  const cascade = (query: string, token: string | null = adminToken) =>
    app.get(`/core/prompts/cascade.json?${query}`, { token });
  const shown = (steps: { scope: string; scope_name: string | null; used: boolean }[]) =>
    steps.map(({ scope, scope_name, used }) => [scope, scope_name, used]);

  test("lists what wins and what it hides, in the order of the search", async () => {
    const team = (await app.post("/account/teams.json", { team: { name: "Sales" } })).json.id;
    const me = await person(app, { teamIds: [team] });
    const code = "prompts_api";
    const ids = [
      await add(code, "a"),
      await add(code, "t", { scope: "team", scope_id: team }),
      await add(code, "u", { scope: "user", scope_id: me.id }),
      await add(`${code}_extra`, "e", { scope: "team", scope_id: team }),
    ];
    const answer = await cascade(`code=${code}`, me.token);
    expect(answer.json).toMatchObject({ code, user_id: me.id });
    const name = answer.json.user_name;
    expect(shown(answer.json.prompts)).toEqual([
      ["user", name, true],
      ["team", "Sales", false],
      ["account", null, false],
      ["built_in", null, false],
    ]);
    expect(answer.json.prompts[0]).toMatchObject({ id: ids[2], name: `${code}!`, version: 1, plugin: null });
    expect(answer.json.prompts[3]).toMatchObject({ id: null, plugin: "prompts" });
    expect(shown(answer.json.extras)).toEqual([["team", "Sales", true]]);

    // An administrator sees the same of that person, and less of themselves.
    expect((await cascade(`code=${code}&user_id=${me.id}`)).json).toEqual(answer.json);
    expect(shown((await cascade(`code=${code}`)).json.prompts)).toEqual([
      ["account", null, true],
      ["built_in", null, false],
    ]);
    for (const id of ids) await app.delete(`/core/prompts/${id}.json`);
    expect(shown((await cascade(`code=${code}`, me.token)).json.prompts)).toEqual([["built_in", null, true]]);
  });

  test("uses no _extra alone", async () => {
    const code = unique("lonely");
    await add(`${code}_extra`, "e");
    const { json } = await cascade(`code=${code}`);
    expect(json.prompts).toEqual([]);
    expect(shown(json.extras)).toEqual([["account", null, false]]);
  });

  test("of another person is for administrators, and of people of this account", async () => {
    const [me, other] = [await person(app, { role: "manager" }), await person(app)];
    expect((await cascade(`code=a&user_id=${other.id}`, me.token)).status).toBe(403);
    expect((await cascade(`code=a&user_id=${me.id}`, me.token)).status).toBe(200);
    await otherAccount(app);
    const [stranger] =
      await app.sql`select id from users where account_id <> (select account_id from users where id = ${me.id})`;
    for (const id of [stranger?.["id"], "999999999", "x", "-1", "1.5", "9".repeat(30)])
      expect([id, (await cascade(`code=a&user_id=${id}`)).json]).toEqual([
        id,
        { user_id: ["names no person of this account"] },
      ]);
  });

  test.each([
    ["", "is required"],
    ["code=", "is required"],
    ["code=a%20b", "is no code"],
    [`code=${"x".repeat(101)}`, "is no code"],
  ])("refuses %p", async (query, message) => {
    const answer = await cascade(query);
    expect([answer.status, answer.json]).toEqual([422, { code: [message] }]);
  });
});

test("the words are those that the server knows", async () => {
  const { json } = await app.get("/core/prompts/words.json");
  expect(json.variables.map(({ name }: { name: string }) => name)).toEqual(["TOKEN", "ACCOUNT_URL", "date"]);
  expect(json.filters).toEqual(expect.arrayContaining(["api_block", "prompt_url", "upcase", "date"]));
  for (const filter of json.filters) {
    const answer = await preview({ content: `{% if false %}{{ x | ${filter} }}{% endif %}` });
    expect([filter, answer.status]).toEqual([filter, 200]);
  }
});
