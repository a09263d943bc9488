import { expect, test } from "bun:test";
import { variablesOf } from "./sources.ts";

const baseUrl = "https://core.example.com";
const fixed = { TOKEN: "t", api_token: "t", ACCOUNT_URL: baseUrl, account_url: baseUrl, base_url: baseUrl };
const late = new Date("2026-01-31T23:30:00Z");

const cases: [query: string, timezone: string, own: Record<string, string>][] = [
  ["", "UTC", { date: "2026-01-31" }],
  ["", "Europe/Warsaw", { date: "2026-02-01" }],
  ["", "America/New_York", { date: "2026-01-31" }],
  ["date=", "UTC", { date: "2026-01-31" }],
  ["date=2020-05-06", "UTC", { date: "2020-05-06" }],
  ["date=soon", "UTC", { date: "soon" }],
  ["client_id=7&note=", "UTC", { date: "2026-01-31", client_id: "7", note: "" }],
  ["client=a&client=b", "UTC", { date: "2026-01-31", client: "b" }],
  ["TOKEN=x&api_token=x&ACCOUNT_URL=x&account_url=x&base_url=x", "UTC", { date: "2026-01-31" }],
  ["token=x", "UTC", { date: "2026-01-31", token: "x" }],
];

test.each(cases)("the variables of ?%s in %s", (query, timezone, own) => {
  const variables = variablesOf({ baseUrl, timezone }, new URLSearchParams(query), "t", late);
  expect({ ...variables }).toEqual({ ...own, ...fixed });
});

test("a parameter named like a property of every object is only a variable", () => {
  const query = new URLSearchParams("__proto__=a&constructor=b&toString=c");
  const variables = variablesOf({ baseUrl, timezone: "UTC" }, query, "t", late);
  expect(Object.getPrototypeOf(variables)).toBeNull();
  expect(Object.entries(variables)).toEqual(
    expect.arrayContaining([
      ["__proto__", "a"],
      ["constructor", "b"],
      ["toString", "c"],
    ]),
  );
});
