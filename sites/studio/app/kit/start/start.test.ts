/** What starts something, as it is stored and as it is said. */
import { describe, expect, test } from "bun:test";
import {
  becomesOf,
  furtherOf,
  isWhole,
  newStart,
  nextOf,
  nextPath,
  scheduleOf,
  startOf,
  timesOf,
  triggerOf,
  zoneOf,
} from "./start.ts";
import { tablesOf } from "./tables.ts";

describe("a start", () => {
  const orders = newStart("webhook", 1, { db: "orders", filter: { status: "new" } });
  test("is stored as a trigger of the flow, and read again", () => {
    const trigger = triggerOf(orders, true);
    expect(trigger).toEqual({
      kind: "record",
      db: "orders",
      table: null,
      on: "create",
      filter: { status: "new" },
      changed: null,
      active: true,
    });
    expect(startOf({ ...trigger, id: "webhook-3" })).toMatchObject({ ...orders, key: "webhook 3", id: "3" });
    expect(triggerOf(newStart("cron", 1), false)).toEqual({ kind: "cron", schedule: "0 8 * * *", active: false });
    const cron = { id: "cron-7", kind: "cron", schedule: "0 7 * * *", timezone: "Europe/Warsaw", active: false };
    expect(startOf(cron)).toMatchObject({ key: "cron 7", id: "7", schedule: "0 7 * * *", active: false });
    const event = { kind: "event", source_type: "Core::App", on: "create", filter: null, active: true };
    expect(triggerOf(startOf({ ...event, id: "webhook-9" }), true)).toEqual({ ...event, id: "webhook-9", filter: {} });
    const url = "https://x/hooks/1";
    const hook = { id: "hook-4", kind: "hook", name: "Shop", scheme: "github", header: null, active: true, url };
    expect(startOf(hook)).toMatchObject({ key: "hook 4", url, given: { name: "Shop", secret: "" } });
    // A secret that was not typed again stays; none is sent where nothing signs.
    const sent = (given: object, id = "") =>
      triggerOf(newStart("hook", 1, { id, given: { name: "Shop", ...given } }), true);
    expect(sent({ scheme: "github" }, "4")).not.toHaveProperty("secret");
    expect(sent({ scheme: "github", secret: "s" }, "4")).toMatchObject({ secret: "s", id: "hook-4" });
    expect(sent({ scheme: "none", secret: "" }, "4")).toMatchObject({ secret: null, header: null });
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
    expect(startOf({ id: "webhook-4", ...triggerOf(paid, true) }).changed).toEqual(["status"]);
    expect(triggerOf({ ...paid, event: "create" }, true)).toMatchObject({ changed: null });
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
