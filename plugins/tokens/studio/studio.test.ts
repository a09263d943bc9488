import { describe, expect, test } from "bun:test";
import { databasesIn, mayDo } from "./databases.ts";
import { choiceOf, dayIn, endsOf, signInAddress } from "./ends.ts";

const now = Date.parse("2026-03-10T12:00:00Z");
const clock = (language = "en", timezone = "UTC") => ({ now, timezone, language });

describe("an end in words", () => {
  test.each([
    [
      { active: true, expires_at: null },
      { kind: "never", when: "" },
    ],
    [
      { active: false, expires_at: null },
      { kind: "off", when: "" },
    ],
    [
      { active: true, expires_at: "2026-03-11T12:00:00Z" },
      { kind: "ahead", when: "tomorrow" },
    ],
    [
      { active: true, expires_at: "2026-03-09T12:00:00Z" },
      { kind: "past", when: "yesterday" },
    ],
    [
      { active: false, expires_at: "2026-03-09T12:00:00Z" },
      { kind: "off", when: "yesterday" },
    ],
    [
      { active: true, expires_at: "nonsense" },
      { kind: "never", when: "" },
    ],
  ] as const)("%j is %j", (token, ends) => expect(endsOf(token, clock())).toEqual(ends));
});

describe("an end that is chosen", () => {
  test.each([
    ["", "never"],
    ["2026-03-17", "7"],
    ["2026-04-09", "30"],
    ["2026-06-08", "90"],
    ["2026-03-18", "date"],
    ["2026-03-17T23:59:59.999Z", "date"],
  ])("%p is the choice %p", (input, choice) => expect(choiceOf(input, clock())).toBe(choice));

  test.each([
    [7, "UTC", "2026-03-17"],
    [30, "UTC", "2026-04-09"],
    [1, "Pacific/Kiritimati", "2026-03-12"],
  ])("in %d days in %s is %s", (days, timezone, day) => expect(dayIn(days, { now, timezone })).toBe(day));
});

test.each([
  [null, null],
  ["", null],
  ["{", null],
  ['{"orders":"read","x":"own"}', { orders: "read" }],
  [{ "7": "manage" }, { "7": "manage" }],
] as const)("%j opens the tables %j", (value, tables) => expect(databasesIn(value)).toEqual(tables));

test("the sign-in address leads to the Studio, whatever the token has in it", () => {
  expect(signInAddress("https://core.test", "core_a&b")).toBe(
    "https://core.test/account/auto_login?token=core_a%26b&return_to=%2Fstudio",
  );
});

const words = {
  everything: "Everything",
  tables: "of tables only",
  noTable: "no table yet",
  onlyReads: "only reads",
  right: (name: string) => (name === "dbs" ? "Tables" : "Prompts"),
  level: (level: string) => `can ${level}`,
  table: (key: string) => (key === "7" ? "Orders" : key),
};

test.each([
  [{}, "Everything"],
  [{ read_only: true }, "Everything, only reads"],
  [{ databases: { "7": "edit" } }, "Everything, of tables only Orders: can edit"],
  [{ privileges: ["dbs", "prompts"] }, "Tables, Prompts"],
  [{ privileges: ["dbs"], databases: "{}" }, "no table yet"],
  [{ privileges: ["dbs", "prompts"], databases: { "7": "edit", b: "read" } }, "Orders: can edit, b: can read, Prompts"],
  [
    { privileges: ["dbs"], databases: { a: "read", b: "read", c: "read", d: "read", e: "read" }, read_only: true },
    "a: can read, b: can read, c: can read, d: can read, +1, only reads",
  ],
])("%j may do: %s", (token, said) => expect(mayDo(token, words)).toBe(said));
