import { expect, test } from "bun:test";
import fc from "fast-check";
import { ValidationError } from "../../runtime/base/errors.ts";
import type { OpenConnector } from "./api.ts";
import { requestOf } from "./custom.ts";
import { methodsOf } from "./definition.ts";
import { redact } from "./redact.ts";

const connectorOf = (fields: object, url = "https://api.test/v1"): OpenConnector => ({
  accountId: 1,
  code: "c",
  url,
  secret: "s3cret",
  fields: fields as OpenConnector["fields"],
});

function requestFor(
  method: object,
  params: Record<string, unknown>,
  more: { url?: string; auth?: object; fallbackBody?: unknown } = {},
) {
  const fields = { methods: { m: method }, ...(more.auth && { auth: more.auth }) };
  const found = methodsOf(fields).get("m");
  if (!found) throw new Error("no method");
  return requestOf(connectorOf(fields, more.url), found, {
    method: "m",
    params,
    timeoutMs: 1000,
    fallbackBody: more.fallbackBody,
  });
}

function mistakesOf(method: object, params: Record<string, unknown>, url?: string): unknown {
  try {
    return requestFor(method, params, { ...(url && { url }) }).url;
  } catch (error) {
    if (error instanceof ValidationError) return error.fields;
    throw error;
  }
}

test("parameters are URL-encoded in path and query", () => {
  const cases: [method: object, params: Record<string, unknown>, url: string][] = [
    [{ path: "/w/{city}" }, { city: "a b/ł?#&" }, "https://api.test/v1/w/a%20b%2F%C5%82%3F%23%26"],
    [{ path: "w/{n}" }, { n: 7 }, "https://api.test/v1/w/7"],
    [{ path: "/w?q={city}&u=1" }, { city: "a&b=c#d" }, "https://api.test/v1/w?q=a%26b%3Dc%23d&u=1"],
    [
      { path: "/w", query: { q: "{city}", n: 1, yes: true } },
      { city: "Łódź" },
      "https://api.test/v1/w?q=%C5%81%C3%B3d%C5%BA&n=1&yes=true",
    ],
    [
      { path: "/w", query: { ids: "{ids}", none: "{none}" } },
      { ids: [1, "b c"], none: null },
      "https://api.test/v1/w?ids=1&ids=b%20c",
    ],
    [{ path: "/w", query: { o: "{o}" } }, { o: { a: 1 } }, "https://api.test/v1/w?o=%7B%22a%22%3A1%7D"],
    [{ path: "" }, {}, "https://api.test/v1"],
    [{ path: "/e/{event.kind}" }, { event: { kind: "create" } }, "https://api.test/v1/e/create"],
    [{ path: "/{a}-{b}" }, { a: "x", b: "y" }, "https://api.test/v1/x-y"],
  ];
  for (const [method, params, url] of cases) expect(requestFor(method, params).url).toBe(url);
  expect(requestFor({ path: "/x" }, {}, { url: "https://api.test/?key=1" }).url).toBe("https://api.test/x?key=1");
});

test("a missing or impossible parameter is named", () => {
  const cases: [method: object, params: Record<string, unknown>, fields: object][] = [
    [{ path: "/{a}/{b}", query: { c: "{c}" } }, { a: 1 }, { b: ["is required"], c: ["is required"] }],
    [{ path: "/{a}" }, { a: "" }, { a: [expect.stringContaining("blank")] }],
    [{ path: "/{a}" }, { a: null }, { a: [expect.stringContaining("blank")] }],
    [{ path: "/{a}" }, { a: ".." }, { a: ["must not be . or .. in a path"] }],
    [{ path: "/{a}" }, { a: "." }, { a: ["must not be . or .. in a path"] }],
    [
      { path: "/{a}{b}/x" },
      { a: ".", b: "." },
      { a: ["must not be . or .. in a path"], b: ["must not be . or .. in a path"] },
    ],
    [{ path: "/{a}" }, { a: [1] }, { a: [expect.stringContaining("text or a number")] }],
    [{ path: "/x", headers: { "x-a": "{a}" } }, { a: "1\r\nx-b: 2" }, { a: ["cannot stand in the header x-a"] }],
    [{ path: "/x", headers: { "x-a": "{a}" } }, { a: "ł" }, { a: ["cannot stand in the header x-a"] }],
    [{ method: "POST", path: "/x", body: { deep: ["{a}"] } }, {}, { a: ["is required"] }],
    [{ path: "/{toString}" }, {}, { toString: ["is required"] }],
    [{ path: "/{a.constructor}" }, { a: {} }, { "a.constructor": ["is required"] }],
  ];
  for (const [method, params, fields] of cases) expect([method, mistakesOf(method, params)]).toEqual([method, fields]);
});

test("a body keeps types, and text in it cannot break out of the JSON", () => {
  const body = (method: object, params: Record<string, unknown>) =>
    requestFor({ method: "POST", path: "/", ...method }, params).body;
  const hostile = '","admin":true,"x":"';
  expect(
    JSON.parse(body({ body: { n: "{n}", t: "n={n}", s: "{s}", deep: [{ s: "{s}" }] } }, { n: 7, s: hostile }) ?? ""),
  ).toEqual({
    n: 7,
    t: "n=7",
    s: hostile,
    deep: [{ s: hostile }],
  });
  expect(
    JSON.parse(body({ body: '{"s":"<{s}>","n":{n},"o":{o}}' }, { n: 7, s: hostile, o: { a: [1] } }) ?? ""),
  ).toEqual({ s: `<${hostile}>`, n: 7, o: { a: [1] } });
  expect(
    body(
      { body: { a: "{a}", b: "x y" }, headers: { "Content-Type": "application/x-www-form-urlencoded" } },
      { a: "1&b=2" },
    ),
  ).toBe("a=1%26b%3D2&b=x%20y");
  expect(body({ body: "Hello {a}" }, { a: "you" })).toBe("Hello you");
  expect(body({}, { a: 1 })).toBe('{"a":1}');
  expect(body({}, {})).toBeUndefined();
  expect(requestFor({ method: "POST", path: "/" }, {}, { fallbackBody: { id: 1 } }).body).toBe('{"id":1}');
});

test("the secret goes where `auth` says", () => {
  const headersOf = (auth?: object) => requestFor({ path: "/" }, {}, { ...(auth && { auth }) }).headers;
  expect(headersOf()["authorization"]).toBe("Bearer s3cret");
  expect(headersOf({ prefix: "" })["authorization"]).toBe("s3cret");
  expect(headersOf({ prefix: "Token" })["authorization"]).toBe("Token s3cret");
  expect(headersOf({ name: "X-Api-Key" })["x-api-key"]).toBe("s3cret");
  expect(headersOf({ name: "X-Api-Key" })["authorization"]).toBeUndefined();
  const { url, headers } = requestFor({ path: "/w?a=1" }, {}, { auth: { in: "query", name: "appid" } });
  expect(url).toBe("https://api.test/v1/w?a=1&appid=s3cret");
  expect(headers["authorization"]).toBeUndefined();
});

test("whatever the parameters, the request stays below the connector's address", () => {
  const hostile = fc.oneof(
    fc.string(),
    fc.constantFrom(
      "..",
      "//evil.test",
      "/../..",
      "%2e%2e",
      "\\..\\",
      "@evil.test",
      "https://evil.test",
      ":80",
      "?",
      "#",
    ),
  );
  fc.assert(
    fc.property(hostile, hostile, (a, b) => {
      const url = mistakesOf({ path: "/x/{a}{b}/{b}", query: { a: "{a}" } }, { a, b });
      if (typeof url !== "string") return;
      expect(new URL(url).origin).toBe("https://api.test");
      expect(new URL(url).pathname.startsWith("/v1/x/")).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("a JSON text body is JSON whatever the parameters", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (value, text) => {
      const { body } = requestFor(
        { method: "POST", path: "/", body: '{"v":{v},"t":"a {t} b"}' },
        { v: value ?? null, t: text },
      );
      expect(JSON.parse(body ?? "")).toEqual(JSON.parse(JSON.stringify({ v: value ?? null, t: `a ${text} b` })));
    }),
  );
});

test("a secret is taken out of whatever echoes it", () => {
  const secret = 'se"cret/+ż';
  const base64 = Buffer.from(secret).toString("base64");
  const echo = {
    a: `x ${secret} y`,
    [secret]: [{ url: `https://x.test?k=${encodeURIComponent(secret)}` }],
    b: `Basic ${base64}`,
  };
  expect(JSON.stringify(redact(echo, secret))).not.toContain("cret/");
  expect(redact({ a: `x ${secret} y` }, secret)).toEqual({ a: "x [secret] y" });
  expect(redact(JSON.parse('{"__proto__":{"a":1}}'), secret)).toEqual(JSON.parse('{"__proto__":{"a":1}}'));
});

test.each<[string, object]>([
  ["a text", { method: "POST", body: "{a}".repeat(1_000) }],
  ["an object", { method: "POST", body: { list: Array(1_000).fill("{a}") } }],
  ["a query", { query: Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`p${at}`, "{a}"])) }],
])("a large parameter that a template takes very often is refused: %s", (_where, method) => {
  expect(mistakesOf(method, { a: "x".repeat(1_000_000) })).toEqual({ a: [expect.stringContaining("10000000")] });
});
