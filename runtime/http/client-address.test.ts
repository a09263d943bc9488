import { describe, expect, test } from "bun:test";
import { limitKey } from "./client-address.ts";

describe("one client for limits", () => {
  test.each([
    ["10.0.0.1", "10.0.0.1"],
    ["::ffff:10.0.0.1", "10.0.0.1"],
    ["0:0:0:0:0:ffff:10.0.0.1", "10.0.0.1"],
    ["no address", "no address"],
    ["", ""],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
    ["2001:db8::9", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1:2", "fe80:0:0:0::/64"],
  ])("%s counts as %s", (ip, expected) => {
    expect(limitKey(ip)).toBe(expected);
  });
});
