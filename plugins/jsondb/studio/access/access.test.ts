/** Grants as people change them, and as they are sent. */
import { expect, test } from "bun:test";
import { accessOf, faultsOf, grantsOf, withGrants, withLevel, type Grant } from "./grants.ts";

const given = [
  { to: "user:7", may: "manage" },
  { to: "team:3", may: "edit", where: { owner: "{user_id}", amount: { gte: "5", lt: "9" } }, hide: ["margin"] },
  {
    to: "everyone",
    may: "read",
    where: { stage: { in: ["open", "won"] }, team: { in: "{team_ids}" }, note: { ne: "" } },
  },
  { to: "role:guest", may: "add", where: { note: "" } },
];

test("grants are read as rows of conditions, and sent as they were", () => {
  const grants = grantsOf(given);
  expect(grants?.[1]?.where).toEqual([
    { field: "owner", op: "eq", value: "{user_id}" },
    { field: "amount", op: "gte", value: "5" },
    { field: "amount", op: "lt", value: "9" },
  ]);
  expect(grants?.[2]?.where).toEqual([
    { field: "stage", op: "in", value: "open, won" },
    { field: "team", op: "in", value: "{team_ids}" },
    { field: "note", op: "filled", value: "" },
  ]);
  expect(grants?.[3]?.where).toEqual([{ field: "note", op: "empty", value: "" }]);
  expect(accessOf(grants ?? [])).toEqual(given);
  expect(grantsOf(null)).toBeUndefined();
});

test("a table that was open to all stays with whoever shares it; nobody stands there twice", () => {
  const one: Grant = { to: "team:3", may: "edit", where: [], hide: [] };
  expect(withGrants(undefined, ["team:3"], "edit", 7)).toEqual([
    { to: "user:7", may: "manage", where: [], hide: [] },
    one,
  ]);
  expect(withGrants([one], ["team:3", "user:8"], "read", 7).map(({ to }) => to)).toEqual(["team:3", "user:8"]);
});

test("whoever may manage has no limits", () => {
  const limited: Grant = { to: "team:3", may: "edit", where: [{ field: "a", op: "eq", value: "1" }], hide: ["b"] };
  expect(withLevel(limited, "manage")).toEqual({ to: "team:3", may: "manage", where: [], hide: [] });
  expect(withLevel(limited, "read")).toEqual({ ...limited, may: "read" });
});

test("what the server says of a grant stands at that grant", () => {
  const { byGrant, others } = faultsOf([
    "[1].where.amount.gte must be a number",
    "[1].hide b is unique",
    "must be null or a list of grants",
  ]);
  expect([...byGrant]).toEqual([[1, ["amount: must be a number", "b is unique"]]]);
  expect(others).toEqual(["must be null or a list of grants"]);
});
