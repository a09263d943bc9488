import { describe, expect, test } from "bun:test";
import { ownGrantOf, personFields, reachOf, tableOf, withOwn, type Grant, type Reader } from "./reach.ts";

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

const fields = [
  { name: "no", label: "No", type: "integer", standard: "" },
  { name: "owner", label: "Owner", type: "string", standard: "" },
  { name: "made_by", label: "Made by", type: "string", standard: "{user_id}" },
  { name: "total", label: "Total", type: "number", standard: "" },
];

describe("what a person has by name", () => {
  test("keeps an open table open to those who use it", () => {
    const access = withOwn({ access: null, fields }, 8, { may: "read", own: "owner" }, ["role:user"]);
    expect(access).toEqual([
      { to: "role:user", may: "manage" },
      { to: "user:8", may: "read", where: { owner: "{user_login}" } },
    ]);
    expect(withOwn({ access: null, fields }, 8, undefined, ["role:user"])).toBeNull();
  });
  test.each([
    ["no", "{user_id}"],
    ["owner", "{user_login}"],
    ["made_by", "{user_id}"],
  ])("is by the field %s compared with %s", (field, variable) => {
    expect(withOwn({ access: [], fields }, 8, { may: "edit", own: field }, [])).toEqual([
      { to: "user:8", may: "edit", where: { [field]: variable } },
    ]);
  });
  test("is replaced, taken away and read again, and others stay as they are", () => {
    const access = [{ to: "team:3", may: "read", hide: ["margin"] } as const, own];
    expect(ownGrantOf({ access }, 7)).toEqual({ may: "edit", own: "owner" });
    expect(withOwn({ access, fields }, 7, { may: "manage" }, [])?.[1]).toEqual({ to: "user:7", may: "manage" });
    expect(withOwn({ access, fields }, 7, undefined, [])).toEqual([{ to: "team:3", may: "read", hide: ["margin"] }]);
  });
  test("is offered for the likeliest field first, never for a number", () => {
    expect(personFields(fields).map(({ name }) => name)).toEqual(["made_by", "owner", "no"]);
  });
});

test("a table is read with the fields of all its parts", () => {
  const schema = {
    tables: { a: { fields: { x: "string" } }, b: { fields: { y: { type: "date", label: { pl: "Dzień" } } } } },
  };
  expect(tableOf({ id: 1, code: "t", name: "", access: null, schema }, "pl")).toEqual({
    id: "1",
    code: "t",
    name: "t",
    access: null,
    fields: [
      { name: "x", label: "x", type: "string", standard: "" },
      { name: "y", label: "Dzień", type: "date", standard: "" },
    ],
  });
});
