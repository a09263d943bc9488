import { describe, expect, test } from "bun:test";
import type { Caller, Role } from "platform";
import { hostNames } from "./access.ts";
import { bareHost } from "./account-store.ts";
import { addressOf, generatePassword, localeOf, timezoneOf } from "./commands.ts";
import { mustNotExceed, mustReach, stopsBeingAdmin } from "./rules.ts";
import { isHostName } from "./service.ts";

/** What each role gives in these tests. */
const gives: Record<Role, string[]> = {
  admin: ["users", "settings", "dbs"],
  manager: ["settings", "dbs"],
  user: [],
  guest: [],
};
const ofRole = (role: Role) => gives[role];

function callerOf(role: Role, own: readonly string[] = [], narrowedTo: readonly string[] = []): Caller {
  const all = [...gives[role], ...own];
  return {
    account: { id: 1, name: "Main", baseUrl: "http://core.test", timezone: "UTC", locale: "en" },
    user: { id: 1, login: "x", email: null, name: "x", role, teamIds: [], groupIds: [], departmentIds: [] },
    tokenId: 1,
    narrowedTo,
    privileges: new Set(narrowedTo.length === 0 ? all : all.filter((name) => narrowedTo.includes(name))),
    viaCookie: false,
  };
}
const admin = callerOf("admin");
const manager = callerOf("manager", ["users"]);
const narrowed = callerOf("admin", [], ["users"]);
const wide = callerOf("admin", [], ["users", "settings", "dbs"]);
const user = callerOf("user", ["users"]);
const refusal = (run: () => void) => {
  try {
    run();
  } catch (error) {
    return error instanceof Error && "body" in error ? error.body : error;
  }
  return undefined;
};

describe("who is reached", () => {
  test.each([
    ["an administrator by one", admin, "admin", [], undefined],
    ["a manager by an administrator", admin, "manager", ["dbs"], undefined],
    ["an administrator by a manager", manager, "admin", [], "role `admin`"],
    ["a manager by one", manager, "manager", [], undefined],
    ["a user by a manager", manager, "user", ["dbs"], undefined],
    ["a user with what the manager lacks", manager, "user", ["prompts"], "privilege `prompts`"],
    ["a manager by a user with `users`", user, "manager", [], "role `manager`"],
    ["a user by a user with `users`", user, "user", [], undefined],
    ["an administrator by a narrowed token", wide, "admin", [], "role `admin`"],
    ["a manager by a token that lacks what the role gives", narrowed, "manager", [], "privilege `settings`"],
    ["a manager by a token that has it", wide, "manager", [], undefined],
    ["a user by a narrowed token", narrowed, "user", [], undefined],
    ["a user with more than the narrowed token", narrowed, "user", ["dbs"], "privilege `dbs`"],
  ] as const)("%s", (_, caller, role, privileges, refused) => {
    const answer = refusal(() => mustReach(caller, { role, privileges }, ofRole));
    if (refused === undefined) expect(answer).toBeUndefined();
    else expect(JSON.stringify(answer)).toContain(refused);
  });
});

describe("what is given", () => {
  test.each([
    ["all by an administrator", admin, "admin", ["users", "dbs"], undefined],
    ["a higher role", manager, "admin", [], ["role"]],
    ["the own role", manager, "manager", [], undefined],
    ["an own privilege", manager, "user", ["users"], undefined],
    ["a privilege that the caller lacks", manager, "user", ["prompts"], ["privileges"]],
    ["both too much", manager, "admin", ["prompts"], ["role", "privileges"]],
    ["an administrator by a narrowed token", wide, "admin", [], ["role"]],
    ["a role that gives more than the narrowed token has", narrowed, "manager", [], ["role"]],
    ["a role that gives no more", wide, "manager", [], undefined],
    ["a privilege that the narrowed token lacks", narrowed, "user", ["dbs"], ["privileges"]],
  ] as const)("%s", (_, caller, role, privileges, fields) => {
    const answer = refusal(() => mustNotExceed(caller, { role, privileges }, ofRole));
    expect(answer === undefined ? undefined : Object.keys(answer as object)).toEqual(fields && [...fields]);
  });
});

test.each([
  ["admin", true, "admin", true, false],
  ["admin", true, "admin", false, true],
  ["admin", true, "manager", true, true],
  ["admin", false, "manager", true, false],
  ["manager", true, "user", true, false],
  ["user", true, "admin", true, false],
] as const)(
  "%s (active: %p) who becomes %s (active: %p) stops being an administrator: %p",
  (was, on, role, active, stops) => {
    expect(stopsBeingAdmin({ role: was, active: on, privileges: [] }, { role, active, privileges: [] })).toBe(stops);
  },
);

test.each([
  ["admin", true, true],
  ["admin", false, false],
  ["manager", true, false],
] as const)("%s (active: %p) who is deleted stops being an administrator: %p", (role, active, stops) => {
  expect(stopsBeingAdmin({ role, active, privileges: [] })).toBe(stops);
});

describe("names", () => {
  test.each([
    ["two.example.com", "https:", "two.example.com", "https://two.example.com"],
    ["Two.Example.com:8443", "https:", "two.example.com:8443", "https://two.example.com:8443"],
    ["http://two.example.com", "https:", "two.example.com", "http://two.example.com"],
    ["two.example.com:80", "http:", "two.example.com", "http://two.example.com"],
    ["żółw.example", "http:", "xn--w-uga1v8h.example", "http://xn--w-uga1v8h.example"],
  ])("%s is a host", (text, protocol, host, baseUrl) => {
    expect(addressOf(text, protocol)).toEqual({ host, baseUrl });
  });
  test.each([
    "",
    " ",
    "a b",
    "ftp://x.test",
    "x.test/path",
    "x.test?q",
    "x.test#h",
    "me@x.test",
    "http://",
    "x.test:99999",
  ])("%j is not one", (text) => {
    expect(() => addressOf(text, "https:")).toThrow("is not a host");
  });

  test.each([
    ["pl", "pl"],
    ["pl_PL", "pl-PL"],
    ["EN-us", "en-US"],
  ])("%s is a locale", (name, known) => expect(localeOf(name)).toBe(known));
  test.each(["", "x", "not a locale", "zz"])("%j is not a locale", (name) => {
    expect(() => localeOf(name)).toThrow("must be a locale");
  });

  test.each(["UTC", "Europe/Warsaw"])("%s is a time zone", (name) => expect(timezoneOf(name)).toBe(name));
  test.each(["", "Mars/Base", "Europe"])("%j is not a time zone", (name) => {
    expect(() => timezoneOf(name)).toThrow("must be a time zone");
  });

  test.each([
    ["a.example", ["a.example"], true],
    ["a.example:3000", ["a.example:3000", "a.example"], true],
    ["localhost", ["localhost"], false],
    ["localhost:3000", ["localhost:3000", "localhost"], false],
    ["[::1]:3000", ["[::1]:3000", "[::1]"], false],
    ["a..example", ["a..example"], false],
    ["A.example", ["A.example"], false],
    ["a.example ", ["a.example "], false],
    [`${"a.".repeat(130)}example`, [`${"a.".repeat(130)}example`], false],
  ])("the Host header %j", (host, names, remembered) => {
    expect([hostNames(host), isHostName(host)]).toEqual([names, remembered]);
    expect(bareHost(host)).toBe(names.at(-1) ?? "");
  });

  test("a generated password is four groups of five letters, never twice the same", () => {
    const made = Array.from({ length: 50 }, generatePassword);
    for (const password of made) expect(password).toMatch(/^([a-km-np-z2-9]{5}-){3}[a-km-np-z2-9]{5}$/);
    expect(new Set(made).size).toBe(50);
  });
});
