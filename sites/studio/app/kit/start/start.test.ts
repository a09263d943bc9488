/** What starts something, as it is stored and as it is said. */
import { describe, expect, test } from "bun:test";
import {
  becomesOf,
  bodyOf,
  cronStart,
  furtherOf,
  hookStart,
  isWhole,
  newStart,
  nextOf,
  nextPath,
  scheduleOf,
  timesOf,
  webhookStart,
  zoneOf,
} from "./start.ts";
import { tablesOf } from "./tables.ts";

describe("a start", () => {
  const orders = newStart("webhook", 1, { db: "orders", filter: { status: "new" } });
  test("is stored as a webhook or a cron, and read again", () => {
    const { webhook } = bodyOf(orders, "intake", true);
    const row = { id: 3, active: true, ...Object(webhook) };
    expect(webhookStart(row)).toMatchObject({ ...orders, key: "webhook 3", id: "3" });
    expect(Object(webhook)).toMatchObject({
      source_type: "Core::Record",
      filter: { db_code: "orders", status: "new" },
    });
    expect(bodyOf(newStart("cron", 1), "intake", false)).toEqual({
      cron: { kind: "flow", target_code: "intake", schedule: "0 8 * * *", active: false },
    });
    const cron = { id: 7, schedule: "0 7 * * *", timezone: "Europe/Warsaw", active: false };
    expect(cronStart(cron)).toMatchObject({ key: "cron 7", id: "7", schedule: "0 7 * * *", active: false });
    const stored = {
      id: 4,
      name: "Shop",
      scheme: "github",
      secret_info: "…abcd",
      header: null,
      active: true,
      url: "https://x/hooks/1",
    };
    expect(hookStart(stored)).toMatchObject({
      key: "hook 4",
      url: "https://x/hooks/1",
      given: { name: "Shop", secret: "" },
    });
    // A secret that was not typed again stays; none is sent where nothing signs.
    const sent = (given: object, id = "") =>
      Object(bodyOf(newStart("hook", 1, { id, given: { name: "Shop", ...given } }), "intake", true));
    expect(sent({ scheme: "github" }, "4").hook).not.toHaveProperty("secret");
    expect(sent({ scheme: "github", secret: "s" }, "4").hook).toMatchObject({ secret: "s", flow_code: "intake" });
    expect(sent({ scheme: "none", secret: "" }, "4").hook).toMatchObject({ secret: null, header: null });
    expect(
      [{ name: "Shop" }, { name: "Shop", secret: "s" }, { name: "Shop", scheme: "none" }].map((given) =>
        isWhole(newStart("hook", 1, { given })),
      ),
    ).toEqual([false, true, true]);
    expect([orders, newStart("webhook", 1), newStart("cron", 1, { schedule: " " })].map(isWhole)).toEqual([
      true,
      false,
      false,
    ]);
  });

  test.each([
    [" berlin ", "Europe/Berlin"],
    ["new york", "America/New_York"],
    ["Europe/Berlin", "Europe/Berlin"],
    ["Nowhere", "Nowhere"],
    ["", ""],
  ])("has for the zone %p %p", (typed, zone) =>
    expect(zoneOf(typed, ["Europe/Berlin", "America/New_York", "Asia/Aden"])).toBe(zone),
  );

  test("may wait for a field, of changes only", () => {
    const paid = newStart("webhook", 1, { db: "orders", event: "update", changed: ["status"] });
    const { webhook } = bodyOf(paid, "intake", true);
    expect(webhookStart({ id: 4, ...Object(webhook) }).changed).toEqual(["status"]);
    expect(bodyOf({ ...paid, event: "create" }, "intake", true)).toMatchObject({ webhook: { changed: null } });
    // With a value it is what the field becomes, and no further condition.
    const becomes = { ...paid, filter: { status: "paid", gift: true } };
    expect([becomesOf(paid), becomesOf(becomes)]).toEqual([undefined, "status"]);
    expect(furtherOf(becomes)).toEqual({ gift: true });
    expect(becomesOf({ ...becomes, changed: ["status", "total"] })).toBeUndefined();
  });

  test.each([
    ["*/15 * * * *", "minutes"],
    ["5 * * * *", "hour"],
    ["0 8 * * *", "day"],
    ["30 7 * * 1-5", "workday"],
    ["0 8 * * 0", "week"],
    ["0 8 1 * *", "month"],
    ["0 8 1 1 *", "custom"],
    ["0 8,12 * * *", "custom"],
    ["", "custom"],
  ])("at %p is said as %p", (schedule, every) => {
    expect<string>(timesOf(schedule).every).toBe(every);
    if (every !== "custom") expect(scheduleOf(timesOf(schedule))).toBe(schedule);
  });
});

test("a table has the words of its schema", () => {
  const schema = {
    fields: {
      status: { type: "string", label: { en: "State", pl: "Stan" }, choices: ["new", { value: "old", label: "Old" }] },
      no: { type: "integer", required: true },
      customer: { type: "string", link: "customers" },
      sum: { type: "number", rollup: { of: "lines", op: "count" } },
    },
  };
  const [orders] = tablesOf({ code: "orders", name: "Orders", schema }, "pl", (name) => name.toUpperCase());
  expect(orders?.fields.map(({ label, type }) => `${label} ${type}`)).toEqual([
    "Stan string",
    "NO integer",
    "CUSTOMER string",
    "SUM number",
  ]);
  expect(orders?.fields.map(({ kind, isRequired }) => `${kind} ${isRequired}`)).toEqual([
    "choice false",
    "number true",
    "link false",
    "rollup false",
  ]);
  expect(orders?.fields[0]?.choices.map(({ label }) => label)).toEqual(["new", "Old"]);
  const several = tablesOf(
    {
      code: "shop",
      name: "Shop",
      schema: { tables: { lines: {}, bills: {} } },
      public_methods: { create: { table_name: "bills" } },
    },
    "en",
    (name) => name,
  );
  expect(several.map(({ label, table, hasForm }) => [label, table, hasForm])).toEqual([
    ["Shop · lines", "lines", false],
    ["Shop · bills", "bills", true],
  ]);
});

test("the server is asked when a typed schedule is due", () => {
  expect(nextPath(" ", "")).toBeUndefined();
  expect(nextPath(" 0 7 * * * ", "")).toBe("/account/crons/next.json?schedule=0+7+*+*+*&count=3");
  expect(nextPath("0 7 * * *", "Europe/Warsaw")).toEndWith("&timezone=Europe%2FWarsaw");
  expect(nextOf({ timezone: "UTC", next_runs: ["a", 7] })).toEqual({ timezone: "UTC", times: ["a"] });
  expect(nextOf(null)).toEqual({ timezone: "", times: [] });
});
