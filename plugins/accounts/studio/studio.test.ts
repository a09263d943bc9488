import { describe, expect, test } from "bun:test";
import { idsOf, isRole, kindOf, membership, moved, withReturn } from "./people/people.ts";
import { codesIn, sentOf } from "./settings/settings.ts";

test.each([
  ["/studio/account/teams", "teams"],
  ["/studio/account/departments/3", "departments"],
  ["/studio/account/groups/new", "groups"],
  ["/studio/account/other", "teams"],
] as const)("%s is about %s", (address, kind) => expect(kindOf(address)).toBe(kind));

describe("belonging to a unit", () => {
  const person = { team_ids: [1, 2], group_ids: [9] };

  test.each([
    ["teams", "3", true, { team_ids: [1, 2, 3] }],
    ["teams", "2", true, { team_ids: [1, 2] }],
    ["teams", "1", false, { team_ids: [2] }],
    ["teams", "7", false, { team_ids: [1, 2] }],
    ["groups", "9", false, { group_ids: [] }],
    ["departments", "4", true, { department_ids: [4] }],
  ] as const)("%s %s: %p gives %j", (kind, unit, belongs, fields) => {
    expect(JSON.stringify(membership(person, kind, unit, belongs))).toBe(JSON.stringify(fields));
  });

  test("is read from the person", () => {
    expect(idsOf(person, "teams")).toEqual(["1", "2"]);
    expect(idsOf(person, "departments")).toEqual([]);
  });

  test("changes by who was added and who was taken away", () => {
    expect(moved(["1", "2"], ["2", "3"])).toEqual({ added: ["3"], removed: ["1"] });
    expect(moved([], [])).toEqual({ added: [], removed: [] });
  });
});

test.each([
  ["", null],
  ["100", null],
  ["50", "50"],
])("a setting with %j typed sends %j", (typed, sent) => expect(sentOf({ standard: "100" }, typed)).toBe(sent));

test.each([
  ["", []],
  ["*", ["*"]],
  ["orders, customers,", ["orders", "customers"]],
])("%j names the tables %j", (value, codes) => expect([...codesIn(value)]).toEqual(codes));

test.each([
  ["admin", true],
  ["root", false],
  ["", false],
])("%p is a role: %p", (text, is) => expect(isRole(text)).toBe(is));

test("an invitation leads to the page where a password is chosen", () => {
  expect(withReturn("https://core.test/account/auto_login?token=core_1")).toBe(
    "https://core.test/account/auto_login?token=core_1&return_to=%2Fstudio%2Faccount%2Fme%3Finvited%3D1",
  );
});
