import { describe, expect, test } from "bun:test";
import { etag, expectedVersion, isKnownTag, mustMatch } from "./etag.ts";

describe("If-Match of object 3", () => {
  test.each<[string | null, number | undefined]>([
    [null, undefined],
    ["", undefined],
    ["*", undefined],
    [" * ", undefined],
    [etag(3, 7), 7],
    [`W/${etag(3, 7)}`, 7],
    ['"3-7", "3-9", "3-8"', 9],
    ['"4-9", "3-7"', 7],
    ['"3-7.k2f9"', 7],
    ['"3-7.k2f9.x"', 0],
    ['"3-7."', 0],
    ['"4-9.3-7"', 0],
    // 0 is the version of no row.
    [etag(4, 7), 0],
    ["3-7", 0],
    ['"3-7', 0],
    ['"3"', 0],
    ['"3-"', 0],
    ['"3--7"', 0],
    ['"3-7x"', 0],
    ['"13-7"', 0],
    ['"3-1234567890"', 0],
    ["nonsense", 0],
  ])("%j asks for version %p", (header, version) => {
    const request = new Request("http://a.test", header === null ? {} : { headers: { "if-match": header } });
    expect(expectedVersion(request, 3)).toBe(version);
  });

  test("an id with hyphens is told from its version", () => {
    const id = "01a20009-0e28-759a-b735-426f30f280ac";
    expect(expectedVersion(new Request("http://a.test", { headers: { "if-match": etag(id, 12) } }), id)).toBe(12);
  });
});

describe("the ETag of an answer that tells more than the version", () => {
  const tag = etag(3, 7, { last_run_at: null });
  const noted = etag(3, 7, { last_run_at: "2026-01-31T10:00:00.000Z" });

  test("differs where the answer does", () => {
    expect(noted).not.toBe(tag);
    expect(etag(3, 7, { last_run_at: null })).toBe(tag);
  });

  test.each([tag, noted])("%s asks for version 7", (given) => {
    expect(expectedVersion(new Request("http://a.test", { headers: { "if-match": given } }), 3)).toBe(7);
  });
});

test.each<[number | undefined, boolean]>([
  [undefined, true],
  [7, true],
  [6, false],
  [8, false],
  [0, false],
])("version 7 where %p is expected: %p", (expected, isFine) => {
  const check = () => mustMatch({ version: 7 }, expected);
  if (isFine) expect(check).not.toThrow();
  else expect(check).toThrow(expect.objectContaining({ status: 412 }));
});

describe("If-None-Match", () => {
  test.each<[string | null, string, boolean]>([
    [null, '"a"', false],
    ["", '"a"', false],
    ["*", '"a"', true],
    ['"a"', '"a"', true],
    ['W/"a"', '"a"', true],
    ['"a"', 'W/"a"', true],
    ['"b", W/"a"', '"a"', true],
    ['"b"', '"a"', false],
    ['"ab"', '"a"', false],
    ["a", '"a"', false],
  ])("%j with the tag %j: %p", (header, tag, known) => {
    expect(isKnownTag(header, tag)).toBe(known);
  });
});
