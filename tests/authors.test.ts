/** What plugin authors do outside a checkout: `plugin new`, `test`, `plugin pack`, `types`. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { modules } from "../plugins/modules.ts";
import { cleanUp, folderWith, fromSource, run, startServer } from "./server-process.ts";

// A machine that runs other tests at the same time may be slow.
setDefaultTimeout(600_000);
const root = resolve(import.meta.dir, "..");
const admin = {
  CORE_ADMIN_TOKEN: "the-administrator's-token-of-authors.test.ts",
  CORE_ADMIN_PASSWORD: "correct horse battery",
};
afterAll(cleanUp);

const corestead = (cwd: string, ...words: string[]) => run([...fromSource, ...words], { cwd });

test("what plugins may import is every built-in plugin's api.ts", () => {
  const apis = [...new Bun.Glob("**/api.ts").scanSync(join(root, "plugins"))].map(
    (path) => `platform/${path.split("/").at(-2)}`,
  );
  expect(Object.keys(modules).toSorted()).toEqual(["platform", ...apis].toSorted());
});

describe("a new plugin in a folder of its own", () => {
  const cwd = folderWith();

  test("is written with the types that an editor needs", async () => {
    const written = await corestead(cwd, "plugin", "new", "shopping-list", "--dir", "mine");
    expect(written).toMatchObject({ code: 0, stderr: "" });
    expect(written.stdout).toContain("serve --watch");
    expect(readdirSync(join(cwd, "mine")).toSorted()).toEqual(["platform.d.ts", "shopping-list", "tsconfig.json"]);
    expect(readdirSync(cwd)).toEqual(["mine"]);
    // The server may run as another user.
    expect(statSync(join(cwd, "mine/shopping-list")).mode & 0o777).toBe(0o755);
  });

  test("is type-checked there, the services of built-in plugins included", async () => {
    writeFileSync(
      join(cwd, "mine/typed.ts"),
      `import { accounts, type Accounts } from "platform/accounts";
       import { jsonDatabases } from "platform/jsondb";
       import { ok, pageOf, pageQuery, route, type ServiceRef } from "platform";
       const facts = { summary: "List", access: { signedIn: "a test" }, responses: { 200: [] } } as const;
       route("GET", "/things", { ...facts, query: { q: "a phrase", "filter[<field>]": "a value", ...pageQuery } }, ({ query }) => {
         pageOf(query);
         query.get("filter[city]");
         // @ts-expect-error the parameter is called q
         query.get("qq");
         return ok([query.get("q"), query.getAll("limit")]);
       });
       // @ts-expect-error none is declared
       route("GET", "/others", facts, ({ query }) => ok(query.get("q")));
       export const one: ServiceRef<Accounts> = accounts;
       // @ts-expect-error it is another service
       export const two: ServiceRef<Accounts> = jsonDatabases;`,
    );
    const checked = await run([join(root, "node_modules/.bin/tsc"), "--noEmit", "-p", join(cwd, "mine")], { cwd });
    expect(checked.stdout).toBe("");
  });

  test("has tests that run against servers of their own", async () => {
    const tested = await corestead(cwd, "test", "mine/shopping-list");
    expect(tested.stderr).toMatch(/ [1-9]\d* pass\n 0 fail\n/);
    expect(tested.code).toBe(0);
  });

  test("has tests that fail when it breaks", async () => {
    const file = join(cwd, "mine/shopping-list/items.ts");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace("?.length ?? 0", "?.length ?? 1"));
    const tested = await corestead(cwd, "test", "mine/shopping-list");
    writeFileSync(file, text);
    expect(tested.stderr).toMatch(/ 2 fail\n/);
    expect(tested.code).toBe(1);
  });

  test("is packed into one file, which serves alone", async () => {
    const packed = await corestead(cwd, "plugin", "pack", "mine/shopping-list", "packed/shopping-list.js");
    expect(packed).toMatchObject({ code: 0, stderr: "" });
    expect(readdirSync(join(cwd, "packed"))).toEqual(["shopping-list.js"]);
    const server = await startServer(fromSource, { cwd, env: { ...admin, PLUGINS_DIR: "packed" } });
    const made = await server.request(
      "POST",
      "/shopping-list/items",
      { item: { title: "Bread" } },
      { token: admin.CORE_ADMIN_TOKEN },
    );
    expect(made).toMatchObject({ status: 201, json: { title: "Bread" } });
    expect(await server.stop()).toBe(0);
  });
});

test("pages of the Studio are packed too, with their files and packages", async () => {
  const page = "contacts.page.ts";
  const cwd = folderWith({
    "crm/plugin.ts": `
      import { definePlugin } from "platform";
      const module = new URL("./studio/${page}", import.meta.url);
      export default definePlugin({ name: "crm", studio: [{ path: "crm/contacts", title: { en: "Contacts" }, module }], setup: () => ({}) });`,
    [`crm/studio/${page}`]: `import { hello } from "hello"; import { you } from "./you.ts";
      export const mount = (element: HTMLElement): void => element.append(hello + you);`,
    "crm/studio/you.ts": `export const you: string = " you";`,
    "crm/node_modules/hello/package.json": `{ "name": "hello", "module": "index.js", "type": "module" }`,
    "crm/node_modules/hello/index.js": `export const hello = "hello from a package";`,
  });
  expect(await corestead(cwd, "plugin", "pack", "crm", "packed/crm.js")).toMatchObject({ code: 0, stderr: "" });
  const packed = readFileSync(join(cwd, "packed/crm.js"), "utf8");
  for (const part of ["hello from a package", " you"]) expect(packed).toContain(part);

  rmSync(join(cwd, "crm/node_modules"), { recursive: true });
  const alone = folderWith({ "plugins/crm.js": packed });
  const server = await startServer(fromSource, { cwd: alone, env: { ...admin, PLUGINS_DIR: "plugins" } });
  const get = (path: string) => server.request("GET", path, undefined, { token: admin.CORE_ADMIN_TOKEN });
  const [listed] = (await get("/studio/-/pages.json")).json;
  expect((await get(listed.module)).text).toContain("hello from a package");
  expect(await server.stop()).toBe(0);

  const refused = await corestead(cwd, "plugin", "pack", "crm", "again.js");
  expect(refused.code).toBe(1);
  expect(refused.stderr.trim().split("\n")).toHaveLength(1);
  for (const part of ['plugin "crm": the page crm/contacts', '"hello"', `${page}:1:`])
    expect(refused.stderr).toContain(part);
  expect(existsSync(join(cwd, "again.js"))).toBe(false);
});

test("a plugin of an npm package is one line in PLUGINS_DIR", async () => {
  const cwd = folderWith({
    "plugins/package.json": `{ "dependencies": { "corestead-greeter": "1.0.0" } }`,
    "plugins/greeter.js": `export { default } from "corestead-greeter";`,
    "plugins/node_modules/corestead-greeter/package.json": `{ "name": "corestead-greeter", "version": "1.0.0", "type": "module", "exports": "./plugin.js" }`,
    "plugins/node_modules/corestead-greeter/plugin.js": `
      import { definePlugin, ok, route } from "platform";
      export default definePlugin({
        name: "greeter",
        platform: "^1",
        setup: () => ({ routes: [route("GET", "/greeting", { summary: "Greet", access: { open: "a test" }, responses: { 200: { hello: "you" } } }, () => ok({ hello: "you" }))] }),
      });`,
  });
  const server = await startServer(fromSource, { cwd, env: { ...admin, PLUGINS_DIR: "plugins" } });
  expect((await server.request("GET", "/greeting")).json).toEqual({ hello: "you" });
  expect(await server.stop()).toBe(0);
});

describe("what is refused is one line", () => {
  const plugin = (facts: string) => `import { definePlugin, setting } from "platform";
    export default definePlugin({ name: "mine", ${facts} setup: () => ({}) });`;
  const cases: [words: string, said: string][] = [
    ["test", "which plugin? corestead test FOLDER"],
    ["test nowhere", "has no plugin.ts"],
    ["plugin pack nowhere x.js", "has no plugin.ts"],
    ["plugin pack nowhere", "into which file?"],
    ["plugin new", "a plugin's name is"],
    ["plugin new accounts", 'the name "accounts" is taken'],
  ];
  test.each(cases)("corestead %s", async (words, said) => {
    const cwd = folderWith();
    const refused = await corestead(cwd, ...words.split(" "));
    expect(refused.code).toBe(1);
    expect(refused.stderr.trim().split("\n")).toHaveLength(1);
    expect(refused.stderr).toContain(said);
    expect(readdirSync(cwd)).toEqual([]);
  });

  const faults: [facts: string, said: string[]][] = [
    [`platform: "^2",`, [`plugin "mine" (`, "it needs platform ^2, and this Corestead has 1."]],
    [
      `studio: [{ path: "mine/a", title: { en: "A" }, module: 'import "./b.js";' }],`,
      ['plugin "mine": the page mine/a', 'it imports "./b.js"'],
    ],
    [
      `studio: ["a", "b"].map((name) => ({ path: "mine/same", title: { en: name }, module: "" })),`,
      ['plugin "mine": the page mine/same stands at an address of plugin "mine" already'],
    ],
    [
      `studio: [{ path: "mine/a", title: { en: "A" }, module: "x".repeat(5_000_000) }],`,
      ['plugin "mine": the page mine/a is 5.0 MB of code, and may be 2.0 MB'],
    ],
    [`config: { port: setting.text("PORT", "", "x") },`, ["PORT of plugin", "is a setting of Corestead already"]],
  ];
  test.each(faults)("at the start, of a plugin with %s", async (facts, said) => {
    const cwd = folderWith({ "plugins/mine.ts": plugin(facts) });
    const refused = await run(fromSource, { cwd, env: { PLUGINS_DIR: "plugins" } });
    expect(refused.code).toBe(1);
    expect(refused.stderr.trim().split("\n")).toHaveLength(1);
    for (const part of said) expect(refused.stderr).toContain(part);
    expect(existsSync(join(cwd, "data/corestead.pid"))).toBe(false);
  });
});
