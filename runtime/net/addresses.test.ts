import { describe, expect, test } from "bun:test";
import { isPublicAddress, literalAddress, mayReach, parseAllow, plainHost } from "./addresses.ts";

describe("an address is public", () => {
  test.each([
    ["93.184.216.34", true],
    ["8.8.8.8", true],
    ["::ffff:8.8.8.8", true],
    ["2606:4700::1111", true],
    ["0.0.0.0", false],
    ["10.0.0.1", false],
    ["100.64.0.1", false],
    ["127.0.0.1", false],
    ["169.254.169.254", false],
    ["172.31.255.255", false],
    ["172.32.0.1", true],
    ["192.168.0.1", false],
    ["192.0.2.1", false],
    ["198.18.0.1", false],
    ["224.0.0.1", false],
    ["255.255.255.255", false],
    ["::", false],
    ["::1", false],
    ["::808:808", false],
    ["::127.0.0.1", false],
    ["::ffff:127.0.0.1", false],
    ["64:ff9b::8.8.8.8", false],
    ["2001:db8::1", false],
    ["2002:7f00:1::", false],
    ["fc00::1", false],
    ["fe80::1", false],
    ["ff02::1", false],
    ["4000::1", false],
    ["nonsense", false],
    ["", false],
  ])("%s: %p", (address, expected) => {
    expect(isPublicAddress(address)).toBe(expected);
  });
});

describe("OUTBOUND_ALLOW", () => {
  test.each<[string, string, string, string, boolean]>([
    ["", "93.184.216.34", "example.com", "443", true],
    ["", "10.0.0.1", "example.com", "443", false],
    ["10.0.0.0/8", "10.0.0.1", "example.com", "443", true],
    ["10.0.0.0/8", "11.0.0.1", "example.com", "443", true],
    ["10.0.0.0/8", "192.168.0.1", "example.com", "443", false],
    ["10.0.0.0/8", "::ffff:10.0.0.1", "example.com", "443", true],
    ["192.168.1.5", "192.168.1.5", "a.test", "80", true],
    ["192.168.1.5", "192.168.1.6", "a.test", "80", false],
    ["intranet.example", "10.0.0.1", "intranet.example", "80", true],
    ["Intranet.Example.", "10.0.0.1", "INTRANET.example.", "80", true],
    ["intranet.example", "10.0.0.1", "evil.intranet.example", "80", false],
    ["intranet.example", "10.0.0.1", "intranet.example.evil", "80", false],
    ["api.internal:8443", "10.0.0.1", "api.internal", "8443", true],
    ["api.internal:8443", "10.0.0.1", "api.internal", "443", false],
    ["[fd00::1]:80", "fd00::1", "[fd00::1]", "80", true],
    ["[fd00::1]:80", "fd00::1", "[fd00::1]", "81", false],
    ["fd00::/8", "fd12::1", "a.test", "80", true],
    ["fd00::/8", "10.0.0.1", "a.test", "80", false],
    [" , 10.0.0.0/8 , a.test ", "10.0.0.1", "b.test", "80", true],
    ["a.test", "nonsense", "a.test", "80", false],
  ])("%j: %s for %s:%s is %p", (allow, address, host, port, expected) => {
    expect(mayReach(address, host, port, parseAllow(allow))).toBe(expected);
  });

  test.each(["10.0.0.0/99", "!!", "a..b", "http://a.test", "a.test:port", "a.test:123456", "*.a.test", "a b", "[::1"])(
    "%s is refused",
    (part) => {
      expect(() => parseAllow(`10.0.0.0/8, ${part}`)).toThrow(`"${part}"`);
    },
  );
});

test.each<[string, string | undefined, string]>([
  ["example.com", undefined, "example.com"],
  ["Example.COM.", undefined, "example.com"],
  ["127.0.0.1", "127.0.0.1", "127.0.0.1"],
  ["[::1]", "::1", "::1"],
  ["[FE80::1]", "FE80::1", "fe80::1"],
  ["localhost", undefined, "localhost"],
])("the host %s is the address %p and the name %s", (host, address, name) => {
  expect([literalAddress(host), plainHost(host)]).toEqual([address, name]);
});
