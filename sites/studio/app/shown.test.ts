/** The addresses that people see. */
import { expect, test } from "bun:test";
import { ownPath, shownPath } from "./shown.ts";

test.each([
  ["/studio", "/studio"],
  ["/studio/tables", "/studio/core/dbs"],
  ["/studio/tables/new", "/studio/core/dbs/new"],
  ["/studio/tables/orders", "/studio/core/dbs/orders/records"],
  ["/studio/tables/orders/settings", "/studio/core/dbs/orders/settings"],
  ["/studio/tables/orders/records/7", "/studio/core/dbs/orders/records/7"],
  ["/studio/tables/a%20b/schema", "/studio/core/dbs/a%20b/schema"],
  ["/studio/apps", "/studio/core/apps"],
  ["/studio/apps/desk", "/studio/core/apps/desk"],
  ["/studio/crm/apps/desk", "/studio/crm/apps/desk"],
  ["/studio/account/apps/desk", "/studio/account/apps/desk"],
  ["/studio/flows/intake", "/studio/connect/flows/intake"],
  ["/studio/automation/runs/7", "/studio/connect/processes/7"],
  ["/studio/automation/webhooks/7/deliveries", "/studio/account/webhooks/7/deliveries"],
  ["/studio/sites", "/studio/cms/sites"],
  ["/studio/sites/new", "/studio/cms/sites/new"],
  ["/studio/sites/acme", "/studio/cms/acme/pages"],
  ["/studio/sites/acme/pages/3", "/studio/cms/acme/pages/3"],
  ["/studio/sites/acme/settings", "/studio/cms/sites/acme"],
  ["/studio/sites/acme/translations", "/studio/cms/acme/translations"],
  ["/studio/cms/pages/3", "/studio/cms/pages/3"],
  ["/studio/cms", "/studio/cms"],
  // A site of this code keeps the address by which it is found.
  ["/studio/cms/new/pages", "/studio/cms/new/pages"],
  ["/studio/ai", "/studio/core/prompts"],
  ["/studio/ai/prompts/7", "/studio/core/prompts/7"],
  ["/studio/admin/people", "/studio/account/people"],
  ["/studio/admin/sign-in/3", "/studio/account/sign_in_providers/3"],
  ["/studio/me", "/studio/account/me"],
  ["/studio/inbox", "/studio/inbox"],
])("%s shows the page %s", (shown, own) => {
  expect([shownPath(own), ownPath(shown), ownPath(own), shownPath(shown)]).toEqual([shown, own, own, shown]);
});

test("a table opens on its records", () => {
  expect(shownPath("/studio/core/dbs/orders")).toBe("/studio/tables/orders");
  expect(ownPath("/studio/core/dbs/orders")).toBe("/studio/core/dbs/orders/records");
});
