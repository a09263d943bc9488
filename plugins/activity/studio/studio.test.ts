import { expect, test } from "bun:test";
import { changesOf, whoOf } from "./entry.ts";
import { addressOfThing, canTakeBack, entryBefore, sentenceOf } from "./sentence.ts";
import en from "./text/en.json" with { type: "json" };

test.each([
  [{ name: { old: "a", new: "b" } }, { before: { text: "a" }, after: { text: "b" } }],
  [{ name: { new: { a: 1 } } }, { before: undefined, after: { text: '{\n  "a": 1\n}' } }],
  [{ name: { old: 0 } }, { before: { text: "0" }, after: undefined }],
  [{ name: { new: "a", new_size: 5000 } }, { before: undefined, after: { text: "a", size: 5000 } }],
  [{ name: { secret: true } }, { isSecret: true, before: undefined, after: undefined }],
  [{ name: "odd" }, { before: undefined, after: undefined }],
])("%j is shown as %j", (changes, shown) => {
  expect(changesOf(changes)).toEqual([{ field: "name", isSecret: false, ...shown } as never]);
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
  { path: "/account/users", model: "Account::User" },
];
const words = {
  name: "Ada",
  texts: en,
  resources,
  singular: (path: string) => (path === "/core/dbs" ? "table" : "person"),
  field: (_: object, name: string) => name.toUpperCase(),
  table: (code: string) => (code === "orders" ? "Orders" : code),
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
  [{ action: "refused", model: null, name: "GET /core/dbs.json" }, "Ada was refused GET /core/dbs.json"],
])("%j is said as %s", (row, sentence) => {
  const { who, words: done, thing } = sentenceOf(row, words);
  expect(`${who} ${done} ${thing}`.trim()).toBe(sentence);
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
