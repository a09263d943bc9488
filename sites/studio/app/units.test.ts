import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isolated } from "./bidi.ts";
import { curlOf } from "./resources/curl.ts";
import { nextCell } from "./keyboard/keys.ts";
import { changes, merged } from "./forms/merge.ts";
import { lastWord, words } from "./resources/names.ts";
import { nameOf, titleOf } from "./title.ts";
import { textOf } from "./resources/values.ts";

describe("a merge of two people's changes", () => {
  const loaded = { name: "A", code: "a", tags: ["x"], fields: { one: 1, two: 2 } };

  test.each([
    ["nothing of mine", { name: "B" }, {}, { name: "B" }, []],
    ["different fields", { name: "B" }, { code: "c" }, { name: "B", code: "c" }, []],
    ["the same change", { name: "B" }, { name: "B" }, { name: "B" }, []],
    ["the same field", { name: "B" }, { name: "C" }, { name: "C" }, ["name"]],
    [
      "keys in another order",
      { fields: { two: 2, one: 1 } },
      { fields: { one: 1, two: 3 } },
      { fields: { one: 1, two: 3 } },
      [],
    ],
    [
      "names that every object has",
      { constructor: 1 },
      JSON.parse('{"__proto__":2}'),
      JSON.parse('{"__proto__":2,"constructor":1}'),
      [],
    ],
    ["a field that they removed", { tags: null }, { tags: ["x", "y"] }, { tags: ["x", "y"] }, ["tags"]],
  ] as const)("%s", (_, theirs, mine, values, conflicts) => {
    const result = merged(loaded, { ...loaded, ...theirs }, { ...loaded, ...mine });
    expect(result.values).toEqual({ ...loaded, ...values });
    expect(result.conflicts.map(({ field }) => field)).toEqual([...conflicts]);
  });

  test("loses nothing: each field is theirs, or mine where I have changed it", () => {
    const values = fc.dictionary(
      fc.constantFrom("a", "b", "c"),
      fc.oneof(fc.integer({ max: 3, min: 0 }), fc.constant("x")),
    );
    fc.assert(
      fc.property(values, values, values, (before, theirs, mine) => {
        const result = merged(before, theirs, mine);
        const touched = changes(before, mine);
        for (const [field, value] of Object.entries(theirs))
          expect(result.values[field]).toEqual(field in touched ? mine[field] : value);
        for (const [field, value] of Object.entries(touched)) expect(result.values[field]).toEqual(value);
      }),
    );
  });
});

describe("curl", () => {
  test("is the request, quoted for a shell", () => {
    const call = {
      method: "PATCH",
      path: "/core/prompts/1.json",
      body: { prompt: { name: "it's" } },
      ifMatch: '"1-2"',
    };
    expect(curlOf(call, "https://core.test")).toBe(
      [
        "curl -X PATCH 'https://core.test/core/prompts/1.json'",
        '-H "Authorization: Bearer $TOKEN"',
        `-H 'If-Match: "1-2"'`,
        "-H 'Content-Type: application/json'",
        `-d '{\n  "prompt": {\n    "name": "it'\\''s"\n  }\n}'`,
      ].join(" \\\n  "),
    );
    expect(curlOf({ method: "GET", path: "/a?b=c" }, "http://x")).toBe(
      `curl 'http://x/a?b=c' \\\n  -H "Authorization: Bearer $TOKEN"`,
    );
  });

  test("gives a shell back what it was given", async () => {
    for (const text of ["it's", "$(id)", "`id`", "a\nb", '"', "\\", "'''"]) {
      const [line = ""] = curlOf({ method: "GET", path: text }, "").split(" \\\n", 1);
      const shell = Bun.spawn(["sh", "-c", line.replace("curl", "printf %s")]);
      expect(await new Response(shell.stdout).text()).toBe(text);
    }
  });
});

test.each([
  ["ArrowDown", false, { row: 1, column: 0 }, { row: 2, column: 0 }],
  ["ArrowDown", false, { row: 4, column: 0 }, { row: 4, column: 0 }],
  ["ArrowUp", false, { row: 0, column: 1 }, { row: 0, column: 1 }],
  ["ArrowLeft", false, { row: 1, column: 0 }, { row: 1, column: 0 }],
  ["ArrowRight", false, { row: 1, column: 2 }, { row: 1, column: 2 }],
  ["Home", false, { row: 3, column: 2 }, { row: 3, column: 0 }],
  ["Home", true, { row: 3, column: 2 }, { row: 0, column: 0 }],
  ["End", false, { row: 3, column: 0 }, { row: 3, column: 2 }],
  ["End", true, { row: 1, column: 0 }, { row: 4, column: 2 }],
  ["PageDown", false, { row: 1, column: 1 }, { row: 4, column: 1 }],
  ["PageUp", false, { row: 4, column: 1 }, { row: 0, column: 1 }],
  ["a", false, { row: 1, column: 1 }, undefined],
] as const)("in a grid of 5 by 3, %s (with Ctrl: %p) leads from %p to %p", (key, ctrlKey, from, to) => {
  expect(nextCell(from, { key, ctrlKey }, 5, 3)).toEqual(to);
});

test.each([
  ["url_code", "Url code"],
  ["name", "Name"],
  ["", ""],
])("%s is %s in words", (name, text) => expect(words(name)).toBe(text));

test.each([
  ["/core/dbs/{db_id}/records", "records"],
  ["/account/users", "users"],
])("the last word of %s is %s", (path, word) => expect(lastWord(path)).toBe(word));

test.each([
  [null, ""],
  [undefined, ""],
  ["a", "a"],
  [0, "0"],
  [false, "false"],
  [{ a: 1 }, '{"a":1}'],
])("%p is shown as %p", (value, text) => expect(textOf(value)).toBe(text));

describe("a name among our own words", () => {
  test.each([
    ["Greeting", "Greeting"],
    ["Zażółć <b> 🙂", "Zażółć <b> 🙂"],
    ["\u202egnp.exe", "\u2068\u202egnp.exe\u202c\u2069"],
    ["\u2067a\u202eb", "\u2068\u2067a\u202eb\u202c\u2069\u2069"],
    // What would end the isolation is left out, what ends one of the name's own stays.
    ["a\u2069\u202eb", "\u2068a\u202eb\u202c\u2069"],
    ["\u2066a\u2069b\u2069", "\u2068\u2066a\u2069b\u2069"],
    ["\u202ea\u2069b\u202c\u202c", "\u2068\u202eab\u202c\u2069"],
    ["שלום", "\u2068שלום\u2069"],
  ])("%j turns nothing around", (name, shown) => {
    expect(isolated(name)).toBe(shown);
  });
});

test.each([
  [{ id: 2, name: "Orders" }, "2", "Orders", "Orders"],
  [{ id: 2, name: null, code: "orders" }, "2", "orders", "orders"],
  [{ id: 2, name: "\u200b" }, "2", "2", "Delivery 2"],
  [{ n: 3 }, "3", "3", "Delivery 3"],
  [{ id: "019a9c1e-0000-7000-8000-000000000003", status: "new", city: "Ulm" }, "", "Ulm", "Ulm"],
  [{ id: 3, city: "Ulm" }, "3", "3", "Delivery 3"],
  [undefined, "01a2", "", "Delivery 01a2"],
  [undefined, "", "", "Delivery"],
])("%j at the address %p is called %p, and has the title %p", (record, id, name, title) => {
  expect([nameOf(record), titleOf(record, "delivery", id)]).toEqual([name, title]);
});
