import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { locales } from "../../locales.ts";
import { groupsOf, rootOf, type Variant } from "./variant.ts";

function reader(all: readonly Variant[]) {
  return async (pages: readonly Variant[]) =>
    all
      .filter((page) => pages.some((one) => rootOf(one) === rootOf(page) || one.path === page.path))
      .map((page) => ({ ...page, more: all.some(({ id, path }) => id !== page.id && path === page.path) }));
}

const page = (id: number, path: string, basedOnPageId: number | null = null): Variant => ({
  id,
  path,
  locale: null,
  basedOnPageId,
});

describe("a page's group", () => {
  const all = [page(1, "a"), page(2, "b", 1), page(3, "b"), page(4, "c", 3), page(5, "x"), page(6, "y", 7)];
  const table: [number, number[]][] = [
    [1, [1, 2, 3, 4]],
    [4, [1, 2, 3, 4]],
    [5, [5]],
    [6, [6]],
  ];
  test.each(table)("of page %p", async (id, expected) => {
    const start = all.filter((one) => one.id === id);
    const groups = await groupsOf(start, reader(all));
    expect(groups.get(id)?.map((one) => one.id)).toEqual(expected);
  });
});

test("every page of a group gets the same group, and each page is in one", async () => {
  const some = fc.array(
    fc.record({
      path: fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h"),
      master: fc.nat(9),
      locale: fc.constantFrom(...locales),
    }),
    { maxLength: 12 },
  );
  await fc.assert(
    fc.asyncProperty(some, async (given) => {
      const all = given.map(({ path, master, locale }, index): Variant => {
        const isSlave = master < index && (given[master]?.master ?? 0) >= master;
        return { id: index + 1, path, locale, basedOnPageId: isSlave ? master + 1 : null };
      });
      const groups = await groupsOf(all, reader(all));
      for (const one of all) {
        const group = groups.get(one.id) ?? [];
        expect(group).toContainEqual(one);
        for (const other of all) {
          const related = other.path === one.path || rootOf(other) === rootOf(one);
          if (related) expect(groups.get(other.id)).toBe(group);
        }
      }
      expect([...new Set(groups.values())].flat()).toHaveLength(all.length);
    }),
  );
});
