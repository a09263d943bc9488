/** What a search step looks for, by its params and the values of their expressions. */
import { describe, expect, test } from "bun:test";
import { createLiquid } from "../../../runtime/liquid/liquid.ts";
import { readSearch } from "./records.ts";
import { createTemplates } from "./template.ts";

const templates = createTemplates(createLiquid());
const saved = (params: unknown) => readSearch({ value: params, template: params }).mistakes;
const ran = (params: unknown, variables: Record<string, unknown> = {}) => {
  const render = (template: string) => (templates.value(template, variables) as string | null) ?? "";
  return readSearch({ value: templates.value(params, variables), template: params }, undefined, render);
};
const eq = (field: string, value: string, isPattern?: boolean) => ({
  group: undefined,
  field,
  op: "eq",
  value,
  ...(isPattern !== undefined && { isPattern }),
});

describe("params that are no condition are mistakes, for without it a search finds everything", () => {
  test.each<[params: unknown, mistake: string]>([
    [{ where: { status: "old" } }, ".where is unknown in the params of a search: known are q"],
    [{ filters: { status: "old" } }, '.filters is unknown in the params of a search: did you mean "filter"?'],
    [{ filter: "a=1" }, ".filter must be an object"],
    [{ filter: ["a"] }, ".filter must be an object"],
    [{ filter: null }, ".filter must be an object"],
    [{ filter: 7 }, ".filter must be an object"],
    [{ filter: { a: {} } }, ".filter.a has no operator"],
    [{ filter: { a: [1] } }, ".filter.a must be one value, a list is for `in`"],
    [{ filter: { a: { above: 1 } } }, ".filter.a.above is no operator: known are gt"],
    [{ filter: { a: { nul: true } } }, '.filter.a.nul is no operator: did you mean "null"?'],
    [{ filter: { a: { gt: null } } }, ".filter.a.gt must not be null"],
    [{ filter: { a: { gt: {} } } }, ".filter.a.gt must be one value"],
    [{ filter: { a: { in: 5 } } }, ".filter.a.in must be a list of values"],
    [{ filter: { a: { in: "" } } }, ".filter.a.in must be a list of values"],
    [{ any: { a: 1 } }, ".any must be an array of filters"],
    [{ any: [] }, ".any has no filter"],
    [{ any: [{}] }, ".any[0] has no condition"],
    [{ any: ["a=1"] }, ".any[0] must be an object"],
    [{ any: [{ a: { in: null } }] }, ".any[0].a.in must be a list of values"],
    [{ limit: 0 }, ".limit must be a whole number from 1 to 1000"],
    [{ limit: "ten" }, ".limit must be a whole number from 1 to 1000"],
    [{ offset: -1 }, ".offset must be a whole number"],
    [{ all: "yes" }, ".all must be true or false"],
    [{ sort: ["a"] }, ".sort must be a text"],
    [{ fields: [["a"]] }, ".fields must be a list of names"],
    [{ after: "x" }, ".after is unknown in the params of a search"],
  ])("%j", (params, mistake) => {
    expect(saved(params).join("\n")).toContain(mistake);
    expect(ran(params).mistakes.join("\n")).toContain(mistake);
  });

  test.each<[params: unknown, mistake: string]>([
    [{ filter: "{{ missing }}" }, ".filter must be an object"],
    [{ filter: "{{ text }}" }, ".filter must be an object"],
    [{ any: "{{ missing }}" }, ".any must be an array of filters"],
    [{ any: "{{ none }}" }, ".any has no filter"],
    [{ any: ["{{ missing }}"] }, ".any[0] must be an object"],
    [{ filter: { age: { gt: "{{ missing }}" } } }, ".filter.age.gt must not be null"],
    [{ filter: { age: "{{ none }}" } }, ".filter.age must be one value"],
    [{ filter: { age: { in: "{{ missing }}" } } }, ".filter.age.in must be a list"],
    [{ limit: "{{ text }}" }, ".limit must be a whole number"],
  ])("%j is one when the step runs", (params, mistake) => {
    expect(saved(params)).toEqual([]);
    expect(ran(params, { text: "a=1", none: [] }).mistakes.join("\n")).toContain(mistake);
  });

  test("but limits of older programs still go", () => {
    expect(saved({ limit: 2000 })).toEqual([".limit may be at most 1000: `all: true` finds up to 10,000"]);
    expect(ran({ limit: 2000, count: true })).toMatchObject({ mistakes: [], mostFound: 1000, search: { limit: 1001 } });
    expect(saved({ limit: 5, all: true })).toEqual([".all must be left out beside `limit`"]);
  });
});

describe("a search", () => {
  test.each<[params: object, limit: number, mostFound: number | undefined]>([
    [{}, 1001, 1000],
    [{ all: true }, 10_001, 10_000],
    [{ all: false }, 1001, 1000],
    [{ limit: 7 }, 7, undefined],
    [{ limit: "{{ seven }}" }, 7, undefined],
    [{ limit: "{{ missing }}" }, 1001, 1000],
  ])("%j asks for one record more than may be found", (params, limit, mostFound) => {
    expect(ran(params, { seven: "7" })).toMatchObject({ mistakes: [], mostFound, search: { limit } });
  });

  test.each<[filter: unknown, condition: object]>([
    [{ code: "a*" }, eq("code", "a*")],
    [{ code: "{{ star }}" }, eq("code", "*", false)],
    ["{{ whole }}", eq("code", "a%", false)],
    [{ code: "{{ star }}-1" }, eq("code", "*-1", false)],
    [{ code: "{{ star }}*" }, eq("code", "*%", true)],
    [{ code: "_{{ percent }}*x{{ star }}" }, eq("code", String.raw`\_\%\_%x*`, true)],
    [{ code: "{% if star %}a*{% endif %}" }, eq("code", "a*", false)],
    [{ code: { ne: "{{ star }}" } }, { ...eq("code", "*", false), op: "ne" }],
    [{ code: "{{ missing }}" }, eq("code", "", false)],
    [{ n: 5 }, eq("n", "5")],
    [{ ok: true }, eq("ok", "true")],
    [{ n: { gte: "{{ n }}" } }, { ...eq("n", "5"), op: "gte" }],
    [{ name: { in: ["Smith, John", "{{ n }}"] } }, { ...eq("name", ""), op: "in", value: ["Smith, John", "5"] }],
    [{ name: { in: "{{ names }}" } }, { ...eq("name", ""), op: "in", value: ["a,b"] }],
    [{ name: { in: "a,b" } }, { ...eq("name", ""), op: "in", value: "a,b" }],
    [{ name: { in: [] } }, { ...eq("name", ""), op: "in", value: [] }],
    [{ name: { null: true } }, { ...eq("name", ""), op: "null", value: "true" }],
  ])("compares what expressions give exactly: %j", (filter, condition) => {
    const variables = { star: "*", percent: "%_", whole: { code: "a%" }, n: 5, names: ["a,b"] };
    const { mistakes, search } = ran({ filter }, variables);
    expect({ mistakes, conditions: search.conditions }).toEqual({ mistakes: [], conditions: [condition] } as never);
  });

  test("may name its conditions as addresses do", () => {
    const params = { "filter[age][gt]": 5, "any[0][city]": "{{ city }}", "any[1][a][b]": "x", sort: "-age" };
    const { mistakes, search } = ran(params, { city: "*" });
    expect(mistakes).toEqual([]);
    expect(search.params).toEqual({ sort: "-age" });
    expect(search.conditions).toEqual([
      { ...eq("age", "5"), op: "gt" },
      { ...eq("city", "*", false), group: "0" },
      { ...eq("a][b", "x"), group: "1" },
    ] as never);
  });

  test("keeps its lists", () => {
    expect(ran({ fields: ["a,b", "c"], search_in: "a,b", q: 5 }).search.params).toEqual({
      fields: ["a,b", "c"],
      search_in: "a,b",
      q: "5",
    });
  });
});
