/** The names by which people, screen readers and tests find things are the same for every resource of the Studio. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { addressOf } from "../../sites/studio/app/address.ts";
import { idOf } from "../../sites/studio/app/resources/list.ts";
import { words } from "../../sites/studio/app/resources/names.ts";
import { resourcesOf, type Resource } from "../../sites/studio/app/resources/resources.ts";
import en from "../../sites/studio/app/text/en.json" with { type: "json" };
import { ownOf } from "../../sites/studio/app/resources/values.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
/** Those at the top that can be made, with the one that was made. */
const made: { readonly resource: Resource; readonly id: string; readonly name: unknown }[] = [];

beforeAll(async () => {
  studio = await startStudio({ env: { SMTP_URL: "smtp://127.0.0.1:1", MAIL_FROM: "office@example.com" } });
  const { app } = studio;
  const all = resourcesOf((await app.get("/openapi.json")).json);
  for (const resource of all.filter(({ path }) => !path.includes("{"))) {
    const { create } = resource;
    if (!create?.body) continue;
    const { key, example } = create.body;
    const { status, json } = await app.post(create.path, key === undefined ? example : { [key]: example });
    expect([resource.path, status]).toEqual([resource.path, 201]);
    made.push({ resource, id: idOf(json, resource) ?? "", name: json.name ?? json.title });
  }
});
afterAll(() => studio.stop());

/** Follows an address as a link does. */
async function open(page: Page, address: string, heading?: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, "", to);
    dispatchEvent(new PopStateEvent("popstate"));
  }, address);
  const h1 = page.getByRole("heading", { level: 1 });
  await (heading === undefined ? h1 : page.getByRole("heading", { level: 1, name: heading, exact: true })).waitFor();
  expect([address, await h1.count()]).toEqual([address, 1]);
}

function called(page: Page, name: string) {
  return page.getByRole("button", { name, exact: true }).or(page.getByRole("link", { name, exact: true }));
}

/** What has a label, or is a group with a name, inside of the page. */
const labels = (page: Page): Promise<string[]> =>
  page
    .locator("main :is(label, legend, [role=group][aria-label], [contenteditable][aria-label])")
    .evaluateAll((found) => found.map((one) => (one.getAttribute("aria-label") ?? one.textContent ?? "").trim()));

/** What is made and changed on pages of its own, with the words there: what makes, keeps, takes back and deletes. */
const own: Readonly<
  Record<string, { readonly make: string; readonly form: string; readonly change: readonly string[] }>
> = {
  "/core/dbs": { make: "Create table", form: "/settings", change: ["Save", "Cancel", "Delete"] },
  "/core/apps": { make: "Create app", form: "/settings", change: ["Publish", "Discard changes", "Delete app"] },
  "/account/api_tokens": {
    make: "Create a token for: no table yet",
    form: "",
    change: ["Save", "Cancel", "Delete"],
  },
  "/connect/flows": { make: "Go on", form: "?tab=settings", change: ["Publish", "Discard", "Delete the flow"] },
};

test("lists, forms and records of every resource", async () => {
  await using opened = await studio.signedIn();
  const { page } = opened;
  const titles: Readonly<Record<string, readonly string[]>> = en.resources;
  expect(made.length).toBeGreaterThan(15);
  for (const { resource, id, name } of made) {
    const [plural = "", singular = ""] = titles[resource.path] ?? [];
    await open(page, addressOf(resource, []), plural);
    const grid = page.getByRole("grid", { name: plural, exact: true });
    await grid.waitFor();
    expect(await grid.getByRole("columnheader").count()).toBeGreaterThan(1);
    const maker = resource.path === "/account/users" ? "Invite a person" : `New ${singular}`;
    expect([resource.path, await called(page, maker).count()]).toEqual([resource.path, 1]);

    await called(page, maker).click();
    // People are invited, by mail or by a link, on one page.
    if (["/account/users", "/account/invitations"].includes(resource.path)) {
      await page.getByRole("heading", { level: 1, name: "Invite a person", exact: true }).waitFor();
      continue;
    }
    await page.getByRole("heading", { level: 1, name: `New ${singular}`, exact: true }).waitFor();
    const { make = "Save", form = "", change = ["Save", "Cancel", "Delete"] } = ownOf(own, resource.path) ?? {};
    for (const button of [make, "Cancel"]) {
      await called(page, button).waitFor();
      expect([resource.path, button, await called(page, button).count()]).toEqual([resource.path, button, 1]);
    }
    const shown = await labels(page);
    const required = resource.create?.body?.schema.required ?? [];
    const missing = required
      .map((field) => ownOf(resource.fields, field)?.label?.en ?? words(field))
      // What starts something is picked in words.
      .filter((label) => !shown.includes(label) && !["When", "What changes"].includes(label));
    expect([resource.path, missing]).toEqual([resource.path, []]);

    await open(page, addressOf(resource, [id]) + form, typeof name === "string" ? name : undefined);
    // A draft can be taken back once there is one, and a flow has what is rare behind its name.
    const isDraft = change[0] === "Publish";
    if (isDraft) await page.getByRole("textbox", { name: "Name", exact: true }).fill("Renamed");
    for (const button of resource.update ? change : change.slice(2)) {
      if (button === "Delete the flow") await page.getByRole("button", { name: /^Menu of / }).click();
      await called(page, button).waitFor();
      expect([resource.path, button, await called(page, button).count()]).toEqual([resource.path, button, 1]);
    }
    if (isDraft) await called(page, change[1] ?? "").click();
  }
}, 600_000);

test("the records of a database, the palette, news and mistakes", async () => {
  await using opened = await studio.signedIn();
  const { page } = opened;
  const fields = { first_name: { type: "string", required: true }, age: "integer" };
  const { app } = studio;
  await app.post("/core/dbs.json", { db: { name: "Guests", code: "guests", schema: { fields } } });
  await app.post("/core/dbs/guests/records.json", { record: { data: { first_name: "Ann", age: 30 } } });
  await open(page, "/studio/core/dbs/guests/records", "Guests");
  const grid = page.getByRole("grid", { name: "Records", exact: true });
  await grid.getByRole("gridcell", { name: "Ann", exact: true }).waitFor();
  for (const column of ["First name", "Age"]) await grid.getByRole("columnheader", { name: column }).waitFor();
  expect(await called(page, "New record").count()).toBe(1);
  await called(page, "New record").click();
  const panel = page.getByRole("complementary", { name: "New record" });
  await panel.getByRole("textbox", { name: "First name", exact: true }).waitFor();
  await panel.getByRole("textbox", { name: "Age", exact: true }).fill("3");
  await panel.getByRole("button", { name: "Add record" }).click();
  await panel.getByText("is required").waitFor();
  expect(await panel.getByRole("textbox", { name: "First name" }).getAttribute("aria-invalid")).toBe("true");
  await panel.getByRole("textbox", { name: "First name" }).fill("Bob");
  await panel.getByRole("button", { name: "Add record" }).click();
  await page.getByRole("status").getByText("Saved").waitFor();

  await open(page, "/studio/account/teams/new", "New team");
  await called(page, "Save").click();
  await page.getByRole("alert").getByText("Some fields need your attention").waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Find or do", exact: true }).waitFor();
});
