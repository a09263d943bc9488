import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { firstOf, scopeAfter, scopes, type PromptScope } from "./cascade.ts";

const reader = { id: 1, teamIds: [10, 11], departmentIds: [20] };
const mine: PromptScope = { scope: "user", scopeId: 1 };
const hers: PromptScope = { scope: "user", scopeId: 2 };
const team: PromptScope = { scope: "team", scopeId: 10 };
const otherTeam: PromptScope = { scope: "team", scopeId: 20 };
const department: PromptScope = { scope: "department", scopeId: 20 };
const otherDepartment: PromptScope = { scope: "department", scopeId: 10 };
const account: PromptScope = { scope: "account", scopeId: null };

describe("the cascade", () => {
  const cases: [string, PromptScope[], PromptScope | undefined][] = [
    ["nothing", [], undefined],
    ["one's own first", [account, department, team, mine], mine],
    ["then the team's", [account, department, team, hers], team],
    ["then the department's", [account, department, hers, otherTeam], department],
    ["then the account's", [hers, account, otherTeam, otherDepartment], account],
    ["nothing of others", [hers, otherTeam, otherDepartment], undefined],
    ["of two teams the one with the smaller id", [{ scope: "team", scopeId: 11 }, team], team],
    [
      "the second team, where the first has none",
      [{ scope: "team", scopeId: 11 }, account],
      { scope: "team", scopeId: 11 },
    ],
  ];
  test.each(cases)("gives %s", (_, candidates, expected) =>
    expect(firstOf(candidates, reader)).toEqual(expected as never),
  );

  test("gives the same in whatever order the rows come", () => {
    const place = fc.oneof(
      fc.constant(account),
      fc.record({ scope: fc.constantFrom("user", "team", "department"), scopeId: fc.integer({ min: 1, max: 25 }) }),
    );
    const places = fc.uniqueArray(place as fc.Arbitrary<PromptScope>, { selector: (p) => `${p.scope}${p.scopeId}` });
    fc.assert(
      fc.property(places, fc.func(fc.integer()), (rows, rank) => {
        const shuffled = rows.toSorted((a, b) => rank(a) - rank(b));
        expect(firstOf(shuffled, reader)).toEqual(firstOf(rows, reader) as never);
      }),
    );
  });
});

describe("where a prompt belongs", () => {
  const cases: [string, PromptScope | undefined, Parameters<typeof scopeAfter>[1], PromptScope][] = [
    ["the account without a scope", undefined, {}, account],
    ["the account, whatever the id", undefined, { scope_id: 5 }, account],
    ["oneself without an id", undefined, { scope: "user" }, { scope: "user", scopeId: 7 }],
    ["oneself with an empty one", undefined, { scope: "user", scope_id: null }, { scope: "user", scopeId: 7 }],
    ["somebody else", undefined, { scope: "user", scope_id: 2 }, hers],
    ["a team", undefined, { scope: "team", scope_id: 10 }, team],
    ["where it did", hers, {}, hers],
    ["where it did, said again", hers, { scope: "user" }, hers],
    ["another team", team, { scope_id: 11 }, { scope: "team", scopeId: 11 }],
    ["the account after a team", team, { scope: "account" }, account],
    ["oneself after a team", team, { scope: "user" }, { scope: "user", scopeId: 7 }],
    ["a department after a team", team, { scope: "department", scope_id: 20 }, department],
  ];
  test.each(cases)("%s", (_, current, given, expected) => expect(scopeAfter(current, given, 7)).toEqual(expected));

  test("is not known for a team or department without its id", () => {
    for (const scope of ["team", "department"] as const) {
      for (const current of [undefined, mine, account])
        expect(() => scopeAfter(current, { scope }, 7)).toThrow(expect.objectContaining({ status: 422 }));
    }
    expect(() => scopeAfter(team, { scope_id: null }, 7)).toThrow(expect.objectContaining({ status: 422 }));
    expect(scopes).toEqual(["user", "team", "department", "account"]);
  });
});
