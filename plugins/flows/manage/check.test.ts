import { expect, test } from "bun:test";
import { createLiquid } from "../../../runtime/liquid/liquid.ts";
import { checkFlow, newCode, onlySwitchesOff, programOf, type UnstoredFlow } from "./check.ts";
import { createTemplates } from "../program/template.ts";

const templates = createTemplates(createLiquid());
const program = [{ type: "return", value: 1 }];
const stored: UnstoredFlow = { code: "tea", kind: "core/custom_flow", fields: { program } };

const switches: [patch: { active?: boolean; name?: string; fields?: object }, only: boolean][] = [
  [{ active: false }, true],
  [{ active: true }, false],
  [{ active: false, name: "Tea" }, false],
  [{ active: false, fields: { program } }, false],
  [{}, false],
];
test.each(switches)("%j only switches off: %p", (patch, only) => {
  expect(onlySwitchesOff(patch)).toBe(only);
});

const codes: [given: { name: string; code?: string | null }, code: string][] = [
  [{ name: "Weather advice" }, "weather-advice"],
  [{ name: "Zażółć gęślą" }, "zazolc-gesla"],
  [{ name: "Tea", code: "Own" }, "Own"],
  [{ name: "Tea", code: "" }, "tea"],
  [{ name: "Tea", code: null }, "tea"],
  [{ name: "!!!" }, "flow"],
];
test.each(codes)("the code of %j is %s", (given, code) => {
  expect(newCode(given)).toBe(code);
});

const flows: [change: Partial<UnstoredFlow>, fields: string[]][] = [
  [{}, []],
  [{ fields: { program: [] } }, []],
  [{ code: "a b" }, ["code"]],
  [{ code: "tea.json" }, ["code"]],
  [{ kind: "core/other" }, ["kind"]],
  [{ fields: {} }, ["program"]],
  [{ fields: { program: null } }, ["program"]],
  [{ fields: { program, note: "x".repeat(500_000) } }, ["fields"]],
  [{ fields: { program, tool: true, input: { properties: { n: { type: "integer", pattern: "x" } } } } }, []],
  [{ fields: { program, tool: true, input: { properties: { n: { type: "whole" } } } } }, ["input"]],
  [{ fields: { program, tool: true, input: { properties: [] } } }, ["input"]],
  [{ fields: { program, tool: true, input: { propertys: {} } } }, ["input"]],
  [{ fields: { program, tool: true, input: { type: "string" } } }, ["input"]],
  [{ fields: { program, tool: true, input: { required: "n" } } }, ["input"]],
  [{ fields: { program, tool: true, input: [] } }, ["input"]],
  [{ code: "-", kind: "x", fields: { program: 7 } }, ["code", "kind", "program"]],
];
test.each(flows)("a flow with %j: %j", (change, fields) => {
  let found: unknown = {};
  try {
    checkFlow({ ...stored, ...change }, templates, new Map());
  } catch (error) {
    found = error instanceof Error && "fields" in error ? error.fields : error;
  }
  expect(Object.keys(Object(found))).toEqual(fields);
});

test("a program of null is none", () => {
  expect([programOf({}), programOf({ program: null }), programOf({ program })]).toEqual([
    undefined,
    undefined,
    program,
  ]);
});
