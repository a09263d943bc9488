/** Sessions that end, change hands or lose a privilege while somebody types in the Studio. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { adminPassword, eventually, person, type TestApp } from "../harness.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

const password = "a long pass phrase";
let studio: Studio;
let app: TestApp;
let signedIn: Studio["signedIn"];
let anna: number;
beforeAll(async () => {
  studio = await startStudio();
  ({ app, signedIn } = studio);
  anna = (await person(app, { login: "anna", role: "manager", password, privileges: ["prompts"] })).id;
});
afterAll(() => studio.stop());

let made = 0;
/** A prompt, opened in the page, with words of its own typed into it. */
async function typing(page: Page, words: string): Promise<string> {
  const prompt = { name: "Long work", code: `work_${++made}`, content: "Old" };
  const { json } = await app.post("/core/prompts.json", { prompt });
  await page.goto(`${app.origin}/studio/core/prompts/${json.id}`);
  await page.getByLabel("Content").fill(words);
  return json.id;
}
const save = (page: Page) => page.getByRole("button", { name: "Save" }).click();
const contentOf = async (id: string) => (await app.get(`/core/prompts/${id}.json`)).json.content;
const saved = (id: string, words: string) =>
  eventually(async () => (await contentOf(id)) === words, `"${words}" saved`);

async function signInAgain(page: Page, title: string, secret = adminPassword): Promise<void> {
  const dialog = page.getByRole("dialog", { name: title });
  await dialog.getByLabel("Password").fill(secret);
  await dialog.getByRole("button", { name: "Sign in", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
}
/** Signs in as another person in another tab of the same browser. */
async function otherTab(page: Page, login: string, secret: string): Promise<Page> {
  const tab = await page.context().newPage();
  await tab.goto(`${app.origin}/logout`);
  if (tab.url().endsWith("/logout")) await tab.getByRole("button", { name: "Sign out" }).click();
  await tab.locator("[autocomplete=username]").fill(login);
  await tab.locator("[autocomplete=current-password]").fill(secret);
  await tab.getByRole("button", { name: "Sign in" }).click();
  await tab.getByRole("heading", { level: 1 }).waitFor();
  return tab;
}

/** All that the browser keeps. */
const storedIn = (page: Page) => page.evaluate(() => JSON.stringify([localStorage, sessionStorage]));

describe("a session that ends while somebody types", () => {
  const endings: readonly (readonly [string, (page: Page) => Promise<unknown>])[] = [
    ["by an administrator", async () => app.patch(`/account/users/${anna}.json`, { user: { active: false } })],
    ["by a new password", () => app.patch(`/account/users/${anna}.json`, { user: { password: `${password} ` } })],
    [
      "by signing out in another tab",
      async (page) => {
        const tab = await page.context().newPage();
        await tab.goto(`${app.origin}/logout`);
        await tab.getByRole("button", { name: "Sign out" }).click();
        await tab.waitForURL(`${app.origin}/login`);
      },
    ],
  ];
  test.each(endings)("%s, asks for the password and saves all", async (how, end) => {
    await using opened = await signedIn({ login: "anna", password });
    const { page } = opened;
    const words = `Typed until it ended ${how}`;
    const id = await typing(page, words);
    await end(page);
    await save(page);
    await page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
    await app.patch(`/account/users/${anna}.json`, { user: { active: true } });
    await signInAgain(page, "Your session has ended", how === "by a new password" ? `${password} ` : password);
    await saved(id, words);
    await app.patch(`/account/users/${anna}.json`, { user: { password } });
  });

  test("by its time, asks for the password and saves all", async () => {
    await using opened = await signedIn();
    const { page } = opened;
    // A session ends with the token that has opened it, and that can be given another end.
    const web = (await app.post("/account/api_tokens.json", { api_token: { name: "Kiosk", kind: "web_token" } })).json;
    await page.context().clearCookies();
    await page.goto(`${app.origin}/account/auto_login?token=${web.token}&return_to=/studio`);
    const id = await typing(page, "Typed until the end");
    const past = new Date(Date.now() - 1000).toISOString();
    await app.patch(`/account/api_tokens/${web.id}.json`, { api_token: { expires_at: past } });
    await save(page);
    await signInAgain(page, "Your session has ended");
    await saved(id, "Typed until the end");
  });

  test("goes on by itself if the same person has signed in again in another tab", async () => {
    await using opened = await signedIn();
    const { page } = opened;
    const id = await typing(page, "Typed before the other tab");
    await page.context().clearCookies();
    await save(page);
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.waitFor();
    const tab = await otherTab(page, "admin", adminPassword);
    await tab.close();
    await page.bringToFront();
    await page.evaluate(() => dispatchEvent(new Event("focus")));
    await dialog.waitFor({ state: "detached" });
    await saved(id, "Typed before the other tab");
  });

  test("does not keep anybody from signing out", async () => {
    await using opened = await signedIn();
    const { page, faults } = opened;
    await page.context().clearCookies();
    await page.getByRole("button", { name: "Account" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL(`${app.origin}/login`);
    expect(faults.filter((fault) => fault.startsWith("error:"))).toEqual([]);
  });
});

describe("somebody else who signs in in the same browser", () => {
  test("saves nothing of what the first one has typed", async () => {
    await using opened = await signedIn();
    const { page } = opened;
    const id = await typing(page, "The administrator's words");
    await otherTab(page, "anna", password);
    await page.bringToFront();
    await save(page);
    const dialog = page.getByRole("dialog", { name: "Somebody else has signed in" });
    await dialog.getByText("Anna has signed in in this browser since").waitFor();
    expect(await contentOf(id)).toBe("Old");
    await signInAgain(page, "Somebody else has signed in");
    await saved(id, "The administrator's words");
    const [version] = await app.sql`
      select u.login from api_tokens t join users u on u.id = t.user_id
      where t.kind = 'web_token' and t.active order by t.id desc limit 1`;
    expect(version?.["login"]).toBe("admin");
  });

  test("is offered no draft of the first one, who is offered it later", async () => {
    await using opened = await signedIn();
    const { page } = opened;
    const id = await typing(page, "A draft of the administrator");
    const draft = page.getByText("You have changes here that were not saved");
    await otherTab(page, "anna", password);
    await page.bringToFront();
    await save(page);
    await page.getByRole("button", { name: "Go on as Anna" }).click();
    await page.getByRole("textbox", { name: "Content" }).getByText("Old").waitFor();
    expect(await draft.count()).toBe(0);
    expect(await page.locator("body").textContent()).not.toContain("A draft of the administrator");
    expect(await storedIn(page)).not.toContain("draft of the administrator");
    const tab = await otherTab(page, "admin", adminPassword);
    await tab.goto(`${app.origin}/studio/core/prompts/${id}`);
    await tab.getByRole("button", { name: "Restore" }).click();
    await tab.getByRole("textbox", { name: "Content" }).getByText("A draft of the administrator").waitFor();
    expect(await contentOf(id)).toBe("Old");
  });

  test("finds nothing of the first one in the browser after a sign-out, who is offered it after the next sign-in", async () => {
    await using opened = await signedIn();
    const { page } = opened;
    const id = await typing(page, "A draft before the sign-out");
    const key = `corestead.draft.1./studio/core/prompts/${id}`;
    await page.evaluate(
      (name) => localStorage.setItem(name, JSON.stringify({ at: Date.now(), inputs: { note: "readable" } })),
      `${key}-old`,
    );
    await page.reload();
    await page.getByRole("button", { name: "Restore" }).waitFor();
    expect(
      (
        await page.context().request.delete(`${app.origin}/account/session.json`, { headers: { origin: app.origin } })
      ).status(),
    ).toBe(204);
    await page.goto(`${app.origin}/login`);
    const stored = await storedIn(page);
    expect(stored).toContain(key);
    for (const words of ["draft before", "readable"]) expect(stored).not.toContain(words);
    const tab = await otherTab(page, "admin", adminPassword);
    await tab.goto(`${app.origin}/studio/core/prompts/${id}`);
    await tab.getByRole("button", { name: "Restore" }).click();
    await tab.getByRole("textbox", { name: "Content" }).getByText("A draft before the sign-out").waitFor();
  });

  test("reads nothing into the page of the first one, deletes nothing, and is not signed out by it", async () => {
    await using opened = await signedIn();
    const { page } = opened;
    const id = await typing(page, "Old");
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Undo" }).waitFor();
    const tab = await otherTab(page, "anna", password);
    // A page that is closed sends what it has promised to delete: the cookie is somebody else's now.
    const refused = page.waitForResponse((response) => response.request().method() === "DELETE");
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent("pagehide")));
    expect((await refused).status()).toBe(401);
    expect((await app.get(`/core/prompts/${id}.json`)).status).toBe(200);
    expect((await tab.context().request.get(`${app.origin}/account/me.json`)).status()).toBe(200);
    await page.goto(`${app.origin}/studio`);
    await page.getByRole("heading", { level: 1, name: /, anna\b/i }).waitFor();
  });
});

describe("somebody whose privilege is taken away while they type", () => {
  test("is told so by name, and loses nothing", async () => {
    await using opened = await signedIn({ login: "anna", password });
    const { page } = opened;
    const id = await typing(page, "Typed with the privilege");
    await app.patch(`/account/users/${anna}.json`, { user: { role: "guest", privileges: [] } });
    await save(page);
    await page.getByRole("alert").getByText("this needs the privilege `prompts`").waitFor();
    await page.getByRole("textbox", { name: "Content" }).getByText("Typed with the privilege").waitFor();
    expect(await contentOf(id)).toBe("Old");
    await app.patch(`/account/users/${anna}.json`, { user: { role: "manager", privileges: ["prompts"] } });
    await save(page);
    await saved(id, "Typed with the privilege");
  });
});

test("what somebody else has deleted while one types says so, and keeps the words", async () => {
  await using opened = await signedIn();
  const { page } = opened;
  const id = await typing(page, "Typed into nothing");
  await app.delete(`/core/prompts/${id}.json`);
  await save(page);
  await page.getByRole("alert").getByText("not found").waitFor();
  await page.getByRole("textbox", { name: "Content" }).getByText("Typed into nothing").waitFor();
  await page.reload();
  await page.getByRole("alert").getByText("There is nothing at this address.").waitFor();
  expect(await storedIn(page)).toContain(`/studio/core/prompts/${id}`);
});

test("two tabs put tiles on one dashboard, and both stay; one too large says so", async () => {
  const make = async (name: string) => {
    const fields = { name, app_engine: "html", css_engine: "none", source_code: name, dashboard_widget: true };
    return (await app.post("/core/apps.json", { app: fields })).json.id;
  };
  const ids = [await make("First"), await make("Second")];
  await using opened = await signedIn();
  const { page } = opened;
  const tab = await page.context().newPage();
  await tab.goto(`${app.origin}/studio`);
  for (const [one, name] of [
    [page, "First"],
    [tab, "Second"],
  ] as const) {
    await one.getByRole("button", { name: "Edit tiles" }).click();
    await one.getByRole("combobox", { name: "Add a tile" }).selectOption({ label: name });
  }
  for (const one of [page, tab]) await one.getByRole("button", { name: "Add a tile" }).click();
  const tiles = async () => (await app.get("/account/me/preferences.json")).json["studio.dashboard"]?.tiles ?? [];
  await eventually(async () => (await tiles()).length === 2, "both tiles");
  expect(new Set((await tiles()).map((tile: { app: string }) => tile.app))).toEqual(new Set(ids));
  // The account is full of names: the server's words are shown, and the tile that was not stored goes.
  const names = Object.fromEntries(Array.from({ length: 99 }, (_, at) => [`n${at}`, at]));
  await app.patch("/account/me/preferences.json", { preferences: names });
  await app.patch("/account/me/preferences.json", { preferences: { "studio.dashboard": null, n99: 1 } });
  await page.reload();
  await page.getByRole("button", { name: "Edit tiles" }).click();
  await page.getByRole("combobox", { name: "Add a tile" }).selectOption({ label: "First" });
  await page.getByRole("button", { name: "Add a tile" }).click();
  await page.getByRole("alert").getByText("may have at most 100 names").waitFor();
  await eventually(async () => (await page.getByRole("article").count()) === 0, "the tile to go");
});
