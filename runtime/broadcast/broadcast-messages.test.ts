import { describe, expect, test } from "bun:test";
import { maxMessageBytes, mustFit, packMessages, parseMessage, type Entry } from "./broadcast-messages.ts";

const entry = (number: number, payload: string): Entry => ({ topic: "t", payload, number });
const payloads = (texts: readonly string[]) =>
  texts.map((text) => parseMessage(text)?.pairs.map(([, payload]) => payload));
/** `["t","…"]` has eight characters beside its payload, and a comma behind it. */
const ofBytes = (bytes: number) => "x".repeat(bytes - 9);

describe("entries", () => {
  test.each<[string, readonly Entry[], readonly (readonly string[])[]]>([
    ["none", [], []],
    ["one", [entry(1, "a")], [["a"]]],
    ["some", [entry(1, "a"), entry(2, "b")], [["a", "b"]]],
    [
      "as many bytes as a message has",
      [entry(1, ofBytes(maxMessageBytes - 100)), entry(2, ofBytes(100))],
      [[ofBytes(maxMessageBytes - 100), ofBytes(100)]],
    ],
    [
      "a byte more",
      [entry(1, ofBytes(maxMessageBytes - 100)), entry(2, ofBytes(101))],
      [[ofBytes(maxMessageBytes - 100)], [ofBytes(101)]],
    ],
    ["two large ones", [entry(1, ofBytes(7000)), entry(2, ofBytes(7000))], [[ofBytes(7000)], [ofBytes(7000)]]],
  ])("%s: are packed in their order", (_, entries, expected) => {
    expect(payloads(packMessages("p", entries))).toEqual(expected.map((part) => [...part]));
  });

  test("say whose they are, and the number of the last", () => {
    const texts = packMessages("p", [entry(3, ofBytes(7000)), entry(5, "a"), entry(9, ofBytes(7000))]);
    expect(texts.map((text) => parseMessage(text)).map((one) => [one?.from, one?.number])).toEqual([
      ["p", 5],
      ["p", 9],
    ]);
    for (const text of texts) expect(Buffer.byteLength(text)).toBeLessThan(8000);
  });

  test("too large for any message are refused, by their bytes", () => {
    expect(() => mustFit("t", ofBytes(maxMessageBytes))).not.toThrow();
    for (const payload of ["x".repeat(maxMessageBytes), "é".repeat(maxMessageBytes / 2), "\0".repeat(1300)])
      expect(() => mustFit("t", payload)).toThrow(`larger than ${maxMessageBytes} bytes`);
  });
});

test.each([
  "",
  "not JSON",
  "null",
  "7",
  "[]",
  "{}",
  `{"from":"p","number":1}`,
  `{"from":7,"number":1,"pairs":[]}`,
  `{"from":"p","number":"1","pairs":[]}`,
  `{"from":"p","number":1,"pairs":{}}`,
])("%j is no message of ours", (text) => {
  expect(parseMessage(text)).toBeUndefined();
});

test("what is not a pair is left out of a message", () => {
  const text = JSON.stringify({ from: "p", number: 1, pairs: [["t", "a"], ["t"], ["t", 7], null, "t", ["t", "b"]] });
  expect(parseMessage(text)).toEqual({
    from: "p",
    number: 1,
    pairs: [
      ["t", "a"],
      ["t", "b"],
    ],
  });
});
