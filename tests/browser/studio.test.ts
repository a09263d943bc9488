/** The Studio in Chromium: what a person does first. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { TestBrowser } from "../chromium.ts";
import { adminPassword, adminToken, eventually, type TestApp } from "../harness.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
let app: TestApp;
let signedIn: Studio["signedIn"];
let browser: TestBrowser;
beforeAll(async () => {
  studio = await startStudio();
  ({ app, browser, signedIn } = studio);
});
afterAll(() => studio.stop());

async function prompt(name: string, code: string): Promise<string> {
  const answer = await app.post("/core/prompts.json", { prompt: { name, code, content: "Hello" } });
  expect(answer.status).toBe(201);
  return answer.json.id;
}

test("a stranger is led to sign in, and back to the page", async () => {
  await using context = await browser.newContext({ locale: "en-US" });
  const page = await context.newPage();
  await page.goto(`${app.origin}/studio/core/prompts?kind=agent`);
  await page.getByLabel("Login or e-mail").fill("admin");
  await page.getByLabel("Password").fill(adminPassword);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Prompts" }).waitFor();
  expect(page.url()).toBe(`${app.origin}/studio/ai?kind=agent`);
});

test("every list of the menu opens without a fault", async () => {
  await using opened = await signedIn();
  const { page, faults } = opened;
  const links = page.locator("#menu a");
  await links.first().waitFor();
  const addresses = await links.evaluateAll((found) => found.map((link) => link.getAttribute("href") ?? ""));
  expect(addresses.length).toBeGreaterThan(18);
  const headings: string[] = [];
  for (const address of addresses) {
    await page.locator(`#menu a[href="${address}"]`).click();
    await page.waitForURL(app.origin + address);
    await page
      .locator(
        "main [role=grid], main .empty, main .files, main .home, main .page, main .inbox-page, main form:visible",
      )
      .first()
      .waitFor();
    headings.push((await page.locator("main h1").textContent()) ?? "");
  }
  expect(headings).toContain("Prompts");
  expect(new Set(headings).size).toBe(headings.length);
  expect(faults).toEqual([]);
});

describe("a prompt", () => {
  test("is made, found, changed, and deleted with ten seconds to think", async () => {
    await using opened = await signedIn();
    const { page, faults } = opened;
    await page.getByRole("link", { name: "Prompts", exact: true }).first().click();
    await page.getByRole("button", { name: "New prompt" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Greeting <b>");
    await page.getByLabel("Content").fill("Hello {{ date }}");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "Greeting <b>" }).waitFor();
    const [row] = await app.sql`select id, name, kind, scope from prompts where code = 'greeting-b'`;
    expect(row).toMatchObject({ name: "Greeting <b>", kind: "chat", scope: "user" });

    await page.getByLabel("Name", { exact: true }).fill("Greeting");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("status").getByText("Saved").first().waitFor();
    await eventually(async () => (await app.get(`/core/prompts/${row?.["id"]}.json`)).json.name === "Greeting");

    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { level: 1, name: "Prompts" }).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("heading", { level: 1, name: "Greeting" }).waitFor();
    expect((await app.get(`/core/prompts/${row?.["id"]}.json`)).status).toBe(200);

    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { level: 1, name: "Prompts" }).waitFor();
    await page.close({ runBeforeUnload: true });
    await eventually(async () => (await app.get(`/core/prompts/${row?.["id"]}.json`)).status === 404);
    expect(faults).toEqual([]);
  });

  test("that is wrong keeps what was typed, with the words of the server at its field", async () => {
    await using opened = await signedIn({ at: "/studio/core/prompts/new" });
    const { page } = opened;
    await page.getByLabel("Name", { exact: true }).fill("Half done");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").getByText("Some fields need your attention").waitFor();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Half done");
    expect(await page.getByLabel("Content").getAttribute("aria-invalid")).toBe("true");
    expect(await app.sql`select from prompts where name = 'Half done'`).toHaveLength(0);
    // The tab is closed; another one offers the draft.
    await page.goto(`${app.origin}/studio`);
    await page.goto(`${app.origin}/studio/core/prompts/new`);
    await page.getByRole("button", { name: "Restore", exact: true }).click();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Half done");
  });

  test("that was typed before somebody else changed it is asked about, and takes nothing else back", async () => {
    const id = await prompt("Draft", "drafted");
    await using opened = await signedIn({ at: `/studio/core/prompts/${id}` });
    const { page } = opened;
    await page.getByLabel("Content").fill("Mine");
    await page.goto(`${app.origin}/studio`);
    await app.patch(`/core/prompts/${id}.json`, { prompt: { name: "Renamed", content: "Theirs" } });
    await page.goto(`${app.origin}/studio/core/prompts/${id}`);
    await page.getByRole("button", { name: "Restore", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Somebody else has changed this" });
    await dialog.getByText("Theirs", { exact: true }).waitFor();
    await dialog.getByRole("button", { name: "Apply" }).click();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Renamed");
    expect(await page.getByLabel("Content").textContent()).toBe("Mine");
    await page.getByRole("button", { name: "Save" }).click();
    await eventually(async () => (await app.get(`/core/prompts/${id}.json`)).json.content === "Mine");
    expect((await app.get(`/core/prompts/${id}.json`)).json.name).toBe("Renamed");
  });

  test("that somebody else changes meanwhile is merged, and a field of both is asked about", async () => {
    const id = await prompt("Two people", "two_people");
    await using opened = await signedIn({ at: `/studio/core/prompts/${id}` });
    const { page } = opened;
    await page.getByLabel("Content").fill("Mine");
    await app.patch(`/core/prompts/${id}.json`, { prompt: { name: "Theirs", content: "Other" } });
    await page.getByRole("button", { name: "Save" }).click();
    const dialog = page.getByRole("dialog", { name: "Somebody else has changed this" });
    await dialog.getByText("Other", { exact: true }).waitFor();
    await dialog.getByRole("button", { name: "Apply" }).click();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Theirs");
    expect(await page.getByLabel("Content").textContent()).toBe("Mine");
    await page.getByRole("button", { name: "Save" }).click();
    await eventually(async () => (await app.get(`/core/prompts/${id}.json`)).json.content === "Mine");
    expect((await app.get(`/core/prompts/${id}.json`)).json.name).toBe("Theirs");
  });

  test("is still saved when the session ends while typing", async () => {
    const id = await prompt("Long work", "long_work");
    await using opened = await signedIn({ at: `/studio/core/prompts/${id}` });
    const { page } = opened;
    await page.getByLabel("Content").fill("Typed for an hour");
    await page.evaluate(() => fetch("/account/session.json", { method: "DELETE" }));
    await page.getByRole("button", { name: "Save" }).click();
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.getByLabel("Password").fill("wrong");
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await dialog.getByRole("alert").getByText("Wrong login or password").waitFor();
    await dialog.getByLabel("Password").fill(adminPassword);
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await eventually(async () => (await app.get(`/core/prompts/${id}.json`)).json.content === "Typed for an hour");
  });
});

test("a change is shown as the call of the API that it would be", async () => {
  const id = await prompt("As a call", "as_a_call");
  await using opened = await signedIn({ at: `/studio/core/prompts/${id}` });
  const { page, faults } = opened;
  await page.getByLabel("Name", { exact: true }).fill("It's changed");
  await page.getByRole("button", { name: "Show as API" }).click();
  const shown = (await page.getByRole("dialog", { name: "Show as API" }).locator("pre").textContent()) ?? "";
  expect(shown).toStartWith(`curl -X PATCH '${app.origin}/core/prompts/${id}.json'`);
  expect(shown).toContain("If-Match");
  const shell = Bun.spawn(["sh", "-c", shown.replace("curl", "curl -s")], {
    env: { ...process.env, TOKEN: adminToken },
  });
  expect(JSON.parse(await new Response(shell.stdout).text())).toMatchObject({ id, name: "It's changed" });
  expect(faults).toEqual([]);
});

test("a token is shown once, and masked afterwards", async () => {
  await using opened = await signedIn({ at: "/studio/account/tokens/new" });
  const { page } = opened;
  await page.getByLabel("Name", { exact: true }).fill("CI");
  await page.getByRole("checkbox", { name: /^Prompts/ }).check();
  await page.getByRole("checkbox", { name: /^Tables/ }).uncheck();
  await page.getByRole("button", { name: "Create a token for: Prompts" }).click();
  const dialog = page.getByRole("dialog", { name: "This secret is shown once" });
  const token = (await dialog.locator("pre").textContent()) ?? "";
  expect(token).toMatch(/^core_/);
  expect((await app.get("/core/prompts.json", { token })).status).toBe(200);
  expect((await app.get("/core/dbs.json", { token })).status).toBe(403);
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByRole("heading", { level: 1, name: "CI" }).waitFor();
  expect(await page.locator("body").textContent()).not.toContain(token);
  const stored = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]));
  expect(stored).not.toContain(token);
});

test("a database is deleted only after its name was typed", async () => {
  const made = await app.post("/core/dbs.json", { db: { name: "Precious", code: "precious" } });
  await using opened = await signedIn({ at: `/studio/core/dbs/${made.json.id}/settings` });
  const { page } = opened;
  await page.getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete" });
  const button = dialog.getByRole("button", { name: "Delete" });
  expect(await button.isDisabled()).toBe(true);
  await dialog.getByLabel("Name", { exact: true }).fill("Precious");
  await button.click();
  await page.getByRole("heading", { level: 1, name: "Tables" }).waitFor();
  expect((await app.get("/core/dbs/precious.json")).status).toBe(200);
  await page.close({ runBeforeUnload: true });
  await eventually(async () => (await app.get("/core/dbs/precious.json")).status === 404);
});

test("the keyboard alone opens the palette, finds a page, moves in the grid and opens a row", async () => {
  await using opened = await signedIn();
  const { page } = opened;
  await prompt("First by keys", "first_by_keys");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Find or do" }).waitFor();
  await page.keyboard.type("New prompt");
  await page.getByRole("option", { name: /New prompt/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "New prompt" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("First by keys");
  await page.getByRole("option", { name: /First by keys/ }).waitFor();
  await page.keyboard.press("Escape");
  await page.goto(`${app.origin}/studio/core/prompts`);
  const grid = page.getByRole("grid", { name: "Prompts" });
  await grid.locator('[role=gridcell][tabindex="0"]').focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Home");
  await page.keyboard.press("Shift+Space");
  await page.getByText("1 chosen").waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/studio\/ai\/prompts\/[0-9a-f-]{36}$/);
});

test("a phone shows everything without scrolling sideways, in the dark too", async () => {
  await using opened = await signedIn({ viewport: { width: 360, height: 700 }, colorScheme: "dark" });
  const { page, faults } = opened;
  await prompt(`Long ${"x".repeat(200)}`, "long_name");
  for (const path of ["/studio", "/studio/core/prompts", "/studio/core/prompts/new", "/studio/account/people/1"]) {
    await page.goto(app.origin + path);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.locator("main [role=grid], main form, main .home").first().waitFor();
    expect([path, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([path, 360]);
  }
  await page.getByRole("button", { name: "Menu", exact: true }).click();
  await page.getByRole("navigation", { name: "Menu" }).getByRole("link", { name: "Apps" }).click();
  await page.getByRole("heading", { level: 1, name: "Apps" }).waitFor();
  expect(faults).toEqual([]);
});

test("somebody with few privileges sees only what they may use", async () => {
  const password = "a long pass phrase";
  await app.post("/account/users.json", { user: { login: "guest1", name: "Gina", role: "guest", password } });
  await using context = await browser.newContext({ locale: "en-US" });
  const page = await context.newPage();
  await page.goto(`${app.origin}/login`);
  await page.getByLabel("Login or e-mail").fill("guest1");
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: /, Gina$/ }).waitFor();
  expect(await page.locator("#menu").textContent()).not.toContain("Prompts");
  await page.goto(`${app.origin}/studio/core/prompts`);
  await page.getByRole("heading", { level: 1, name: "There is nothing at this address" }).waitFor();
});

describe("what is written in records", () => {
  const hostile = [
    "<script>window.hit=1</script>",
    "</style><img src=x onerror=window.hit=1>",
    "javascript:window.hit=1",
    "\u202egnp.exe",
  ];

  test("never runs, and is shown as it is", async () => {
    await using opened = await signedIn();
    const { page } = opened;
    for (const [at, name] of hostile.entries()) await prompt(name, `hostile_${at}`);
    await page.goto(`${app.origin}/studio/core/prompts?q=hostile_`);
    await page.getByRole("grid").waitFor();
    for (const name of hostile) await page.getByText(name, { exact: true }).first().waitFor();
    await page
      .getByText(hostile[1] ?? "", { exact: true })
      .first()
      .click();
    await page.getByRole("heading", { level: 1, name: hostile[1] ?? "" }).waitFor();
    expect(await page.evaluate(() => "hit" in window)).toBe(false);
  });

  test("of two megabytes does not hold up the page", async () => {
    await app.post("/core/dbs.json", { db: { name: "Big", code: "big" } });
    await app.post("/core/dbs/big/records.json", { record: { data: { text: "x".repeat(900_000) } } });
    await using opened = await signedIn({ at: "/studio/core/dbs/big/records?cols=data" });
    const { page } = opened;
    await page.getByRole("grid").waitFor();
    expect((await page.getByRole("grid").textContent())?.length).toBeLessThan(2000);
  });
});

describe("the page", () => {
  test("may not be framed, runs no script but its own, and its files are kept forever", async () => {
    await using opened = await signedIn();
    const { page } = opened;
    const answer = await page.goto(`${app.origin}/studio`);
    const headers = answer?.headers() ?? {};
    const policy = headers["content-security-policy"] ?? "";
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    expect(headers["x-frame-options"]).toBe("DENY");
    const script = await page.locator("script[type=module]").getAttribute("src");
    for (const [accepted, encoding] of [
      ["br, gzip", "br"],
      ["gzip", "gzip"],
      ["identity", null],
    ] as const) {
      const file = await fetch(app.origin + script, { headers: { "accept-encoding": accepted }, decompress: false });
      expect(file.headers.get("content-encoding")).toBe(encoding);
      expect(file.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      const again = await fetch(app.origin + script, {
        headers: { "accept-encoding": accepted, "if-none-match": file.headers.get("etag") ?? "" },
      });
      expect(again.status).toBe(304);
    }
    expect((await fetch(`${app.origin}/studio/-/nothing.js`)).status).toBe(404);
    expect((await fetch(`${app.origin}/studio/-/manifest.json`)).status).toBe(404);
  });

  test("names all files that an address needs, so that none waits for another one, and asks for nothing twice", async () => {
    await app.post("/core/dbs.json", { db: { name: "Shown", code: "shown" } });
    await app.post("/core/dbs/shown/records.json", { record: { data: { name: "Ann" } } });
    await using opened = await signedIn({ at: "/studio/core/dbs/shown/records" });
    const { page } = opened;
    const preloaded = await page
      .locator("link[rel=modulepreload]")
      .evaluateAll((links) => links.map((link) => link.getAttribute("href")));
    expect(preloaded).toContainEqual(expect.stringMatching(/^\/studio\/-\/table1-\w+\.js$/));
    await page.getByRole("grid").waitFor();
    const asked = await page.evaluate(() =>
      performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname),
    );
    const late = asked.filter((path) => /^\/studio\/-\/.+\.js$/.test(path) && !preloaded.includes(path));
    const main = await page.locator("script[type=module]").getAttribute("src");
    expect(late.filter((path) => path !== main)).toEqual([]);
    for (const path of ["/openapi.json", "/studio/-/frame.json"])
      expect(asked.filter((one) => one === path)).toEqual([path]);
    const early = await page
      .locator("link[rel=preload][as=fetch]")
      .evaluateAll((links) => links.map((link) => link.getAttribute("href")));
    expect(early).toEqual([
      "/studio/-/frame.json",
      expect.stringContaining("answers.json?path=%2Fcore%2Fdbs%2Fshown.json"),
    ]);
    expect(asked.filter((path) => path === "/studio/-/answers.json").length).toBeGreaterThan(0);
    expect(asked).not.toContain("/core/dbs/shown.json");
  });

  test("of the home and of a table does not wait for the API's description, which is long", async () => {
    await using opened = await signedIn();
    const { page, faults } = opened;
    const { promise, resolve } = Promise.withResolvers<void>();
    await page.route("**/openapi.json", async (route) => {
      await promise;
      await route.continue();
    });
    await page.goto(`${app.origin}/studio/core/dbs/shown/records`);
    await page.getByRole("gridcell", { name: "Ann", exact: true }).waitFor();
    await page.goto(`${app.origin}/studio`);
    await page.locator("main h1").waitFor();
    await page.getByRole("link", { name: "Shown", exact: true }).first().waitFor();
    resolve();
    await page.getByRole("link", { name: "Prompts", exact: true }).first().click();
    await page.getByRole("heading", { level: 1, name: "Prompts" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("says that the disk is short or full as long as it is, and what was refused for it", async () => {
    await using opened = await signedIn({ at: "/studio/core/prompts/new" });
    const { page } = opened;
    let [status, facts]: [number, object] = [200, { disk: "short", writable: true }];
    await page.route("**/ready", (route) => route.fulfill({ status, json: facts }));
    const banner = page.locator(".banner");
    const look = () => page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    await look();
    await banner.getByText("uploads and imports are refused").waitFor();
    await page.mouse.wheel(0, 500);
    const bottom = await banner.evaluate((shown) => shown.getBoundingClientRect().bottom);
    const isBelow = () =>
      page.locator(".page-bar").evaluate((bar, above) => bar.getBoundingClientRect().top >= above, bottom);
    await eventually(isBelow, "the bar, below the banner");
    [status, facts] = [503, { error: "no space left in DATA_DIR", disk: "full", writable: false }];
    await look();
    await banner.getByText("nothing can be saved").waitFor();
    const full = { error: "no space left in DATA_DIR: nothing was stored" };
    await page.route("**/core/prompts.json*", (route) =>
      route.fulfill({ status: 503, headers: { "retry-after": "60" }, json: full }),
    );
    await page.goto(`${app.origin}/studio/core/prompts`);
    await page.getByText(full.error).first().waitFor();
    [status, facts] = [200, { disk: "ok", writable: true }];
    await look();
    await banner.waitFor({ state: "detached" });
  });

  test("waits for a server that is away, and goes on", async () => {
    await using opened = await signedIn();
    const { page } = opened;
    let away = true;
    await page.route("**/core/prompts.json*", (route) =>
      away
        ? route.fulfill({ status: 503, headers: { "retry-after": "1" }, body: '{"error":"busy"}' })
        : route.continue(),
    );
    await page.goto(`${app.origin}/studio/core/prompts`);
    await page.getByRole("alert").getByText("The server is busy").waitFor();
    away = false;
    await page.locator("main [role=grid], main .empty").first().waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });
});
