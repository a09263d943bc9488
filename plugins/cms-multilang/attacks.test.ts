import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../tests/harness.ts";
import { follower, traces } from "../../tests/traces.ts";
import { plugins } from "../index.ts";
import { kinds as declared } from "./resources.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
  await app.post("/cms/sites.json", { site: { code: "acme", name: "Acme" } });
  for (const { name, plural, good } of kinds) {
    const answer = await app.post(`/cms/${plural}.json`, { [name]: good });
    expect(`${name} ${answer.status} ${answer.text}`).toStartWith(`${name} 201`);
  }
});
afterAll(() => app.stop());

/** A digest of every row of sites, and how many events there were. */
const everything = () =>
  traces(
    app,
    "cms_sites",
    "cms_domains",
    "cms_layouts",
    "cms_pages",
    "cms_redirects",
    "cms_paragraphs",
    "cms_categories",
    "cms_articles",
    "cms_article_categories",
  );

const site_code = "acme";
const kinds = [
  {
    name: "site",
    plural: "sites",
    schema: declared.site.bodies.create,
    ref: "target",
    good: { code: "target", name: "T" },
  },
  {
    name: "domain",
    plural: "domains",
    schema: declared.domain.bodies.create,
    ref: "t.example.com",
    good: { name: "t.example.com", site_code },
  },
  {
    name: "layout",
    plural: "layouts",
    schema: declared.layout.bodies.create,
    ref: "target",
    good: { code: "target", site_code },
  },
  {
    name: "page",
    plural: "pages",
    schema: declared.page.bodies.create,
    ref: "target",
    good: { code: "target", site_code },
  },
  {
    name: "paragraph",
    plural: "paragraphs",
    schema: declared.paragraph.bodies.create,
    ref: "target",
    good: { code: "target" },
  },
  {
    name: "category",
    plural: "categories",
    schema: declared.category.bodies.create,
    ref: "target",
    good: { code: "target", site_code },
  },
  {
    name: "article",
    plural: "articles",
    schema: declared.article.bodies.create,
    ref: "target",
    good: { code: "target", title: "T", site_code },
  },
];

/** Values that no field of this name takes. */
const wrongFor = (field: string): unknown[] => {
  const strings = [5, true, {}, ["a"]];
  if (["multilang", "active", "primary"].includes(field)) return ["true", 1, null, {}, []];
  if (field === "fields") return ["{}", 5, true, null, [], [{}]];
  if (field === "position") return ["1", 1.5, null, {}, 1e300, -1e300, true];
  if (field === "cache_seconds") return ["1", 1.5, -1, 31_536_001, {}, true];
  if (field.endsWith("_id")) return ["1", 1.5, -1, {}, [], true, 2 ** 60, 99_999_999];
  if (field === "categories")
    return ["news", {}, null, [5], [null], [""], ["nobody"], Array.from({ length: 101 }, () => "a")];
  if (field === "locale") return [...strings, "xx", "EN", "pl ", "__proto__"];
  if (field === "published_at") return [...strings, "tomorrow", "2026-02-30", "x".repeat(65)];
  if (field === "code") return [...strings, null, "", " ", "a b", "../a", "5", "a.json", "ż", ".a", "a".repeat(101)];
  if (field === "kind") return [...strings, null, "", "a b", "a".repeat(101)];
  if (field === "path")
    return [...strings, "a//b", "../a", "a/./b", "a\u0007b", "a\n", "a".repeat(2001), "a".repeat(5000)];
  if (field === "name") return [...strings, null, "", "  ", "a".repeat(1001)];
  if (field === "title") return [...strings, null, "", "  ", "a".repeat(1001)];
  if (field.endsWith("_code")) return [...strings, "nobody", "a b", "a".repeat(101)];
  if (field === "content") return [...strings, "x".repeat(1_000_001)];
  return [...strings, "x".repeat(50_001)];
};

describe.each(kinds)("$name", ({ name, plural, schema, ref, good }) => {
  const send = (method: string, path: string, body: unknown) => app.request(method, `/cms/${plural}${path}.json`, body);

  // Everything here is refused or only read, so nothing may be left behind.
  let before: Awaited<ReturnType<typeof everything>>;
  beforeEach(async () => {
    before = await everything();
  });
  afterEach(async () => {
    expect(await everything()).toEqual(before);
  });

  test.each(Object.keys(schema.properties))("a wrong `%s` is 422 under its name, made or changed", async (field) => {
    for (const value of wrongFor(field)) {
      const what = `${field} = ${JSON.stringify(value)?.slice(0, 60)}`;
      for (const [method, path, body] of [
        ["POST", "", { ...good, code: "another", [field]: value }],
        ["PATCH", `/${ref}`, { [field]: value }],
      ] as const) {
        // In what is made null is as good as nothing.
        if (method === "POST" && value === null) continue;
        const { status, json, text } = await send(method, path, { [name]: body });
        expect(`${method} ${what}: ${status} ${Object.keys(json ?? {}).join()} ${text.slice(0, 200)}`).toStartWith(
          `${method} ${what}: 422 ${field} `,
        );
        expect(Array.isArray(json[field]) && json[field].every((said: unknown) => typeof said === "string")).toBe(true);
      }
    }
  });

  test("what is no body of its key is 400", async () => {
    for (const body of [{}, { other: good }, good, { [name]: null }, { [name]: [] }, { [name]: "x" }, [], 5, null]) {
      const posted = await send("POST", "", body);
      expect([body, posted.status]).toEqual([body, 400]);
      expect((await send("PATCH", `/${ref}`, body)).status).toBe(400);
    }
    const raw = { raw: "{", headers: { "content-type": "application/json" } };
    expect((await app.post(`/cms/${plural}.json`, undefined, raw)).status).toBe(400);
    const form = { raw: "a=b", headers: { "content-type": "application/x-www-form-urlencoded" } };
    expect((await app.post(`/cms/${plural}.json`, undefined, form)).status).toBe(415);
  });

  test("a NUL or half a surrogate pair is 422 wherever it stands", async () => {
    for (const field of Object.keys(schema.properties)) {
      for (const bad of ['"a\\u0000b"', '"\\ud800"', '{"a\\u0000":1}', '{"a":{"b":["\\u0000"]}}']) {
        const raw = `{"${name}": {"${field}": ${bad}}}`;
        const { status } = await app.patch(`/cms/${plural}/${ref}.json`, undefined, {
          raw,
          headers: { "content-type": "application/json" },
        });
        expect(`${raw} ${status}`).toBe(`${raw} 422`);
      }
    }
  });

  test("a query that makes no sense is no fault", async () => {
    const odd = [
      "limit=x&offset=-1",
      "limit=99999999999999999999",
      "q=%25%5C_*",
      "q=%27%3Bdrop",
      "locale=%00x".slice(0, 8),
      "site_code=;",
    ];
    for (const query of odd) expect((await app.get(`/cms/${plural}.json?${query}`)).status).toBe(200);
    expect((await app.get(`/cms/${plural}.json?q=%00`)).status).toBe(422);
  });
});

const withFields = kinds.filter(({ schema }) => "fields" in schema.properties);

test.each(withFields)("fields of a $name are bounded, and any key is a key", async ({ name, plural, ref }) => {
  const patch = (text: string) =>
    app.patch(`/cms/${plural}/${ref}.json`, undefined, {
      raw: `{"${name}":{"fields":${text}}}`,
      headers: { "content-type": "application/json" },
    });
  for (const tooMuch of [`{"a":${"[".repeat(30)}${"]".repeat(30)}}`, `{"a":"${"x".repeat(500_001)}"}`]) {
    const answer = await patch(tooMuch);
    expect([answer.status, Object.keys(answer.json)]).toEqual([422, ["fields"]]);
  }
  const keys = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":"x","":1,"a.b":2}';
  const answer = await patch(keys);
  expect(answer.status).toBe(200);
  expect(answer.text).toContain('"__proto__": {"polluted": 1}'.replaceAll(": ", ":"));
  expect(Object.keys(answer.json.fields).toSorted()).toEqual(["", "__proto__", "a.b", "constructor", "toString"]);
  expect({}).not.toHaveProperty("polluted");
});

test("an Idempotency-Key makes one page, whose answer is given again", async () => {
  const send = () =>
    app.post("/cms/pages.json", { page: { name: "Once", site_code } }, { headers: { "idempotency-key": "once" } });
  const [first, second] = [await send(), await send()];
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.json).toEqual(first.json);
  expect((await app.get("/cms/pages.json?q=once")).json).toHaveLength(1);
});
