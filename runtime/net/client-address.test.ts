import { describe, expect, test } from "bun:test";
import { clientAddress, inNetworks, limitKey, parseNetworks } from "./client-address.ts";

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

describe("the client behind proxies", () => {
  const trusted = parseNetworks("127.0.0.1, 10.0.0.0/8, fd00::/8");

  test.each<[string, string | null, string]>([
    // What a stranger's header says never counts.
    ["192.0.2.9", "198.51.100.1", "192.0.2.9"],
    ["192.0.2.9", null, "192.0.2.9"],
    ["::ffff:192.0.2.9", "198.51.100.1", "192.0.2.9"],
    ["127.0.0.1", null, "127.0.0.1"],
    ["127.0.0.1", "", "127.0.0.1"],
    ["127.0.0.1", "198.51.100.1", "198.51.100.1"],
    ["::ffff:127.0.0.1", "198.51.100.1", "198.51.100.1"],
    ["fd12::1", "2001:db8::1", "2001:db8::1"],
    // Only the last address that no trusted proxy has: what stands before it may be invented.
    ["127.0.0.1", "203.0.113.7, 198.51.100.1", "198.51.100.1"],
    ["127.0.0.1", "203.0.113.7, 198.51.100.1, 10.1.2.3", "198.51.100.1"],
    ["127.0.0.1", "198.51.100.1 ,  10.1.2.3 ", "198.51.100.1"],
    ["127.0.0.1", "10.9.9.9, 10.1.2.3", "10.9.9.9"],
    ["127.0.0.1", "203.0.113.7, nonsense", "127.0.0.1"],
    ["127.0.0.1", "203.0.113.7, nonsense, 10.1.2.3", "10.1.2.3"],
    ["127.0.0.1", "198.51.100.1:8080", "127.0.0.1"],
    ["127.0.0.1", ",", "127.0.0.1"],
  ])("%s with X-Forwarded-For %j is %s", (peer, forwarded, client) => {
    expect(clientAddress(peer, forwarded, trusted)).toBe(client);
  });

  test("is the peer if no proxy is trusted", () => {
    expect(clientAddress("127.0.0.1", "198.51.100.1", [])).toBe("127.0.0.1");
  });
});

describe("networks", () => {
  test.each<[string, string, boolean]>([
    ["10.0.0.0/8", "10.255.255.255", true],
    ["10.0.0.0/8", "11.0.0.0", false],
    ["10.0.0.1", "10.0.0.1", true],
    ["10.0.0.1", "10.0.0.2", false],
    ["10.0.0.0/8", "::ffff:10.0.0.1", true],
    ["::ffff:10.0.0.1", "10.0.0.1", true],
    ["::ffff:10.0.0.0/104", "10.9.8.7", true],
    ["::ffff:10.0.0.0/104", "11.0.0.0", false],
    ["fd00::/8", "fd12::1", true],
    ["::1", "::1", true],
    ["::1", "::2", false],
    ["0.0.0.0/0", "2001:db8::1", false],
    ["10.0.0.0/8, 192.168.0.0/16,", "192.168.3.4", true],
    ["", "10.0.0.1", false],
    ["10.0.0.0/8", "nonsense", false],
  ])("%s and %s: %p", (list, address, inside) => {
    expect(inNetworks(address, parseNetworks(list))).toBe(inside);
  });

  test.each(["10.0.0.0/33", "proxy.local", "10.0.0.1;10.0.0.2", "fd00::/129"])("%s is refused", (list) => {
    expect(() => parseNetworks(`127.0.0.1, ${list}`)).toThrow(`has "${list}"`);
  });
});
