import { describe, expect, test } from "bun:test";
import type { Role } from "platform";
import { isOfDomain, nameOf, roleOf, teamsOf, valuesOf, verifiedEmail } from "./rules.ts";

describe("the values of a claim", () => {
  const claims = {
    groups: ["a", 7, true, null, { b: 1 }],
    one: "a b",
    realm_access: { roles: ["x", "y"] },
    "https://example.com/roles": ["z"],
    "urn:project:roles": { admin: { org: "1" }, user: {} },
    empty: null,
  };
  test.each([
    ["groups", ["a", "7", "true"]],
    ["one", ["a b"]],
    ["realm_access.roles", ["x", "y"]],
    ["https://example.com/roles", ["z"]],
    ["urn:project:roles", ["admin", "user"]],
    ["empty", []],
    ["missing", []],
    ["realm_access.missing.deeper", []],
    ["constructor", []],
    ["__proto__.constructor", []],
    ["one.length", []],
  ])("%s are %j", (name, values) => expect(valuesOf(claims, name)).toEqual(values));
});

test.each([
  [{ email: "a@b.example", email_verified: true }, "email_verified", "a@b.example"],
  [{ email: "a@b.example", email_verified: "true" }, "email_verified", "a@b.example"],
  [{ email: "a@b.example", xms_edov: 1 }, "xms_edov", "a@b.example"],
  [{ email: "a@b.example", xms_edov: 1 }, "email_verified", undefined],
  [{ email: "a@b.example", email_verified: false }, "email_verified", undefined],
  [{ email: "a@b.example", email_verified: "no" }, "email_verified", undefined],
  [{ email: "a@b.example" }, "email_verified", undefined],
  [{ email: ["a@b.example"], email_verified: true }, "email_verified", undefined],
  [{ email: "a@b@c.example", email_verified: true }, "email_verified", undefined],
  [{ email: "a b@c.example", email_verified: true }, "email_verified", undefined],
  [{ email: "a\0@c.example", email_verified: true }, "email_verified", undefined],
  [{ email: "@c.example", email_verified: true }, "email_verified", undefined],
  [{ email: "a@", email_verified: true }, "email_verified", undefined],
  [{ email: `${"a".repeat(255)}@b.example`, email_verified: true }, "email_verified", undefined],
])("of %j with %s the verified address is %p", (claims, name, email) => {
  expect(verifiedEmail(claims, name)).toBe(email);
});

test.each([
  ["a@example.com", ["example.com"], true],
  ["a@EXAMPLE.com", ["example.com"], true],
  ["a@sub.example.com", ["example.com"], false],
  ["a@notexample.com", ["example.com"], false],
  ["a@example.com.evil", ["example.com"], false],
  ["a@anything.example", ["*"], true],
])("%s is let in by %j: %p", (email, domains, expected) => expect(isOfDomain(email, domains)).toBe(expected));

test.each([
  [{ name: " Anna Nowak " }, "Anna Nowak"],
  [{ name: " ", preferred_username: "anna" }, "anna"],
  [{ name: 7 }, "a@b.example"],
  [{ name: "a\0b\nc" }, "a b c"],
  [{ name: `${"x".repeat(254)}😀` }, `${"x".repeat(254)}\ufffd`],
])("%j is called %s", (claims, name) => expect(nameOf(claims, "a@b.example")).toBe(name));

const roles: Record<string, Role> = { boss: "admin", lead: "manager", all: "guest" };
test.each([
  [["all", "lead"], "user", "manager"],
  [["all", "boss", "lead"], null, "admin"],
  [["nobody"], "user", "user"],
  [["nobody"], null, null],
  [["toString"], null, null],
  [undefined, "guest", "guest"],
] as const)("groups %j with the default %p give the role %p", (groups, defaultRole, role) => {
  expect(roleOf({ groups }, { roleClaim: "groups", roles, defaultRole })).toBe(role);
  expect(roleOf({ groups }, { roleClaim: null, roles, defaultRole })).toBeUndefined();
});

test.each([
  [["red"], [9], [1, 9]],
  [[], [1, 2, 9], [9]],
  [["red", "blue", "crimson"], [], [1, 2]],
  [["constructor"], [9, 8], [8, 9]],
])("groups %j make of the teams %j the teams %j", (groups, now, teams) => {
  const rule = { teamClaim: "groups", teams: { red: 1, crimson: 1, blue: 2 } };
  expect(teamsOf({ groups }, rule, now)).toEqual(teams);
  expect(teamsOf({ groups }, { ...rule, teamClaim: null }, now)).toBeUndefined();
});
