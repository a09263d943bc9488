/** Unknown names are reported on every route: a route accepts only what it declares. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import { startTestApp, type TestApp } from "./harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema?: BodySchema }> };
  readonly tags: readonly string[];
}
interface BodySchema {
  readonly required?: readonly string[];
  readonly properties?: Record<string, { readonly type?: string; readonly properties?: object }>;
}

const strange = "zz_strange_zz";
const warning = (answer: { headers: Headers }) => answer.headers.get("warning");

test("every route tells of a parameter that it does not take, but those that take any", async () => {
  const { paths } = (await app.get("/openapi.json")).json as { paths: Record<string, Record<string, Operation>> };
  const silent: string[] = [];
  let asked = 0;
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { parameters = [], tags }] of Object.entries(operations)) {
      if (tags.includes("system")) continue;
      asked += 1;
      const address = path.replaceAll(/\{\w+\}/g, "nothing-there");
      const body = method === "post" || method === "patch" || method === "put" ? {} : undefined;
      const response = await fetch(`${app.origin}${address}?${strange}=1`, {
        method: method.toUpperCase(),
        redirect: "manual",
        headers: {
          authorization: "Bearer test-admin-token-0123456789abcdefghijklmnop",
          "content-type": "application/json",
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      // A stream of events has no end.
      await response.body?.cancel();
      const takesAny = parameters.some(({ name, in: place }) => place === "query" && name === "others");
      if (takesAny === (warning(response)?.includes(strange) ?? false))
        silent.push(`${method} ${path} ${response.status}`);
    }
  }
  expect(asked).toBeGreaterThan(100);
  expect(silent).toEqual([]);
});

test("every body with a key tells of a field that it does not take", async () => {
  const { paths } = (await app.get("/openapi.json")).json as { paths: Record<string, Record<string, Operation>> };
  let asked = 0;
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { requestBody }] of Object.entries(operations)) {
      const schema = requestBody?.content["application/json"]?.schema;
      const key = schema?.required?.length === 1 ? schema.required[0] : undefined;
      if (key === undefined || Object.keys(schema?.properties ?? {}).length !== 1) continue;
      if (!schema?.properties?.[key]?.properties) continue;
      asked += 1;
      const answer = await app.request(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, "nothing-there"), {
        [key]: { [strange]: 1 },
        [`${strange}_beside`]: 1,
      });
      expect([path, warning(answer)]).toEqual([path, expect.stringContaining(`unknown field \\"${strange}\\"`)]);
      expect([path, warning(answer)]).toEqual([path, expect.stringContaining(`${strange}_beside\\" beside`)]);
    }
  }
  expect(asked).toBeGreaterThan(20);
});

/** What people keep there has keys of their own, or is judged by its plugin, with tests of its own. */
const freeObjects: ReadonlySet<string> = new Set([
  // Their keys are databases; what is none is 422.
  "answer.fields",
  "api_token.databases",
  "token.databases",
  // What is none of its kind's is 422.
  "triggers.triggers.[]",
  "triggers.triggers.[].filter",
  "view.filters",
  "db.rename",
  "app.config",
  "app.fields",
  "article.fields",
  "bulk.data",
  "chat.variables",
  "connector.fields",
  "db.fields",
  "flow.fields",
  "layout.fields",
  "media.alts",
  "media.titles",
  "page.fields",
  "passkey.response",
  "paragraph.fields",
  "preferences.preferences",
  "prompt.params",
  "record.data",
  "settings.settings",
  "sign_in_provider.roles",
  "sign_in_provider.teams",
  "site.fields",
  "try.connector.fields",
  "try.params",
  "try.step",
  "webhook.filter",
]);

test("every object inside a body tells of a key that it does not take", async () => {
  const silent: string[] = [];
  const free = new Set<string>();
  let asked = 0;
  for (const { method, path, spec } of app.app.routes) {
    if (!spec.body) continue;
    const { key, schema } = spec.body;
    for (const place of placesIn(schema)) {
      if (place.isFree) {
        free.add(`${key ?? path.split("/").at(-1)}.${place.path.join(".")}`);
        continue;
      }
      asked += 1;
      const planted = place.path
        .toReversed()
        .reduce<unknown>((inner, name) => (name === "[]" ? [inner] : { [name]: inner }), { [strange]: 1 });
      const address = path.replaceAll(/:\w+/g, "nothing-there");
      const answer = await app.request(method, address, key === undefined ? planted : { [key]: planted });
      if (!warning(answer)?.includes(`unknown field \\"${strange}\\"`))
        silent.push(`${method} ${path} ${place.path.join(".")}`);
    }
  }
  expect(silent).toEqual([]);
  expect(asked).toBeGreaterThan(20);
  expect([...free].toSorted()).toEqual([...freeObjects].toSorted());
});

interface Place {
  readonly path: readonly string[];
  readonly isFree: boolean;
}

/** The objects in a body's schema, and in lists, one by one. */
function placesIn(schema: TSchema, path: readonly string[] = []): Place[] {
  const forms: TSchema[] = schema["anyOf"] ?? [schema];
  return forms.flatMap((form) => {
    if (form["type"] === "array" && form["items"]) return placesIn(form["items"], [...path, "[]"]);
    if (form["type"] !== "object") return [];
    const isFree = form["patternProperties"] !== undefined || Boolean(form["additionalProperties"]);
    const inner = Object.entries<TSchema>(form["properties"] ?? {}).flatMap(([name, one]) =>
      placesIn(one, [...path, name]),
    );
    return [{ path, isFree }, ...inner];
  });
}

describe("a hint", () => {
  const shelf = { name: "Shelf", app_engine: "html", source_code: "<p>" };
  const follow = { source_type: "Core::Record", kind: "create", url: "https://receiver.test/x" };
  const schema = { fields: { email: "string", age: "integer" }, indexed_fields: ["email"] };
  beforeAll(async () => {
    const made = await app.post("/core/dbs", {
      db: { name: "people", schema, public_methods: { list: true, search: true, create: true } },
    });
    expect([made.status, warning(made)]).toEqual([201, null]);
    await app.post("/core/dbs", { db: { name: "free" } });
    await app.post("/core/dbs/people/records", { record: { data: { email: "a", other: "b" } } });
  });

  test.each<[string, string | null]>([
    ["/core/dbs/people/search?filter[email]=a&sort=-age&q=x&search_in=email&fields=age&count=true", null],
    ["/core/dbs/people/search?filter[id][null]=false&sort=created_at", null],
    ["/core/dbs/people/search?filter[emial]=a", 'no field "emial": did you mean "email"?'],
    ["/core/dbs/people/search?filter[other]=b", 'no field "other": known are email, age, id, created_at, updated_at'],
    ["/core/dbs/people/search?any[0][emial][ne]=a", 'no field "emial"'],
    ["/core/dbs/people/search?sort=-agee", 'no field "agee": did you mean "age"?'],
    ["/core/dbs/people/search?fields=emails", 'no field "emails"'],
    ["/core/dbs/people/search?q=x&search_in=mail", 'no field "mail": did you mean "email"?'],
    ["/core/dbs/people/records?filter[emial]=a", 'no field "emial"'],
    ["/core/dbs/people/aggregate?group_by=emial&filter[aeg]=1", 'no field "aeg": did you mean "age"?'],
    ["/core/dbs/people/search?filter=a", 'unknown query parameter "filter": did you mean "filter[<field>]"'],
    ["/core/dbs/people/search?limits=5", 'unknown query parameter "limits": did you mean "limit"?'],
    ["/core/dbs/free/search?filter[anything]=a&sort=other", null],
    ["/core/db/people/search?sort=agee", 'no field "agee"'],
    ["/core/db/people/search?filter[email]=a", 'unknown query parameter "filter[email]"'],
    ["/core/db/people/list?q=x&limit=5", '`list` takes no "q"'],
    ["/core/db/people/list?limit=5&offset=0", null],
  ])("for %p is %p, and the answer is 200 as before", async (path, text) => {
    const answer = await app.get(path);
    const told = warning(answer)?.replaceAll("\\", "") ?? null;
    expect([answer.status, told]).toEqual([200, text === null ? null : expect.stringContaining(text)]);
  });

  test("tells visitors no names of fields that they are not shown", async () => {
    const public_methods = { search: { allowed_fields: ["email"] } };
    await app.patch("/core/dbs/people", { db: { public_methods } });
    for (const field of ["age", "agee"]) {
      const answer = await app.get(`/core/db/people/search?sort=${field}`, { token: null });
      expect([answer.status, warning(answer)?.replaceAll("\\", "")]).toEqual([
        200,
        `299 - "nothing is sorted by "${field}" here: known are email, id, created_at, updated_at"`,
      ]);
    }
  });

  test("stands beside the answers of writes, refusals too", async () => {
    const beside = await app.post("/core/dbs/people/records", { table_name: "x", record: { data: {} } });
    expect([beside.status, warning(beside)]).toEqual([201, expect.stringContaining("put it inside")]);
    const wrong = await app.post("/core/dbs", { db: { nmae: "x" } });
    expect([wrong.status, warning(wrong)]).toEqual([422, expect.stringContaining('did you mean \\"name\\"')]);
    const page = await app.post("/cms/pages.json", { page: { layout: "main" } });
    expect(warning(page)).toContain('unknown field \\"layout\\": did you mean \\"layout_id\\" or \\"layout_code\\"?');
    const batch = await app.post("/core/dbs/people/batch", { operations: [{ op: "create", data: {}, table: "x" }] });
    expect([batch.status, warning(batch)]).toEqual([200, expect.stringContaining('did you mean \\"table_name\\"')]);
    const misspelt = { name: "x", schema: { fields: { a: { type: "string", requried: true } }, index_fields: ["a"] } };
    const made = await app.post("/core/dbs", { db: misspelt });
    expect(made.status).toBe(201);
    expect(warning(made)?.split("index_fields")).toEqual([
      expect.anything(),
      expect.stringContaining('\\" in \\"schema\\": did you mean'),
    ]);
    const edit = { field: "schema", old_string: "index_fields", new_string: "indexd_fields" };
    const edited = await app.patch(`/core/dbs/${made.json.code}/replace`, edit);
    expect(warning(edited)).toContain('\\"indexd_fields\\" in \\"schema\\": did you mean \\"indexed_fields\\"');
    expect(warning(made)).toContain('\\"requried\\" in schema.fields.a: did you mean \\"required\\"');
    const tables = await app.patch(`/core/dbs/${made.json.code}`, {
      db: { schema: { tables: { t: { feilds: {} } }, indexd: 1 } },
    });
    expect(warning(tables)).toContain('\\"feilds\\" in schema.tables.t: did you mean \\"fields\\"');
  });

  test.each<[string, object, string | null]>([
    ["/core/apps", { app: { ...shelf, fields: { dashbord_widget: true } } }, 'did you mean "dashboard_widget"?'],
    [
      "/core/apps",
      { app: { ...shelf, fields: { db: ["people"] } } },
      'unknown field "db" in "fields": did you mean "dbs"?',
    ],
    ["/core/apps", { app: { ...shelf, fields: { shelf: 1, dbs: ["people"] } } }, null],
    ["/account/webhooks", { webhook: { ...follow, filter: { db_cod: "people" } } }, 'did you mean "db_code"?'],
    ["/account/webhooks", { webhook: { ...follow, kind: "update", filter: { colour: "red" } } }, null],
    [
      "/core/prompts/preview",
      { prompt: { content: "{{ client }}", params: { cleint: "x" } } },
      'not use "cleint": did you',
    ],
    ["/core/prompts/preview", { prompt: { content: "{{ client }}", params: { client: "x" } } }, null],
  ])("names what is nearly a key where people keep their own: %s %j", async (path, body, text) => {
    const made = await app.post(path, body);
    expect([made.status < 300, warning(made)?.replaceAll("\\", "") ?? null]).toEqual([
      true,
      text === null ? null : expect.stringContaining(text),
    ]);
  });

  test.each<[object, string | null]>([
    [{ create: { allowed_fields: ["emial"] } }, 'create.allowed_fields: the schema has no field "emial": did you mean'],
    [{ create: { required_fields: ["emial"] } }, 'create.required_fields: the schema has no field "emial"'],
    [{ create: { default_values: { aeg: 1 } } }, 'create.default_values: the schema has no field "aeg"'],
    [{ create: { auto_fields: { aeg: 1 } } }, 'create.auto_fields: the schema has no field "aeg"'],
    [{ create: { auto_fields: { made: { by: "{ip}" } } } }, "create.auto_fields.made: variables are filled into texts"],
    [
      { search: { allowed_params: ["limits"] } },
      'search.allowed_params: `search` takes no "limits": did you mean "limit"',
    ],
    [{ list: { allowed_params: ["q"] } }, '`list` takes no "q"'],
    [{ update: { default_values: { age: 1 } } }, "update.default_values is not used: update reads allowed_fields"],
    [
      { create: { auto_fields: { visitor: "{ip}" } }, list: { scope_by: "visitor", allowed_fields: ["visitor"] } },
      null,
    ],
    [{ get: true, search: { allowed_fields: ["email", "id"], allowed_params: ["q"], auto_fields: null } }, null],
  ])("names what the public methods %j name to no effect: %p", async (public_methods, text) => {
    const fields = { email: "string", age: "integer" };
    const made = await app.post("/core/dbs", { db: { name: "named", schema: { fields }, public_methods } });
    const expected = text === null ? null : expect.stringContaining(text);
    expect([made.status, warning(made)?.replaceAll("\\", "") ?? null]).toEqual([201, expected]);
    const again = await app.patch(`/core/dbs/${made.json.id}/replace`, {
      field: "schema",
      old_string: "integer",
      new_string: "number",
    });
    expect([again.status, warning(again)?.replaceAll("\\", "") ?? null]).toEqual([200, expected]);
    const other = await app.patch(`/core/dbs/${made.json.id}`, { db: { name: "other" } });
    expect([other.status, warning(other)]).toEqual([200, null]);
  });

  test.each(["{cookie-key}", "by { ip }", "{user id}"])(
    "refuses the variable %p that nothing fills in",
    async (text) => {
      const db = { name: "spelt", public_methods: { create: { auto_fields: { a: text } } } };
      const made = await app.post("/core/dbs", { db });
      expect([made.status, made.json.public_methods?.[0]]).toEqual([
        422,
        expect.stringMatching(/^create\.auto_fields\.a: \{.*\} is not a variable: use \{ip\}/),
      ]);
    },
  );

  test.each<[string, string, object, string | null]>([
    [
      "/connect/flows",
      "flow",
      { name: "a", fields: { program: [], progam: [] } },
      '"progam" in "fields": did you mean "program"',
    ],
    ["/connect/flows", "flow", { name: "b", fields: { program: [], tool: false } }, null],
    [
      "/core/apps",
      "app",
      { name: "c", source_code: "x", actions: [{ action: "a", flow_code: "f", publik: true }] },
      '"publik" in "actions[0]": did you mean "public"',
    ],
    [
      "/account/webhooks",
      "webhook",
      { source_type: "Core::App", kind: "create", url: "https://a.test", filter: { url_cod: "x" } },
      'filter: Core::App has no "url_cod": did you mean "url_code"',
    ],
    [
      "/account/webhooks",
      "webhook",
      { source_type: "Core::Record", kind: "create", url: "https://a.test", filter: { anything: "x" } },
      null,
    ],
    [
      "/account/webhooks",
      "webhook",
      { source_type: "Other::Thing", kind: "create", url: "https://a.test", filter: { anything: "x" } },
      'no model is called "Other::Thing"',
    ],
  ])("tells at %s of keys inside of %s %j: %p", async (path, key, fields, text) => {
    const made = await app.post(path, { [key]: fields });
    const expected = text === null ? null : expect.stringContaining(text);
    expect([made.status, warning(made)?.replaceAll("\\", "") ?? null]).toEqual([201, expected]);
  });

  test("stands beside a flow's trial", async () => {
    await app.post("/connect/flows", { flow: { name: "trial", fields: { program: [] } } });
    const tried = await app.post("/connect/flows/trial/test", { inputs: {}, answers: {}, app: null, program: [] });
    const hint = '299 - "unknown field "inputs": did you mean "input"?"';
    expect([tried.status, warning(tried)?.replaceAll("\\", "")]).toEqual([200, hint]);
    expect(warning(await app.post("/connect/flows/trial/test", { input: {} }))).toBeNull();
  });

  test("survives names that no header can hold, and a million of them", async () => {
    const odd = await app.get(`/core/dbs?${encodeURIComponent('ł"\r\n\\')}=1`);
    expect(warning(odd)).toContain(String.raw`unknown query parameter \"%C5%82\"%0D%0A\\\"`);
    const many = Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [`n${at}`, 1]));
    const answer = await app.post("/core/dbs", { db: { name: "many", ...many }, ...many });
    expect([answer.status, (warning(answer) ?? "").length < 2000]).toEqual([201, true]);
  });

  test("is the same with a kept answer, and reaches pages of other origins", async () => {
    const headers = { "idempotency-key": crypto.randomUUID() };
    const send = () => app.post("/core/dbs?foo=1", { db: { name: "kept" } }, { headers });
    const [first, second] = [await send(), await send()];
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(warning(second)).toBe(warning(first));
    expect(warning(first)).toContain("foo");
    const list = await app.get("/core/db/people/search?x=1", {
      token: null,
      headers: { origin: "https://elsewhere.test" },
    });
    expect(list.headers.get("access-control-expose-headers")).toContain("warning");
  });
});
