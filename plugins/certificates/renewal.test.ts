import { expect, test } from "bun:test";
import { certificateId } from "./acme.ts";
import { adviceOf, advisedTime, isOrderable, mayOrder, renewalTime, tryAgainAt } from "./renewal.ts";

const minutes = (from: Date, to: Date) => (to.getTime() - from.getTime()) / 60_000;
const now = new Date("2026-06-01T12:00:00Z");

test("after each failure a host waits longer, a day at most", () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 1000].map((failures) => minutes(now, tryAgainAt(failures, now)));
  expect(waits).toEqual([5, 15, 60, 240, 720, 1440, 1440, 1440]);
});

test("orders stay below what an authority allows", () => {
  const cases = [
    [{ lastHour: 89, issuedForHost: 4 }, true],
    [{ lastHour: 90, issuedForHost: 0 }, false],
    [{ lastHour: 0, issuedForHost: 5 }, false],
  ] as const;
  for (const [counts, may] of cases) expect([counts, mayOrder(counts)]).toEqual([counts, may]);
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
