/** Hostile texts in everything that has a name or a content, on every page of the Studio that shows it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { eventually, person, type TestApp } from "../harness.ts";
import { harmOf, hostileLinks, hostileName } from "./hostile-page.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
let app: TestApp;
let signedIn: Studio["signedIn"];
beforeAll(async () => {
  studio = await startStudio();
  ({ app, signedIn } = studio);
});
afterAll(() => studio.stop());

async function made(path: string, body: object) {
  const answer = await app.post(path, body);
  expect([path, answer.status, answer.text.slice(0, 300)]).toEqual([path, 201, answer.text.slice(0, 300)]);
  return answer.json;
}
const name = hostileName;
const source = { app_engine: "html", css_engine: "none", source_code: name } as const;
const fields = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`field_${at}`, "string" as const]));

/** One of everything, named by an attacker. */
async function everything() {
  await app.sql`update accounts set name = ${name}`;
  await made("/account/teams.json", { team: { name } });
  await made("/account/departments.json", { department: { name } });
  await made("/account/groups.json", { group: { name } });
  const { id: anna } = await person(app, { login: "anna", password: "a long pass phrase" });
  await app.patch(`/account/users/${anna}.json`, { user: { name } });
  await app.patch("/account/me.json", { user: { name } });
  const soon = new Date(Date.now() + 86_400_000).toISOString();
  const token = await made("/account/api_tokens.json", { api_token: { name, expires_at: soon } });
  const content = `${name}\n[a](${hostileLinks[0]}) ![b](${hostileLinks[1]})\n{{ constructor }} {{ __proto__ }}`;
  const prompt = await made("/core/prompts.json", { prompt: { name, code: "hostile", content, ai_placeholder: name } });
  await made("/core/prompts.json", { prompt: { name, code: "workinfo_new", content, scope: "user", scope_id: 1 } });
  await app.patch(`/core/prompts/${prompt.id}.json`, { prompt: { content: `${content}\n${hostileLinks[0]}` } });
  const hostileFields = { [name]: "string", constructor: "string", __proto__x: "number", toString: "number" };
  const schema = { fields: hostileFields, indexed_fields: [name, "constructor"] };
  const db = await made("/core/dbs.json", { db: { name, code: "hostile", schema } });
  const data = { [name]: name, constructor: name, toString: 7, [hostileLinks[0]]: hostileLinks[1] };
  const record = await made("/core/dbs/hostile/records.json", { record: { data } });
  const shown = { show_in_module: "crm", dashboard_widget: true };
  const tile = await made("/core/apps.json", {
    app: { name, url_code: "hostile", description: name, ...shown, ...source },
  });
  await app.patch(`/core/apps/${tile.id}.json`, { app: { source_code: `${name}2` } });
  await made("/core/apps.json", { app: { name, show_in_module: "prompts/show", ...source } });
  const url = `https://hooks.example/${encodeURIComponent(name)}?${hostileLinks[0]}`;
  const webhook = await made("/account/webhooks.json", {
    webhook: { source_type: "Core::Record", kind: "create", url },
  });
  const program = [
    { type: "mutation", set: { said: name } },
    { type: "fail", message: name },
  ];
  await made("/connect/flows.json", { flow: { name, code: "hostile", kind: "core/custom_flow", fields: { program } } });
  await app.post("/connect/flows/hostile/run.json", { [name]: name });
  await made("/account/crons.json", { cron: { name, kind: "flow", target_code: "hostile", schedule: "0 7 * * *" } });
  await made("/cms/sites.json", { site: { code: "hostile", name, locale: "en" } });
  const preferences = {
    "studio.dashboard": { tiles: [{ app: tile.id, width: 1 }, { app: name }, "x", null] },
    [`studio.records.${db.id}`]: [{ name, query: `q=${name}` }, { name, query: hostileLinks[0] }, 7],
  };
  expect((await app.patch("/account/me/preferences.json", { preferences })).status).toBe(200);
  return { prompt: prompt.id, app: tile.id, token: token.id, anna, webhook: webhook.id, record: record.id };
}

const startsLeft = (element: Element) => {
  const text = element.firstChild;
  if (!text?.textContent) return false;
  const range = document.createRange();
  range.setStart(text, 0);
  range.setEnd(text, 1);
  return range.getBoundingClientRect().left < element.getBoundingClientRect().left + 12;
};

/** An attacker's app in its frame may ask for what is not there. */
const own = (faults: readonly string[]) => faults.filter((fault) => !/\/a\/.* net::ERR_BLOCKED_BY_ORB/.test(fault));

async function settled(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await page.getByText("Loading…").first().waitFor({ state: "detached" });
}

describe("an attacker's names", () => {
  test("do nothing on any page, in menus, breadcrumbs, titles and tables", async () => {
    const ids = await everything();
    await using opened = await signedIn();
    const { page, faults } = opened;
    const menu = await page
      .locator("#menu a")
      .evaluateAll((links) => links.map((link) => link.getAttribute("href") ?? ""));
    const at = (path: string) => [`/studio${path}`];
    const paths = [
      ...menu,
      ...at(`/core/prompts/${ids.prompt}`),
      ...at(`/core/prompts/${ids.prompt}?from=1&to=2`),
      ...at(`/core/prompts/${ids.prompt}/versions`),
      ...["", "/build", "/data", "/versions", "/settings"].flatMap((part) => at(`/core/apps/${ids.app}${part}`)),
      ...at("/core/dbs/hostile"),
      ...["records", "settings", "schema", "public", "import", "export", "charts"].flatMap((tab) =>
        at(`/core/dbs/hostile/${tab}`),
      ),
      ...at(`/core/dbs/hostile/records?open=${ids.record}`),
      ...at(`/account/people/${ids.anna}`),
      ...at(`/account/tokens/${ids.token}`),
      ...at(`/account/webhooks/${ids.webhook}`),
      ...at("/account/me"),
      ...at("/account/settings"),
      ...at("/connect/flows/hostile"),
      ...at("/cms/sites/hostile"),
      ...at(`/core/prompts/${encodeURIComponent(name)}`),
      ...at(`/core/dbs/${encodeURIComponent(name)}/records`),
      ...at(`/core/prompts?q=${encodeURIComponent(name)}&cols=${encodeURIComponent(`${name},constructor,__proto__`)}`),
    ];
    const found: Record<string, unknown> = {};
    for (const path of paths) {
      const told = faults.length;
      await page.goto(app.origin + path);
      await settled(page);
      const harm = await harmOf(page);
      const failed = await page.getByRole("heading", { name: "This page could not be shown" }).count();
      const seen = own(faults.slice(told)).filter((fault) => !fault.includes("status of 404"));
      if (harm.length + seen.length + failed > 0) found[path] = [...harm, ...seen, failed];
    }
    expect(found).toEqual({});
  }, 600_000);

  test("turn nothing around in toasts, dialogs, the palette, the title and choices", async () => {
    await using opened = await signedIn();
    const { page } = opened;
    const check = async (where: string) => expect([where, ...(await harmOf(page))]).toEqual([where]);
    await page.goto(`${app.origin}/studio/core/prompts?q=hostile`);
    await settled(page);
    // The check itself: what is not held apart is found.
    await page.evaluate(() => {
      const line = document.createElement("p");
      line.append("\u202e", Object.assign(document.createElement("span"), { textContent: "words beside it" }));
      document.body.append(line);
    });
    expect(await harmOf(page)).toEqual(['turned around: "words beside it"']);
    await page.reload();

    await page.getByRole("grid").getByText(name).first().click();
    await page.getByRole("heading", { level: 1, name: "</style>" }).waitFor();
    // What it opens is closed, and nothing around it.
    const held = `\u2068${name.replace("\u2069\u202c", "")}\u2069\u202c\u2069`;
    expect(await page.title()).toBe(`${held} – ${held}`);
    await page.keyboard.press("Control+k");
    await page.keyboard.type("</style>");
    await page.getByRole("dialog").getByRole("option", { name: "</style>" }).first().waitFor();
    await check("palette");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Show as API" }).click();
    await page.getByRole("dialog", { name: "Show as API" }).waitFor();
    await check("Show as API");
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("status").getByText("</style>").waitFor();
    const words = page.getByRole("status").getByText("</style>");
    // "Deleted: NAME." keeps its order: the sentence begins at the left.
    expect(await words.evaluate(startsLeft)).toBe(true);
    await check("toast");
    await page.getByRole("button", { name: "Undo" }).click();

    await page.goto(`${app.origin}/studio/core/dbs/hostile/settings`);
    await page.getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete" });
    await dialog.waitFor();
    await check("name asked for");
    // What cannot be seen need not be typed.
    await dialog
      .getByLabel("Name", { exact: true })
      .fill("</style><img src=x onerror=hit=1><script>hit=1</script>gnp.exe");
    expect(await dialog.getByRole("button", { name: "Delete" }).isEnabled()).toBe(true);
    await page.keyboard.press("Escape");

    await page.goto(`${app.origin}/studio/core/apps/new`);
    await settled(page);
    await check("choices");
  });

  test("do nothing in a conflict of two people", async () => {
    const code = "hostile_conflict";
    const { id } = await made("/core/prompts.json", { prompt: { name, code, content: "x" } });
    await using opened = await signedIn({ at: `/studio/core/prompts/${id}` });
    const { page } = opened;
    await page.getByLabel("Content").fill(`${hostileLinks[0]} ${name} mine`);
    await app.patch(`/core/prompts/${id}.json`, { prompt: { content: `${name} theirs` } });
    await page.getByRole("button", { name: "Save" }).click();
    const dialog = page.getByRole("dialog", { name: "Somebody else has changed this" });
    await dialog.waitFor();
    expect(await harmOf(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await eventually(async () => (await app.get(`/core/prompts/${id}.json`)).json.content.endsWith("mine"));
  });
});

describe("what is far too much", () => {
  const long = `${"<b>word </b>".repeat(100)}\n`.repeat(1600);

  test("the longest text is opened, shown as a call, compared and saved; a longer one is refused at its field", async () => {
    const most = long.slice(0, 199_000);
    const { id } = await made("/core/prompts.json", { prompt: { name: "Long", code: "long", content: most } });
    await app.patch(`/core/prompts/${id}.json`, { prompt: { content: `${most}2` } });
    await using opened = await signedIn({ at: `/studio/core/prompts/${id}` });
    const { page, faults } = opened;
    await page.getByRole("textbox", { name: "Content" }).waitFor();
    await page.getByLabel("Name", { exact: true }).fill("Long and changed");
    await page.getByRole("button", { name: "Show as API" }).click();
    await page.getByRole("dialog", { name: "Show as API" }).getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("status").getByText("Saved").first().waitFor();
    // What was said before may stand there still.
    await eventually(async () => (await app.get(`/core/prompts/${id}.json`)).json.name === "Long and changed");
    expect((await app.get(`/core/prompts/${id}.json`)).json.content).toBe(`${most}2`);
    // Typed before: a field that nobody has touched takes what others have stored.
    await page.getByLabel("Name", { exact: true }).fill("Mine");
    await app.patch(`/core/prompts/${id}.json`, { prompt: { name: "Theirs" } });
    await page.getByRole("button", { name: "Save" }).click();
    await page
      .getByRole("dialog", { name: "Somebody else has changed this" })
      .getByRole("button", { name: "Apply" })
      .click();
    await page.getByLabel("Content").evaluate((element, text) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", text);
      element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    }, long);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("may have at most 200000 characters").first().waitFor();
    expect((await app.get(`/core/prompts/${id}.json`)).json.content).toBe(`${most}2`);
    await page.goto(`${app.origin}/studio/core/prompts/${id}/versions`);
    await settled(page);
    await page.getByRole("link", { name: "Apps" }).first().click();
    await page.getByRole("heading", { level: 1, name: "Apps" }).waitFor();
    expect(own(faults).filter((fault) => !/status of 4(12|22)/.test(fault))).toEqual([]);
  });

  test("a record of two megabytes and one of a hundred levels are opened and changed", async () => {
    await made("/core/dbs.json", {
      db: { name: "Big", code: "big", schema: { fields: { text: "string", age: "number" } } },
    });
    const big = await made("/core/dbs/big/records.json", { record: { data: { text: long, age: 1 } } });
    let deep: unknown = "bottom";
    for (let level = 0; level < 99; level++) deep = level % 2 === 0 ? [deep] : { __proto__x: deep };
    const nested = await made("/core/dbs/big/records.json", { record: { data: { deep, age: 1 } } });
    await using opened = await signedIn();
    const { page } = opened;
    for (const { id } of [big, nested]) {
      await page.goto(`${app.origin}/studio/core/dbs/big/records?open=${id}`);
      const panel = page.getByRole("complementary");
      await panel.getByRole("button", { name: "Age 1" }).click();
      await panel.getByLabel("Age", { exact: true }).fill("2");
      await panel.getByRole("button", { name: "Save" }).click();
      await eventually(async () => (await app.get(`/core/dbs/big/records/${id}.json`)).json.data.age === 2, id);
    }
    const kept = (await app.get(`/core/dbs/big/records/${big.id}.json`)).json.data.text;
    expect(kept.length).toBe(long.length);
    expect((await app.get(`/core/dbs/big/records/${nested.id}.json`)).json.data.deep).toEqual(deep);
  });

  test("names that every object has are fields like others: shown, changed, made", async () => {
    const schema = JSON.parse('{"fields":{"__proto__":"string","constructor":"string","toString":"number"}}');
    await made("/core/dbs.json", { db: { name: "Proto", code: "proto", schema } });
    const data = JSON.parse('{"__proto__":"a","constructor":"b"}');
    const { id } = await made("/core/dbs/proto/records.json", { record: { data } });
    await using opened = await signedIn({ at: `/studio/core/dbs/proto/records?open=${id}` });
    const { page, faults } = opened;
    const panel = page.getByRole("complementary");
    await panel.getByRole("button", { name: "Constructor b" }).waitFor();
    await panel.getByRole("button", { name: "1 more field" }).click();
    await panel.getByRole("button", { name: "ToString" }).click();
    const number = panel.getByRole("textbox", { name: "ToString" });
    expect(await number.inputValue()).toBe("");
    await number.fill("7");
    await panel.getByRole("button", { name: "Proto a" }).click();
    await panel.getByRole("textbox", { name: "Proto" }).fill("changed");
    await panel.getByRole("button", { name: "Save" }).click();
    const stored = async () => (await app.get(`/core/dbs/proto/records/${id}.json`)).text.replaceAll(" ", "");
    await eventually(async () => (await stored()).includes('"toString":7'), "saved");
    await eventually(async () => (await stored()).includes('"__proto__":"changed"'), "saved after it");
    expect(await stored()).toContain('"constructor":"b"');
    expect(own(faults)).toEqual([]);
  });

  test("two hundred fields are a grid and a schema, and ten thousand of a kind a list, a search and a choice", async () => {
    await made("/core/dbs.json", { db: { name: "Wide", code: "wide", schema: { fields: fields(200) } } });
    await made("/core/dbs/wide/records.json", { record: { data: { field_199: "the last" } } });
    await app.sql`
      insert into prompts (id, account_id, code, name, content, token, created_by_id)
      select gen_random_uuid(), 1, 'many_' || n, 'Many ' || n, 'x', 't' || n, 1 from generate_series(1, 10000) n`;
    await app.sql`
      insert into dbs (id, account_id, code, name, created_by_id)
      select gen_random_uuid(), 1, 'db_' || n, 'Database ' || n, 1 from generate_series(1, 10000) n`;
    await using opened = await signedIn({ at: "/studio/core/dbs/wide/records?cols=field_199" });
    const { page, faults } = opened;
    await page.getByRole("grid").getByText("the last").waitFor();
    await page.goto(`${app.origin}/studio/core/dbs/wide/schema`);
    await page.getByRole("link", { name: "Field 199" }).waitFor();
    await page.goto(`${app.origin}/studio/core/prompts`);
    await page.getByRole("grid").waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("Many 9999");
    await page.getByRole("option", { name: "Many 9999" }).first().waitFor();
    await page.keyboard.press("Escape");
    const { id } = await made("/core/apps.json", { app: { name: "Chooses", ...source, source_code: "x" } });
    await page.goto(`${app.origin}/studio/core/apps/${id}?tab=data`);
    const choice = page.getByRole("combobox", { name: "Add a table", exact: true });
    await choice.fill("Database 9876");
    await page.locator('datalist option[value="Database 9876"]').waitFor({ state: "attached" });
    await choice.press("Enter");
    await page.getByRole("button", { name: "Publish" }).click();
    await eventually(async () => (await app.get(`/core/apps/${id}.json`)).json.db_code === "db_9876");
    expect(own(faults)).toEqual([]);
  });
});
