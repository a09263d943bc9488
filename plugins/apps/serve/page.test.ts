import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { adminPassword, person, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { contentSecurityPolicy, iconOf } from "./around.ts";
import { embedOf } from "./page-context.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app?.stop());

const browser = { accept: "text/html,application/xhtml+xml" };

async function make(fields: Record<string, unknown> = {}): Promise<{ id: string; path: string }> {
  const given = { name: "An app", app_engine: "js", css_engine: "none", source_code: "export {};", ...fields };
  const answer = await app.post("/core/apps.json", { app: given });
  if (answer.status !== 201) throw new Error(answer.text);
  return { id: answer.json.id, path: `/a/${answer.json.url_code}` };
}

async function change(id: string, fields: Record<string, unknown>): Promise<void> {
  const answer = await app.patch(`/core/apps/${id}.json`, { app: fields });
  if (answer.status !== 200) throw new Error(answer.text);
}

/** What a visitor's browser gets: no token but the cookies given. */
const visit = (path: string, headers: Record<string, string> = {}) =>
  app.get(path, { token: null, headers: { ...browser, ...headers } });

/** The page's data, as core.js reads it. */
function dataOf(page: string) {
  return JSON.parse(/<script type="application\/json" id="core-page">(.*?)<\/script>/.exec(page)?.[1] ?? "null");
}

/** `window.CoreAppContext`, as the page sets it. */
function contextOf(page: string) {
  return JSON.parse(/<script>window\.CoreAppContext=(.*?)<\/script>/.exec(page)?.[1] ?? "null");
}

/** In `CoreAppContext`, of whoever is not signed in. */
const visitor = {
  login: "",
  email: "",
  name: "",
  role: "guest",
  team_ids: [],
  team_names: [],
  group_ids: [],
  group_names: [],
  department_ids: [],
  department_names: [],
};

describe("who is shown an app", () => {
  test("a public one: everybody, by its url_code and its id", async () => {
    const { id, path } = await make({ public: true });
    for (const place of [path, `/a/${id}`, `/a/${id.toUpperCase()}`]) {
      const page = await visit(place);
      expect([place, page.status]).toEqual([place, 200]);
      expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(contextOf(page.text)).toMatchObject({ user: visitor, app: { id, name: "An app" } });
    }
  });

  test("a private one: whoever is signed in; a browser is asked to, a program gets 401", async () => {
    const { path } = await make({ public: false });
    const asked = await visit(`${path}?module=crm&x=1`);
    expect([asked.status, asked.headers.get("location")]).toEqual([
      303,
      `/login?return_to=${encodeURIComponent(`${path}?module=crm&x=1`)}`,
    ]);
    const refused = await app.get(path, { token: null });
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    const guest = await person(app, { role: "guest" });
    const shown = await app.get(path, { token: guest.token });
    expect([shown.status, contextOf(shown.text).user.login]).toEqual([200, guest.login]);
  });

  test("a preview: its maker; a browser without sign-in is asked to, a program gets 401", async () => {
    const draft = { name: "Draft", app_engine: "js", css_engine: "none", source_code: "export {};" };
    const path: string = (await app.post("/core/apps/preview.json", { app: draft })).json.url;
    const asked = await visit(`${path}?module=crm`);
    const login = `/login?return_to=${encodeURIComponent(`${path}?module=crm`)}`;
    expect([asked.status, asked.headers.get("location")]).toEqual([303, login]);
    expect((await app.get(path, { token: null })).status).toBe(401);
    const other = await person(app);
    expect((await app.get(path, { token: other.token })).status).toBe(404);
    expect((await app.get(path)).status).toBe(200);
  });

  test("a draft of an app with a database: made only by those who may change its code", async () => {
    await app.post("/core/dbs.json", { db: { name: "Menu", code: "menu" } });
    const { id } = await make({ db_code: "menu" });
    const { token } = await person(app, { role: "admin", narrowedTo: ["apps"] });
    const preview = (fields: object) => app.post("/core/apps/preview.json", { app: { id, ...fields } }, { token });
    const refused = await preview({ source_code: "export {}; steal();" });
    expect([refused.status, refused.json.error]).toEqual([403, expect.stringContaining("`dbs`")]);
    expect((await preview({ name: "Other" })).status).toBe(200);
    const changes = { source_code: "export {}; more();" };
    expect((await app.post("/core/apps/preview.json", { app: { id, ...changes } })).status).toBe(200);
  });

  test("the draft of an app that is off reads its data, for its author and as long as they may build apps", async () => {
    await app.post("/core/dbs.json", { db: { name: "Plans", code: "plans" } });
    const { id } = await make({ db_code: "plans", active: false });
    const author = await person(app, { role: "admin" });
    const asked = { token: author.token };
    const { url } = (await app.post("/core/apps/preview.json", { app: { id, name: "Draft" } }, asked)).json;
    const token: string = dataOf((await app.get(url, asked)).text).token.value;
    const read = async (code: string) => (await app.get(`/core/dbs/${code}/records.json`, { token })).status;
    expect([await read("plans"), await read("menu")]).toEqual([200, 404]);
    const renewed = await app.post(`/core/apps/${id}/token.json`, {}, { token });
    expect([renewed.status, typeof renewed.json.token]).toEqual([200, "string"]);
    const narrowed = { user: { role: "guest", privileges: ["dbs"] } };
    expect((await app.patch(`/account/users/${author.id}.json`, narrowed)).status).toBe(200);
    expect(await read("plans")).toBe(401);
    await app.patch(`/core/apps/${id}.json`, { app: { active: true } });
    expect(await read("plans")).toBe(200);
  });

  test("what is inactive or unknown is 404, as a page for a browser", async () => {
    const { id, path } = await make({ public: true, active: false });
    const places = [
      path,
      `/a/${id}`,
      "/a/none",
      "/a/00000000-0000-7000-8000-000000000000",
      "/a/%00",
      "/a/a%2Fb",
      `/a/${"x".repeat(5000)}`,
    ];
    for (const place of places) {
      const page = await visit(place);
      expect([place, page.status]).toEqual([place, 404]);
      expect(page.text).toStartWith("<!doctype html>");
      const plain = await app.get(place);
      expect([place, plain.status, plain.json]).toEqual([place, 404, { error: expect.any(String) }]);
    }
  });

  test("an app's own token opens no page", async () => {
    const { path } = await make({ public: true });
    const token: string = dataOf((await visit(path)).text).token.value;
    expect((await app.get(path, { token })).status).toBe(403);
  });
});

test("on a site's host public apps are served, and a private one is none: nobody signs in there", async () => {
  await app.post("/cms/sites.json", { site: { code: "shop", name: "Shop", locale: "en" } });
  const domain = await app.post("/cms/domains.json", { domain: { name: "shop.test", site_code: "shop" } });
  expect(domain.status).toBe(201);
  const open = await make({ public: true, name: "On a site" });
  const host = { host: "shop.test" };
  const page = await visit(open.path, host);
  expect([page.status, page.headers.get("content-security-policy")?.includes("sandbox")]).toEqual([200, true]);
  const [file = ""] = page.text.match(/\/a\/-\/[\w.-]+/) ?? [];
  expect((await visit(file, host)).status).toBe(200);
  const core = /\/_rt\/[\w/]+\/core\.js/.exec(page.text)?.[0] ?? "";
  expect((await visit(core, host)).status).toBe(200);
  const closed = await make({ public: false });
  expect((await visit(closed.path, host)).status).toBe(404);
});

describe("the page's headers", () => {
  test("the sandbox, and nothing from another host", async () => {
    const { path } = await make({ public: true });
    const policy = (await visit(path)).headers.get("content-security-policy") ?? "";
    expect(policy).toContain("sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads");
    expect(policy).not.toContain("allow-same-origin");
    expect(policy).not.toContain("allow-top-navigation");
    expect(policy).not.toMatch(/https?:|\*/);
  });

  test.each([
    ["svelte", false, [""], "script-src 'self'; sandbox"],
    ["svelte", false, ["{}"], "script-src 'self' 'sha256-"],
    ["html", false, ["{}"], "script-src 'self' 'unsafe-inline'; sandbox"],
    ["js", false, ["{}"], "script-src 'self' 'unsafe-inline'; sandbox"],
  ] as const)("scripts of %s", (appEngine, trusted, scripts, expected) => {
    expect(contentSecurityPolicy({ appEngine, public: true, trusted }, scripts, [])).toContain(expected);
  });

  test.each([false, true])(
    "pictures, fonts, styles and media of an administrator's origins, trusted: %p",
    async (trusted) => {
      const { id, path } = await make({ public: true });
      if (trusted) await change(id, { trusted });
      const set = (app_origins: string | null) => app.patch("/account/settings.json", { settings: { app_origins } });
      const policyOf = async () => (await visit(path)).headers.get("content-security-policy")?.split("; ") ?? [];
      const before = await visit(path);
      expect((await set("https://cdn.example.com, https://Fonts.example.com:8443")).status).toBe(200);
      const named = (await policyOf()).filter((part) => part.includes("example.com"));
      expect(named.map((part) => part.split(" ")[0])).toEqual(["style-src", "img-src", "font-src", "media-src"]);
      for (const part of named) expect(part).toEndWith(" https://cdn.example.com https://fonts.example.com:8443");
      // A cached page has the policy of before.
      expect((await visit(path, { "if-none-match": before.headers.get("etag") ?? "" })).status).toBe(200);
      expect((await set(null)).status).toBe(200);
      expect((await policyOf()).join()).not.toContain("example.com");
    },
  );

  test.each([
    "http://cdn.example.com",
    "https://*.example.com",
    "https://cdn.example.com/x",
    "https://a@cdn.example.com",
    "https://cdn.example.com; script-src *",
    "*",
    "data:",
    Array.from({ length: 21 }, (_, n) => `https://cdn${n}.example.com`).join(),
  ])("no other origins: %s", async (app_origins) => {
    const answer = await app.patch("/account/settings.json", { settings: { app_origins } });
    expect(answer).toMatchObject({ status: 422, json: { app_origins: [expect.any(String)] } });
  });

  test("only administrators name origins", async () => {
    const { token } = await person(app, { role: "manager", privileges: ["settings"] });
    const settings = { app_origins: "https://cdn.example.com" };
    expect((await app.patch("/account/settings.json", { settings }, { token })).status).toBe(403);
  });

  test("only a trusted app has no sandbox, and it has no token", async () => {
    const { id, path } = await make({ public: true });
    await change(id, { trusted: true });
    const page = await visit(path);
    expect(page.headers.get("content-security-policy")).not.toContain("sandbox");
    expect(dataOf(page.text).token).toBeNull();
  });

  test("the same page again is 304 for the same viewer, and 200 for another one or after a change", async () => {
    const { id, path } = await make({ public: true, name: "Again" });
    const first = await visit(path);
    const cookie = first.headers.get("set-cookie")?.split(";")[0] ?? "";
    const tag = (await visit(path, { cookie })).headers.get("etag") ?? "";
    expect(first.headers.get("cache-control")).toBe("private, no-cache");
    const again = await visit(path, { cookie, "if-none-match": tag });
    expect([again.status, again.text]).toEqual([304, ""]);
    expect((await visit(path, { "if-none-match": tag })).status).toBe(200);
    expect((await visit(`${path}?module=crm`, { cookie, "if-none-match": tag })).status).toBe(200);
    const signedIn = await app.get(path, { headers: { ...browser, cookie, "if-none-match": tag } });
    expect(signedIn.status).toBe(200);
    await change(id, { name: "Changed" });
    const changed = await visit(path, { cookie, "if-none-match": tag });
    expect([changed.status, changed.text.includes("<title>Changed</title>")]).toEqual([200, true]);
  });
});

describe("a private app in a browser's window", () => {
  const window = { ...browser, "sec-fetch-dest": "document" };
  const policyOf = (page: { headers: Headers }) => page.headers.get("content-security-policy") ?? "";

  test("is shown in a frame of our own page; whoever asks otherwise gets the app itself", async () => {
    const { id, path } = await make({ public: false, name: "A <b>" });
    const around = await app.get(`${path}?module=crm&x=1`, { headers: window });
    expect([around.status, around.headers.get("vary")]).toEqual([200, "sec-fetch-dest"]);
    expect(around.text).toContain(`<title>A &lt;b&gt;</title>`);
    expect(around.text).toContain(`data-src="/a/${id}?module=crm&amp;x=1"`);
    expect(around.text).toContain(`sandbox="allow-scripts allow-forms allow-modals allow-downloads"`);
    expect(around.text).not.toContain("CoreAppContext");
    expect(policyOf(around)).toContain("frame-src 'self'");
    expect(policyOf(around)).not.toContain("unsafe-inline");
    // By its id the app is in a frame with its url_code.
    expect((await app.get(`/a/${id}?frame=1&x=1`)).text).toContain(`data-src="${path}?x=1"`);
    for (const headers of [browser, { ...browser, "sec-fetch-dest": "iframe" }, {}] as Record<string, string>[]) {
      const page = await app.get(path, { headers });
      expect(page.text).toContain("CoreAppContext");
      expect(policyOf(page)).toContain("sandbox allow-scripts allow-forms allow-modals allow-downloads");
      expect(page.headers.get("etag")).not.toBe(around.headers.get("etag"));
    }
  });

  test("is asked for again where a frame sends no session", async () => {
    const { path } = await make({ public: false });
    const page = await visit(path, { "sec-fetch-dest": "iframe" });
    expect([page.status, page.headers.get("location")]).toEqual([401, null]);
    expect(page.text).toContain("core:go");
    expect((await visit(path, { "sec-fetch-dest": "document" })).status).toBe(303);
  });

  test("a public or trusted one needs no frame, and may open windows", async () => {
    const open = await make({ public: true });
    const trusted = await make({ public: false });
    await change(trusted.id, { trusted: true });
    const pages = [await app.get(open.path, { headers: window }), await app.get(trusted.path, { headers: window })];
    for (const page of pages) expect(page.text).toContain("CoreAppContext");
    expect(pages.map((page) => policyOf(page).includes("allow-popups"))).toEqual([true, false]);
    expect(pages.map((page) => policyOf(page).includes("sandbox"))).toEqual([true, false]);
  });
});

describe("plain JavaScript", () => {
  test.each([
    ["clicked = 0;", /<script src="[^"]+" crossorigin defer>/],
    ["import { ref } from 'vue'; ref(1);", /<script type="module" src="[^"]+">/],
    ["let x = ;", /<script type="module" src="[^"]+">/],
  ])("%s", async (source_code, tag) => {
    const { path } = await make({ source_code, public: true });
    const page = (await visit(path)).text;
    expect(page).toMatch(tag);
    const [file = ""] = /\/a\/-\/[\w.-]+/.exec(page) ?? [];
    const served = await app.get(file, { token: null, headers: { "accept-encoding": "identity" } });
    // Where it stood: line and column are those of the source.
    expect(served.text).toStartWith(source_code);
  });
});

describe("the app's own files", () => {
  const filesOf = (page: string) => [...new Set(page.match(/\/a\/-\/[\w.-]+/g))];
  const styled = {
    app_engine: "svelte",
    css_engine: "tailwind",
    source_code: `<p class="p-4">hi</p>`,
  };

  test("are served to the sandbox, for good, under the hash of their content", async () => {
    const { path } = await make({ ...styled, public: true });
    const files = filesOf((await visit(path)).text);
    expect(files.map((file) => file.split(".").pop())).toEqual(["css", "js"]);
    for (const file of files) {
      const plain = await app.get(file, { token: null, headers: { "accept-encoding": "identity" } });
      expect([file, plain.status]).toEqual([file, 200]);
      expect(plain.headers.get("access-control-allow-origin")).toBe("*");
      expect(plain.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      const packed = await app.get(file, { token: null, headers: { "accept-encoding": "gzip" } });
      expect([packed.text, packed.headers.get("vary")]).toEqual([plain.text, "accept-encoding"]);
      const tag = packed.headers.get("etag") ?? "";
      const again = { "accept-encoding": "gzip", "if-none-match": tag };
      expect((await app.get(file, { token: null, headers: again })).status).toBe(304);
    }
  });

  test("of a private app are kept by no shared cache, and of an inactive one are gone", async () => {
    const { id, path } = await make({ ...styled, public: false });
    const [file = ""] = filesOf((await app.get(path)).text);
    const served = await app.get(file, { token: null });
    expect([served.status, served.headers.get("cache-control")]).toEqual([200, "private, max-age=31536000, immutable"]);
    await change(id, { active: false });
    expect((await app.get(file, { token: null })).status).toBe(404);
  });

  test("another name is 404", async () => {
    const { id } = await make({ public: true });
    for (const file of [
      "x",
      `${id}.js`,
      `${id}.${"0".repeat(32)}.js`,
      "preview-x.js",
      "..%2f..%2fetc%2fpasswd",
      "%00",
    ]) {
      expect([file, (await app.get(`/a/-/${file}`, { token: null })).status]).toEqual([file, 404]);
    }
  });
});

describe("what stands in the page", () => {
  const hostile = `</script><script>alert(1)</script><!--"'&\u2028{{7*7}}\${x}`;

  test("names and the viewer's fields never leave their place", async () => {
    const { path } = await make({ name: hostile, public: false, url_code: "hostile" });
    const viewer = await person(app, { role: "guest" });
    await app.patch(`/account/users/${viewer.id}.json`, { user: { name: hostile } });
    const { text } = await app.get(path, { token: viewer.token });
    expect(text).not.toContain("<script>alert(1)");
    expect(contextOf(text)).toMatchObject({ app: { name: hostile }, user: { name: hostile } });
  });

  test("authors get the error panel, others not even its address", async () => {
    const { path } = await make({ public: false });
    const guest = await person(app, { role: "guest" });
    expect((await app.get(path)).text).toContain("/panel.js");
    expect((await app.get(path, { token: guest.token })).text).not.toContain("panel");
  });

  test("a session of the browser counts as well as a token", async () => {
    const { path } = await make({ public: false });
    const signedIn = await app.post(
      "/account/session.json",
      { login: "admin", password: adminPassword },
      { token: null, headers: { origin: app.origin } },
    );
    const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
    expect(contextOf((await visit(path, { cookie })).text).user).toMatchObject({ login: "admin", role: "admin" });
  });

  test.each([
    [
      "module=crm&view=tasks/show&record_id=7&embed=1",
      { embed: true, module: "crm", view: "tasks/show", record_id: "7" },
    ],
    ["module=<b>&view=../x&record_id=a b&embed=maybe", { embed: false, module: null, view: null, record_id: null }],
    [
      `module=${"x".repeat(41)}&view=${"a/".repeat(9)}b&record_id=${"1".repeat(65)}`,
      { embed: false, module: null, view: null, record_id: null },
    ],
    ["", { embed: false, module: null, view: null, record_id: null }],
  ])("the place from ?%s", (query, expected) => {
    expect(embedOf(new URLSearchParams(query))).toEqual(expected);
  });

  test.each(["Plain", "<", "'", '"', "&", "%", "#", "😀 smile", "\ud800 lone", "", "żółw"])(
    "the icon of %p",
    (name) => {
      const icon = iconOf({ id: "a", name, fields: {} });
      expect(icon).toStartWith("data:image/svg+xml,");
      expect(icon).not.toMatch(/["<>&#]/);
      const svg = decodeURIComponent(icon.slice(icon.indexOf(",") + 1));
      expect(svg).toMatch(/^<svg [^<]*><rect [^<]*\/><text [^<]*>[^<]+<\/text><\/svg>$/);
    },
  );
});
