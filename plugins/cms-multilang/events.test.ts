import { afterAll, beforeAll, expect, test } from "bun:test";
import { definePlugin, modelChanged, onEvent, type ModelEvent } from "platform";
import { plugins } from "../index.ts";
import { eventually, startTestApp, type TestApp } from "../../tests/harness.ts";
import { cms } from "./api.ts";

const heard: ModelEvent[] = [];
const listener = definePlugin({
  name: "listener",
  setup: () => ({
    handlers: [
      onEvent(modelChanged, "listener", async (change) => void heard.push(change), {
        when: ({ sourceType }) => sourceType.startsWith("Cms::"),
        orderKey: () => "all",
      }),
    ],
  }),
});

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, listener] });
  await app.post("/cms/sites.json", { site: { code: "acme", name: "Acme" } });
});
afterAll(() => app.stop());

/** What was heard since, as "Page create code". */
async function heardAfter(run: () => Promise<unknown>, count: number): Promise<string[]> {
  heard.length = 0;
  await run();
  await eventually(() => heard.length >= count, `${count} events`);
  return heard.map(({ sourceType, kind, data }) => `${sourceType.slice(5)} ${kind} ${String(data["code"])}`).toSorted();
}

test("every change of a page and an article is told, with the record as the API shows it", async () => {
  const page = { code: "p", path: "p", site_code: "acme", fields: { a: 1 } };
  expect(await heardAfter(() => app.post("/cms/pages.json", { page }), 1)).toEqual(["Page create p"]);
  const { data, id } = heard[0] ?? {};
  const shown = (await app.get("/cms/pages/p.json")).json;
  expect(data).toEqual(shown);
  expect(id).toBe(shown.id);
  expect(await heardAfter(() => app.patch("/cms/pages/p.json", { page: { name: "P" } }), 1)).toEqual(["Page update p"]);
  const slave = { code: "s", path: "s", site_code: "acme", based_on_page_code: "p" };
  await heardAfter(() => app.post("/cms/pages.json", { page: slave }), 1);
  expect(await heardAfter(() => app.delete("/cms/pages/p.json"), 2)).toEqual(["Page destroy p", "Page update s"]);
  const article = { code: "a", title: "A", site_code: "acme" };
  expect(await heardAfter(() => app.post("/cms/articles.json", { article }), 1)).toEqual(["Article create a"]);
  expect(await heardAfter(() => app.patch("/cms/articles/a.json", { article: { lead: "L" } }), 1)).toEqual([
    "Article update a",
  ]);
  expect(await heardAfter(() => app.delete("/cms/sites/acme.json"), 2)).toEqual([
    "Article destroy a",
    "Page destroy s",
  ]);
});

test("what was refused is not told", async () => {
  await app.post("/cms/sites.json", { site: { code: "two", name: "Two" } });
  const refused = await heardAfter(async () => {
    await app.post("/cms/pages.json", { page: { code: "x", path: "a//b", site_code: "two" } });
    await app.patch("/cms/pages/nobody.json", { page: { name: "x" } });
    await app.post("/cms/pages.json", { page: { code: "last", site_code: "two" } });
  }, 1);
  expect(refused).toEqual(["Page create last"]);
});

test("the models can be followed by webhooks", async () => {
  const { json } = await app.get("/account/webhooks/source_types.json");
  const names = JSON.stringify(json);
  expect(names).toContain("Cms::Page");
  expect(names).toContain("Cms::Article");
});

test("imports write in one transaction, by code, and all of it or nothing", async () => {
  const service = app.service(cms);
  const [account] = await app.sql`select id, locale, timezone from accounts order by id limit 1`;
  const author = { account: { id: account?.["id"], locale: "en", timezone: "UTC" }, userId: null };
  const files = [
    ["site", { code: "files", name: "Files", multilang: true }],
    ["domain", { name: "files.test", site_code: "files", locale: "pl" }],
    ["layout", { code: "f-layout", site_code: "files", content: "{{ content }}" }],
    ["page", { code: "f-page", site_code: "files", path: "a", layout_code: "f-layout" }],
    ["paragraph", { code: "f-paragraph", page_code: "f-page" }],
    ["category", { code: "f-news", site_code: "files" }],
    ["article", { code: "f-article", title: "A", site_code: "files", category_code: "f-news" }],
  ] as const;
  const put = () =>
    service.change(author, async (writes) => {
      const made: boolean[] = [];
      for (const [kind, body] of files) made.push((await writes.put(kind, body)).made);
      return made;
    });
  expect(new Set(await put())).toEqual(new Set([true]));
  expect(new Set(await put())).toEqual(new Set([false]));
  const { records } = await service.list(author.account.id, "page", new URLSearchParams({ site_code: "files" }));
  expect(records).toMatchObject([{ code: "f-page", layout_code: "f-layout", created_by_id: null }]);
  const failing = service.change(author, async (writes) => {
    await writes.put("page", { code: "f-second", site_code: "files" });
    await writes.put("page", { code: "f-third", site_code: "files", path: 5 });
  });
  const failure: unknown = await failing.catch((error: unknown) => error);
  expect(failure).toMatchObject({ status: 422, fields: { path: ["must be a string"] } });
  expect(await service.find(author.account.id, "page", "f-second")).toBeUndefined();
  const { token } = (await app.post("/account/api_tokens.json", { api_token: {} })).json;
  const telling = service.change(author, (writes) =>
    writes.put("page", { code: "f-page", site_code: "files", content: token }),
  );
  const told: unknown = await telling.catch((error: unknown) => error);
  expect(told).toMatchObject({ status: 422, fields: { content: [expect.stringContaining("holds a real token")] } });
  expect(await service.find(author.account.id, "page", "f-page")).toMatchObject({ content: "" });
  expect(await service.find(author.account.id, "domain", "files.test")).toMatchObject({ primary: true });
  await service.change(author, (writes) => writes.remove("site", "files"));
  expect((await app.get("/cms/sites/files.json")).status).toBe(404);
});
