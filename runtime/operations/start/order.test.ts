import { describe, expect, test } from "bun:test";
import { inOrder } from "./order.ts";

const plugin = (name: string, needs: string[] = [], provides: string | undefined = name) => ({
  name,
  needs: Object.fromEntries(needs.map((id) => [id, { id }])),
  ...(provides && { provides: { id: provides } }),
});
const names = (plugins: readonly { name: string }[]) => plugins.map(({ name }) => name);

describe("the boot order", () => {
  test("puts what is needed first and keeps the given order otherwise", () => {
    const given = [plugin("c", ["b"]), plugin("x"), plugin("b", ["a"]), plugin("a")];
    expect(names(inOrder(given))).toEqual(["a", "b", "c", "x"]);
  });

  test.each([
    ["a cycle", [plugin("a", ["b"]), plugin("b", ["c"]), plugin("c", ["a"])], "a -> b -> c -> a"],
    ["a need of itself", [plugin("a", ["a"])], "a -> a"],
    ["a need that nobody provides", [plugin("a", ["mail"])], 'plugin "a" needs "mail"'],
    ["two of one name", [plugin("a"), plugin("a", [], "other")], 'two plugins are named "a"'],
    ["two providers of one service", [plugin("a"), plugin("b", [], "a")], '"a" and "b" both provide "a"'],
  ])("stops at %s, naming the plugins", (_name, plugins, message) => {
    expect(() => inOrder(plugins)).toThrow(message);
  });
});
