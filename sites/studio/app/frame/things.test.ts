import { describe, expect, test } from "bun:test";
import {
  arrangementOf,
  colorOfThing,
  keyOf,
  movedTo,
  ordered,
  pinned,
  thingAt,
  withPin,
  type Thing,
} from "./things.ts";

const thing = (id: string, more: Partial<Thing> = {}): Thing => ({
  kind: "table",
  id,
  name: id.toUpperCase(),
  code: id,
  icon: null,
  color: null,
  failed: 0,
  ...more,
});
const all = ["a", "b", "c"].map((id) => thing(id));
const keys = all.map(keyOf);
const nothing = { pins: [], order: [] };

describe("the menu's things", () => {
  test.each([
    ["table:c", 0, "cab"],
    ["table:a", 1, "bac"],
    ["table:a", 9, "bca"],
    ["table:b", -3, "bac"],
  ])("%s moved to %i are %s", (key, to, order) => {
    expect(
      ordered(all, movedTo(nothing, keys, key, to))
        .map(({ code }) => code)
        .join(""),
    ).toBe(order);
  });

  test("keep their order when another group is arranged, and new ones come last", () => {
    const one = movedTo(nothing, keys, "table:c", 0);
    const both = movedTo(one, ["flow:x", "flow:y"], "flow:y", 0);
    const now = [...all, thing("d")];
    expect(ordered(now, both).map(({ code }) => code)).toEqual(["c", "a", "b", "d"]);
  });

  test("are pinned in the order of pinning, and those that are gone are not shown", () => {
    const pins = withPin(withPin(withPin(nothing, "table:gone", true), "table:b", true), "table:a", true);
    expect(pinned(all, pins).map(({ code }) => code)).toEqual(["b", "a"]);
    expect(withPin(pins, "table:b", false).pins).toEqual(["table:gone", "table:a"]);
  });

  test.each([[undefined], [null], [7], [{ pins: "x", order: [1, {}] }], [{ pins: ["a", "a"], order: null }]])(
    "%j is an arrangement",
    (given) => {
      const { pins, order } = arrangementOf(given);
      expect([pins.length < 2, order]).toEqual([true, []]);
    },
  );

  test("have a colour, their own or one of their id", () => {
    expect(colorOfThing(thing("a", { color: "gray" }))).toBe("gray");
    expect(colorOfThing(thing("a"))).toBe(colorOfThing(thing("a")));
    expect(colorOfThing({ color: null, id: 7 })).not.toBe("");
  });

  test.each([
    ["/studio/core/dbs/a/records", "a"],
    ["/studio/core/dbs/a/schema", "a"],
    ["/studio/core/dbs/ab", undefined],
    ["/studio/core/dbs", undefined],
  ])("%s is the page of %s", (path, code) => {
    expect(thingAt(path, all)?.code).toBe(code);
  });
});
