import { describe, expect, test } from "bun:test";
import { cookieHeader, limitKey } from "./visitor.ts";

const visitor = { secret: "s".repeat(43), variables: { ip: "", cookie_key: "", user_id: "", user_name: "" } };

test("the cookie is sent back over https only where the client came by it", () => {
  expect(cookieHeader(visitor, true)["set-cookie"]).toEndWith("; SameSite=Lax; Secure");
  expect(cookieHeader(visitor, false)["set-cookie"]).toEndWith("; SameSite=Lax");
});

test("an app's page is given no cookie", () => {
  expect(cookieHeader({ ...visitor, secret: null }, true)).toEqual({});
});

describe("one client for limits", () => {
  test.each([
    ["10.0.0.1", "10.0.0.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
    ["2001:db8::9", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1:2", "fe80:0:0:0::/64"],
  ])("%s counts as %s", (ip, expected) => {
    expect(limitKey(ip)).toBe(expected);
  });
});
