import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { difference, pageSteps } from "./diff.ts";
import type { SiteRecord } from "./kinds.ts";
import { textOf } from "./yaml.ts";

type Place = readonly [code: string, path: string, locale?: string | null, master?: string];

const page = ([code, path, locale = null, master]: Place): SiteRecord => ({
  kind: "page",
  code,
  values: { path, locale, based_on_page_code: master ?? null },
});
const stepsOf = (now: readonly Place[], wanted: readonly Place[]) =>
  pageSteps(difference(now.map(page), wanted.map(page)));

describe("pages are written", () => {
  const table: [what: string, now: Place[], wanted: Place[], steps: string[]][] = [
    ["not at all if nothing changes", [["a", "x"]], [["a", "x"]], []],
    [
      "after their masters",
      [],
      [
        ["slave", "s", "en", "master"],
        ["master", "m", "pl"],
      ],
      ["master", "slave"],
    ],
    [
      "at once if their master does not change",
      [["master", "m"]],
      [
        ["master", "m"],
        ["slave", "s", "en", "master"],
      ],
      ["slave"],
    ],
    [
      "where another page has left",
      [
        ["a", "x"],
        ["b", "y"],
      ],
      [
        ["a", "y"],
        ["b", "z"],
      ],
      ["b", "a"],
    ],
    [
      "in a chain from its end",
      [
        ["a", "1"],
        ["b", "2"],
        ["c", "3"],
      ],
      [
        ["a", "2"],
        ["b", "3"],
        ["c", "4"],
      ],
      ["c", "b", "a"],
    ],
    [
      "new where another one has left",
      [["a", "x"]],
      [
        ["a", "y"],
        ["b", "x"],
      ],
      ["a", "b"],
    ],
    [
      "in a ring, out of which one steps aside",
      [
        ["a", "x"],
        ["b", "y"],
      ],
      [
        ["a", "y"],
        ["b", "x"],
      ],
      ["a aside", "b", "a"],
    ],
    [
      "in a ring of three",
      [
        ["a", "1"],
        ["b", "2"],
        ["c", "3"],
      ],
      [
        ["a", "2"],
        ["b", "3"],
        ["c", "1"],
      ],
      ["a aside", "c", "b", "a"],
    ],
    [
      "side by side at one path in two locales",
      [["a", "x", "pl"]],
      [
        ["a", "x", "pl"],
        ["b", "x", "en"],
      ],
      ["b"],
    ],
    [
      "where the home page was, whatever its locale",
      [["a", "", "pl"]],
      [
        ["b", "", "en"],
        ["a", "start", "pl"],
      ],
      ["a", "b"],
    ],
    [
      "in the end all the same if their masters lead in a circle",
      [],
      [
        ["a", "x", "pl", "b"],
        ["b", "y", "en", "a"],
      ],
      ["a", "b"],
    ],
  ];
  test.each(table)("%s", (_, now, wanted, steps) => {
    expect(stepsOf(now, wanted).map(({ record, asideFirst }) => `${record.code}${asideFirst ? " aside" : ""}`)).toEqual(
      steps,
    );
  });

  test("so that no step takes a place that another page still has, whatever moves where", () => {
    const places = fc.uniqueArray(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(places, places, (from, to) => {
        const at = (numbers: number[]): Place[] => numbers.map((number, index) => [`p${index}`, `at-${number}`]);
        const now = at(from);
        const wanted = at(to.slice(0, from.length));
        // Pages without a file are deleted before.
        const standing = new Map(now.slice(0, wanted.length).map(([code, path]) => [code, path]));
        for (const { record, asideFirst } of stepsOf(now, wanted)) {
          standing.delete(record.code);
          const path = asideFirst ? `aside-${record.code}` : textOf(record.values["path"]);
          expect([...standing.values()]).not.toContain(path);
          standing.set(record.code, path);
        }
        expect(Object.fromEntries(standing)).toEqual(Object.fromEntries(wanted.map(([code, path]) => [code, path])));
      }),
    );
  });
});
