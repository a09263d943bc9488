import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Frame } from "playwright-core";
import { startStage, type Stage } from "./apps-fixture.ts";

// A machine that runs other tests beside these may take its time.
setDefaultTimeout(600_000);

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
}, 600_000);
afterAll(() => stage?.stop());

const codes = ["apps_api", ...["svelte", "vue", "react", "js", "html", "kaboom", "phaser"].map((e) => `apps_${e}_api`)];

async function rendered(code: string): Promise<string> {
  const prompt = await stage.app.get(`/core/prompt/${code}.md`);
  expect(prompt.status).toBe(200);
  return prompt.text;
}

/** The code blocks of this language. */
const blocks = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(([, code = ""]) => code);

async function post(path: string, body: object): Promise<void> {
  const answer = await stage.app.post(path, body);
  expect(`${path} ${answer.status} ${answer.text}`).toStartWith(`${path} 201`);
}

test.each(codes)("%s is rendered whole, and names prompts that are there", async (code) => {
  const text = await rendered(code);
  // What a template of Vue or a flow shows between braces is a plain name.
  expect(text.match(/\{\{(?! [a-z.]+ \}\})|\{%|TOKEN/g)).toBeNull();
  for (const [, named = ""] of text.matchAll(/\/core\/prompt\/([a-z_]+)\.md/g)) await rendered(named);
  for (const [, named = ""] of text.matchAll(/`(apps_[a-z]+_api)`/g)) await rendered(named);
});

describe("apps_api", () => {
  test("its examples work, in their order, and the app that they build shows its votes", async () => {
    const text = await rendered("apps_api");
    const [hello = ""] = blocks(text, "json");
    await post("/core/apps.json", JSON.parse(hello));
    const examples = [...text.matchAll(/```\n(POST|PATCH) (\S+)\n([\s\S]*?)```/g)];
    expect(examples).toHaveLength(5);
    for (const [, method = "", path = "", body = ""] of examples) {
      const answer = await stage.app.request(method, path, JSON.parse(body));
      expect(`${path} ${answer.status} ${answer.text}`).toStartWith(`${path} 20`);
      if (path.endsWith("/hint")) expect(Object.keys(answer.json)).toContainValues(["flow_process_id", "status"]);
    }
    const [, cron = ""] = /`(\{"cron".*?\})`/.exec(text) ?? [];
    await post("/account/crons.json", JSON.parse(cron));

    const visitor = await stage.visit();
    const { page, faults } = await stage.open(visitor, "/a/menu");
    await page.getByText("0 votes").waitFor();
    await page.getByRole("button", { name: "Soup" }).click();
    await page.getByText("1 votes").waitFor();
    expect(await page.evaluate(() => core.action("hint", { dish: "soup" }))).toEqual({ hint: "soup goes with bread" });
    expect(faults).toEqual([]);
    await visitor.close();
    const person = await stage.visit("admin");
    const { frame: shown, faults: others } = await stage.open(person, "/a/hello");
    await shown.getByRole("button", { name: "0" }).click();
    await shown.getByRole("button", { name: "1" }).waitFor();
    expect(others).toEqual([]);
    await person.close();
  });

  test("every field and filter that it names is in the API", async () => {
    const text = await rendered("apps_api");
    const { paths } = (await stage.app.get("/openapi.json")).json;
    const { get, post: create } = paths["/core/apps.json"];
    const known = create.requestBody.content["application/json"].schema.properties.app.properties;
    const rows = [...text.matchAll(/^\| (`.*?) +\|/gm)].flatMap(([, names = ""]) => [...names.matchAll(/`(\w+)`/g)]);
    expect(rows.length).toBeGreaterThan(12);
    for (const [, name = ""] of rows) expect(Object.keys(known)).toContain(name);
    const [, filters = ""] = /lists them \(([^)]*)\)/.exec(text) ?? [];
    const asked = get.parameters.map((parameter: { name: string }) => parameter.name);
    expect([...filters.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name).toSorted()).toEqual(asked.toSorted());
    for (const engine of known.app_engine.anyOf?.[0]?.enum ?? []) expect(text).toContain(`\`${engine}\``);
    for (const engine of known.css_engine.anyOf?.[0]?.enum ?? []) expect(text).toContain(`\`${engine}\``);
  });

  test("what it says of `core` runs as it stands, and has the shapes that it names", async () => {
    const public_methods = { list: {}, get: {}, create: {}, update: {}, delete: {}, search: {} };
    const link = { type: "string", link: "shop" };
    const schema = { fields: { title: "string", customer: link, owner: link } };
    await post("/core/dbs.json", { db: { name: "Shop", code: "shop", schema, public_methods } });
    const program = [{ type: "return", value: { city: "{{ city }}" } }];
    await post("/connect/flows.json", { flow: { name: "Weather", code: "weather", fields: { program } } });
    const [sdk = ""] = blocks(await rendered("apps_api"), "js");
    expect(sdk).toContain("core.storage.delete");
    const { path } = await stage.make({
      name: "All of core",
      public: false,
      db_code: "shop",
      actions: [{ action: "weather", flow_code: "weather" }],
      source_code: `const { id } = await core.db().create({ title: "Bread" });
${sdk}
stop();
const found = await db.search({});
const listed = await db.list({});
const kept = await core.storage.get("draft");
document.title = JSON.stringify({ data, kept, found: Object.keys(found[0]), listed: Object.keys(listed[0]), user: Object.keys(user) });`,
    });
    const context = await stage.visit("admin");
    const { frame: page, faults } = await stage.open(context, path);
    await page.waitForFunction(() => document.title.startsWith("{"));
    const told = JSON.parse(await page.title());
    expect(told).toMatchObject({ data: { city: "Kraków" }, kept: null });
    expect(told.listed).toContainValues(["id", "data", "created_at", "updated_at"]);
    expect(told.found).toContainValues(["id", "title", "created_at", "updated_at"]);
    const [, user = ""] = /user: \{ (.*) \}/.exec(sdk) ?? [];
    expect(told.user).toContainValues(user.split(", "));
    expect(faults).toEqual([]);
    await context.close();
  });
});

test("apps_api: in a database with tables the table is named", async () => {
  const [, example = ""] = blocks(await rendered("apps_api"), "js");
  expect(example).toContain('create({ title: "Bread" }, { table_name: "orders" })');
  const schema = { tables: { orders: { fields: { title: "string" } } } };
  await post("/core/dbs.json", { db: { name: "Tables", code: "tables", schema } });
  const { path } = await stage.make({ name: "Tables", public: false, db_code: "tables" });
  const context = await stage.visit("admin");
  const { frame: page, faults } = await stage.open(context, path);
  await page.evaluate(`(async () => {${example}})()`);
  const found = await page.evaluate(() => core.records().search({ table_name: "orders", q: "rolls" }));
  expect([found.length, faults]).toEqual([1, []]);
  await context.close();
});

/** What an example needs, and what is to be done with it. */
interface Example {
  readonly engine: string;
  readonly language?: string;
  readonly app?: object;
  readonly needs?: readonly (readonly [string, object])[];
  readonly use: (page: Frame) => Promise<unknown>;
}

const styled = { css_engine: "tailwind" };
const examples: readonly Example[] = [
  {
    engine: "svelte",
    app: { ...styled, db_code: "todo" },
    needs: [["/core/dbs.json", { db: { name: "To do", code: "todo" } }]],
    use: async (page) => {
      await page.getByLabel("What is to do?").fill("Bake");
      await page.getByRole("button", { name: "Add" }).click();
      await page.getByText("To do (1)").waitFor();
      await page.getByLabel("Bake").click();
      await page.getByText("To do (0)").waitFor();
      await page.page().reload();
      await page.page().frameLocator("iframe").locator(".done", { hasText: "Bake" }).waitFor();
    },
  },
  {
    engine: "vue",
    app: { ...styled, db_code: "visits" },
    needs: [["/core/dbs.json", { db: { name: "Visits", code: "visits", public_methods: { list: {}, create: {} } } }]],
    use: async (page) => {
      await page.getByLabel("Your name").fill("Anna");
      await page.getByLabel("Your message").fill("Hello {{ name }}");
      await page.getByRole("button", { name: "Sign" }).click();
      await page.locator("blockquote", { hasText: "Hello {{ name }}" }).waitFor();
      const color = await page.locator(".sign").evaluate((button) => getComputedStyle(button).backgroundColor);
      expect(color).not.toBe("rgba(0, 0, 0, 0)");
    },
  },
  {
    engine: "react",
    language: "tsx",
    app: { ...styled, db_code: "clients" },
    needs: [
      ["/core/dbs.json", { db: { name: "Clients", code: "clients" } }],
      ["/core/dbs/clients/records.json", { record: { data: { name: "Anna", city: "Łódź" } } }],
      ["/core/dbs/clients/records.json", { record: { data: { name: "Jan", city: "Gdynia" } } }],
    ],
    use: async (page) => {
      await page.locator("li", { hasText: "Anna" }).waitFor();
      await page.getByLabel("Search").fill("gdyn");
      await page.locator("li", { hasText: "Anna" }).waitFor({ state: "detached" });
      expect(await page.locator("li").allTextContents()).toEqual(["Jan Gdynia"]);
    },
  },
  {
    engine: "js",
    app: { actions: [{ action: "weather", flow_code: "warm" }] },
    needs: [
      [
        "/connect/flows.json",
        { flow: { name: "W", code: "warm", fields: { program: [{ type: "return", value: { temp: 21 } }] } } },
      ],
    ],
    use: async (page) => {
      await page.getByRole("button").click();
      await page.getByText("21 °C").waitFor();
    },
  },
  {
    engine: "html",
    app: { db_code: "saturday" },
    needs: [["/core/dbs.json", { db: { name: "S", code: "saturday", public_methods: { create: {} } } }]],
    use: async (page) => {
      await page.getByLabel("E-mail").fill("anna@example.com");
      await page.getByRole("button").click();
      await page.getByText("See you on Saturday!").waitFor();
    },
  },
  { engine: "kaboom", language: "js", use: (page) => page.locator("canvas").waitFor() },
  { engine: "phaser", language: "js", use: (page) => page.locator("canvas").waitFor() },
];

test.each(examples)("the example of the engine $engine compiles and works", async (example) => {
  const { engine, language = engine, needs = [], use } = example;
  const text = await rendered(`apps_${engine}_api`);
  expect(text).toContain(`app_engine: "${engine}"`);
  const [source_code, ...more] = blocks(text, language);
  expect(more).toEqual([]);
  for (const [path, body] of needs) await post(path, body);
  const fields = { name: `Example ${engine}`, app_engine: engine, public: false, source_code };
  const { path } = await stage.make({ ...fields, ...example.app });
  const context = await stage.visit("admin");
  const { frame: page, faults } = await stage.open(context, path);
  await use(page);
  expect(faults).toEqual([]);
  await context.close();
});

test.each(["svelte", "vue", "react", "js", "kaboom", "phaser"])(
  "every import that apps_%s_api names is there",
  async (engine) => {
    const line = (await rendered(`apps_${engine}_api`))
      .split("\n")
      .filter((one) => /import/i.test(one) && !/^import/.test(one));
    const names = [...line.join("\n").matchAll(/`((?:svelte|vue|react|kaplay|kaboom|phaser)[a-z/-]*)`/g)].map(
      ([, name]) => name,
    );
    const unique = [...new Set([...names, ...(engine === "js" ? [] : [engine])])];
    expect(unique.length).toBeGreaterThan(0);
    const imports = unique.map((name, at) => `import * as m${at} from "${name}";`).join("\n");
    const script = `${imports}\ndocument.title = [${unique.map((_, at) => `Object.keys(m${at}).length > 0`).join(", ")}].join();`;
    const sources: Record<string, string> = {
      svelte: `<script>\n${script}\n</script>`,
      vue: `<script setup>\n${script}\n</script>\n<template><p>x</p></template>`,
    };
    const { path } = await stage.make({
      name: `Imports ${engine}`,
      app_engine: engine,
      source_code: sources[engine] ?? script,
    });
    const context = await stage.visit();
    const { page, faults } = await stage.open(context, path);
    await page.waitForFunction(() => document.title.startsWith("true") || document.title.startsWith("false"));
    expect([await page.title(), faults]).toEqual([unique.map(() => "true").join(), []]);
    await context.close();
  },
);
