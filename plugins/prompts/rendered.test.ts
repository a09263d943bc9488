import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { definePlugin } from "platform";
import { adminPassword, adminToken, otherAccount, person, startTestApp, type TestApp } from "../../tests/harness.ts";
import { plugins } from "../index.ts";

const files = definePlugin({
  name: "files",
  prompts: {
    "work.md": "---\nname: Chat\n---\nchat of work",
    "work.agent.md": "---\nname: Żółw\nplaceholder: What?\n---\n\nagent of {{ client_id }}",
    "helped.md": "helped",
    "helped_extra.md": "---\nname: Extra\n---\nbuilt-in extra",
    "alone_extra.md": "alone",
    "broken.md": "one\n{% if %}",
  },
  setup: () => ({}),
});

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, files] });
});
afterAll(() => app.stop());

const unique = (prefix: string) => `${prefix}_${crypto.randomUUID().slice(0, 8)}`;
const add = async (code: string, content: string, fields: object = {}) => {
  const answer = await app.post("/core/prompts.json", { prompt: { name: "A", code, content, ...fields } });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return answer.json.id as string;
};
const remove = async (id: string) => expect((await app.delete(`/core/prompts/${id}.json`)).status).toBe(204);
const read = (code: string, query = "", token: string | null = adminToken) =>
  app.get(`/core/prompt/${code}.md${query}`, { token });
const rendered = async (content: string, query = "") => {
  const code = unique("r");
  await add(code, content);
  return read(code, query);
};
const unit = async (kind: "team" | "department"): Promise<number> =>
  (await app.post(`/account/${kind}s.json`, { [kind]: { name: kind } })).json.id;

describe("the cascade", () => {
  test("gives the first of user, team, department, account and built-in file; each that goes lets the next one in", async () => {
    const [team, department] = [await unit("team"), await unit("department")];
    const me = await person(app, { role: "guest", teamIds: [team], departmentIds: [department] });
    const ids = [
      await add("work", "account"),
      await add("work", "department", { scope: "department", scope_id: department }),
      await add("work", "team", { scope: "team", scope_id: team }),
      await add("work", "user", { scope: "user", scope_id: me.id }),
    ];
    const mine = async () => (await read("work", "?client_id=7", me.token)).text;
    for (const expected of ["user", "team", "department", "account"]) {
      expect(await mine()).toBe(expected);
      await remove(ids.pop() ?? "");
    }
    expect(await mine()).toBe("agent of 7");
  });

  test("shows nobody what is of another person, team or department", async () => {
    const code = unique("c");
    const me = await person(app);
    await add(code, "mine", { scope: "user", scope_id: (await person(app)).id });
    await add(code, "team", { scope: "team", scope_id: await unit("team") });
    expect((await read(code, "", me.token)).status).toBe(404);
    expect((await read(code)).status).toBe(404);
    await add(code, "all");
    expect((await read(code, "", me.token)).text).toBe("all");
  });

  test("follows a person who changes the team at once", async () => {
    const team = await unit("team");
    const code = unique("c");
    await add(code, "account");
    await add(code, "team", { scope: "team", scope_id: team });
    const me = await person(app);
    const mine = async () => (await read(code, "", me.token)).text;
    expect(await mine()).toBe("account");
    await app.patch(`/account/users/${me.id}.json`, { user: { team_ids: [team] } });
    expect(await mine()).toBe("team");
  });

  test("never gives another account's prompt", async () => {
    const other = await otherAccount(app);
    const code = unique("c");
    await add(code, "ours");
    expect((await other.get(`/core/prompt/${code}.md`)).status).toBe(404);
    await other.post("/core/prompts.json", { prompt: { name: "a", code, content: "theirs" } });
    expect((await other.get(`/core/prompt/${code}.md`)).text).toBe("theirs");
    expect((await read(code)).text).toBe("ours");
  });

  test("of an unknown code is 404, whatever it looks like", async () => {
    for (const code of [
      "nope",
      "__proto__",
      "constructor",
      "toString",
      "%00",
      "a%2Fb",
      "%2e%2e",
      "'",
      "x".repeat(3000),
      "ż",
    ])
      expect([code, (await read(code)).status]).toEqual([code, 404]);
    for (const path of ["/core/prompt/work", "/core/prompt/work.json", "/core/prompt/work.txt", "/core/prompt/.md"])
      expect([path, (await app.get(path)).status]).toEqual([path, 404]);
  });
});

describe("_extra", () => {
  test("goes through the same cascade and is appended under its heading", async () => {
    const code = unique("e");
    const team = await unit("team");
    const me = await person(app, { teamIds: [team] });
    await add(code, "Main {{ a }}\n\n");
    const all = await add(`${code}_extra`, "of all {{ a }}");
    await add(`${code}_extra`, "of the team", { scope: "team", scope_id: team });
    expect((await read(code, "?a=1")).text).toBe("Main 1\n\n## Dodatkowe instrukcje\n\nof all 1");
    expect((await read(code, "?a=1", me.token)).text).toBe("Main 1\n\n## Dodatkowe instrukcje\n\nof the team");
    await remove(all);
    expect((await read(code, "?a=1")).text).toBe("Main 1\n\n");
  });

  test("adds to a built-in prompt, and a built-in one counts too", async () => {
    expect((await read("helped")).text).toBe("helped\n\n## Dodatkowe instrukcje\n\nbuilt-in extra");
    const extra = await add("helped_extra", "stored extra");
    expect((await read("helped")).text).toBe("helped\n\n## Dodatkowe instrukcje\n\nstored extra");
    await remove(extra);
    const main = await add("helped", "stored");
    expect((await read("helped")).text).toBe("stored\n\n## Dodatkowe instrukcje\n\nbuilt-in extra");
    await remove(main);
    const added = await add("work_extra", "more");
    expect((await read("work", "?client_id=7")).text).toBe("agent of 7\n\n## Dodatkowe instrukcje\n\nmore");
    await remove(added);
  });

  test("alone is no prompt", async () => {
    const code = unique("e");
    await add(`${code}_extra`, "extra");
    expect((await read(code)).status).toBe(404);
    expect((await read("alone")).status).toBe(404);
  });

  test("that prints nothing has no heading", async () => {
    const code = unique("e");
    await add(code, "main");
    await add(`${code}_extra`, "{% if a %}extra{% endif %}\n");
    expect((await read(code)).text).toBe("main");
    expect((await read(code, "?a=1")).text).toContain("## Dodatkowe instrukcje");
  });
});

describe("built-in files", () => {
  test("are rendered without their front matter, the agent's first, and named in a header", async () => {
    const answer = await read("work", "?client_id=7");
    expect([answer.status, answer.text]).toEqual([200, "agent of 7"]);
    expect(decodeURIComponent(answer.headers.get("x-prompt-name") ?? "")).toBe("Żółw");
  });

  test("are given as they stand under system, whatever is stored", async () => {
    const id = await add("work", "stored");
    const answer = await app.get("/core/prompts/system/work.md");
    expect(answer.text).toBe("---\nname: Żółw\nplaceholder: What?\n---\n\nagent of {{ client_id }}");
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/markdown; charset=utf-8"]);
    await remove(id);
    for (const code of ["nope", "__proto__", "constructor", "work.agent"])
      expect([code, (await app.get(`/core/prompts/system/${code}.md`)).status]).toEqual([code, 404]);
    expect((await app.get("/core/prompts/system/work")).status).toBe(404);
  });

  test("are listed under system.json for everyone who is signed in", async () => {
    const guest = await person(app, { role: "guest" });
    const answer = await app.get("/core/prompts/system.json", { token: guest.token });
    const codes: string[] = answer.json.map(({ code }: { code: string }) => code);
    expect([answer.status, answer.headers.get("x-total-count")]).toEqual([200, `${codes.length}`]);
    expect(codes).toEqual(codes.toSorted());
    expect(codes).toEqual(expect.arrayContaining(["common_api", "prompts_api", "work"]));
    expect(answer.json.find(({ code }: { code: string }) => code === "work")).toMatchObject({
      name: "Żółw",
      kind: "agent",
      ai_placeholder: "What?",
      url: `${app.origin}/core/prompt/work.md`,
    });
    for (const { code } of answer.json) expect((await app.get(`/core/prompts/system/${code}.md`)).status).toBe(200);
    const part = await app.get("/core/prompts/system.json?limit=1&offset=1");
    expect(part.json.map(({ code }: { code: string }) => code)).toEqual([codes[1]]);
    expect((await app.get("/core/prompts/system.json", { token: null })).status).toBe(401);
    expect((await app.get("/docs", { token: null })).text).toContain('href="/core/prompts/system.json"');
  });

  test("of ours are in English throughout", async () => {
    for (const { code } of (await app.get("/core/prompts/system.json")).json)
      if (code.endsWith("_api")) expect((await read(code)).text).not.toMatch(/Instrukcje API:|Zasady API:/);
  });

  test("that are no templates are a 422 with the line, not a 500", async () => {
    const answer = await read("broken");
    expect([answer.status, answer.json]).toEqual([422, { content: [expect.stringContaining("line 2")] }]);
    const draft = { code: "broken_extra", content: "x" };
    const preview = await app.post("/core/prompts/preview.json", { prompt: draft });
    expect([preview.status, Object.keys(preview.json)]).toEqual([422, ["code"]]);
  });

  test("of ours can be rendered by everyone who is signed in", async () => {
    const guest = await person(app, { role: "guest" });
    for (const code of ["prompts_api", "common_api"]) {
      const answer = await read(code, "", guest.token);
      expect(answer.status).toBe(200);
      expect(answer.text).toContain(`Authorization: Bearer ${guest.token}`);
      expect(answer.text).toContain(app.origin);
      expect(answer.text).toStartWith("# ");
    }
  });
});

describe("a rendered prompt", () => {
  test("is Markdown that nobody may keep", async () => {
    const { headers } = await rendered("a");
    expect(headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    expect(headers.get("cache-control")).toBe("private, no-store");
    expect(headers.get("etag")).toBeNull();
  });

  test("has the token that the request carries, the account's address and every parameter", async () => {
    const names = ["TOKEN", "api_token", "ACCOUNT_URL", "account_url", "base_url", "client_id"];
    const { text } = await rendered(names.map((name) => `{{ ${name} }}`).join("\n"), "?client_id=7&x=1");
    expect(text.split("\n")).toEqual([adminToken, adminToken, app.origin, app.origin, app.origin, "7"]);
  });

  test("is not fooled by parameters of those names", async () => {
    const names = ["TOKEN", "api_token", "ACCOUNT_URL", "account_url", "base_url"];
    const query = `?${names.map((name) => `${name}=evil`).join("&")}`;
    const { text } = await rendered(`${names.map((name) => `{{ ${name} }}`).join("\n")}\n{{ "" | api_block }}`, query);
    expect(text).not.toContain("evil");
    expect(text).toContain(`Authorization: Bearer ${adminToken}`);
  });

  test("takes parameters of any name, and finds nothing that was not given", async () => {
    const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "first", "a-b", "length"];
    const content = names.map((name) => `[{{ ${name} }}]`).join("");
    expect((await rendered(content)).text).toBe("[]".repeat(names.length));
    const code = unique("r");
    await add(code, content);
    const answer = await read(code, `?${names.map((name, at) => `${name}=${at}`).join("&")}`);
    expect(answer.text).toBe(names.map((_, at) => `[${at}]`).join(""));
    expect((await rendered("{{ constructor.constructor }}{{ __proto__.x }}{{ date.constructor }}")).text).toBe("");
    expect((await read(code)).text).toBe("[]".repeat(names.length));
  });

  test("takes a parameter for a text, never for a template", async () => {
    const { text } = await rendered("{{ a }}", `?a=${encodeURIComponent("{{ TOKEN }}{% if %}<b>ż\u0000")}`);
    expect(text).toBe("{{ TOKEN }}{% if %}<b>ż\u0000");
  });

  test("can tell one record from a list", async () => {
    const code = unique("r");
    await add(code, "{% if prompt_id != blank %}one {{ prompt_id }}{% else %}many{% endif %}");
    expect((await read(code, "?prompt_id=7")).text).toBe("one 7");
    expect((await read(code, "?prompt_id=")).text).toBe("many");
    expect((await read(code)).text).toBe("many");
  });

  test("has the date of the parameter, else today's in the account's time zone", async () => {
    const code = unique("r");
    await add(code, "{{ date }}");
    expect((await read(code, "?date=2020-02-30")).text).toBe("2020-02-30");
    const todayIn = (timeZone: string) => new Intl.DateTimeFormat("sv-SE", { timeZone }).format(new Date());
    expect([(await read(code)).text, (await read(code, "?date=")).text]).toEqual([todayIn("UTC"), todayIn("UTC")]);
    // They never have the same date.
    for (const timezone of ["Pacific/Kiritimati", "Pacific/Pago_Pago"]) {
      const other = await otherAccount(app, { timezone });
      await other.post("/core/prompts.json", { prompt: { name: "a", code, content: "{{ date }} {{ base_url }}" } });
      expect((await other.get(`/core/prompt/${code}.md`)).text).toBe(`${todayIn(timezone)} http://${other.host}`);
    }
  });

  test("past its limits is 422", async () => {
    for (const content of [
      "{% for i in (1..100000000) %}x{% endfor %}",
      "{% for i in (1..3000) %}{% for j in (1..3000) %}x{% endfor %}{% endfor %}",
      "{% assign a = 'xxxxxxxxxx' %}{% for i in (1..60) %}{% assign a = a | append: a %}{% endfor %}{{ a }}",
      "{{ many | api_block }}",
    ]) {
      const answer = await rendered(content, `?many=${"a,".repeat(1000)}`);
      expect([content, answer.status, answer.json]).toEqual([content, 422, { content: [expect.any(String)] }]);
    }
  });

  test("answers HEAD, and no other method", async () => {
    const head = await app.request("HEAD", "/core/prompt/work.md");
    expect([head.status, head.text]).toEqual([200, ""]);
    for (const method of ["POST", "PATCH", "DELETE", "PUT"])
      expect((await app.request(method, "/core/prompt/work.md", {})).status).toBe(405);
  });
});

describe("the filters", () => {
  test("api_block gives an agent's header lines, one instruction line for each code", async () => {
    const common = [
      `Zasady API: ${app.origin}/core/prompt/common_api.md`,
      `Host: ${app.origin}`,
      `Authorization: Bearer ${adminToken}`,
    ];
    const line = (code: string) => `Instrukcje API: ${app.origin}/core/prompt/${code}.md`;
    const cases: [string, string[]][] = [
      ['{{ "" | api_block }}', common],
      ["{{ nothing | api_block }}", common],
      ['{{ " , " | api_block }}', common],
      ['{{ "apps_api" | api_block }}', [line("apps_api"), ...common]],
      ['{{ "apps_api,dbs_api" | api_block }}', [line("apps_api"), line("dbs_api"), ...common]],
      ['{{ " apps_api , dbs_api," | api_block }}', [line("apps_api"), line("dbs_api"), ...common]],
      [
        '{% assign a = "apps_api,dbs_api" | split: "," %}{{ a | api_block }}',
        [line("apps_api"), line("dbs_api"), ...common],
      ],
      ['{{ "a b/../c?x#y" | api_block }}', [line("a%20b%2F..%2Fc%3Fx%23y"), ...common]],
    ];
    for (const [content, lines] of cases)
      expect([content, (await rendered(content)).text]).toEqual([content, lines.join("\n")]);
  });

  test("prompt_url gives the address of a prompt", async () => {
    const cases: [string, string][] = [
      ['{{ "apps_api" | prompt_url }}', `${app.origin}/core/prompt/apps_api.md`],
      ["{{ code | prompt_url }}", `${app.origin}/core/prompt/x%2Fy.md`],
      ["{{ nothing | prompt_url }}", ""],
    ];
    for (const [content, expected] of cases)
      expect([content, (await rendered(content, "?code=x/y")).text]).toEqual([content, expected]);
  });
});

describe("the token", () => {
  test("is kept out of an address that only the rendered text shows", async () => {
    const cases: [string, string][] = [
      ["{{ u }}{{ TOKEN }}", "?u=https://evil/"],
      ["{{ u }}{{ TOKEN }}", "?u=%2F%2Fevil/"],
      ["[x]({{ u }}{{ TOKEN }})", "?u=mailto:"],
      ["{{ TOKEN }}{{ u }}", "?u=.evil.com"],
      ['{{ "aHR0cHM6Ly9ldmlsLw==" | base64_decode }}{{ TOKEN }}', ""],
      ['{{ "_" | replace: "_", u }}{{ TOKEN }}', "?u=x/"],
      ['{% assign n = "TOKEN" %}{{ u }}{{ [n] }}', "?u=https://evil/"],
      ["{{ '' | api_block }}{{ u }}", "?u=@evil.com"],
      ["{{ u }}{{ TOKEN }}", `?u=${app.origin}.evil.com|`],
      ["{{ ACCOUNT_URL }}|{{ TOKEN }}{{ u }}", "?u=.evil.com"],
      ["{{ u }},{{ ACCOUNT_URL }}|{{ TOKEN }}", "?u=https://evil/"],
      ["{{ u }}|{{ TOKEN }}", "?u=https://evil"],
    ];
    for (const [content, query] of cases) {
      const answer = await rendered(content, query);
      expect([content, answer.status, answer.json]).toEqual([
        content,
        422,
        { content: [expect.stringContaining("TOKEN")] },
      ]);
      expect(answer.text).not.toContain(adminToken);
    }
  });

  test("may stand behind the account's own URL and a delimiter", async () => {
    for (const end of "|,;)]\"'`") {
      const { status, text } = await rendered(`|{{ ACCOUNT_URL }}${end}{{ TOKEN }}|`);
      expect([status, text]).toEqual([200, `|${app.origin}${end}${adminToken}|`]);
    }
  });

  test("of a session is a token for an hour, not the session's own", async () => {
    const me = await person(app, { role: "user", password: "a long pass phrase" });
    const signedIn = await app.post(
      "/account/session.json",
      { login: me.login, password: "a long pass phrase" },
      { token: null },
    );
    const cookie = /core_session=[^;]+/.exec(signedIn.headers.get("set-cookie") ?? "")?.[0] ?? "";
    const code = unique("r");
    await add(code, "{{ TOKEN }}\n{{ api_token }}");
    const [token = "", again] = (
      await app.get(`/core/prompt/${code}.md`, { token: null, headers: { cookie } })
    ).text.split("\n");
    expect(again).toBe(token);
    expect(token).toMatch(/^core_/);
    expect(cookie).not.toContain(token);
    expect((await app.get("/account/me.json", { token })).json.id).toBe(me.id);
    const [row] = await app.sql`
      select expires_at - now() as left, extract(epoch from expires_at - now()) as seconds
      from api_tokens where user_id = ${me.id} and expires_at is not null order by id desc limit 1`;
    expect(Number(row?.["seconds"])).toBeGreaterThan(1700);
    expect(Number(row?.["seconds"])).toBeLessThanOrEqual(3600);
  });

  test("stands in no log", async () => {
    await rendered("{{ TOKEN }} {{ u }}{{ TOKEN }}", "?u=https://evil/");
    await rendered("{{ TOKEN }}", `?a=${adminToken}`);
    expect(app.logged.join("\n")).not.toContain(adminToken);
    expect(app.logged.join("\n")).not.toContain(adminPassword);
  });
});
