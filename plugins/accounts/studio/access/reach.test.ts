import { describe, expect, test } from "bun:test";
import { linksOf, ownGrantOf, reachOf, withOwn, type Grant, type Reader } from "./reach.ts";

const jan: Reader = { id: 7, role: "user", units: ["team:3"], mayUseTables: true };
const guest: Reader = { id: 8, role: "guest", units: [], mayUseTables: false };
const own: Grant = { to: "user:7", may: "edit", where: { owner: "{user_login}" } };

describe("a person reaches", () => {
  test.each([
    ["everything as an administrator", { ...jan, role: "admin" }, [], "manage", false, ["admin"]],
    ["a table without a list", jan, null, "manage", false, ["open"]],
    ["no such table without the right", guest, null, undefined, false, []],
    ["nothing of a list without them", guest, [own], undefined, false, []],
    ["what everyone does", guest, [{ to: "everyone", may: "add" }], "add", false, ["everyone"]],
    ["their own records", jan, [own], "edit", true, ["user:7"]],
    ["the best of two", jan, [{ to: "team:3", may: "read" }, own], "edit", true, ["user:7"]],
    ["all where one line has no limits", jan, [own, { to: "team:3", may: "edit" }], "edit", false, ["team:3"]],
    ["not all fields", guest, [{ to: "role:guest", may: "read", hide: ["margin"] }], "read", true, ["role:guest"]],
  ] as const)("%s", (_, reader, access, may, isLimited, through) => {
    expect(reachOf(reader, { access })).toEqual({ may, isLimited, through: [...through] });
  });
});

describe("what a person has by name", () => {
  test("keeps an open table open to those who use it", () => {
    const access = withOwn(
      null,
      8,
      { may: "read", own: "owner", hide: ["margin"] },
      { openTo: ["role:user"], value: "{user_login}" },
    );
    expect(access).toEqual([
      { to: "role:user", may: "manage" },
      { to: "user:8", may: "read", where: { owner: "{user_login}" }, hide: ["margin"] },
    ]);
    expect(withOwn(null, 8, undefined, { openTo: ["role:user"] })).toBeNull();
  });
  test("is replaced, taken away and read again, and others stay as they are", () => {
    const access = [
      { to: "team:3", may: "read", hide: ["margin"] } as const,
      { ...own, where: { owner: "{user_login}", open: true } },
    ];
    expect(ownGrantOf({ access }, 7)).toEqual({ may: "edit", own: "owner", hide: [] });
    const openTo: string[] = [];
    expect(withOwn(access, 7, { may: "add" }, { openTo })?.[1]).toEqual({
      to: "user:7",
      may: "add",
      where: { open: true },
    });
    expect(withOwn(access, 7, { may: "manage" }, { openTo })?.[1]).toEqual({ to: "user:7", may: "manage" });
    expect(withOwn(access, 7, undefined, { openTo })).toEqual([{ to: "team:3", may: "read", hide: ["margin"] }]);
  });
});

test("a table links to others by the fields that are not hidden", () => {
  const table = (schema: unknown) => ({ id: "1", code: "orders", name: "Orders", access: null, schema });
  const fields = {
    customer: { link: "customers" },
    above: { link: "orders" },
    item: { link: "shop.items" },
    n: "string",
  };
  expect(linksOf(table({ fields }))).toEqual(["customers", "shop"]);
  expect(linksOf(table({ fields }), ["customer"])).toEqual(["shop"]);
  expect(linksOf(table({ tables: { a: { fields }, b: {} } }))).toEqual(["customers", "shop"]);
  expect(linksOf(table(null))).toEqual([]);
});
