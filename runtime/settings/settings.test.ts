import { describe, expect, test } from "bun:test";
import { checked, ConfigError, flag, integer, oneOf, readSettings, text } from "./settings.ts";

const settings = {
  name: text("NAME", "none", "A name"),
  count: integer("COUNT", 5, "A number", { min: 1, max: 10 }),
  loud: flag("LOUD", false, "A switch"),
  level: oneOf("LEVEL", "low", "A choice", ["low", "high"]),
  list: checked("LIST", "a,b", "A list", (value) => value.split(",")),
};
const standard = { name: "none", count: 5, loud: false, level: "low" as const, list: ["a", "b"] };

describe("settings", () => {
  test.each<[Record<string, string | undefined>, Partial<ReturnType<typeof readSettings<typeof settings>>>]>([
    [{}, {}],
    [{ NAME: undefined, COUNT: "", LOUD: "  " }, {}],
    [
      { NAME: " Ann ", COUNT: " 7 " },
      { name: "Ann", count: 7 },
    ],
    [{ COUNT: "1" }, { count: 1 }],
    [{ COUNT: "10" }, { count: 10 }],
    [{ COUNT: "007" }, { count: 7 }],
    [
      { LOUD: "true", LEVEL: "high" },
      { loud: true, level: "high" },
    ],
    [{ LIST: "c" }, { list: ["c"] }],
    [{ OTHER: "x" }, {}],
  ])("%j is read", (env, changed) => {
    expect(readSettings(settings, env)).toEqual({ ...standard, ...changed });
  });

  test.each([
    ["COUNT", "0", "must be a whole number from 1 to 10"],
    ["COUNT", "11", "must be a whole number from 1 to 10"],
    ["COUNT", "-1", "must be a whole number from 1 to 10"],
    ["COUNT", "+5", "must be a whole number from 1 to 10"],
    ["COUNT", "5.0", "must be a whole number from 1 to 10"],
    ["COUNT", "5e0", "must be a whole number from 1 to 10"],
    ["COUNT", "0x5", "must be a whole number from 1 to 10"],
    ["COUNT", "5 5", "must be a whole number from 1 to 10"],
    ["COUNT", "0000000000000005", "must be a whole number from 1 to 10"],
    ["LOUD", "yes", "must be true or false"],
    ["LOUD", "TRUE", "must be true or false"],
    ["LOUD", "1", "must be true or false"],
    ["LEVEL", "High", "must be one of low, high"],
    ["LEVEL", "constructor", "must be one of low, high"],
  ])("%s=%s is refused", (name, value, message) => {
    expect(() => readSettings(settings, { [name]: value })).toThrow(new ConfigError([`${name} ${message}`]));
  });

  test("every mistake is a line of one error", () => {
    expect(() => readSettings(settings, { COUNT: "x", LOUD: "x", LEVEL: "x", NAME: "x" })).toThrow(
      "COUNT must be a whole number from 1 to 10\nLOUD must be true or false\nLEVEL must be one of low, high",
    );
  });
});
