import { describe, expect, test } from "bun:test";
import {
  agentsOf,
  comparedVersions,
  differences,
  extendedCode,
  extraCode,
  found,
  freeReaches,
  isCode,
  rungsOf,
  toldIn,
  type BuiltIn,
  type PromptFields,
} from "./prompt.ts";
import de from "./text/de.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

test.each([
  ["a_extra", "a"],
  ["a_extra_extra", "a_extra"],
  ["_extra", undefined],
  ["extra", undefined],
])("%s is appended to %p", (code, main) => {
  expect(extendedCode(code)).toBe(main);
  if (main !== undefined) expect(extraCode(main)).toBe(code);
});

test.each([
  ["a", true],
  ["a.b-c_d", true],
  ["", false],
  ["a b", false],
  ["a.", false],
  ["a..b", false],
  ["_a", false],
  ["x".repeat(101), false],
])("%p is a code: %p", (code, is) => expect(isCode(code)).toBe(is));

test.each([
  ["user", [], ["user"]],
  ["user", [{ scope: "user", scope_id: 7 }], []],
  ["user", [{ scope: "user", scope_id: 8 }], ["user"]],
  ["manager", [], ["user", "account"]],
  ["admin", [{ scope: "account", scope_id: null }], ["user"]],
  ["admin", [{ scope: "user", scope_id: 7 }], ["account"]],
  ["admin", [{ scope: "team", scope_id: 7 }], ["user", "account"]],
] as const)("a %s, with %j stored, may store one for %j", (role, stored, reaches) => {
  expect(freeReaches(stored, { id: 7, role })).toEqual([...reaches]);
});

test("a ladder has a rung for each place, and the built-in one if there is one", () => {
  const step = (scope: "team" | "built_in", name: string) => ({
    id: null,
    name,
    scope,
    scope_id: null,
    scope_name: null,
    plugin: null,
    used: false,
  });
  const names = (steps: readonly Parameters<typeof rungsOf>[0][number][]) =>
    rungsOf(steps).map(({ scope, step: one }) => `${scope} ${one?.name ?? "-"}`);
  expect(names([step("team", "a"), step("team", "b"), step("built_in", "c")])).toEqual([
    "user -",
    "team a",
    "team b",
    "department -",
    "account -",
    "built_in c",
  ]);
  expect(names([])).toEqual(["user -", "team -", "department -", "account -"]);
});

test("agents are the prompts of that kind, one of each code, without instructions", () => {
  const stored = { id: "1", code: "clean", name: "Clean up", kind: "agent", scope: "account", scope_id: null };
  const builtIn = { code: "clean", name: "Old", kind: "agent", ai_placeholder: null, plugin: "x" };
  const others = [
    { ...builtIn, code: "task", name: "A task" },
    { ...builtIn, code: "dbs_api" },
    { ...builtIn, code: "talk", kind: "chat" },
  ];
  expect(agentsOf([stored], [builtIn, ...others])).toEqual([
    { id: null, code: "task", name: "A task" },
    { id: "1", code: "clean", name: "Clean up" },
  ]);
});

describe("two versions", () => {
  const saved: PromptFields = {
    name: "A",
    code: "a",
    content: "x",
    kind: "chat",
    scope: "team",
    scope_id: 3,
    ai_placeholder: null,
  };

  test.each([
    [{}, []],
    [{ content: "y" }, []],
    [{ name: "B" }, [{ field: "name", from: "A", to: "B" }]],
    [
      { scope: "account", scope_id: null, ai_placeholder: "?" },
      [
        { field: "scope", from: "team", to: "account" },
        { field: "scope_id", from: "3", to: "–" },
        { field: "ai_placeholder", from: "–", to: "?" },
      ],
    ],
  ])("with %j differ in %j", (change, fields) => expect(differences(saved, { ...saved, ...change })).toEqual(fields));

  test.each([
    [[3, 2, 1], null, null, { from: 2, to: 3 }],
    [[3, 2, 1], "1", "2", { from: 1, to: 2 }],
    [[3, 2, 1], null, "2", { from: 1, to: 2 }],
    [[3, 2, 1], null, "1", { from: 2, to: 1 }],
    [[3, 2, 1], "9", "x", { from: 2, to: 3 }],
    [[1], null, null, undefined],
    [[], null, null, undefined],
  ])("of %j, asked for %p and %p, are %j", (versions, from, to, chosen) => {
    expect(comparedVersions(versions, from, to)).toEqual(chosen);
  });
});

test.each([
  ["", ["dbs_api", "work"]],
  ["JSON", ["dbs_api"]],
  ["api jsondb", ["dbs_api"]],
  ["work api", []],
])("a search for %p finds %j", (search, codes) => {
  const of = (code: string, name: string | null, plugin: string): BuiltIn => ({
    code,
    name,
    plugin,
    kind: "chat",
    ai_placeholder: null,
  });
  const all = [of("dbs_api", "JSON databases", "jsondb"), of("work", null, "files")];
  expect(found(all, search).map(({ code }) => code)).toEqual(codes);
});

test("variables are explained in the person's language, and one that a plugin adds in the server's words", () => {
  const words = [
    { label: "date", type: "variable", detail: "the parameter date, by default today" },
    { label: "region", type: "variable", detail: "where the shop is" },
    { label: "date", type: "filter" },
  ] as const;
  expect(toldIn(words, pl).map(({ detail }) => detail)).toEqual([pl.variable_date, "where the shop is", undefined]);
  expect(toldIn(words, de)[0]?.detail).toBe("der Parameter date, sonst das heutige Datum");
});
