import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually, otherAccount, person, startTestApp, type Answer, type TestApp } from "../../tests/harness.ts";
import { follower, traces } from "../../tests/traces.ts";
import { plugins } from "../index.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
});
afterAll(() => app.stop());

const post = (fields: object, options = {}) => app.post("/core/apps.json", { app: fields }, options);
const html = (fields: object = {}) => ({ name: "Page", app_engine: "html", source_code: "<p>hello</p>", ...fields });

async function made(fields: object = {}, options = {}) {
  const answer = await post(html(fields), options);
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return answer.json;
}
const patch = (id: string, fields: object, options = {}) =>
  app.patch(`/core/apps/${id}.json`, { app: fields }, options);
const said = (answer: Answer) => [answer.status, answer.json];

describe("an app", () => {
  test("is made with the standards, shown whole but for its build, and served", async () => {
    const svelte = '<script>\n  let n = $state(0);\n</script>\n<button class="p-4" onclick={() => n++}>{n}</button>';
    const answer = await post({ name: "My Counter", source_code: svelte });
    expect(answer.status).toBe(201);
    expect(answer.json).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: "My Counter",
      url_code: "my-counter",
      description: null,
      app_engine: "svelte",
      css_engine: "tailwind_all",
      source_code: svelte,
      public: false,
      active: true,
      db_code: null,
      show_in_module: null,
      dashboard_widget: false,
      prompt: null,
      actions: [],
      fields: {},
      config: {},
      trusted: false,
      icon: null,
      color: null,
      app_build_time: expect.any(Number),
      css_build_time: expect.any(Number),
      created_by_id: 1,
      updated_by_id: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      updated_at: answer.json.created_at,
    });
    const { id, app_build_time, css_build_time } = answer.json;
    expect([app_build_time, css_build_time].every(Number.isInteger)).toBe(true);
    for (const path of [`/core/apps/${id}.json`, `/core/apps/${id}`, "/core/apps/my-counter"]) {
      const shown = await app.get(path);
      expect(shown.json).toEqual(answer.json);
      expect(shown.headers.get("etag")).toBe(`"${id}-1"`);
    }
    for (const path of ["/a/my-counter", `/a/${id}`, `/a/${id.toUpperCase()}`]) {
      const page = await app.get(path);
      expect([page.status, page.text.includes("My Counter")]).toEqual([200, true]);
    }
  });

  test("keeps every field that it is given", async () => {
    const fields = {
      name: "Whole",
      url_code: "whole",
      description: "all of it",
      app_engine: "js",
      css_engine: "none",
      source_code: "document.title = 'x';",
      public: true,
      active: false,
      db_code: "some-db",
      show_in_module: "tasks/show",
      dashboard_widget: true,
      prompt: "You are a helper",
      actions: [{ action: "send", flow_code: "send-mail", description: "Sends", public: true }],
      fields: { colour: "red" },
      config: { a: [1] },
      trusted: true,
    };
    const answer = await post(fields);
    expect(answer.json).toMatchObject({ ...fields, fields: { colour: "red", dashboard_widget: true } });
    const again = await patch(answer.json.id, {});
    expect(again.json).toEqual({ ...answer.json, updated_by_id: 1, updated_at: expect.any(String) });
  });

  test("is changed field by field, deleted, and then gone everywhere", async () => {
    const { id, url_code } = await made({ description: "old", fields: { a: 1 } });
    const changed = await patch(id, { description: null, name: "New" });
    expect(changed.json).toMatchObject({
      name: "New",
      url_code,
      description: null,
      fields: { a: 1 },
      updated_by_id: 1,
    });
    expect((await app.delete(`/core/apps/${id}.json`)).status).toBe(204);
    for (const path of [`/core/apps/${id}.json`, `/core/apps/${id}/versions.json`, `/a/${url_code}`, `/a/${id}`])
      expect([path, (await app.get(path)).status]).toEqual([path, 404]);
    expect((await app.delete(`/core/apps/${id}.json`)).status).toBe(404);
    expect((await patch(id, { name: "x" })).status).toBe(404);
  });

  test("tells its changes to those who follow the model", async () => {
    const program = [{ type: "return", value: 1 }];
    await app.post("/connect/flows.json", { flow: { name: "on-app", code: "on-app", fields: { program } } });
    for (const kind of ["create", "update", "destroy"])
      await app.post("/account/webhooks.json", {
        webhook: { source_type: "Core::App", kind, target_kind: "flow", target_code: "on-app" },
      });
    const { id } = await made({ name: "Followed" });
    expect((await patch(id, { name: "Followed on" })).status).toBe(200);
    expect((await patch(id, { name: "" })).status).toBe(422);
    await app.delete(`/core/apps/${id}.json`);
    const told = await eventually(async () => {
      const { json } = await app.get("/connect/flow_processes.json?flow_code=on-app");
      return json.length >= 3 && json;
    });
    const events = told.map(({ input }: { input: { event: string; data: { name: string } } }) => [
      input.event,
      input.data.name,
    ]);
    expect(events.toSorted()).toEqual([
      ["create", "Followed"],
      ["destroy", "Followed on"],
      ["update", "Followed on"],
    ]);
  });
});

describe("a mistake is 422 by field and stores nothing", () => {
  const long = "x".repeat(300);
  const deep = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [at, 1]));
  const cases: [string, object, string][] = [
    ["a blank name", { name: " " }, "name"],
    ["a long name", { name: long }, "name"],
    ["no text as a name", { name: 5 }, "name"],
    ["a blank source", { source_code: " \n" }, "source_code"],
    ["a source too long", { source_code: "x".repeat(200_001) }, "source_code"],
    ["a source that is no text", { source_code: {} }, "source_code"],
    ["an unknown engine", { app_engine: "angular" }, "app_engine"],
    ["an engine of another type", { app_engine: 1 }, "app_engine"],
    ["an unknown css engine", { css_engine: "bootstrap" }, "css_engine"],
    ["a long url_code", { url_code: long }, "url_code"],
    ["a url_code that could be an id", { url_code: "019a9c1e-0000-7000-8000-000000000003" }, "url_code"],
    ["a url_code of another type", { url_code: ["a"] }, "url_code"],
    ["public of another type", { public: "yes" }, "public"],
    ["active of another type", { active: 1 }, "active"],
    ["a db_code with a slash", { db_code: "a/b" }, "db_code"],
    ["an unknown module", { show_in_module: "warehouse" }, "show_in_module"],
    ["a view with a dot", { show_in_module: "../etc/passwd" }, "show_in_module"],
    ["a tile flag of another type", { dashboard_widget: "x" }, "dashboard_widget"],
    ["a width on home pages of three columns", { fields: { home_width: 3 } }, "fields"],
    ["a tile flag of another type in fields", { fields: { dashboard_widget: "x" } }, "fields"],
    ["databases that are no list", { fields: { dbs: "guests" } }, "fields"],
    ["a database that is no code", { fields: { dbs: ["guests", 5] } }, "fields"],
    ["too many databases", { fields: { dbs: Array.from({ length: 21 }, (_, at) => `db-${at}`) } }, "fields"],
    ["a prompt too long", { prompt: "x".repeat(200_001) }, "prompt"],
    ["fields that are a list", { fields: [] }, "fields"],
    ["fields too large", { fields: { a: "x".repeat(1_000_001) } }, "fields"],
    ["config of another type", { config: "x" }, "config"],
    ["actions that are no list", { actions: {} }, "actions"],
    ["an action without a flow", { actions: [{ action: "a" }] }, "actions"],
    ["an action with a blank flow", { actions: [{ action: "a", flow_code: "" }] }, "actions"],
    ["an action with a name for no address", { actions: [{ action: "a/b", flow_code: "f" }] }, "actions"],
    [
      "two actions of one name",
      {
        actions: [
          { action: "a", flow_code: "f" },
          { action: "a", flow_code: "g" },
        ],
      },
      "actions",
    ],
    ["too many actions", { actions: Object.keys(deep).map((at) => ({ action: `a${at}`, flow_code: "f" })) }, "actions"],
    ["trusted of another type", { trusted: "yes" }, "trusted"],
    ["a NUL in the source", { source_code: "a\0b" }, "source_code"],
    ["a NUL in fields", { fields: { a: "\0" } }, "fields"],
    ["half a surrogate pair", { name: "\ud800" }, "name"],
  ];
  test.each(cases)("%s", async (_, fields, field) => {
    const before = (await app.get("/core/apps.json")).headers.get("x-total-count");
    const answer = await post(html(fields));
    expect([answer.status, Object.keys(answer.json)]).toEqual([422, [field]]);
    expect(answer.json[field].every((message: unknown) => typeof message === "string")).toBe(true);
    expect((await app.get("/core/apps.json")).headers.get("x-total-count")).toBe(before);
  });

  test("a missing name and source are both named", async () => {
    expect(said(await post({}))).toEqual([422, { name: ["is required"], source_code: ["is required"] }]);
  });

  test("a body without its key is 400, and a malformed id 404", async () => {
    expect((await app.post("/core/apps.json", { name: "x" })).status).toBe(400);
    for (const id of ["1", "x", "00000000-0000-0000-0000-000000000000", "%00", "a".repeat(500), "..%2f"])
      expect([id, (await app.get(`/core/apps/${id}.json`)).status]).toEqual([id, 404]);
  });

  test("a build that fails says where, and changes nothing", async () => {
    const source_code = "<p>one</p>";
    const { id } = (await post({ name: "Builds", source_code })).json;
    const bad = await patch(id, { name: "Broken", source_code: "<p>\n{#if}\n</p>" });
    expect(bad.status).toBe(422);
    expect(bad.json.source_code[0]).toMatch(/^\d+:\d+ \S/);
    expect((await patch(id, { app_engine: "vue" })).status).toBe(422);
    expect((await app.get(`/core/apps/${id}`)).json).toMatchObject({
      name: "Builds",
      source_code,
      updated_by_id: null,
    });
  });

  test("200,000 characters are counted as people count them", async () => {
    expect((await made({ source_code: "😀".repeat(200_000) })).source_code).toHaveLength(400_000);
    const over = await post(html({ source_code: "😀".repeat(200_001) }));
    expect(said(over)).toEqual([422, { source_code: ["may have at most 200000 characters"] }]);
  });

  test("keys of Object.prototype are ordinary keys of fields", async () => {
    const raw =
      '{"app":{"name":"P","app_engine":"html","source_code":"x","fields":{"__proto__":{"a":1},"constructor":2}}}';
    const answer = await app.request("POST", "/core/apps", undefined, {
      raw,
      headers: { "content-type": "application/json" },
    });
    expect([answer.status, answer.text.includes('"__proto__":{"a":1}')]).toEqual([201, true]);
  });
});

describe("url_code", () => {
  test.each([
    ["My Shop!", "MyShop"],
    ["a/../b", "ab"],
    ["Zażółć_gęślą-1", "Zazolc_gesla-1"],
  ])("%s is stripped to %s", async (given, expected) => {
    expect((await made({ url_code: given })).url_code).toBe(expected);
  });

  test("is made from the name, with a number where that is taken", async () => {
    const codes: string[] = [];
    for (const name of ["Żółty dom", "Żółty dom", "Żółty dom", "日本", "日本"])
      codes.push((await made({ name })).url_code);
    expect(codes).toEqual(["zolty-dom", "zolty-dom-2", "zolty-dom-3", "app", "app-2"]);
    expect((await made({ name: "Given nothing", url_code: "!!!" })).url_code).toBe("given-nothing");
    const { id } = await made({ name: "Once", url_code: "another" });
    expect((await patch(id, { url_code: null })).json.url_code).toBe("once");
    expect((await patch(id, { url_code: "" })).json.url_code).toBe("once");
  });

  test("given and taken is 422, in one account only", async () => {
    await made({ url_code: "mine" });
    const { id } = await made({ url_code: "yours" });
    const taken = { url_code: ["is already taken"] };
    expect(said(await post(html({ url_code: "mine" })))).toEqual([422, taken]);
    expect(said(await patch(id, { url_code: "mine" }))).toEqual([422, taken]);
    const other = await otherAccount(app);
    expect((await other.post("/core/apps", { app: html({ url_code: "mine" }) })).status).toBe(201);
  });

  test("of twenty made at once is each another", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(html({ name: "Crowd" }))));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 201));
    expect(new Set(answers.map(({ json }) => json.url_code)).size).toBe(20);
  });

  test("that changes moves the page at once", async () => {
    const { id } = await made({ url_code: "here" });
    expect((await app.get("/a/here")).status).toBe(200);
    await patch(id, { url_code: "there" });
    expect([(await app.get("/a/here")).status, (await app.get("/a/there")).status]).toEqual([404, 200]);
    await patch(id, { active: false });
    expect((await app.get("/a/there")).status).toBe(404);
  });
});

describe("fields and the tile flag", () => {
  test("a flag beside fields wins, other keys are kept, and new fields keep the flag", async () => {
    const { id } = await made({ fields: { a: 1, dashboard_widget: false }, dashboard_widget: true });
    const steps: [object, object, boolean][] = [
      [{}, { a: 1, dashboard_widget: true }, true],
      [{ dashboard_widget: false }, { a: 1, dashboard_widget: false }, false],
      [{ dashboard_widget: true }, { a: 1, dashboard_widget: true }, true],
      [{ fields: { b: 2 } }, { b: 2, dashboard_widget: true }, true],
      [{ fields: { dashboard_widget: false } }, { dashboard_widget: false }, false],
      [{ fields: { c: 3 }, dashboard_widget: null }, { c: 3 }, false],
      [{ fields: null }, {}, false],
    ];
    for (const [change, fields, dashboard_widget] of steps)
      expect((await patch(id, change)).json).toMatchObject({ fields, dashboard_widget });
  });
});

describe("the list", () => {
  test("is filtered, counted and paged", async () => {
    const other = await otherAccount(app);
    const make = (fields: object) => other.post("/core/apps", { app: html(fields) });
    await make({ name: "Alpha", description: "first 100%", public: true, show_in_module: "crm" });
    await make({ name: "Beta", app_engine: "js", source_code: "let a = 1;", active: false, dashboard_widget: true });
    await make({ name: "Gamma", url_code: "third", show_in_module: "tasks/show" });
    const cases: [string, string[]][] = [
      ["", ["Alpha", "Beta", "Gamma"]],
      ["q=ALPH", ["Alpha"]],
      ["q=third", ["Gamma"]],
      ["q=first", ["Alpha"]],
      ["q=*a", ["Alpha", "Beta", "Gamma"]],
      ["app_engine=js", ["Beta"]],
      ["app_engine=cobol", []],
      ["show_in_module=crm", ["Alpha"]],
      ["show_in_module=tasks/show", ["Gamma"]],
      ["dashboard_widget=true", ["Beta"]],
      ["dashboard_widget=false", ["Alpha", "Gamma"]],
      ["active=false", ["Beta"]],
      ["active=true&public=false", ["Gamma"]],
      ["public=true", ["Alpha"]],
      ["limit=1&offset=1", ["Beta"]],
      ["limit=x", ["Alpha", "Beta", "Gamma"]],
    ];
    for (const [query, names] of cases) {
      const answer = await other.get(`/core/apps.json?${query}`);
      expect([query, answer.json.map(({ name }: { name: string }) => name)]).toEqual([query, names]);
    }
    expect((await other.get("/core/apps.json?limit=1")).headers.get("x-total-count")).toBe("3");
    expect(said(await other.get("/core/apps.json?active=perhaps"))).toEqual([
      422,
      { active: ["must be true or false"] },
    ]);
  });
});

describe("replace", () => {
  const replace = (id: string, body: object, options = {}) => app.patch(`/core/apps/${id}/replace.json`, body, options);

  test("edits source, prompt and fields by both spellings", async () => {
    const { id } = await made({ source_code: "<p>a a $&</p>", prompt: "be kind", fields: { colour: "red", n: [1] } });
    const cases: [object, object][] = [
      [{ field: "source_code", old_string: "a", new_string: "b" }, { source_code: "<p>b a $&</p>" }],
      [{ field: "source_code", old: "$&", new: "$1$&" }, { source_code: "<p>b a $1$&</p>" }],
      [{ field: "source_code", old_string: "a", new_string: "", replace_all: true }, { source_code: "<p>b  $1$&</p>" }],
      [{ field: "prompt", old: "kind", new: "brief" }, { prompt: "be brief" }],
      [{ field: "prompt", old: "be brief", new: "" }, { prompt: "" }],
      [{ field: "fields", old: '"red"', new: '"blue"' }, { fields: { colour: "blue", n: [1] } }],
      [{ field: "fields", old: '"n": [\n', new: '"n": [\n2,\n' }, { fields: { colour: "blue", n: [2, 1] } }],
    ];
    for (const [body, expected] of cases) {
      const answer = await replace(id, body);
      expect(answer.status).toBe(200);
      expect(answer.json).toMatchObject(expected);
    }
    expect((await app.get("/a/page")).status).toBe(200);
  });

  test.each([
    ["nothing to look for", { field: "source_code", old: "", new: "x" }, "old_string"],
    ["no new text", { field: "source_code", old: "x" }, "new_string"],
    ["a text that is not there", { field: "source_code", old: "zzz", new: "x" }, "old_string"],
    ["a source that becomes blank", { field: "source_code", old: "<p>hello</p>", new: " " }, "source_code"],
    ["fields that become a list", { field: "fields", old: '{"a":1}', new: "[]" }, "fields"],
    ["fields that become nonsense", { field: "fields", old: "1", new: "{" }, "new_string"],
    ["another field", { field: "name", old: "x", new: "y" }, "field"],
    ["no field", { old: "x", new: "y" }, "field"],
    [
      "a source that becomes too long",
      { field: "source_code", old: "l", new: "x".repeat(150_000), replace_all: true },
      "source_code",
    ],
    [
      "a far too long one",
      { field: "source_code", old: "l", new: "x".repeat(900_000), replace_all: true },
      "new_string",
    ],
  ])("%s is 422", async (_, body, field) => {
    const { id } = await made({ fields: { a: 1 } });
    const answer = await replace(id, body);
    expect([answer.status, Object.keys(answer.json)]).toEqual([422, [field]]);
  });

  test("a source that no longer builds is 422 and stays", async () => {
    const { id } = (await post({ name: "R", source_code: "<p>{1}</p>" })).json;
    const answer = await replace(id, { field: "source_code", old: "{1}", new: "{" });
    expect([answer.status, Object.keys(answer.json)]).toEqual([422, ["source_code"]]);
    expect((await app.get(`/core/apps/${id}`)).json.source_code).toBe("<p>{1}</p>");
  });

  test("fifty at once are all in it", async () => {
    const marks = Array.from({ length: 50 }, (_, at) => `[${at}]`);
    const { id } = await made({ source_code: `<p>${marks.join("")}</p>` });
    const answers = await Promise.all(marks.map((old) => replace(id, { field: "source_code", old, new: "." })));
    expect(answers.map(({ status }) => status)).toEqual(marks.map(() => 200));
    expect((await app.get(`/core/apps/${id}`)).json.source_code).toBe(`<p>${".".repeat(50)}</p>`);
  });
});

describe("versions", () => {
  test("every save is one, and each can be restored", async () => {
    const { id } = await made({ source_code: "<p>1</p>", fields: { a: 1 }, dashboard_widget: true, url_code: "v" });
    await patch(id, { source_code: "<p>2</p>", fields: {}, dashboard_widget: null, name: "Second" });
    const list = await app.get(`/core/apps/${id}/versions.json`);
    expect([list.headers.get("x-total-count"), list.json.map(({ version }: { version: number }) => version)]).toEqual([
      "2",
      [2, 1],
    ]);
    expect(list.json[1]).toMatchObject({
      version: 1,
      created_by_id: 1,
      source_code: "<p>1</p>",
      fields: { a: 1, dashboard_widget: true },
    });
    const restored = await app.post(`/core/apps/${id}/versions/1/restore.json`);
    expect([restored.status, restored.headers.get("etag")]).toEqual([200, `"${id}-3"`]);
    expect(restored.json).toMatchObject({
      name: "Page",
      source_code: "<p>1</p>",
      fields: { a: 1, dashboard_widget: true },
    });
    expect((await app.get("/a/v")).text).toContain("<p>1</p>");
    for (const n of ["4", "0", "x", "2147483648", "99999999999"])
      expect((await app.post(`/core/apps/${id}/versions/${n}/restore.json`)).status).toBe(404);
  });

  test("a change with If-Match of an older one is 412, of the latest is done", async () => {
    const { id } = await made();
    const first = `"${id}-1"`;
    expect((await patch(id, { name: "a" }, { headers: { "if-match": first } })).status).toBe(200);
    const stale = { headers: { "if-match": first } };
    const replacing = { field: "source_code", old: "hello", new: "x" };
    expect((await patch(id, { name: "b" }, stale)).status).toBe(412);
    expect((await app.patch(`/core/apps/${id}/replace.json`, replacing, stale)).status).toBe(412);
    expect((await app.post(`/core/apps/${id}/versions/1/restore.json`, undefined, stale)).status).toBe(412);
    expect((await patch(id, { name: "c" }, { headers: { "if-match": '"nonsense"' } })).status).toBe(412);
    expect((await app.get(`/core/apps/${id}`, { headers: { "if-none-match": `"${id}-2"` } })).status).toBe(304);
    expect((await app.delete(`/core/apps/${id}`, stale)).status).toBe(412);
    const unknown = crypto.randomUUID();
    expect((await patch(unknown, { name: "d" }, stale)).status).toBe(404);
    expect((await app.patch(`/core/apps/${unknown}/replace.json`, replacing, stale)).status).toBe(404);
    expect((await app.delete(`/core/apps/${unknown}`, stale)).status).toBe(404);
    expect((await app.delete(`/core/apps/${id}`, { headers: { "if-match": `"${id}-2"` } })).status).toBe(204);
  });

  test("of ten changes with one If-Match one is done", async () => {
    const { id } = await made();
    const options = { headers: { "if-match": `"${id}-1"` } };
    const answers = await Promise.all(Array.from({ length: 10 }, (_, at) => patch(id, { name: `n${at}` }, options)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array.from({ length: 9 }, () => 412),
    ]);
  });
});

describe("who may", () => {
  test("everyone with the privilege writes every app of the account; others' are 404", async () => {
    const { id } = await made();
    const user = await person(app);
    expect((await patch(id, { name: "By a user" }, { token: user.token })).json.updated_by_id).toBe(user.id);
    const guest = await person(app, { role: "guest" });
    expect((await app.get("/core/apps.json", { token: guest.token })).status).toBe(403);
    const other = await otherAccount(app);
    for (const [method, path, body] of [
      ["GET", ""],
      ["PATCH", "", { app: { name: "x" } }],
      ["DELETE", ""],
      ["PATCH", "/replace", { field: "prompt", old: "a", new: "b" }],
      ["GET", "/versions"],
      ["POST", "/versions/1/restore"],
    ] as const)
      expect([method, path, (await other.request(method, `/core/apps/${id}${path}`, body)).status]).toEqual([
        method,
        path,
        404,
      ]);
  });

  test("only an admin, with a whole token, makes an app trusted or changes one", async () => {
    const manager = await person(app, { role: "manager" });
    const narrowed = await person(app, { role: "admin", narrowedTo: ["apps", "dbs"] });
    const admin = await person(app, { role: "admin" });
    const { id } = await made();
    for (const { token } of [manager, narrowed]) {
      const refused = await patch(id, { trusted: true }, { token });
      expect([refused.status, refused.json.error]).toEqual([403, expect.stringContaining("trusted")]);
      expect((await post(html({ trusted: true }), { token })).status).toBe(403);
      expect((await patch(id, { trusted: false }, { token })).status).toBe(200);
    }
    expect((await patch(id, { trusted: true }, { token: admin.token })).json.trusted).toBe(true);
    for (const { token } of [manager, narrowed]) {
      for (const change of [{ source_code: "<p>evil</p>" }, { trusted: false }, { name: "x" }, { fields: { a: 1 } }])
        expect((await patch(id, change, { token })).status).toBe(403);
      const evil = { field: "source_code", old: "hello", new: "evil" };
      expect((await app.patch(`/core/apps/${id}/replace`, evil, { token })).status).toBe(403);
      expect((await app.post(`/core/apps/${id}/versions/1/restore`, undefined, { token })).status).toBe(403);
      expect((await app.delete(`/core/apps/${id}`, { token })).status).toBe(403);
    }
    expect((await app.get(`/core/apps/${id}`)).json).toMatchObject({ source_code: "<p>hello</p>", trusted: true });
    expect((await patch(id, { source_code: "<p>good</p>" }, { token: admin.token })).json.trusted).toBe(true);
  });

  test("code with a database needs `dbs`: it would run with its viewers' rights", async () => {
    const { token } = await person(app, { narrowedTo: ["apps"] });
    expect((await post(html({ db_code: "orders" }), { token })).status).toBe(403);
    const { id } = await made({ db_code: "orders" });
    const refused = await patch(id, { source_code: "<p>evil</p>" }, { token });
    expect([refused.status, refused.json.error]).toEqual([403, expect.stringContaining("`dbs`")]);
    expect((await patch(id, { name: "Only the name" }, { token })).status).toBe(200);
    expect((await patch(id, { db_code: null, source_code: "<p>x</p>" }, { token })).status).toBe(200);
    expect((await patch(id, { db_code: "orders" }, { token })).status).toBe(403);
  });
});

describe("actions", () => {
  test("may have null for what they leave out", async () => {
    const action = { action: "send", flow_code: "send-mail" };
    const { id, actions } = await made({ actions: [{ ...action, description: null, public: null }] });
    expect(actions).toEqual([{ ...action, description: null }]);
    expect((await app.post(`/core/apps/${id}/action/send`, {}, { token: null })).status).toBe(401);
  });

  const pay = { action: "go", flow_code: "pay", public: true };

  test("naming a flow takes `flows`; what the app had stays, whoever saves the app", async () => {
    const { token } = await person(app);
    const { id } = await made({ actions: [{ ...pay, description: "Pays" }] });
    const had = (await app.get(`/core/apps/${id}`)).json.actions;
    await patch(id, { actions: [] });
    await patch(id, { actions: had });
    const refused: [string, () => Promise<Answer>][] = [
      ["made", () => post(html({ actions: [pay] }), { token })],
      ["another flow", () => patch(id, { actions: [{ ...had[0], flow_code: "refund" }] }, { token })],
      ["another name", () => patch(id, { actions: [{ ...had[0], action: "pay" }] }, { token })],
      ["one more", () => patch(id, { actions: [...had, { action: "b", flow_code: "pay" }] }, { token })],
      ["opened to everybody", () => patch(id, { actions: [{ ...had[0], public: false }] }, { token })],
      ["with other changes", () => patch(id, { name: "New", actions: [pay] }, { token })],
    ];
    for (const [what, send] of refused) {
      const before = await traces(app, "apps", "app_versions");
      const { status, json } = await send();
      expect([what, status, json.error]).toEqual([what, 403, expect.stringContaining("`flows`")]);
      expect(await traces(app, "apps", "app_versions")).toEqual(before);
    }
    const kept = await patch(id, { name: "New", source_code: "<p>new</p>", actions: had }, { token });
    expect([kept.status, kept.json.actions]).toEqual([200, had]);
    expect((await app.delete(`/core/apps/${id}`, { token })).status).toBe(204);
  });

  test("two hundred versions are kept, and the oldest goes with the next save", async () => {
    const { id } = await made();
    await app.sql`update apps set version = 200 where id = ${id}`;
    expect((await patch(id, { name: "201" })).status).toBe(200);
    const kept = async () =>
      (await app.get(`/core/apps/${id}/versions`)).json.map(({ version }: { version: number }) => version);
    expect(await kept()).toEqual([201]);
    expect((await app.post(`/core/apps/${id}/versions/1/restore`)).status).toBe(404);
    expect((await patch(id, { name: "202" })).status).toBe(200);
    expect(await kept()).toEqual([202, 201]);
  });

  test("an earlier version with other actions is restored by those with `flows` only", async () => {
    const { token } = await person(app);
    const { id } = await made({ actions: [pay] });
    expect((await patch(id, { actions: [] }, { token })).status).toBe(200);
    // What the tests before have started writes events too.
    await eventually(async () => (await app.sql`select from jobs where run_at <= now()`).length === 0, "quiet");
    const before = await traces(app, "apps", "app_versions");
    const refused = await app.post(`/core/apps/${id}/versions/1/restore`, undefined, { token });
    expect([refused.status, refused.json.error]).toEqual([403, expect.stringContaining("`flows`")]);
    expect(await traces(app, "apps", "app_versions")).toEqual(before);
    expect((await app.post(`/core/apps/${id}/versions/2/restore`, undefined, { token })).status).toBe(200);
    expect((await app.post(`/core/apps/${id}/versions/1/restore`)).json.actions).toEqual([pay]);
  });

  test("who is granted `flows` names them", async () => {
    const { token } = await person(app, { privileges: ["flows"] });
    expect((await post(html({ actions: [pay] }), { token })).json.actions).toEqual([pay]);
  });
});

describe("an app of another toolchain", () => {
  const stale = (id: string, fields: object = {}) =>
    app.sql`update apps set ${app.sql({ toolchain: "old", appCode: "stale()", ...fields })} where id = ${id}`;
  const code = async (id: string) => {
    const address = /src="(\/a\/-\/[^"]+\.js)"/.exec((await app.get(`/a/${id}`)).text)?.[1];
    return (await app.get(address ?? "/none")).text;
  };

  test("is rebuilt when it is asked for, without a new version", async () => {
    const { id } = await made({ app_engine: "js", source_code: "fresh();" });
    await stale(id);
    expect(await code(id)).toContain("fresh()");
    const [row] = await app.sql`select app_code, toolchain, version from apps where id = ${id}`;
    expect(row).toMatchObject({
      appCode: expect.stringContaining("fresh()"),
      toolchain: expect.not.stringMatching("^old$"),
      version: 1,
    });
  });

  test("that no longer builds is served as it was", async () => {
    const { id } = await made({ app_engine: "js", source_code: "fresh();" });
    await stale(id, { sourceCode: 'import "fs";' });
    expect(await code(id)).toContain("stale()");
  });
});

describe("where apps are shown", () => {
  test("modules and views list their active apps for every signed-in person", async () => {
    const other = await otherAccount(app);
    const of = { of: other };
    const make = async (fields: object) => (await other.post("/core/apps", { app: html(fields) })).json;
    const { id } = await make({ name: "Deals", show_in_module: "crm", description: "d" });
    await make({ name: "Off", show_in_module: "crm", active: false });
    await make({ name: "Checklist", show_in_module: "tasks/show" });
    const { token } = await person(app, { role: "guest", ...of });
    const crm = await other.get("/core/modules/crm/apps.json", { token });
    expect(crm.json).toEqual([
      {
        id,
        name: "Deals",
        url_code: "deals",
        url: "/a/deals?embed=1&module=crm",
        description: "d",
        app_engine: "html",
        public: false,
        show_in_module: "crm",
        db_code: null,
        home_width: null,
      },
    ]);
    expect(crm.headers.get("x-total-count")).toBe("1");
    expect((await other.get("/core/modules/mail/apps.json", { token })).json).toEqual([]);
    for (const path of ["tasks/show", "/tasks/show"]) {
      const [first] = (await other.get(`/core/views?path=${path}`, { token })).json;
      expect(first).toMatchObject({ name: "Checklist", url: "/a/checklist?embed=1&view=tasks%2Fshow" });
    }
    expect((await other.get("/core/modules/warehouse/apps", { token })).status).toBe(404);
    expect((await other.get("/core/modules.json", { token })).json).toEqual([{ name: "crm", apps: crm.json }]);
    expect(
      (await app.get("/core/modules.json")).json.flatMap(({ apps }: { apps: { id: string }[] }) => apps),
    ).not.toContainEqual(expect.objectContaining({ id }));
    for (const path of ["/core/modules.json", "/core/tiles.json"])
      expect((await app.get(path, { token: null })).status).toBe(401);
    for (const path of ["", "crm", "a/b/c/d/e", "x".repeat(200)])
      expect((await other.get(`/core/views?path=${path}`, { token })).status).toBe(422);
    expect((await app.get("/core/views?path=tasks/show", { token: null })).status).toBe(401);
  });
});

test("tiles are the active apps with dashboard_widget, for every signed-in person of the account", async () => {
  const other = await otherAccount(app);
  const { token } = await person(app, { role: "guest", of: other });
  const make = async (fields: object) => (await other.post("/core/apps", { app: html(fields) })).json;
  await make({ name: "No tile" });
  await make({ name: "Off", dashboard_widget: true, active: false });
  const { id } = await make({
    name: "Clock",
    dashboard_widget: true,
    show_in_module: "crm",
    fields: { home_width: 2 },
  });
  const tiles = await other.get("/core/tiles.json", { token });
  expect(tiles.json).toEqual([
    expect.objectContaining({ id, name: "Clock", url: "/a/clock?embed=1", show_in_module: null, home_width: 2 }),
  ]);
  expect(tiles.headers.get("x-total-count")).toBe("1");
  expect((await other.get("/core/tiles.json?offset=1", { token })).json).toEqual([]);
});

describe("a preview", () => {
  const preview = (fields: object, options = {}) => app.post("/core/apps/preview.json", { app: fields }, options);

  test("is compiled, saves nothing, and lives for its maker alone", async () => {
    const before = (await app.get("/core/apps.json")).headers.get("x-total-count");
    const answer = await preview({ source_code: "<h1>draft</h1>", app_engine: "html" });
    expect([answer.status, Object.keys(answer.json)]).toEqual([200, ["url", "expires_at", "source_lines"]]);
    const minutes = (Date.parse(answer.json.expires_at) - Date.now()) / 60_000;
    expect(minutes > 8 && minutes <= 10).toBe(true);
    expect((await app.get(answer.json.url)).text).toContain("<h1>draft</h1>");
    expect((await app.get("/core/apps.json")).headers.get("x-total-count")).toBe(before);
    const { token } = await person(app, { role: "admin" });
    const other = await otherAccount(app);
    expect((await app.get(answer.json.url, { token })).status).toBe(404);
    expect((await app.get(answer.json.url, { token: null })).status).toBe(401);
    expect((await other.get(answer.json.url)).status).toBe(404);
    await app.sql`update app_previews set expires_at = now() - interval '1 second'`;
    expect((await app.get("/a/preview/nonsense")).status).toBe(404);
  });

  test("of a saved app takes the rest from it", async () => {
    const { id } = await made({ source_code: "<p>saved</p>", name: "Saved one" });
    const answer = await preview({ id, name: "Draft of it" });
    const page = await app.get(answer.json.url);
    expect([page.text.includes("<p>saved</p>"), page.text.includes("Draft of it")]).toEqual([true, true]);
    expect(said(await preview({ id: "019a9c1e-0000-7000-8000-000000000003" }))).toEqual([
      422,
      { id: ["names no app"] },
    ]);
    expect((await preview({ id: "x" })).status).toBe(422);
  });

  test("with a mistake is 422, and each person keeps twenty", async () => {
    expect((await preview({ source_code: "<p>{" })).json).toEqual({
      source_code: [expect.stringMatching(/^\d+:\d+ /)],
    });
    expect((await preview({ name: "no source" })).status).toBe(422);
    const { token, id } = await person(app);
    for (let at = 0; at < 22; at++) await preview(html({ source_code: `<p>${at}</p>` }), { token });
    const [row] = await app.sql`select count(*) as n from app_previews where user_id = ${id}`;
    expect(row?.["n"]).toBe(20);
  });
});
