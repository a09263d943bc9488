/** The modules of plugins' pages, as they are served. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { definePlugin } from "platform";
import { person, startTestApp, type TestApp } from "../../tests/harness.ts";

const secret = "export const mount = () => undefined; // for those who may";
const plugin = definePlugin({
  name: "crm",
  privileges: [{ name: "contacts", doc: "keep contacts", roles: ["manager"] }],
  studio: [
    { path: "crm/open", title: { en: "Open", pl: "Otwarte" }, icon: "users", module: "export const mount = () => 1;" },
    { path: "crm/contacts", title: { en: "Contacts" }, privilege: "contacts", view: "contacts/index", module: secret },
  ],
  setup: () => ({}),
});

let app: TestApp;
let guest: string;
beforeAll(async () => {
  app = await startTestApp({ plugin });
  guest = (await person(app, { role: "guest" })).token;
});
afterAll(() => app.stop());

const pages = async (token?: string): Promise<{ path: string; module: string }[]> =>
  (await app.get("/studio/-/pages.json", token === undefined ? {} : { token })).json;

const none = { module: "" };

describe("a plugin's page", () => {
  test("is listed for those who may open it", async () => {
    expect(await pages()).toMatchObject([
      { path: "crm/open", title: { en: "Open", pl: "Otwarte", de: "Open" }, icon: "users", view: null },
      { path: "crm/contacts", icon: null, view: "contacts/index" },
    ]);
    expect((await pages(guest)).map(({ path }) => path)).toEqual(["crm/open"]);
  });

  test("has a module at an address of its content, kept by one's own browser alone", async () => {
    const [, { module } = none] = await pages();
    expect(module).toMatch(/^\/studio\/ext\/crm\/[0-9a-z-]+\.js$/);
    const answer = await app.get(module);
    expect([answer.status, answer.text]).toEqual([200, secret]);
    expect(answer.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(answer.headers.get("cache-control")).toBe("private, max-age=31536000, immutable");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    const again = await app.get(module, { headers: { "if-none-match": answer.headers.get("etag") ?? "" } });
    expect(again.status).toBe(304);
  });

  test("has a module that is not there for those who may not open it", async () => {
    const [{ module: open } = none, { module } = none] = await pages();
    expect((await app.get(module, { token: guest })).status).toBe(404);
    expect((await app.get(module, { token: null })).status).toBe(401);
    expect((await app.get(open, { token: guest })).status).toBe(200);
    expect((await app.get(open, { token: null })).status).toBe(401);
    const narrowed = await app.post("/account/api_tokens.json", { api_token: { privileges: ["dbs"] } });
    expect((await app.get(module, { token: narrowed.json.token })).status).toBe(404);
  });

  test.each([
    "/studio/ext/crm/../crm/plugin.ts",
    "/studio/ext/crm/..%2f..%2fpackage.json",
    "/studio/ext/crm/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/studio/ext/crm/..%5c..%5cpackage.json",
    "/studio/ext/crm/plugin.ts",
    "/studio/ext/crm/manifest.json",
    "/studio/ext/crm/%00.js",
    "/studio/ext/crm/.js",
    "/studio/ext/__proto__/constructor.js",
    "/studio/ext/accounts/x.js",
  ])("of the file name %s is not there", async (path) => {
    const answer = await app.get(path, { headers: { accept: "application/json" } });
    // A name that climbs out of /studio/ext is the Studio itself, which asks a browser to sign in.
    expect([404, 303]).toContain(answer.status);
    expect(answer.text).not.toContain("mount");
  });
});
