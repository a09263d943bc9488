/** A real token never gets into what others read: it is refused with the name of its field. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { adminToken, startTestApp, type TestApp } from "./harness.ts";

let app: TestApp;
let made: string;
beforeAll(async () => {
  app = await startTestApp();
  made = (await app.post("/account/api_tokens.json", { api_token: {} })).json.token;
  expect((await app.post("/cms/sites.json", { site: { name: "Acme", code: "acme" } })).status).toBe(201);
  const category = { name: "News", code: "news", site_code: "acme" };
  expect((await app.post("/cms/categories.json", { category })).status).toBe(201);
});
afterAll(() => app.stop());

const site_code = "acme";
const inApp = { name: "App", app_engine: "html", css_engine: "none", source_code: "<p>fine</p>" };
const places: readonly [path: string, key: string, valid: object, field: string][] = [
  ["/core/apps", "app", inApp, "source_code"],
  ["/core/apps", "app", inApp, "prompt"],
  ["/cms/pages", "page", { name: "A", path: "a", site_code }, "content"],
  ["/cms/pages", "page", { name: "B", path: "b", site_code }, "html_description"],
  ["/cms/paragraphs", "paragraph", { name: "A", site_code }, "content"],
  ["/cms/layouts", "layout", { name: "A", site_code }, "content"],
  ["/cms/articles", "article", { title: "A", site_code, category_code: "news" }, "content"],
  ["/cms/articles", "article", { title: "B", site_code, category_code: "news" }, "lead"],
];

describe.each(places)("%s: %s", (path, key, valid, field) => {
  test(`refuses a token in ${field}, when made and when changed`, async () => {
    const { status, json } = await app.post(`${path}.json`, { [key]: valid });
    expect([json, status]).toEqual([json, 201]);
    for (const token of [made, adminToken]) {
      const body = { [key]: { ...valid, [field]: `fetch("/x", { token: "${token}" })` } };
      for (const answer of [await app.post(`${path}.json`, body), await app.patch(`${path}/${json.id}.json`, body)]) {
        expect([answer.status, answer.json]).toEqual([
          422,
          { [field]: [expect.stringContaining("holds a real token")] },
        ]);
        expect(answer.text).not.toContain(token);
      }
    }
    const like = { [key]: { [field]: `core_${"a".repeat(42)}` } };
    expect((await app.patch(`${path}/${json.id}.json`, like)).status).toBe(200);
  });
});

test("a token in a page's fields is refused too, and by replacing a part of an app's source", async () => {
  const page = { name: "C", path: "c", site_code, fields: { en: { key: made } } };
  expect((await app.post("/cms/pages.json", { page })).json).toEqual({ fields: [expect.any(String)] });
  const { id } = (await app.post("/core/apps.json", { app: { ...inApp, source_code: "<p>HERE</p>" } })).json;
  const edit = { field: "source_code", old_string: "HERE", new_string: made };
  expect((await app.patch(`/core/apps/${id}/replace.json`, edit)).status).toBe(422);
});
