/** Tokens, people, teams and one's own account in the Studio. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { eventually, person, type TestApp } from "../harness.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
let app: TestApp;
let signedIn: Studio["signedIn"];
beforeAll(async () => {
  studio = await startStudio();
  ({ app, signedIn } = studio);
});
afterAll(() => studio.stop());

const saved = (page: Page) => page.getByRole("status").getByText("Saved").first().waitFor();
/** The value of the only row. */
async function one(query: PromiseLike<readonly object[]>): Promise<Record<string, unknown>> {
  const [row = {}] = await query;
  return { ...row };
}

describe("a token", () => {
  test("is made with the keyboard alone, narrowed and with an end, and can do just that", async () => {
    for (const [name, code] of [
      ["Orders", "orders"],
      ["Prices", "prices"],
    ])
      await app.post("/core/dbs.json", { db: { name, code, schema: { fields: { no: "string" } } } });
    await using opened = await signedIn();
    const { page, faults } = opened;
    const tabTo = async (name: string, role: "checkbox" | "combobox" | "button" | "textbox" | "radio") => {
      const target = page.getByRole(role, { name }).first();
      for (let presses = 0; !(await target.evaluate((element) => element === document.activeElement)); presses++) {
        expect([name, presses < 40]).toEqual([name, true]);
        await page.keyboard.press("Tab");
      }
    };
    await page.keyboard.press("Control+k");
    await page.keyboard.type("New access token");
    await page.getByRole("option", { name: /New access token/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("checkbox", { name: /^Tables/ }).waitFor();
    await page.locator("#main").focus();
    await tabTo("Name", "textbox");
    await page.keyboard.type("Nightly import");
    expect(await page.getByLabel("Ends", { exact: true }).inputValue()).toBe("90");
    // It begins with as little as there is, and says what it would be able to do.
    await page.getByRole("button", { name: "Create a token for: no table yet", exact: true }).waitFor();
    await tabTo("Access to Orders", "combobox");
    await page.keyboard.type("Can add");
    await tabTo("Tables", "checkbox");
    await page.keyboard.press("Space");
    await page.getByRole("button", { name: /^Create a token for: Everything that you may/ }).waitFor();
    await page.keyboard.press("Space");
    await tabTo("Create a token for: Orders: Can add", "button");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "This secret is shown once" });
    const token = (await dialog.locator("pre").textContent()) ?? "";
    expect((await app.get("/core/dbs.json", { token })).json.map(({ code }: { code: string }) => code)).toEqual([
      "orders",
    ]);
    const add = (db: string) => app.post(`/core/dbs/${db}/records.json`, { record: { data: { no: "1" } } }, { token });
    const record = await add("orders");
    expect([record.status, (await add("prices")).status]).toEqual([201, 404]);
    expect((await app.delete(`/core/dbs/orders/records/${record.json.id}.json`, { token })).status).toBe(403);
    expect((await app.get("/core/prompts.json", { token })).status).toBe(403);
    await tabTo("Done", "button");
    await page.keyboard.press("Enter");
    await page.getByText(/^Ends \W*\d+ [A-Z]/).waitFor();
    expect(await page.locator("body").textContent()).not.toContain(token);
    // The list says in words what it may, until when, and when it was used.
    await page.goto(`${app.origin}/studio/admin/tokens`);
    await page.getByRole("row", { name: /Nightly import Orders: Can add Ends / }).waitFor();
    // The palette gives up its search when it is closed.
    expect(faults.filter((fault) => !fault.includes("/core/search.json"))).toEqual([]);
  });

  test("for a browser gets an address that signs in once", async () => {
    await using opened = await signedIn({ at: "/studio/account/tokens/new" });
    const { page } = opened;
    await page.getByLabel("Name", { exact: true }).fill("Kiosk");
    await page.getByText("More fields").click();
    await page.getByLabel("Used for").selectOption("web_token");
    await page.getByRole("button", { name: /^Create a token for/ }).click();
    const dialog = page.getByRole("dialog", { name: "This secret is shown once" });
    const address = (await dialog.locator("pre").last().textContent()) ?? "";
    expect(address).toStartWith(`${app.origin}/account/auto_login?token=core_`);
    await using context = await studio.browser.newContext({ locale: "en-US" });
    const other = await context.newPage();
    await other.goto(address);
    await other.getByRole("heading", { level: 1, name: /./ }).waitFor();
    expect((await app.get(address.slice(app.origin.length), { token: null })).status).toBe(401);
  });

  test("that has ended stands dimmed in the list, and can be looked for; one of the account stays", async () => {
    await app.post("/account/api_tokens.json", { api_token: { name: "Old <b>script</b>", active: false } });
    const erp = await app.post("/account/api_tokens.json", { api_token: { name: "ERP", for_account: true } });
    await using opened = await signedIn({ at: "/studio/account/tokens" });
    const { page } = opened;
    await page.getByRole("row", { name: /Old <b>script<\/b>.*Switched off/ }).waitFor();
    await page.getByRole("navigation", { name: "Filters" }).getByRole("link", { name: "Ended" }).click();
    await page.getByRole("row", { name: /ERP/ }).waitFor({ state: "detached" });
    expect(await page.locator("tr.dim").count()).toBe(await page.locator("tbody tr").count());
    await page.goto(`${app.origin}/studio/account/tokens/${erp.json.id}`);
    await page.getByText("A token of the whole account is not deleted").waitFor();
    expect(await page.getByRole("button", { name: "Delete" }).count()).toBe(0);
    await page.getByLabel("On", { exact: true }).uncheck();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await saved(page);
    expect((await app.get(`/account/api_tokens/${erp.json.id}.json`)).json.active).toBe(false);
  });

  test("offers somebody only the privileges that they have", async () => {
    const password = "a long pass phrase";
    const { login } = await person(app, { password });
    await using context = await studio.browser.newContext({ locale: "en-US" });
    const page = await context.newPage();
    await page.goto(`${app.origin}/login?return_to=/studio/account/tokens/new`);
    await page.getByLabel("Login or e-mail").fill(login);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("checkbox", { name: /^Prompts/ }).waitFor();
    const names = await page.getByRole("group", { name: "Rights" }).locator("label strong").allTextContents();
    expect(names.toSorted()).toEqual(["Access tokens", "Apps", "Prompts", "Tables"]);
  });
});

describe("a person", () => {
  test("is invited to see their own records of one table, comes in by the link and chooses a password", async () => {
    await app.post("/account/teams.json", { team: { name: "Sales" } });
    await app.post("/core/dbs.json", {
      db: { name: "Firms", code: "firms", access: [{ to: "user:1", may: "manage" }] },
    });
    const firm = { type: "string", link: "firms" };
    const fields = { name: "string", firm, owner: { type: "string", label: "Owner" }, pay: "number" };
    await app.post("/core/dbs.json", { db: { name: "Jobs", code: "jobs", schema: { fields } } });
    for (const owner of ["ewa", "jan"])
      await app.post("/core/dbs/jobs/records.json", { record: { data: { name: `Job of ${owner}`, owner } } });
    await using opened = await signedIn({ at: "/studio/account/people" });
    const { page, faults } = opened;
    await page.getByRole("button", { name: "Invite a person" }).click();
    await page.getByText("Mail is not set up: you get a link").waitFor();
    await page.getByLabel("Name", { exact: true }).fill("Ewa Zima");
    await page.getByLabel("Signs in as").fill("ewa");
    expect(await page.getByRole("radio", { name: "Guest" }).isChecked()).toBe(true);
    await page.getByRole("combobox", { name: "Add to Teams" }).fill("sal");
    await page.getByRole("option", { name: /Sales/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByLabel("Access to Jobs").selectOption("edit");
    await page.getByLabel("Only their own records, by the field").check();
    // A text may hold names of any kind: a field for people is offered first.
    expect(await page.getByLabel("The field that says whose a record is").inputValue()).toBe("made_by");
    await page.getByLabel("The field that says whose a record is").selectOption("owner");
    await page.getByRole("group", { name: "Hidden fields" }).getByLabel("Pay").check();
    await page.getByText("Managers and users still see and change all of it, as before.").waitFor();
    await page.getByRole("note").getByText("Jobs links to Firms, which they cannot see").waitFor();
    await page.getByText("Will see: Jobs (Can edit, limited).").waitFor();
    await page.getByRole("button", { name: "Give read access to Firms too" }).click();
    await page.getByText(/^Will see: .*Firms \(Can view\)/).waitFor();
    expect(await page.getByRole("note").count()).toBe(0);
    await page.getByRole("button", { name: "Make invitation link" }).click();
    const link =
      (await page.getByRole("region", { name: "Send this link to Ewa Zima" }).locator("pre").textContent()) ?? "";
    const [{ id, role }] = (await app.get("/account/users.json?q=ewa")).json;
    expect([role, (await app.get("/core/dbs/jobs.json")).json.access]).toEqual([
      "guest",
      [
        { to: "role:manager", may: "manage" },
        { to: "role:user", may: "manage" },
        { to: `user:${id}`, may: "edit", where: { owner: "{user_login}" }, hide: ["pay"] },
      ],
    ]);
    // Who makes a record is written where the rule looks for it.
    const { schema } = (await app.get("/core/dbs/jobs.json")).json;
    expect(schema.fields.owner).toEqual({ type: "string", label: "Owner", default: "{user_login}" });
    await page.goto(`${app.origin}/studio/admin/access`);
    const row = page.getByRole("row", { name: /^Ewa Zima/ });
    await row.getByRole("cell", { name: "Can edit limited by name" }).waitFor();
    expect(faults).toEqual([]);

    await using context = await studio.browser.newContext({ locale: "en-US" });
    const hers = await context.newPage();
    await hers.goto(link);
    await hers.getByText("from then on you sign in with it as ewa").waitFor();
    await hers.getByLabel("New password").fill("short");
    await hers.getByRole("button", { name: "Set the password" }).click();
    await hers.getByRole("alert").getByText("Some fields need your attention").waitFor();
    await hers.getByLabel("New password").fill("winter is coming");
    expect(await hers.getByRole("main").getByRole("heading").allTextContents()).toEqual([
      "Welcome, Ewa Zima",
      "Password",
    ]);
    await hers.getByRole("button", { name: "Set the password" }).click();
    // Home has what was shared with them, by its name.
    await hers.getByRole("main").getByRole("link", { name: "Jobs" }).click();
    await hers.getByRole("gridcell", { name: "Job of ewa", exact: true }).waitFor();
    const answer = await app.post(
      "/account/session.json",
      { login: "ewa", password: "winter is coming" },
      { token: null },
    );
    expect(answer.status).toBe(201);
    expect((await app.get(link.slice(app.origin.length), { token: null })).status).toBe(401);
    await hers.goto(`${app.origin}/studio`);
    await hers.getByRole("navigation", { name: "Menu" }).getByRole("link", { name: "Jobs" }).click();
    await hers.getByRole("gridcell", { name: "Job of ewa", exact: true }).waitFor();
    expect(await hers.getByRole("gridcell", { name: /^Job of/ }).allInnerTexts()).toEqual(["Job of ewa"]);
  });

  test("who is the last administrator cannot be deleted or switched off, and the form says why at its field", async () => {
    await using opened = await signedIn({ at: "/studio/account/people/1" });
    const { page } = opened;
    await page.getByText("This is the last active administrator: somebody else").waitFor();
    expect(await page.getByRole("button", { name: "Delete" }).count()).toBe(0);
    await page.getByLabel("Active").uncheck();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("this is the last active administrator", { exact: true }).waitFor();
    expect(await page.getByLabel("Active").getAttribute("aria-invalid")).toBe("true");
  });

  test("is put into a team, and taken out of it, on the team's page", async () => {
    const { id } = await person(app, { login: "jan" });
    const team = await app.post("/account/teams.json", { team: { name: "Support" } });
    const teamsOf = async () => (await app.get(`/account/users/${id}.json`)).json.team_ids;
    await using opened = await signedIn({ at: `/studio/account/teams/${team.json.id}` });
    const { page } = opened;
    await page.getByRole("combobox", { name: "Add to People" }).fill("jan");
    await page.getByRole("option", { name: /jan/ }).click();
    await page.getByRole("button", { name: /Remove jan/ }).waitFor();
    expect(await teamsOf()).toEqual([team.json.id]);
    await page.goto(`${app.origin}/studio/account/teams`);
    await page.getByRole("row", { name: /Support 1/ }).waitFor();
    await page.getByRole("link", { name: "Support" }).click();
    await page.getByRole("button", { name: /Remove jan/ }).click();
    await eventually(async () => (await teamsOf()).length === 0);
  });
});

test("an empty list offers an example, which fills the form and can be saved as it stands", async () => {
  await using opened = await signedIn({ at: "/studio/account/groups" });
  const { page, faults } = opened;
  await page.getByText("For example: a group for everyone who is on call.").waitFor();
  await page.getByText("For developers").click();
  await page.getByText('"name": "On call"').waitFor();
  await page.getByRole("link", { name: "Start from this example" }).click();
  await page.getByRole("heading", { level: 1, name: "New group" }).waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { level: 1, name: "On call" }).waitFor();
  expect((await app.get("/account/groups.json")).json).toMatchObject([{ name: "On call" }]);

  // A cron starts a flow, and there is none yet.
  await page.goto(`${app.origin}/studio/account/crons`);
  await page.getByRole("link", { name: "New flow" }).waitFor();

  // A flow has a program, an object in the form.
  await page.getByRole("navigation", { name: "Menu" }).getByRole("link", { name: "Automation" }).click();
  await page.getByRole("link", { name: "Start from this example" }).click();
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByRole("heading", { level: 1, name: "Greeting" }).waitFor();
  await page.getByRole("button", { name: "Publish" }).click();
  await page.getByText("Live", { exact: true }).waitFor();
  expect((await app.post("/connect/flows/greeting/run.json", { name: "Ann" })).json.data).toMatchObject({
    greeting: "Hello Ann",
  });

  // A record is made from the schema of its database.
  const schema = { fields: { email: { type: "string", required: true }, age: "integer" } };
  await app.post("/core/dbs.json", { db: { name: "Customers", code: "customers", schema } });
  await page.goto(`${app.origin}/studio/core/dbs/customers/records`);
  await page.getByRole("button", { name: "Start from this example" }).click();
  await page.getByRole("complementary", { name: "New record" }).getByRole("button", { name: "Add record" }).click();
  await page.getByRole("gridcell", { name: "ann@example.com", exact: true }).waitFor();
  expect(faults).toEqual([]);
});

describe("my account", () => {
  /** One of all forms of the page, as they stand. */
  async function shownCall(page: Page, at: number): Promise<string> {
    await page.getByRole("button", { name: "Show as API" }).click();
    const dialog = page.getByRole("dialog", { name: "Show as API" });
    const call = await dialog.locator("pre").nth(at).innerText();
    await dialog.getByRole("button", { name: "Close" }).click();
    expect(call).toContain("curl -X PATCH '");
    return call;
  }

  test("changes my name and my password, and says at its field what is wrong", async () => {
    const password = "a long pass phrase";
    const { id, login } = await person(app, { password });
    await using context = await studio.browser.newContext({ locale: "en-US" });
    const page = await context.newPage();
    await page.goto(`${app.origin}/login?return_to=/studio/account/me`);
    await page.getByLabel("Login or e-mail").fill(login);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByLabel("E-mail").fill("nonsense");
    await page.getByRole("button", { name: "Save" }).click();
    await eventually(async () => (await page.getByLabel("E-mail").getAttribute("aria-invalid")) === "true");
    await page.getByLabel("E-mail").fill("me@example.com");
    await page.getByLabel("Name", { exact: true }).fill("Me Myself");
    const profile = page.getByRole("form", { name: "About you" });
    expect(await shownCall(page, 0)).toContain('"email": "me@example.com"');
    await profile.getByRole("button", { name: "Save" }).click();
    await profile.getByText("cannot be confirmed").waitFor();
    const mail_server = { url: "smtp://127.0.0.1:9", from: "office@example.com" };
    expect((await app.patch("/core/mail_server.json", { mail_server })).status).toBe(200);
    // Whoever has signed in long ago is asked for the password.
    await app.sql`update api_tokens set created_at = now() - interval '1 hour' where user_id = ${id}`;
    await profile.getByRole("button", { name: "Save" }).click();
    await profile.getByLabel("Current password").fill(password);
    await profile.getByRole("button", { name: "Save" }).click();
    await profile.getByText("me@example.com waits for its confirmation").waitFor();
    expect(await one(app.sql`select name, email from users where id = ${id}`)).toEqual({
      name: "Me Myself",
      email: null,
    });
    await profile.getByRole("button", { name: "Withdraw this address" }).click();
    await profile.getByText("waits for its confirmation").waitFor({ state: "detached" });
    expect((await app.delete("/core/mail_server.json")).status).toBe(204);
    await page.getByLabel("Current password").fill("wrong");
    await page.getByLabel("New password").fill("another pass phrase");
    const call = await shownCall(page, 1);
    expect(call).toContain('"password": "…"');
    expect(call).not.toContain("another pass phrase");
    await page.getByRole("button", { name: "Change password" }).click();
    await page.getByText("is wrong", { exact: true }).waitFor();
    await page.getByLabel("Current password").fill(password);
    await page.getByRole("button", { name: "Change password" }).click();
    await page.getByText("The password is changed").waitFor();
    const again = { login, password: "another pass phrase" };
    expect((await app.post("/account/session.json", again, { token: null })).status).toBe(201);
  });

  test("ends another session", async () => {
    const password = "a long pass phrase";
    const { login } = await person(app, { password });
    const answer = await app.post("/account/session.json", { login, password }, { token: null });
    const [cookie = ""] = (answer.headers.get("set-cookie") ?? "").split(";");
    await using context = await studio.browser.newContext({ locale: "en-US" });
    const page = await context.newPage();
    await page.goto(`${app.origin}/login?return_to=/studio/account/me`);
    await page.getByLabel("Login or e-mail").fill(login);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Sign in" }).click();
    const buttons = page.getByRole("button", { name: /^End the session/ });
    await buttons.first().waitFor();
    const works = async () => (await app.get("/account/me.json", { token: null, headers: { cookie } })).status === 200;
    expect([await buttons.count(), await works()]).toEqual([2, true]);
    await buttons.last().click();
    await page.getByText("The session has ended").waitFor();
    expect(await works()).toBe(false);
    expect(await buttons.count()).toBe(1);
  });
});

test("a phone shows it all without scrolling sideways, in the dark too", async () => {
  await using opened = await signedIn({ viewport: { width: 360, height: 700 }, colorScheme: "dark" });
  const { page, faults } = opened;
  await app.post("/account/teams.json", { team: { name: `Long ${"x".repeat(200)}` } });
  for (const path of [
    "tokens",
    "tokens/new",
    "people",
    "people/new",
    "people/1",
    "teams",
    "teams/1",
    "settings",
    "me",
  ]) {
    await page.goto(`${app.origin}/studio/account/${path}`);
    await page.locator("main [role=grid], main form, main .empty, main select").first().waitFor();
    expect([path, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([path, 360]);
  }
  expect(faults).toEqual([]);
});

test("activity says what was done to which record from what to what, and is found by days", async () => {
  const status = {
    type: "string",
    label: "State",
    choices: [
      { value: "new", label: "New" },
      { value: "paid", label: "Paid" },
    ],
  };
  const schema = { title_field: "no", fields: { no: "string", status } };
  const { json: db } = await app.post("/core/dbs.json", { db: { name: "Bills", code: "bills", schema } });
  expect((await app.patch("/account/settings.json", { settings: { activity_databases: "bills" } })).status).toBe(200);
  const record = (await app.post("/core/dbs/bills/records.json", { record: { data: { no: "B-12", status: "new" } } }))
    .json;
  await app.patch(`/core/dbs/bills/records/${record.id}.json`, { record: { data: { status: "paid" } } });
  await using opened = await signedIn({ at: "/studio/admin/activity" });
  const { page, faults } = opened;
  const entry = page.getByRole("listitem").filter({ hasText: "changed State of B-12 in Bills from New to Paid" });
  await entry.waitFor();
  expect(await page.locator("main").innerText()).not.toContain(record.id);
  await page.getByText("Changes to records are kept for: Bills.").waitFor();
  expect(await page.getByRole("link", { name: "Choose tables" }).getAttribute("href")).toBe("/studio/admin/settings");
  await entry.getByRole("link", { name: /^What changed/ }).click();
  const changed = page.getByRole("region", { name: "What changed" });
  await changed.getByRole("heading", { name: "State" }).waitFor();
  expect(await changed.locator("pre:visible").allTextContents()).toEqual(["New", "Paid"]);
  await changed.getByText("As JSON").click();
  await changed.getByText('"new": "paid"').waitFor();
  await page.goBack();
  await page.getByLabel("When", { exact: true }).selectOption({ label: "Today" });
  await page.waitForURL(/from=\d{4}-\d\d-\d\d$/);
  await entry.waitFor();
  await page.getByLabel("When", { exact: true }).selectOption({ label: "On certain days" });
  await page.getByLabel("To", { exact: true }).fill("2020-01-02");
  await page.getByLabel("From", { exact: true }).fill("2020-01-01");
  await entry.waitFor({ state: "detached" });
  expect(db.code).toBe("bills");
  expect(faults).toEqual([]);
});
