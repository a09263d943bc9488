import { expect, test } from "bun:test";
import { changesOf, whoOf } from "./entry.ts";
import { daysOf, spanOf, timesOf } from "./days.ts";
import { addressOfThing, canTakeBack, entryBefore, sentenceOf } from "./sentence.ts";
import en from "./text/en.json" with { type: "json" };

test.each([
  [{ name: { old: "a", new: "b" } }, { before: undefined, after: undefined }],
  [{ name: { new: "a", new_size: 5000 } }, { before: undefined, after: 5000 }],
  [{ name: { secret: true } }, { isSecret: true, before: undefined, after: undefined }],
  [{ name: "odd" }, { before: undefined, after: undefined }],
])("%j is shown as %j", (changes, shown) => {
  expect(changesOf(changes)).toEqual([{ field: "name", isSecret: false, ...shown }]);
});

test.each([
  [{ actor: "person", login: "ann", user_id: 3 }, "ann"],
  [{ actor: "person", login: null, user_id: 3 }, "3"],
  [{ actor: "app", login: null, app_id: "a" }, "a"],
  [{ actor: "flow", process_id: "p" }, "p"],
  [{ actor: "command", command: "token create" }, "corestead token create"],
  [{ actor: "system" }, "the server"],
  [{ actor: "person" }, "person"],
])("%j is %s", (entry, who) => {
  expect(whoOf(entry, "the server")).toBe(who);
});

const resources = [
  { path: "/core/dbs", model: "Core::Db" },
  { path: "/core/prompts", model: "Core::Prompt" },
  { path: "/account/users", model: "Account::User" },
];
const words = {
  name: "Ada",
  texts: en,
  resources,
  singular: (path: string) => (path === "/core/dbs" ? "table" : "person"),
  field: (_: object, name: string) => name.toUpperCase(),
  plural: (path: string) => (path === "/core/prompts" ? "Prompts" : path),
  table: (code: string) => (code === "orders" ? "Orders" : code),
  title: (db: string, id: string) => (db === "orders" && id === "7" ? "O-12" : undefined),
  column: (_: string, name: string) => ({
    label: name === "status" ? "State" : name.replaceAll("_", " "),
    shown: (value: unknown) => (name === "customer" ? undefined : value === "new" ? "New" : String(value)),
  }),
};

test.each([
  [{ action: "create", model: "Core::Db", name: "Orders" }, "Ada created table “Orders”"],
  [
    { action: "update", model: "Account::User", name: "Ben", changes: { role: {} } },
    "Ada changed ROLE of person “Ben”",
  ],
  [
    { action: "update", model: "Core::Record", name: "orders", changes: { a: {}, b_c: {}, d: {}, e: {}, f: {} } },
    "Ada changed a, b c, d +2 of a record of Orders",
  ],
  [{ action: "delete", model: "Account::Setting", name: "activity_days" }, "Ada deleted setting “activity days”"],
  [{ action: "sign-in", model: "Account::ApiToken", name: "session" }, "Ada signed in"],
  [
    {
      action: "update",
      model: "Core::Record",
      name: "orders",
      record_id: "7",
      changes: { status: { old: "new", new: "paid" } },
    },
    "Ada changed State of O-12 in Orders from New to paid",
  ],
  [
    {
      action: "update",
      model: "Core::Record",
      name: "orders",
      record_id: "7",
      changes: { note: { new: "x".repeat(70) } },
    },
    `Ada changed note of O-12 in Orders from nothing to ${"x".repeat(60)}…`,
  ],
  // An id says nothing, and a secret is none of anybody's business.
  [
    {
      action: "update",
      model: "Core::Record",
      name: "orders",
      record_id: "8",
      changes: { customer: { old: "a", new: "b" } },
    },
    "Ada changed customer of a record of Orders",
  ],
  [
    { action: "update", model: "Account::User", name: "Ben", changes: { key: { secret: true } } },
    "Ada changed KEY of person “Ben”",
  ],
  [
    {
      action: "update",
      model: "Core::Record",
      name: "orders",
      changes: { status: { old: "new", new: "paid" }, a: { old: 1, new: 2 } },
    },
    "Ada changed State, a of a record of Orders (State: New → paid · a: 1 → 2)",
  ],
  [{ action: "refused", model: null, name: "GET /core/prompts.json" }, "Ada was refused to read Prompts"],
  [
    { action: "refused", model: null, name: "PATCH /core/dbs/orders/records/7.json" },
    "Ada was refused to change Orders",
  ],
  [{ action: "refused", model: null, name: "GET /-/internal" }, "Ada was refused"],
  [{ action: "export", model: null, name: "GET /core/dbs/orders/export" }, "Ada exported Orders"],
])("%j is said as %s", (row, sentence) => {
  const { who, words: done, thing, tail, more } = sentenceOf(row, words);
  expect(`${who} ${done} ${thing} ${tail} ${more && `(${more})`}`.replaceAll(/ +/g, " ").trim()).toBe(sentence);
});

test.each([
  ["", null],
  ["1", "2026-03-10"],
  ["7", "2026-03-04"],
  ["30", "2026-02-09"],
])("the span %p begins on %p", (span, from) => {
  expect([daysOf(span, "2026-03-10").from ?? null, spanOf(from, null, "2026-03-10")]).toEqual([from, span]);
});

test("days of the address are times for the API, the last one whole", () => {
  expect([spanOf("2026-03-09", null, "2026-03-10"), spanOf(null, "2026-03-10", "2026-03-10")]).toEqual([
    "days",
    "days",
  ]);
  const query = [
    ["from", "2026-03-09"],
    ["to", "2026-03-10"],
    ["q", "x"],
    ["from", "soon"],
  ] as const;
  expect(timesOf(query, (local) => `${local}Z`)).toEqual([
    ["from", "2026-03-09T00:00Z"],
    ["to", "2026-03-11T00:00Z"],
    ["q", "x"],
    ["from", "soon"],
  ]);
});

test.each([
  [{ model: "Core::Record", name: "orders", record_id: "7" }, "/studio/tables/orders?open=7"],
  [{ model: "Account::User", record_id: "3" }, "/studio/account/people/3"],
  [{ model: "Account::Setting", record_id: "3" }, undefined],
])("%j stands at %s", (row, address) => expect(addressOfThing(row, resources)).toBe(address as never));

test("a change is taken back to the entry of the history before it", () => {
  const at = "2026-11-28T10:00:05Z";
  const history = [
    { n: 3, at: "2026-11-28T11:00:00Z", changes: { total: [2, 3] } },
    { n: 2, at: "2026-11-28T10:00:04Z", changes: { total: [1, 2] } },
    { n: 1, at: "2026-11-28T09:00:00Z", changes: { total: [null, 1] } },
  ];
  expect(entryBefore(history, { at, changes: { total: {} } })).toBe(1);
  expect(entryBefore(history, { at, changes: { owner: {} } })).toBeUndefined();
  expect(entryBefore(history.slice(2), { at: "2026-11-28T09:00:00Z", changes: { total: {} } })).toBeUndefined();
  expect([
    canTakeBack({ model: "Core::Record", action: "create" }),
    canTakeBack({ model: "Core::Db", action: "delete" }),
  ]).toEqual([false, true]);
});
