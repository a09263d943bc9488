/** Every address that somebody may know, type or be sent leads to its page. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
const ids: Record<string, string> = {};

beforeAll(async () => {
  studio = await startStudio();
  const make = async (path: string, body: object): Promise<string> => {
    const { status, json } = await studio.app.post(path, body);
    expect([path, status]).toEqual([path, 201]);
    return String(json.id);
  };
  const schema = { tables: { orders: { fields: { no: "string" } }, lines: { fields: { no: "string" } } } };
  await make("/core/dbs.json", { db: { name: "Shop", code: "shop", schema } });
  ids["prompt"] = await make("/core/prompts.json", { prompt: { name: "Greeting", code: "greeting", content: "Hi" } });
  const source = { app_engine: "html", css_engine: "none", source_code: "<p>x</p>" };
  ids["app"] = await make("/core/apps.json", { app: { name: "Clock", show_in_module: "crm", ...source } });
  await make("/connect/connectors.json", { connector: { name: "Stock", code: "stock", url: "https://example.com" } });
  await make("/connect/flows.json", { flow: { name: "Ship", code: "ship", fields: { program: [] } } });
  ids["process"] = await make("/connect/flows/ship/run.json", {});
  const webhook = { source_type: "A::B", kind: "create", url: "https://example.com" };
  ids["webhook"] = await make("/account/webhooks.json", { webhook });
  await make("/cms/sites.json", { site: { code: "acme", name: "Acme" } });
});
afterAll(() => studio.stop());

const addresses: [address: string, heading: string | RegExp][] = [
  ["", /admin/],
  ["/core/prompts", "Prompts"],
  ["/core/prompts/:prompt", "Greeting"],
  ["/ai/models", "Models"],
  ["/ai/agents", "Agents"],
  ["/core/apps", "Apps"],
  ...["", "/build", "/data", "/versions", "/settings"].map((part): [string, string] => [
    `/core/apps/:app${part}`,
    "Clock",
  ]),
  ["/core/dbs", "Tables"],
  ["/core/dbs/shop", "Shop"],
  ["/core/dbs/shop/records?table=lines", "Shop"],
  ["/core/dbs/shop/settings", "Shop"],
  ["/core/dbs/shop/trash", "Bin"],
  ["/core/dbs/shop/schema", "Shop"],
  ["/core/dbs/shop/public", "Public form and link"],
  ["/core/dbs/shop/import", "Import into Shop"],
  ["/core/dbs/new/import", "New table from a file"],
  ["/core/dbs/shop/export", "Export of Shop"],
  ["/core/dbs/shop/events", "Changes"],
  ["/connect/connectors", "Connections"],
  ["/connect/connectors/stock", "Stock"],
  ["/connect/flows", "Flows"],
  ...["steps", "runs", "versions", "settings"].map((tab): [string, string] => [
    `/connect/flows/ship?tab=${tab}`,
    "Ship",
  ]),
  ["/connect/processes", "Runs"],
  ["/connect/processes/:process", /./],
  ["/cms/acme/pages", "Pages"],
  ["/cms/acme/translations", "Translations"],
  ["/cms/acme/layouts", "Layouts"],
  ["/cms/acme/paragraphs", "Paragraphs"],
  ["/cms/acme/articles", "Articles"],
  ["/cms/acme/categories", "Categories"],
  ["/cms/acme/domains", "Domains"],
  ["/cms/acme/redirects", "Redirects"],
  ["/cms/acme/checks", "Checks"],
  ["/cms/acme/media", "Files"],
  ["/account/people", "People"],
  ["/account/teams", "Teams"],
  ["/account/departments", "Departments"],
  ["/account/groups", "Groups"],
  ["/account/tokens", "Access tokens"],
  ["/account/webhooks", "Webhooks"],
  ["/account/webhooks/:webhook/deliveries", "Deliveries"],
  ["/account/crons", "Schedules"],
  ["/account/activity", "Activity"],
  ["/account/settings", "Settings"],
  ["/account/me", "My account"],
  ["/crm", /./],
  ["/crm/apps/clock", "Clock"],
];

test("every address of the map", async () => {
  await using opened = await studio.signedIn();
  const { page } = opened;
  for (const [address, heading] of addresses) {
    const path = `/studio${address.replace(/:(\w+)/, (_, name: string) => ids[name] ?? "")}`;
    await page.evaluate((to) => {
      history.pushState(null, "", to);
      dispatchEvent(new PopStateEvent("popstate"));
    }, path);
    const h1 = page.getByRole("heading", {
      level: 1,
      ...(typeof heading === "string" ? { name: heading, exact: true } : {}),
    });
    await h1.waitFor().catch(() => undefined);
    expect([address, await page.getByRole("heading", { level: 1 }).allInnerTexts()]).toEqual([
      address,
      [typeof heading === "string" ? heading : expect.stringMatching(heading)],
    ]);
    expect([address, await page.getByText("There is nothing at this address.").count()]).toEqual([address, 0]);
  }
});
