import { describe, expect, test } from "bun:test";
import { apart, authAt, placeOf, sorted, together } from "./fields.ts";
import {
  bodyOf,
  bodyText,
  changed,
  duplicated,
  messagesOf,
  objectOf,
  pairsOf,
  renamed,
  rowsOf,
  summaryOf,
  textOf,
  withNew,
} from "./methods.ts";
import { bodyFor, inputOf, withParameter } from "./trial.ts";

const now = { method: "GET", path: "/now", note: { mine: true } };
const methods = { now, order: { method: "POST", body: "{id}" } };

describe("methods", () => {
  const rows = rowsOf(JSON.stringify(methods)) ?? [];
  const read = (list: readonly (typeof rows)[number][]) => JSON.parse(textOf(list) || "{}");

  test("are a list, and the same methods again in their order", () => {
    expect(rows.map(({ name }) => name)).toEqual(["now", "order"]);
    expect(textOf(rows)).toBe(JSON.stringify(methods, null, 2));
    expect([rowsOf(""), textOf([])]).toEqual([[], ""]);
  });

  test.each(["[]", "{", "1", '{"a": 1}', '{"a": []}'])("that are %s are no list", (text) => {
    expect(rowsOf(text)).toBeUndefined();
  });

  test("are added, doubled, renamed in their place, and keep what no form knows", () => {
    expect(withNew(rows, "core/custom_connector").at(-1)).toEqual({
      name: "method_3",
      method: { method: "GET", path: "/" },
    });
    expect(duplicated(rows, 0).map(({ name }) => name)).toEqual(["now", "now_3", "order"]);
    expect(Object.keys(read(renamed(rows, 0, "today") ?? []))).toEqual(["today", "order"]);
    expect([renamed(rows, 0, "order"), renamed(rows, 0, "")]).toEqual([undefined, undefined]);
    expect(read(changed(rows, 0, "path", "/x")).now).toEqual({ ...now, path: "/x" });
    expect(read(changed(rows, 0, "path", "")).now).toEqual({ method: "GET", note: { mine: true } });
    expect(read(changed(rows, 0, "public", false)).now).toEqual(now);
    expect(read(changed(rows, 1, "body", undefined)).order).toEqual({ method: "POST" });
  });

  test("are known by what they do", () => {
    expect(rows.map((row) => summaryOf("core/custom_connector", row))).toEqual(["GET /now", "POST /"]);
    expect(summaryOf("core/postgres", { name: "a", method: { sql: "select 1\nfrom t" } })).toBe("select 1");
    expect(summaryOf("core/smtp", { name: "a", method: { subject: "Hello" } })).toBe("Hello");
  });

  test("get the messages that are about them", () => {
    const messages = [
      "methods.now.path may not",
      "methods.now_2.path no",
      "methods.now: a name",
      "methods may be at most 100",
    ];
    expect(messagesOf(messages, "now")).toEqual(["path may not", "a name"]);
    expect(messagesOf(messages, "now_2")).toEqual(["path no"]);
  });

  test("have pairs, whose untouched values stay what they were", () => {
    const before = { q: "{city}", limit: 5, deep: { a: 1 } };
    const pairs = pairsOf(before);
    expect(pairs).toEqual([
      ["q", "{city}"],
      ["limit", "5"],
      ["deep", '{"a":1}'],
    ]);
    expect(objectOf([...pairs, ["", "x"], ["new", "1"]], before)).toEqual({ ...before, new: "1" });
    expect(objectOf([["limit", "6"]], before)).toEqual({ limit: "6" });
  });

  test.each<[unknown, string]>([
    [{ id: "{id}" }, '{\n  "id": "{id}"\n}'],
    ["id={id}", "id={id}"],
    [{ id: JSON.rawJSON("12345678901234567890") }, '{\n  "id": 12345678901234567890\n}'],
    [undefined, ""],
    [null, ""],
  ])("have the body %p as %s", (body, text) => {
    expect(bodyText(body)).toBe(text);
    expect(bodyOf(text)).toEqual(body ?? undefined);
  });
});

describe("the fields", () => {
  test("are taken apart and put together again", () => {
    const fields = { auth: { in: "query", name: "key" }, methods, from: "a@b.de", n: 1 };
    const parts = apart(JSON.stringify(fields));
    expect(parts && JSON.parse(together(parts))).toEqual(fields);
    expect(apart("[1]")).toBeUndefined();
    expect(together({ methods: "", auth: undefined, rest: "" })).toBe("");
    expect(together({ methods: "{}", auth: undefined, rest: '{"a": 1}' })).toBe('{\n  "a": 1\n}');
  });

  test("are no JSON while one of them is none", () => {
    expect(apart(together({ methods: "{", auth: undefined, rest: '{"a": 1}' }))).toBeUndefined();
    expect(apart(together({ methods: "", auth: undefined, rest: "{" }))).toBeUndefined();
  });

  test.each<[Record<string, unknown> | undefined, string]>([
    [undefined, "bearer"],
    [{}, "bearer"],
    [{ in: "header" }, "bearer"],
    [{ in: "header", name: "X-Key" }, "header"],
    [{ prefix: "Token" }, "header"],
    [{ in: "query", name: "key" }, "query"],
  ])("say with %j that the secret goes to %s", (auth, place) => {
    expect<string>(placeOf(auth)).toBe(place);
  });

  test("keep the name when the secret goes elsewhere", () => {
    expect(authAt("query", { in: "header", name: "key", prefix: "x" })).toEqual({ in: "query", name: "key" });
    expect(authAt("bearer", { name: "key" })).toBeUndefined();
  });

  test("get the messages that are about them", () => {
    expect(sorted(["methods.a.path is", "auth.name is", "from must", "methods may"])).toEqual({
      methods: ["methods.a.path is", "methods may"],
      auth: ["auth.name is"],
      rest: ["from must"],
    });
  });
});

describe("a trial", () => {
  test("begins with the method's parameters, and keeps what was typed", () => {
    expect(
      bodyFor("core/custom_connector", { name: "now", parameters: ["city", "day"] }, '{"city": "Osaka", "other": 1}'),
    ).toBe('{\n  "city": "Osaka",\n  "day": ""\n}');
    expect(bodyFor("", { name: "x", parameters: ["constructor"] }, "{}")).toBe('{\n  "constructor": ""\n}');
  });

  test("takes a parameter by its input or in the JSON", () => {
    const text = '{"city": "Osaka", "n": 5}';
    expect([inputOf(text, "city"), inputOf(text, "n"), inputOf(text, "x"), inputOf("{", "x")]).toEqual([
      "Osaka",
      "5",
      "",
      "",
    ]);
    expect(JSON.parse(withParameter(text, "city", "Kobe"))).toEqual({ city: "Kobe", n: 5 });
    expect(JSON.parse(withParameter(text, "city", ""))).toEqual({ n: 5 });
    expect(JSON.parse(withParameter(text, "n", "[1]"))).toEqual({ city: "Osaka", n: [1] });
    expect(JSON.parse(withParameter(text, "n", "{x"))).toEqual({ city: "Osaka", n: "{x" });
    expect(withParameter("{", "city", "Kobe")).toBe("{");
  });

  test("of a language model begins with a message", () => {
    const method = { name: "chat", parameters: ["messages", "prompt"] };
    expect(Object.keys(JSON.parse(bodyFor("core/llm", method, "{}")))).toEqual(["messages"]);
  });
});
