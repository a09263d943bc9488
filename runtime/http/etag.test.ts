import { describe, expect, test } from "bun:test";
import { etag, expectedVersion, isKnownTag } from "./etag.ts";

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
