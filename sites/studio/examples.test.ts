import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../tests/harness.ts";
import begins from "./app/kit/list/text/en.json" with { type: "json" };
import { exampleAddress, exampleValues, type Example, type Examples } from "./app/resources/examples.ts";
import { filled, resourcesOf, type Resource } from "./app/resources/resources.ts";
import { unlisted } from "./app/resources/names.ts";
import en from "./app/text/en.json" with { type: "json" };
import { textOf } from "./app/resources/values.ts";

const files = await Array.fromAsync(new Bun.Glob("plugins/*/studio/examples.json").scan(`${import.meta.dir}/../..`));
const all: [string, Example][] = [];
for (const file of files) {
  const examples: Examples = await Bun.file(`${import.meta.dir}/../../${file}`).json();
  all.push(...Object.entries(examples));
}

let app: TestApp;
let resources: readonly Resource[];
beforeAll(async () => {
  app = await startTestApp();
  resources = resourcesOf((await app.get("/openapi.json")).json);
  const server = { url: "smtp://127.0.0.1:1", from: "a@example.com" };
  expect((await app.patch("/core/mail_server.json", { mail_server: server })).status).toBe(200);
  const program = [{ type: "return", value: "x" }];
  expect((await app.post("/connect/flows.json", { flow: { name: "First", fields: { program } } })).status).toBe(201);
  expect((await app.post("/cms/sites.json", { site: { name: "First" } })).status).toBe(201);
  const category = { name: "First", site_code: "first" };
  expect((await app.post("/cms/categories.json", { category })).status).toBe(201);
});
afterAll(() => app.stop());

test.each(all)("the example of %s is made as it stands, in every language", async (path, example) => {
  const resource = resources.find((one) => one.path === path);
  const key = resource?.create?.body?.key;
  if (!resource?.create || key === undefined) throw new Error(`nothing is made at ${path}`);
  const { needs } = example;
  const first = needs && (await app.get(`${needs.path}.json?limit=1`)).json[0];
  for (const language of ["en", "pl", "de"] as const) {
    const values = exampleValues(example, language, first);
    const made = await app.post(resource.create.path, { [key]: values });
    expect([made.status, made.text]).toEqual([201, made.text]);
    expect(example.says[language]).toEndWith(".");
    // Its code is free again for the next language.
    if (resource.remove) await app.request("DELETE", filled(resource.remove.path, [textOf(made.json.id)]));
  }
});

test("a list in which something can be made has an example, or is told to be filled in another way", () => {
  const made = resources.filter(({ create }) => create?.body?.key !== undefined).map(({ path }) => path);
  const own = ["/core/dbs/{db_id}/records"]; // from its schema
  const missing = made.filter((path) => ![...all.map(([of]) => of), ...Object.keys(begins), ...own].includes(path));
  expect(missing).toEqual([]);
});

test("every list says what it is for, or how it comes to be", () => {
  const paths = resources.map(({ path }) => path).filter((path) => !unlisted.has(path));
  const told = [en.about, begins].flatMap((one) => Object.keys(one));
  // Pages of their own, what only the Studio asks for, and what has no page yet.
  const others = [
    "/account/settings",
    "/core/dbs/{db_id}/deleted_fields",
    "/core/dbs/{db_id}/people",
    "/core/dbs/{db_id}/records/{id}/people",
    "/core/db_trash",
    "/connect/hooks/{id}/arrivals",
    "/core/inbox",
    "/core/tasks",
    "/core/modules",
    "/core/modules/{module}/apps",
    "/core/tiles",
    "/studio/-/pages",
  ];
  const own = ["/core/dbs/{db_id}/records", ...others];
  expect(paths.filter((path) => ![...told, ...own].includes(path))).toEqual([]);
  expect(Object.keys(begins).filter((path) => !resources.some((one) => one.path === path))).toEqual([]);
});

describe("the address of a form with an example", () => {
  test("holds texts as they are, and what is no text as JSON", () => {
    const values = exampleValues(
      {
        says: { en: "", pl: "", de: "" },
        fields: { privileges: ["dbs"] },
        words: { en: { name: "A & B" }, pl: {}, de: {} },
      },
      "en",
    );
    expect(exampleAddress("/studio/account/tokens", values)).toBe(
      "/studio/account/tokens/new?privileges=%5B%22dbs%22%5D&name=A+%26+B",
    );
  });

  test("names the first one of the list that the example needs", () => {
    const needs = { path: "/cms/categories", fields: { site_code: "site_code", category_code: "code" } };
    const says = { en: "", pl: "", de: "" };
    const values = exampleValues({ says, needs }, "pl", { id: 7, code: "news", site_code: "acme" });
    expect(values).toEqual({ site_code: "acme", category_code: "news" });
  });
});
