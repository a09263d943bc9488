import { expect, test } from "bun:test";
import { certificateId } from "./acme.ts";
import {
  adviceOf,
  advisedTime,
  isOrderable,
  mayOrder,
  nextOrder,
  renewalTime,
  tryAgainAt,
  type Due,
} from "./renewal.ts";

const minutes = (from: Date, to: Date) => (to.getTime() - from.getTime()) / 60_000;
const now = new Date("2026-06-01T12:00:00Z");

test("after each failure a host waits longer, a day at most", () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 1000].map((failures) => minutes(now, tryAgainAt(failures, now)));
  expect(waits).toEqual([5, 15, 60, 240, 720, 1440, 1440, 1440]);
});

const day = 86_400_000;
const due = (host: string, more: Partial<Due> = {}): Due => ({
  host,
  accountId: 1,
  notBefore: null,
  expiresAt: null,
  tryAt: now,
  isAccountHost: false,
  hostOrders: 0,
  hostIssued: 0,
  accountOrders: 0,
  ...more,
});
const ends = (inDays: number) => ({
  notBefore: new Date(now.getTime() + (inDays - 90) * day),
  expiresAt: new Date(now.getTime() + inDays * day),
});

test("orders stay below what an authority allows, and an account below its share", () => {
  const own = { isAccountHost: true };
  const cases = [
    [{}, 59, true],
    [{}, 60, false],
    [{ accountOrders: 29 }, 29, true],
    [{ accountOrders: 30 }, 30, false],
    [{ hostOrders: 5 }, 5, false],
    [{ hostIssued: 5 }, 0, false],
    [own, 89, true],
    [{ ...own, accountOrders: 60 }, 89, true],
    [own, 90, false],
    [{ ...own, hostOrders: 5 }, 5, false],
    [ends(30), 89, true],
    [{ ...ends(30), hostIssued: 5 }, 0, false],
    // Ordered anew by hand long before its end.
    [ends(80), 60, false],
    [ends(-1), 89, true],
  ] as const;
  for (const [more, lastHour, may] of cases)
    expect([more, lastHour, mayOrder(due("a", more), lastHour, now)]).toEqual([more, lastHour, may]);
});

test("three hundred made-up domains keep neither a renewal nor an account's host waiting, nor others' domains", () => {
  const waiting = [
    ...Array.from({ length: 300 }, (_, at) => due(`${at}.made.up`, { accountId: 2, tryAt: new Date(0) })),
    due("www.other.example", { accountId: 3 }),
    due("later.example", ends(29)),
    due("soon.example", ends(3)),
    due("core.example", { isAccountHost: true, accountId: 4 }),
  ];
  const [order, counts]: [string[], Map<number, number>] = [[], new Map()];
  for (;;) {
    const all = waiting
      .filter(({ host }) => !order.includes(host))
      .map((one) => ({ ...one, accountOrders: counts.get(one.accountId) ?? 0 }));
    const next = nextOrder(all, order.length, now);
    if (!next) break;
    order.push(next.host);
    counts.set(next.accountId, (counts.get(next.accountId) ?? 0) + 1);
  }
  expect(order.slice(0, 3)).toEqual(["core.example", "soon.example", "later.example"]);
  expect(order.indexOf("www.other.example")).toBeLessThan(5);
  expect(order).toHaveLength(34);
});

test("a certificate is renewed at two thirds of its life, and never all of a day at once", () => {
  const end = new Date("2026-08-30T12:00:00Z");
  const [latest, soonest] = [0, 1].map((random) => renewalTime(now, end, random));
  expect([latest?.toISOString(), soonest?.toISOString()]).toEqual([
    "2026-07-31T12:00:00.000Z",
    "2026-07-22T12:00:00.000Z",
  ]);
});

test("the authority's advice is a time in its window, and now if that is over (RFC 9773 4.2)", () => {
  const advice = adviceOf({ suggestedWindow: { start: "2026-06-02T00:00:00Z", end: "2026-06-03T00:00:00Z" } });
  if (!advice) throw new Error("it is one");
  expect(advisedTime(advice, now, 0.5).toISOString()).toBe("2026-06-02T12:00:00.000Z");
  // A certificate that is to be revoked has a window in the past.
  const over = adviceOf({ suggestedWindow: { start: "2026-05-01T00:00:00Z", end: "2026-05-02T00:00:00Z" } });
  expect(over && advisedTime(over, now, 0.5)).toEqual(now);
});

test.each([
  null,
  "x",
  {},
  { suggestedWindow: null },
  { suggestedWindow: { start: 1, end: 2 } },
  { suggestedWindow: { start: "x", end: "y" } },
  { suggestedWindow: { start: "2026-06-02T00:00:00Z", end: "2026-06-01T00:00:00Z" } },
])("%j is no advice", (answer) => {
  expect(adviceOf(answer)).toBeUndefined();
});

test("a certificate is named by its authority's key and its serial number, as the example of RFC 9773 4.1", async () => {
  // RFC 9773, appendix A
  const example = `-----BEGIN CERTIFICATE-----
MIIBQzCB66ADAgECAgUAh2VDITAKBggqhkjOPQQDAjAVMRMwEQYDVQQDEwpFeGFt
cGxlIENBMCIYDzAwMDEwMTAxMDAwMDAwWhgPMDAwMTAxMDEwMDAwMDBaMBYxFDAS
BgNVBAMTC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeBZu
7cbpAYNXZLbbh8rNIzuOoqOOtmxA1v7cRm//AwyMwWxyHz4zfwmBhcSrf47NUAFf
qzLQ2PPQxdTXREYEnKMjMCEwHwYDVR0jBBgwFoAUaYhba4dGQEHhs3uEe6CuLN4B
yNQwCgYIKoZIzj0EAwIDRwAwRAIge09+S5TZAlw5tgtiVvuERV6cT4mfutXIlwTb
+FYN/8oCIClDsqBklhB9KAelFiYt9+6FDj3z4KGVelYM5MdsO3pK
-----END CERTIFICATE-----`;
  expect(await certificateId(example)).toBe("aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE");
});

test.each([
  ["core.example.com", true],
  ["xn--bcher-kva.example", true],
  ["localhost", false],
  ["192.0.2.1", false],
  ["a b.example.com", false],
  ["-a.example.com", false],
  ["*.example.com", false],
  [`${"a".repeat(64)}.example.com`, false],
  [`${"a.".repeat(127)}example.com`, false],
  ["a..example.com", false],
])("a certificate of %j can be ordered: %p", (host, can) => {
  expect(isOrderable(host)).toBe(can);
});
