import { describe, expect, test } from "bun:test";
import type { ConnectorKind } from "./api.ts";
import { codeMistake, isCode, isUuid } from "./definition.ts";
import { checkConnector, secretInfo, type ConnectorInput, type ConnectorPatch } from "./connector.ts";

const kind = (given: Partial<ConnectorKind>): ConnectorKind => ({
  name: "test/kind",
  needsUrl: true,
  methods: () => [],
  check: () => ({}),
  call: () => Promise.reject(new Error("it is not called")),
  ...given,
});
const kinds = new Map(
  [
    kind({}),
    kind({ name: "test/no-url", needsUrl: false }),
    kind({ name: "test/long-secret", secretMistake: (secret) => (secret.length < 5 ? "is too short" : undefined) }),
    kind({ name: "test/strict", check: ({ hasSecret }) => (hasSecret ? {} : { fields: ["a", "b"], url: ["c"] }) }),
  ].map((one) => [one.name, one]),
);
const good: ConnectorInput = {
  code: "good",
  name: "Good",
  kind: "test/kind",
  url: "https://api.example.com/v1",
  secretToken: null,
  secretTokenInfo: null,
  fields: {},
  active: true,
};

/** Field to messages; {} if it is accepted. */
function fieldsOf(input: Partial<ConnectorInput>, patch: ConnectorPatch = {}, before?: { url: string }): unknown {
  try {
    checkConnector(kinds, { ...good, ...input }, patch, before && { ...before, secretToken: "encrypted" });
    return {};
  } catch (error) {
    return error instanceof Error && "fields" in error ? error.fields : error;
  }
}

const checks: [what: string, input: Partial<ConnectorInput>, patch: ConnectorPatch, fields: object][] = [
  ["a good one", {}, {}, {}],
  ["no url where the kind needs one", { url: "" }, {}, { url: ["can't be blank"] }],
  ["no url where the kind needs none", { url: "", kind: "test/no-url" }, {}, {}],
  ["an unknown kind", { kind: "test/other" }, {}, { kind: [`must be one of ${[...kinds.keys()].join(", ")}`] }],
  ["an unknown kind with a bad secret", { kind: "x" }, { secret_token: "a\nb" }, { kind: [""], secret_token: [""] }],
  ["fields of exactly 500,000 characters", { fields: { a: "x".repeat(499_992) } }, {}, {}],
  ["fields of one more", { fields: { a: "x".repeat(499_993) } }, {}, { fields: [""] }],
  ["a secret that its kind refuses", { kind: "test/long-secret" }, { secret_token: "abcd" }, { secret_token: [""] }],
  ["a secret that its kind accepts", { kind: "test/long-secret" }, { secret_token: "abcde" }, {}],
  ["a removed secret is not checked", { kind: "test/long-secret" }, { secret_token: null }, {}],
  ["an emptied secret is not checked", { kind: "test/long-secret" }, { secret_token: "" }, {}],
  ["every mistake of a kind", { kind: "test/strict" }, {}, { fields: ["", ""], url: [""] }],
  [
    "mistakes of kind and code together",
    { kind: "test/strict", code: "a b" },
    {},
    { code: [""], fields: ["", ""], url: [""] },
  ],
];
test.each(checks)("%s", (_, input, patch, fields) => {
  const found = fieldsOf(input, patch);
  const count = (given: object) =>
    Object.fromEntries(Object.entries(given).map(([name, messages]) => [name, messages.length]));
  expect(count(Object(found))).toEqual(count(fields));
});

describe("a secret", () => {
  const lines: [secret: string, isAccepted: boolean][] = [
    ["plain", true],
    ["tab\tinside", true],
    ["żółć 🗝", true],
    ["two\nlines", false],
    ["carriage\rreturn", false],
    ["nul\0", false],
    ["next line\u0085", false],
    ["separator\u2028", false],
    ["delete\u007f", false],
    ["half a pair \ud800", false],
  ];
  test.each(lines)("%j is one line: %p", (secret, isAccepted) => {
    expect("secret_token" in Object(fieldsOf({}, { secret_token: secret }))).toBe(!isAccepted);
  });

  const stored = "https://api.example.com/v1";
  const moves: [url: string, patch: ConnectorPatch, isAccepted: boolean][] = [
    ["https://api.example.com/v2?x=1", {}, true],
    ["https://API.example.com:443/", {}, true],
    ["http://api.example.com/v1", {}, false],
    ["https://api.example.com:8443/v1", {}, false],
    ["https://api.example.com.evil.test/v1", {}, false],
    ["https://evil.test/https://api.example.com/v1", {}, false],
    ["", {}, false],
    ["https://evil.test/", { secret_token: "another" }, true],
    ["https://evil.test/", { secret_token: null }, true],
    ["https://evil.test/", { secret_token: "" }, true],
  ];
  test.each(moves)("stays when the url becomes %j with %j: %p", (url, patch, isAccepted) => {
    expect("secret_token" in Object(fieldsOf({ url }, patch, { url: stored }))).toBe(!isAccepted);
  });
  const schemes: [before: string, after: string, isAccepted: boolean][] = [
    ["postgres://a@db.test:5432/x", "postgres://b@db.test:5432/y", true],
    ["postgres://a@db.test:5432/x", "postgres://a@db.test:5433/x", false],
    ["smtp://mail.test:25", "smtps://mail.test:25", false],
    ["smtp://mail.test", "smtp://mail.test.evil", false],
  ];
  test.each(schemes)("of %s goes to %s: %p", (before, url, isAccepted) => {
    expect("secret_token" in Object(fieldsOf({ url }, {}, { url: before }))).toBe(!isAccepted);
  });

  const shown: [secret: string, info: string][] = [
    ["0123456789abcdef", "0123...cdef"],
    ["0123456789abcde", "..."],
    ["x", "..."],
  ];
  test.each(shown)("%s is shown as %s", (secret, info) => {
    expect(secretInfo(secret)).toBe(info);
  });
});

describe("a code", () => {
  const codes: [code: string, isGood: boolean][] = [
    ["a", true],
    ["A-b_c.d", true],
    ["7", true],
    ["x.jso", true],
    ["json", true],
    ["", false],
    ["-a", false],
    [".a", false],
    ["a.", false],
    ["a.json", false],
    ["a b", false],
    ["a/b", false],
    ["ż", false],
    ["0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e10", false],
    ["0198C5D2-7A1B-7C3D-8E4F-5A6B7C8D9E10", false],
  ];
  test.each(codes)("%j can be saved: %p", (code, isGood) => {
    expect(codeMistake(code) === undefined).toBe(isGood);
  });
  const looked: [key: string, mayBeCode: boolean, mayBeId: boolean][] = [
    ["weather", true, false],
    ["x".repeat(100), true, false],
    ["x".repeat(101), false, false],
    ["a\0", false, false],
    ["0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e10", true, true],
    ["0198c5d27a1b7c3d8e4f5a6b7c8d9e10", true, false],
    ["0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e1", true, false],
  ];
  test.each(looked)("%j is looked for as a code: %p, as an id: %p", (key, mayBeCode, mayBeId) => {
    expect([isCode(key), isUuid(key)]).toEqual([mayBeCode, mayBeId]);
  });
});
