import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseJson } from "studio/exact";
import { fieldTypes } from "../databases/columns.ts";
import { parseSchema } from "../databases/schema.ts";
import { checkRecord } from "../records/record.ts";
import {
  bulkCall,
  conditionsOf,
  fieldsAsked,
  joined,
  operatorsOf,
  parametersOf,
  recordQuery,
  valuesOf,
  withConditions,
  withOneMore,
  type Condition,
} from "./conditions.ts";
import {
  canEditInCell,
  cellText,
  changedFields,
  dayForm,
  dayTyped,
  meantBy,
  plainText,
  rowOf,
  typedText,
  typedValue,
  valueAt,
  type Row,
} from "./cells.ts";
import { aggregateQuery, askedOf, barsOf, conditionsOfBar, drawnOf, extents } from "./views/chart.ts";
import { columnsOf, former, heightOf, paste, placeOfError, update, printTsv, readTsv } from "./grid.ts";
import { lookOf } from "./look/kinds.ts";
import { filterOf as groupFilter, groupsIn } from "./records/groups.ts";
import { meet, staleOf, withTheirs } from "./records/meanwhile.ts";
import { exampleBody, faultsByOperation, isOpenToAll, publicDraftOf, publicMethodsOf } from "./public/methods.ts";
import {
  chosenTable,
  defaultsOf,
  draftOf,
  exampleRecord,
  faultsAt,
  indexPlan,
  isFast,
  givenSchema,
  schemaOf,
} from "./schema.ts";
import {
  addSort,
  addTable,
  arranged,
  changeField,
  fieldFrom,
  moved,
  removeField,
  restoreField,
  setIndexed,
  withField,
} from "./schema/changes.ts";
import { daysOf, monthAfter } from "./views/calendar.ts";
import { bodyOf, differs, queryOf, savedOf, viewOf } from "./views/views.ts";
import { drawn, isWritten, scrollFor, slotted, topOf, type Slot } from "./records/window.ts";

const row = (data: Record<string, unknown>): Row => ({
  id: "1",
  data,
  table_name: null,
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
});

describe("a day as people write it", () => {
  test.each([
    ["24.12.2026", "de", "2026-12-24"],
    ["3.4.26", "pl", "2026-04-03"],
    ["12/24/2026", "en", "2026-12-24"],
    ["3/4/2026", "en", "2026-03-04"],
    ["24/12/2026", "en", "2026-12-24"],
    ["3/4/2026", "de", "2026-04-03"],
    ["12/24/2026", "de", "2026-12-24"],
    [" 2026-1-2 ", "en", "2026-01-02"],
    ["31.02.2026", "de", ""],
    ["1.2.202", "de", ""],
    ["soon", "en", ""],
    ["1.2", "de", ""],
  ])("%s in %s is %j", (text, language, day) => {
    expect(dayTyped(text, language)).toBe(day);
    expect(typedValue("date", text, undefined, language)).toEqual({ value: day || text.trim() });
  });
  test("is read as it is shown", () => {
    for (const language of ["en", "de", "pl"])
      expect(dayTyped(dayForm(language, "2026-02-03"), language)).toBe("2026-02-03");
  });
});

describe("a spreadsheet's clipboard", () => {
  test.each([
    ["", [[""]]],
    ["a", [["a"]]],
    ["a\tb", [["a", "b"]]],
    [
      "a\tb\nc\td\n",
      [
        ["a", "b"],
        ["c", "d"],
      ],
    ],
    ["a\r\nb\r\n", [["a"], ["b"]]],
    ["a\n\nb", [["a"], [""], ["b"]]],
    ["a\t", [["a", ""]]],
    ['"two\nlines"\t"say ""hi"""', [["two\nlines", 'say "hi"']]],
    ['"never closed\tx', [['"never closed', "x"]]],
    ['"quoted" and more\tx', [['"quoted" and more', "x"]]],
  ])("%j", (text, rows) => {
    expect(readTsv(text)).toEqual(rows);
  });

  test("reads what it prints", () => {
    const cell = fc.string({ unit: fc.constantFrom("a", "\t", "\n", "\r", '"', " ") });
    const rows = fc
      .integer({ min: 1, max: 4 })
      .chain((width) =>
        fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 4 }),
      );
    fc.assert(
      fc.property(rows, (cells) => {
        // One empty cell at the end is the same as the line break before it.
        const text = `${printTsv(cells)}\r\n`;
        expect(readTsv(text)).toEqual(cells);
      }),
    );
  });
});

describe("the window of a grid", () => {
  const view = { rows: 1_000_000, rowHeight: 36, scrollTop: 0, viewHeight: 600 };

  test("draws about 25 rows wherever it is, the last one too", () => {
    const whole = drawn(view);
    for (const part of [0, 0.1, 0.5, 0.999, 1]) {
      const { first, end } = drawn({ ...view, scrollTop: part * (whole.height - view.viewHeight) });
      expect(end - first).toBeLessThan(28);
      expect(end - first).toBeGreaterThan(15);
    }
    expect(drawn({ ...view, scrollTop: whole.height - view.viewHeight }).end).toBe(1_000_000);
    expect(whole.height).toBeLessThan(33_000_000);
  });

  test("a row that is asked for is seen whole afterwards", () => {
    const anyRows = fc.integer({ min: 1, max: 2_000_000 });
    fc.assert(
      fc.property(anyRows, fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(), (rows, part, wanted) => {
        const target = wanted % rows;
        const { height } = drawn({ ...view, rows });
        const before = { ...view, rows, scrollTop: part * Math.max(0, height - view.viewHeight) };
        const scrollTop = scrollFor(target, before) ?? before.scrollTop;
        // A hair of rounding is no movement.
        expect(scrollFor(target, { ...before, scrollTop }) ?? scrollTop).toBeCloseTo(scrollTop, 3);
        const { first, end } = drawn({ ...before, scrollTop });
        expect(first <= target && target < end).toBe(true);
      }),
    );
  });

  test("heads of groups may be lower than the rows below them", () => {
    const grouped = { rows: 8, rowHeight: 100, heads: [0, 4], headHeight: 40, scrollTop: 0, viewHeight: 200 };
    const shown = drawn(grouped);
    expect(shown.height).toBe(680);
    expect([0, 1, 4, 5, 7].map((one) => topOf(one, shown, grouped))).toEqual([0, 40, 340, 380, 580]);
    expect([scrollFor(7, grouped), scrollFor(4, { ...grouped, scrollTop: 380 })]).toEqual([480, 340]);
    expect(drawn({ ...grouped, rows: 100, scrollTop: 5000 })).toMatchObject({ first: 47, end: 58 });
  });

  test.each([
    [0, { first: 0, end: 0, height: 0 }],
    [3, { first: 0, end: 3, height: 108 }],
  ])("of %d rows", (rows, expected) => {
    expect(drawn({ ...view, rows })).toMatchObject(expected);
  });
});

describe("cells", () => {
  test.each([
    ["integer", "35", { value: 35 }],
    ["integer", " 35 ", { value: 35 }],
    ["integer", "9007199254740993", { value: "9007199254740993" }],
    ["number", "1.5", { value: 1.5 }],
    ["number", "one", { mistake: "number" }],
    ["number", "1.234,50 €", { value: 1234.5 }],
    ["number", "-1,234.50", { value: -1234.5 }],
    ["number", "1234,5", { value: 1234.5 }],
    ["number", "1 234 567,89", { value: 1_234_567.89 }],
    ["number", "1.234.567", { value: 1_234_567 }],
    ["number", "1,234", { mistake: "number" }],
    ["number", "1.2,3.4", { mistake: "number" }],
    ["number", "1,2,3", { mistake: "number" }],
    ["integer", "1.000", { mistake: "number" }],
    ["boolean", "TRUE", { value: true }],
    ["boolean", "0", { value: false }],
    ["boolean", "maybe", { mistake: "boolean" }],
    ["string", " as it is ", { value: " as it is " }],
    ["date", " 2026-01-31 ", { value: "2026-01-31" }],
    ["date", "31.1.", { value: "31.1." }],
    ["string", "", { value: null }],
    [undefined, "12", { value: "12" }],
  ] as const)("%s %j", (type, text, expected) => {
    expect(typedValue(type, text)).toEqual(expected);
  });

  test.each([
    ["de", "2.500", 2500, "2500"],
    ["de", "2,500", 2.5, "2,5"],
    ["de", "-2.500", -2500, "-2500"],
    ["de", "2.50", 2.5, ""],
    ["de", "0.125", 0.125, ""],
    ["pl", "2.500", 2.5, "2,5"],
    ["pl", "2 500", 2500, ""],
    ["en", "2,500", 2500, "2500"],
    ["en", "2.500", 2.5, "2.5"],
    ["en", "2500", 2500, ""],
  ])("of numbers are read in the language: %s %p is %p", (language, text, value, meant) => {
    expect(typedValue("number", text, undefined, language)).toEqual({ value });
    expect(meantBy(text, language)).toBe(meant);
    // What a cell begins with is read as what it was.
    expect(typedValue("number", typedText(2.125, language), undefined, language)).toEqual({ value: 2.125 });
  });

  test("without a type keep the kind that they had", () => {
    expect(typedValue(undefined, "12", 7)).toEqual({ value: 12 });
    expect(typedValue(undefined, "false", true)).toEqual({ value: false });
    expect(typedValue(undefined, "x", 7)).toEqual({ mistake: "number" });
  });

  test("of long numbers keep their digits", () => {
    const digits = "7615917337495251231";
    const raw = JSON.rawJSON(digits);
    const one = rowOf({ ...row({}), data: { n: raw } });
    expect([cellText(one?.data["n"]), plainText(raw), one && canEditInCell(one, "n")]).toEqual([digits, digits, true]);
    for (const result of [typedValue("number", `${digits}.5`), typedValue(undefined, `${digits}.5`, raw)])
      expect(JSON.stringify(result)).toBe(`{"value":${digits}.5}`);
    expect(typedValue("integer", digits)).toEqual({ value: digits });
    expect(typedValue("number", "1234567890123456789x")).toEqual({ mistake: "number" });
  });

  test("of a long value are cut, and not changed in their cell", () => {
    const long = rowOf({ ...row({ text: "x".repeat(900_000), list: Array(3000).fill(1), n: 1 }) });
    expect(String(long?.data["text"])).toHaveLength(2000);
    expect(String(long?.data["list"])).toHaveLength(2000);
    expect(long && [canEditInCell(long, "text"), canEditInCell(long, "list"), canEditInCell(long, "n")]).toEqual([
      false,
      false,
      true,
    ]);
    expect(cellText("a\nb")).toBe("a b");
    expect(cellText({ a: 1 })).toBe('{"a":1}');
    expect(cellText("y".repeat(5000))).toHaveLength(201);
  });

  test("of the record itself are only looked at; a field may be called like a method", () => {
    expect(canEditInCell(row({}), "created_at")).toBe(false);
    expect(valueAt(row({}), "constructor")).toBeUndefined();
    expect(valueAt(row({ constructor: 1 }), "constructor")).toBe(1);
    expect(rowOf({ id: 1 })).toBeUndefined();
  });
});

describe("groups", () => {
  const status = { type: "string", more: { choices: ["new", { value: "done", label: "Done" }] } } as const;
  const look = lookOf({ name: "status", ...status }, "en", (name) => name);
  const counted = (value: unknown, count: number) => ({ group: { status: value }, count });

  test("stand in the order of the choices, others after them, and those without a value last", () => {
    const answer = [counted("old", 9), counted(null, 4), counted("done", 3), counted("new", 1), counted("", 2)];
    expect(groupsIn(answer, look)).toEqual([
      ["new", 1],
      ["done", 3],
      ["old", 9],
      [null, 6],
    ]);
    expect(groupsIn("?", look)).toEqual([]);
  });

  test.each([
    ["new", "filter[a]=new"],
    ["100%", "filter[a][in][]=100%"],
    [false, "filter[a]=false"],
    [null, "filter[a]="],
  ] as const)("%p is found by %s", (value, parameter) => {
    expect(groupFilter("a", value).join("=")).toBe(parameter);
  });

  test("are kept by a view that is a table", () => {
    const query = new URLSearchParams("group=status");
    expect([bodyOf(query, "table")["group_by"], bodyOf(query, "board")["group_by"]]).toEqual(["status", undefined]);
    const [view] = viewOf({ id: "v", name: "V", kind: "table", group_by: "status" });
    if (!view) throw new Error("no view");
    expect(queryOf(view).get("group")).toBe("status");
    expect(queryOf({ ...view, kind: "board" }).has("group")).toBe(false);
    expect([differs(query, view), differs(new URLSearchParams(), view)]).toEqual([false, true]);
  });
});

describe("filters", () => {
  test.each([
    ["filter[city]=Łódź", { field: "city", op: "eq", value: "Łódź" }],
    ["filter[city]=*od*", { field: "city", op: "contains", value: "od" }],
    ["filter[city]=o*d", { field: "city", op: "eq", value: "o*d" }],
    ["filter[age][gt]=30", { field: "age", op: "gt", value: "30" }],
    ["filter[age][in]=1,2", { field: "age", op: "in", value: "1,2" }],
    ["filter[age][in][]=1,2&filter[age][in][]=3", { field: "age", op: "in", value: '["1,2","3"]' }],
    ["filter[city]=", { field: "city", op: "empty", value: "" }],
    ["filter[city][ne]=", { field: "city", op: "filled", value: "" }],
    ["any[2][city]=*od*", { group: 2, field: "city", op: "contains", value: "od" }],
    ["any[0][age][gt]=30", { group: 0, field: "age", op: "gt", value: "30" }],
  ] as const)("%s", (text, condition) => {
    const search = new URLSearchParams(text);
    expect(conditionsOf(search)).toEqual([condition]);
    expect(new URLSearchParams(parametersOf(condition).map((one) => [...one])).toString()).toBe(search.toString());
  });

  test("what the API calls null is empty", () => {
    const read = (text: string) => conditionsOf(new URLSearchParams(text)).map(({ op }) => op);
    expect(read("filter[city][null]=true&filter[age][null]=false")).toEqual(["empty", "filled"]);
  });

  test("by days of now prefill no new record", () => {
    const due: Condition = { field: "due", op: "eq", value: "{today}" };
    expect(parametersOf(due)).toEqual([["filter[due]", "{today}"]]);
    expect(valuesOf([due, { ...due, value: "2026-01-31" }], () => "date")).toEqual({ due: "2026-01-31" });
    expect(valuesOf([due], () => "date")).toEqual({});
  });

  test("of several values may be typed as a list is", () => {
    expect(parametersOf({ field: "s", op: "in", value: "offen, storniert" })[0]?.[1]).toBe("offen,storniert");
    expect(parametersOf({ field: "s", op: "eq", value: "a, b" })[0]?.[1]).toBe("a, b");
  });

  test("what a new record has is shown, but for what the server fills in", () => {
    const said = ["{user_login}", "by {user_name}", "{today}", "new"];
    const fields = Object.fromEntries(said.map((one, at) => [`f${at}`, { type: "string", default: one }]));
    const [table] = draftOf({ fields }).tables;
    expect(defaultsOf(table, "2026-11-30", { id: 7, name: "Ann" })).toEqual({ f2: "2026-11-30", f3: "new" });
  });

  test("replace those of an address, and leave the rest", () => {
    const search = new URLSearchParams("sort=-age&filter[a]=1&table=t&any[0][b][gt]=2");
    const next = new URLSearchParams(withConditions(search, [{ field: "c", op: "lt", value: "3" }]));
    expect([...next.keys()]).toEqual(["sort", "table", "filter[c][lt]"]);
    expect(withConditions(new URLSearchParams("filter[a]=1"), [{ field: "a", op: "gt", value: "" }])).toBe("");
    expect(fieldsAsked(search)).toEqual(["a", "b", "age"]);
  });

  test("hold all, or any one of them; of groups a view keeps each", () => {
    const search = new URLSearchParams("filter[a]=1&any[0][b]=2&any[0][c]=3&any[4][b][gt]=5&sort=a");
    const conditions = conditionsOf(search);
    expect(withOneMore(conditions, "d", false).map(({ group }) => group)).toEqual([undefined, undefined, 0, 0, 4]);
    expect(withOneMore(conditions, "d", true).at(-1)).toEqual({ field: "d", op: "eq", value: "", group: 5 });
    expect(joined(conditions, true).map(({ group }) => group)).toEqual([0, 1, 2, 3]);
    expect(withConditions(new URLSearchParams(), joined(conditions, false).slice(1, 2))).toBe("?filter%5Bb%5D=2");
    const body = bodyOf(search);
    expect(body["filters"]).toEqual({ a: "1", any: [{ b: "2", c: "3" }, { b: { gt: "5" } }] });
    const [view] = viewOf({ id: "v", name: "V", ...body });
    if (!view) throw new Error("no view");
    expect([...queryOf(view).keys()]).toEqual(["view", "filter[a]", "any[0][b]", "any[0][c]", "any[1][b][gt]", "sort"]);
    expect([differs(search, view), differs(new URLSearchParams("filter[a]=1&sort=a"), view)]).toEqual([false, true]);
    // What must hold is what a new record begins with, not what may.
    expect(valuesOf(conditions, () => "string")).toEqual({ a: "1" });
  });

  test("are asked of the API without what is the Studio's own", () => {
    const search = new URLSearchParams("sort=-age&filter[a]=1&table=t&any[0][b]=2&cols=a&open=7&q=x&limit=9");
    expect([...recordQuery(search, "t")].map(([name, value]) => `${name}=${value}`)).toEqual([
      "table_name=t",
      "q=x",
      "sort=-age",
      "filter[a]=1",
      "any[0][b]=2",
    ]);
  });

  test("have the operators of the field's type", () => {
    expect(operatorsOf("boolean")).not.toContain("gt");
    expect(operatorsOf("integer")).not.toContain("contains");
    expect(operatorsOf("text")).toContain("contains");
    expect(operatorsOf(undefined)).toContain("gt");
  });
});

describe("paste", () => {
  const columns = [
    { name: "name", type: "string" },
    { name: "age", type: "integer" },
    { name: "created_at", type: undefined },
  ] as const;
  const rows = [row({ name: "Ann", age: 1 })];
  const onto = (size = { rows: 1, columns: 1 }, column = 0) => ({
    columns,
    from: { row: 0, column },
    size,
    rowAt: (at: number) => rows[at],
    table: "t",
  });

  test("changes the records it covers, makes those below, and knows the way back", () => {
    const result = paste(
      [
        ["Anna", "2", "x"],
        ["Bob", ""],
      ],
      onto(),
    );
    expect(result.operations).toEqual([
      {
        op: "update",
        id: "1",
        data: { name: "Anna", age: 2 },
        table_name: null,
        if_updated_at: rows[0]!.updated_at,
      },
      { op: "create", data: { name: "Bob" }, table_name: "t" },
    ]);
    expect(former(result.seen[0]!, { name: "Anna", age: 2, city: "x" })).toEqual({ name: "Ann", age: 1, city: null });
    expect(result).toMatchObject({ wrong: [], leftOut: 1, beyond: 0 });
  });

  test("counts what it cannot take: cells of others, and cells right of the last column", () => {
    const there = rows[0]!.created_at;
    expect(paste([["A", "1", there]], onto())).toMatchObject({ leftOut: 0, beyond: 0 });
    expect(paste([["A", "1", "", ""]], onto())).toMatchObject({ leftOut: 1, beyond: 0 });
    expect(paste([["A", "1", there, "", "x", "y"]], onto())).toMatchObject({ leftOut: 0, beyond: 2 });
  });

  test("knows how many rows it covers", () => {
    expect(heightOf([["x"]], { rows: 3000 })).toBe(3000);
    expect(heightOf([["x"], ["y"]], { rows: 3000 })).toBe(2);
    expect(heightOf([["x", "y"]], { rows: 3000 })).toBe(1);
  });

  test("of one cell fills the rectangle; what is no number is named", () => {
    expect(paste([["7"]], onto({ rows: 1, columns: 2 })).operations[0]?.data).toEqual({ name: "7", age: 7 });
    expect(paste([["young"]], onto(undefined, 1))).toMatchObject({
      operations: [],
      wrong: [{ place: { row: 0, column: "age" }, mistake: "number" }],
    });
  });

  test.each([
    ["operations[3].data.age", { at: 3, field: "age" }],
    ["operations[12].id", { at: 12, field: "id" }],
    ["operations[0].data.a.b", { at: 0, field: "a.b" }],
    ["operations", undefined],
  ])("a refusal of %s has its place", (path, place) => {
    expect(placeOfError(path)).toEqual(place);
  });
});

describe("changes of records that somebody else has changed", () => {
  const seen = { ...row({ name: "Ann", age: 1, city: "Wien" }), updated_at: "2026-01-01T00:00:00.000Z" };
  const changed = (data: object, rest: Partial<Row> = {}): ReadonlyMap<string, Row> =>
    new Map([["1", { ...seen, data: { ...seen.data, ...data }, updated_at: "2026-01-02T00:00:00.000Z", ...rest }]]);
  const before = new Map([["1", seen]]);
  const mine = update(seen, { name: "Mine", age: 2 });
  const later = { if_updated_at: "2026-01-02T00:00:00.000Z" };

  test("go on where the others have left those cells alone, or have put the same there", () => {
    const met = meet([mine], before, changed({ city: "Brno", age: 2 }, { table_name: "moved" }));
    expect(met).toEqual({ operations: [{ ...mine, ...later, table_name: "moved" }], both: [] });
  });

  test("name the cells of both, which can be left to the others", () => {
    const met = meet([mine], before, changed({ name: "Theirs", city: "Brno" }));
    expect(met.both).toEqual([{ id: "1", field: "name", theirs: "Theirs", mine: "Mine" }]);
    expect(met.operations).toEqual([{ ...mine, ...later }]);
    expect(withTheirs(met)).toEqual([{ ...mine, ...later, data: { age: 2 } }]);
    const all = meet([mine], before, changed({ name: "Theirs", age: null }));
    expect([all.both.length, withTheirs(all)]).toEqual([2, []]);
  });

  test("do not take a long value that is known in part for one that was left alone", () => {
    const cut = { cut: new Set(["name"]) };
    expect(meet([mine], before, changed({}, cut)).both).toHaveLength(1);
    expect(meet([mine], new Map([["1", { ...seen, ...cut }]]), changed({})).both).toHaveLength(1);
  });

  test("ask before they delete; what is gone or new is left to the server", () => {
    const deletion = { op: "delete", id: "1", if_updated_at: seen.updated_at } as const;
    const met = meet([deletion], before, changed({}));
    expect(met.both).toEqual([{ id: "1", field: undefined, theirs: undefined, mine: undefined }]);
    expect(met.operations).toEqual([{ ...deletion, ...later }]);
    expect(withTheirs(met)).toEqual([]);
    const made = { op: "create", data: { name: "x" } } as const;
    expect(meet([mine, made], before, new Map())).toEqual({ operations: [mine, made], both: [] });
  });

  test.each([
    [
      ["operations[3].if_updated_at", "operations[999].if_updated_at"],
      [3, 999],
    ],
    [["operations[3].if_updated_at", "operations[4].data.age"], []],
    [["operations[3].data.if_updated_at"], []],
    [[], []],
  ])("are found in a refusal of %p", (paths, places) => {
    expect(staleOf(Object.fromEntries(paths.map((path) => [path, ["x"]])))).toEqual(places);
  });
});

describe("public methods", () => {
  test.each([
    [{ list: true, create: { allowed_fields: ["a", "b"], default_values: { n: 1, s: "1", t: "x = y" } } }],
    [{ update: { auto_fields: { visitor: "{cookie_key}" }, scope_by: "visitor" }, delete: { scope_by: "visitor" } }],
    [{ get: { auto_fields: { who: "{ip}" }, later_option: 7 } }],
    [{}],
  ])("%j are sent as they were read", (methods) => {
    expect(publicMethodsOf(publicDraftOf(methods))).toEqual({ value: methods });
  });

  test("keep all digits of a default", () => {
    const text = '{"create":{"default_values":{"order":7615917337495251231,"price":0.10000000000000000001}}}';
    expect(JSON.stringify(publicMethodsOf(publicDraftOf(parseJson(text))))).toBe(`{"value":${text}}`);
    expect(JSON.stringify(givenSchema('{"later":7615917337495251231}'))).toBe('{"later":7615917337495251231}');
  });

  test("that are closed or whose options are empty are left out; a line without a value is refused", () => {
    const draft = publicDraftOf({ list: false, get: null, search: { allowed_fields: ["a"] }, create: true });
    const empty = { ...draft.search, texts: { allowed_fields: " " } };
    expect(publicMethodsOf({ ...draft, search: empty })).toEqual({ value: { search: true, create: true } });
    const wrong = { ...draft.create, texts: { default_values: "status" } };
    expect(publicMethodsOf({ ...draft, create: wrong })).toEqual({ wrong: ["create"] });
  });

  test("have an example of what a visitor sends, and say who may change what", () => {
    const draft = publicDraftOf({ create: { allowed_fields: ["age"] }, update: true, delete: { scope_by: "visitor" } });
    const fields = [
      { name: "age", type: "integer" },
      { name: "secret", type: "string" },
    ];
    expect(exampleBody("create", draft.create, fields, "")).toEqual({ data: { age: 1 } });
    expect(exampleBody("update", draft.update, fields, "7")).toEqual({ id: "7", data: { age: 1, secret: "text" } });
    expect([
      isOpenToAll("update", draft.update),
      isOpenToAll("delete", draft.delete),
      isOpenToAll("list", draft.list),
    ]).toEqual([true, false, false]);
    expect(faultsByOperation(["create.scope_by: needs", "list: must be", "odd"])).toEqual({
      byOperation: { create: ["create.scope_by: needs"], list: ["list: must be"] },
      others: ["odd"],
    });
  });
});

describe("charts", () => {
  const fields = [
    { name: "city", type: "string", required: false },
    { name: "age", type: "integer", required: false },
    { name: "joined", type: "date", required: false },
  ] as const;

  test.each([
    ["", { by: "joined", unit: "month", measure: "count", of: undefined }],
    ["by=joined", { by: "joined", unit: "month", measure: "count", of: undefined }],
    ["by=joined&unit=year&measure=sum", { by: "joined", unit: "year", measure: "sum", of: "age" }],
    ["by=city&unit=year&measure=avg&of=city", { by: "city", unit: undefined, measure: "avg", of: "age" }],
    ["by=created_at&unit=week&measure=no", { by: "created_at", unit: "month", measure: "count", of: undefined }],
  ] as const)("%j asks", (search, asked) => {
    expect(askedOf(new URLSearchParams(search), fields)).toEqual(asked);
  });

  test("begin with a choice, a day, a yes or no, never with the title", () => {
    const more = { choices: ["new"] };
    const begun = (...given: Parameters<typeof askedOf>[1][number][]) => askedOf(new URLSearchParams(), given).by;
    const [city, age, day] = fields;
    const done = { name: "done", type: "boolean", required: false } as const;
    const status = { name: "status", type: "string", required: false, more } as const;
    expect(begun(city, done, day, status)).toBe("status");
    expect(begun(city, age, done, day)).toBe("joined");
    expect(begun(city, age, done)).toBe("done");
    expect(begun(city, age)).toBe("created_at");
  });

  test("draw the largest, of times all", () => {
    const bars = Array.from({ length: 25 }, (_, at) => ({
      label: `${at}`,
      value: at || null,
      shown: `${at}`,
      count: 1,
    }));
    const [byCity, byMonth] = ["by=city", "by=joined"].map((one) => askedOf(new URLSearchParams(one), fields));
    expect(byCity && drawnOf(bars, byCity).map(({ label }) => label)).toEqual(
      Array.from({ length: 20 }, (_, at) => `${24 - at}`),
    );
    expect(byMonth && drawnOf(bars, byMonth).map(({ label }) => label)).toEqual(
      Array.from({ length: 25 }, (_, at) => `${24 - at}`),
    );
  });

  test("draw what the API answers; zero is on the chart", () => {
    const asked = askedOf(new URLSearchParams("by=city&measure=sum"), fields);
    expect([...aggregateQuery(asked, new URLSearchParams("filter[age][gt]=1"))].flat().join(" ")).toBe(
      "filter[age][gt] 1 group_by city sum age sort -count limit 1000",
    );
    const bars = barsOf(
      [
        { group: { city: "Łódź" }, count: 2, sum: { age: 30 } },
        { group: { city: null }, count: 1, sum: { age: null } },
        { group: { city: "Wien" }, count: 1, sum: { age: "-10" } },
      ],
      asked,
    );
    expect(bars.map(({ label, value }) => [label, value])).toEqual([
      ["Łódź", 30],
      ["", null],
      ["Wien", -10],
    ]);
    expect(extents(bars)).toEqual([
      { start: 25, size: 75 },
      { start: 25, size: 0 },
      { start: 0, size: 25 },
    ]);
    expect(extents([])).toEqual([]);
  });

  test.each([
    ["by=city", "Łódź", "filter[city]=Łódź"],
    ["by=city", "", "filter[city]="],
    ["by=city", "a*,b", "filter[city][in][]=a*,b"],
    ["by=joined", "2026-02", "filter[joined][gte]=2026-02-01&filter[joined][lte]=2026-02-28"],
    ["by=joined&unit=year", "2026", "filter[joined][gte]=2026-01-01&filter[joined][lte]=2026-12-31"],
    ["by=joined&unit=day", "2026-02-03", "filter[joined]=2026-02-03"],
  ])("a bar of %s for %p leads to %s", (search, label, found) => {
    const asked = askedOf(new URLSearchParams(search), fields);
    const parameters = conditionsOfBar(asked, label).flatMap(parametersOf);
    expect(parameters.map((one) => one.join("=")).join("&")).toBe(found);
  });
});

describe("a view", () => {
  const kept = { id: "v", name: "Late", kind: "board", table_name: "orders", group_by: "status", shared: true };
  const [view] = viewOf({
    ...kept,
    filters: { a: "1", age: { gte: 5, in: ["x", "y"] } },
    sort: ["-age"],
    columns: ["a", "b"],
  });

  test("is an address, and an address is a view", () => {
    expect(view).toMatchObject({ kind: "board", groupBy: "status", isShared: true, dateField: null });
    const query = view ? queryOf(view) : new URLSearchParams();
    expect([...query]).toEqual([
      ["view", "v"],
      ["table", "orders"],
      ["filter[a]", "1"],
      ["filter[age][gte]", "5"],
      ["filter[age][in]", "x,y"],
      ["sort", "-age"],
      ["cols", "a,b"],
    ]);
    expect(bodyOf(query)).toEqual({
      table_name: "orders",
      filters: { a: "1", age: { gte: "5", in: ["x", "y"] } },
      sort: ["-age"],
      columns: ["a", "b"],
    });
  });

  test("of a chart keeps what it measures, and values that have a comma", () => {
    const filters = { city: { in: ["a,b", "c"] } };
    const chart = { group_by: "due", unit: "year", measure: "sum", measure_field: "age" };
    const [one] = viewOf({ id: "c", name: "C", kind: "chart", filters, ...chart });
    if (!one) throw new Error("no view");
    const query = queryOf(one);
    expect(String(query)).toContain("by=due&unit=year&measure=sum&of=age");
    expect(bodyOf(query, "chart")).toMatchObject({ filters, ...chart });
    expect(differs(query, one)).toBe(false);
  });

  test.each([
    ["", false],
    ["&open=7&month=2026-01&chosen=x", false],
    ["&filter[b]=1", true],
    ["&cols=a", true],
  ])("is changed by %p: %p", (more, is) => {
    if (!view) throw new Error("no view");
    const query = new URLSearchParams(`${queryOf(view)}${more}`);
    if (more === "&cols=a") query.set("cols", "a");
    expect(differs(query, view)).toBe(is);
  });

  test("of an unknown kind is a table, and what is none is left out", () => {
    expect(viewOf({ id: "1", name: "N", kind: "globe" })).toMatchObject([{ kind: "table", filters: {}, columns: [] }]);
    expect([viewOf(null), viewOf({ id: 1, name: "N" })]).toEqual([[], []]);
    expect(savedOf([{ name: "Old", query: "sort=age", more: 1 }, { name: 1 }, null])).toEqual([
      { name: "Old", query: "sort=age" },
    ]);
  });

  test.each([
    ["2026-02", "2026-01-26", "2026-03-01", 35],
    ["2026-06", "2026-06-01", "2026-07-05", 35],
    ["2026-11", "2026-10-26", "2026-12-06", 42],
  ])("of the month %s shows whole weeks", (month, first, last, count) => {
    const days = daysOf(month);
    expect([days[0], days.at(-1), days.length]).toEqual([first, last, count]);
  });

  test("goes from month to month over years", () => {
    expect([monthAfter("2026-12", 1), monthAfter("2026-01", -1)]).toEqual(["2027-01", "2025-12"]);
  });
});

describe("a record's JSON", () => {
  test.each([
    ['{"a":1,"b":"x"}', {}],
    ['{"a":2,"b":"x"}', { a: 2 }],
    ['{"a":1}', { b: null }],
    ['{"a":1,"b":"x","c":[1]}', { c: [1] }],
    ["[1]", undefined],
    ["{", undefined],
  ])("%s changes", (text, changed) => {
    expect(changedFields({ a: 1, b: "x" }, text)).toEqual(changed);
  });
});

test("columns are those of the schema, then what records have beside, which one asks for, then the record's own", () => {
  const fields = [{ name: "name", type: "string" }] as const;
  const names = (chosen: string | null) => columnsOf(fields, [row({ name: 1, odd: 2 })], chosen, false);
  expect(names(null).all.map(({ name }) => name)).toEqual(["name", "odd", "id", "created_at", "updated_at"]);
  expect(names(null).shown.map(({ name }) => name)).toEqual(["name", "created_at"]);
  expect(names("name,odd").shown.map(({ name }) => name)).toEqual(["name", "odd"]);
  expect(columnsOf([], [row({ odd: 2, none: null })], null, false).shown.map(({ name }) => name)).toEqual([
    "odd",
    "created_at",
  ]);
  expect(names("id,gone,name").shown.map(({ name }) => name)).toEqual(["id", "name"]);
});

describe("a schema", () => {
  const people = {
    fields: { email: { type: "string", required: true }, city: "string", age: "integer" },
    indexed_fields: ["email", "age"],
  };

  test.each([
    ["one table", people],
    ["tables", { tables: { people, notes: { fields: { text: "text" }, indexed_fields: [] } } }],
    ["what nobody knows", { fields: { a: { type: "string", label: "A" } }, indexed_fields: ["a"], version: 2 }],
    ["sorts", { ...people, sorts: [["email", "-age"]] }],
    ["sorts of tables", { tables: { people: { ...people, sorts: [["email", "-age"]] } } }],
    ["fixed columns", { fields: { a: "string", b: "string" }, indexes: { b: "idx_str_3" }, indexed_fields: ["a"] }],
  ])("of %s is sent as it was read", (_, schema) => {
    expect(JSON.stringify(schemaOf(draftOf(schema)))).toBe(JSON.stringify(schema));
  });

  test("fills three columns of texts, two of numbers, two of times", () => {
    const types = ["string", "text", "string", "string", "integer", "number", "number", "date", "boolean"] as const;
    const fields = types.map((type, at) => ({ name: `f${at}`, type, required: false }));
    const table = { name: "", fields, indexed: fields.map(({ name }) => name), columns: {}, sorts: [] };
    expect([...indexPlan(table).keys()]).toEqual(["f0", "f1", "f2", "f4", "f5", "f7"]);
    expect([isFast(table, "f2"), isFast(table, "f3"), isFast(table, "f8"), isFast(table, "created_at")]).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });

  test("has an example of a record, which it accepts", () => {
    const fields = Object.fromEntries(fieldTypes.map((type) => [`a_${type}`, { type, required: true }]));
    for (const schema of [{ fields }, { tables: { people: { fields } } }]) {
      const parsed = parseSchema(schema);
      const tables = "schema" in parsed ? parsed.schema.tables : undefined;
      const { table_name: name = "", data } = exampleRecord(
        draftOf(schema).tables.find((one) => one.fields.length > 0),
      );
      expect(Object.keys(data)).toEqual(Object.keys(fields));
      const table = tables?.get(name);
      expect(table).toBeDefined();
      if (table) expect(checkRecord(table, data)).toBeUndefined();
      for (const type of fieldTypes) {
        const value = data[`a_${type}`];
        expect(typedValue(type, plainText(value))).toEqual({ value });
      }
    }
    expect(exampleRecord(undefined)).toEqual({ data: { name: "Ann" } });
    const hard = {
      size: { type: "string", choices: [{ value: "S" }, "M"] },
      tags: { type: "list", choices: ["a", "b"] },
      site: { type: "string", format: "url", required: true },
      owner: { type: "string", link: "people" },
      stars: { type: "integer", min: 50 },
    };
    const [draft] = draftOf({ fields: hard }).tables;
    expect(exampleRecord(draft).data).toEqual({ size: "S", tags: ["a"], site: "https://example.com", stars: 50 });
  });

  test("keeps the options that nothing here reads", () => {
    const fields = {
      size: { type: "string", choices: ["S", "M"], label: { pl: "Rozmiar" }, unheard_of: [1] },
      tags: "list",
    };
    const table = { fields, indexed_fields: ["size"], title_field: "size", trash_days: 7, unheard_of: { a: null } };
    for (const schema of [table, { tables: { a: table, b: { fields: {}, indexed_fields: [] } }, history: true }])
      expect(schemaOf(draftOf(schema))).toEqual(schema);
    const [draft] = draftOf(table).tables;
    const renamed = draft && changeField(draft, "size", fieldFrom("fit", fields.size));
    expect(renamed && schemaOf({ multiTable: false, tables: [renamed] })).toEqual({
      ...table,
      fields: { fit: fields.size, tags: "list" },
      indexed_fields: ["fit"],
      title_field: "fit",
    });
    expect(renamed && removeField(renamed, "fit").more?.["title_field"]).toBeNull();
    expect(addTable(draftOf({ tables: {}, history: true }), "a", "b").more).toEqual({ history: true });
  });

  test("names the option of each mistake of a field", () => {
    const messages = [
      "tables.orders.fields.a.b: must be one of string",
      "tables.orders.fields.a.b.choices[1].label.pl: must be a text",
      "tables.orders.fields.a.big: is another field",
      "odd",
    ];
    expect(faultsAt(messages, "tables.orders.fields.a.b")).toEqual({
      at: { "": "must be one of string", "choices[1].label.pl": "must be a text" },
      others: ["tables.orders.fields.a.big: is another field", "odd"],
    });
  });

  test("is changed field by field, and what is removed comes back as it was", () => {
    const [table] = draftOf({ ...people, title_field: "city", sorts: [["email", "-age"]] }).tables;
    if (!table) throw new Error("no table");
    const names = (of: typeof table) => of.fields.map(({ name }) => name);
    const renamed = changeField(table, "email", fieldFrom("mail", { type: "string" }));
    expect([renamed.indexed, renamed.fields[0]?.name]).toEqual([["mail", "age"], "mail"]);
    expect(removeField(renamed, "mail").indexed).toEqual(["age"]);
    expect(names(arranged(table, moved(names(table), 2, 0)))).toEqual(["age", "email", "city"]);
    expect(moved(names(table), 2, 3)).toEqual(names(table));
    expect(setIndexed(table, "email", false).indexed).toEqual(["age"]);
    expect(setIndexed(setIndexed(table, "city", true), "email", true).indexed).toEqual(["email", "age", "city"]);
    for (const name of ["email", "city", "age"]) {
      const gone = removeField(table, name);
      expect([names(gone).includes(name), gone.indexed.includes(name)]).toEqual([false, false]);
      expect(restoreField(gone, table, name)).toEqual(table);
      expect(restoreField(table, table, name)).toBe(table);
    }
    const added = withField({ multiTable: false, tables: [table] }, "", "no", { type: "integer" }, 1);
    expect(names(added.tables[0] ?? table)).toEqual(["email", "no", "city", "age"]);
    expect(addTable(draftOf(people), "lines", "people").tables.map(({ name }) => name)).toEqual(["people", "lines"]);
  });

  test("keeps the sorts of fields that keep their index", () => {
    const [table] = draftOf({
      ...people,
      sorts: [
        ["email", "-age"],
        ["age", "email"],
      ],
    }).tables;
    if (!table) throw new Error("no table");
    const mail = changeField(table, "email", fieldFrom("mail", { type: "string" }));
    expect(mail.sorts).toEqual([
      ["mail", "-age"],
      ["age", "mail"],
    ]);
    expect(changeField(table, "age", fieldFrom("years", { type: "integer" })).sorts).toEqual([
      ["email", "-years"],
      ["years", "email"],
    ]);
    expect(removeField(table, "city").sorts).toEqual(table.sorts);
    expect(removeField(table, "age").sorts).toEqual([]);
    expect(setIndexed(table, "email", false).sorts).toEqual([]);
    expect(addSort(table, ["email", "age"]).sorts.at(-1)).toEqual(["email", "age"]);
    expect(addSort(table, ["email", "-age"])).toBe(table);
    const parsed = parseSchema(schemaOf({ multiTable: false, tables: [mail] }));
    expect("schema" in parsed && parsed.schema.tables.get("")?.sorts).toHaveLength(2);
  });

  test("shows the table of the address, else the first", () => {
    const draft = draftOf({ tables: { a: { fields: {} }, b: { fields: {} } } });
    expect(["b", "gone", null, "*"].map((name) => chosenTable(draft, name)?.name)).toEqual(["b", "a", "a", undefined]);
    expect(chosenTable(draftOf(null), null)?.fields).toEqual([]);
  });
});

describe("rows of the document", () => {
  const at = (...slots: number[]) => slots.map((slot, n): Slot => ({ slot, index: n }));

  test.each<{ name: string; before: Slot[]; wanted: number[]; slots: number[] }>([
    { name: "nothing was shown", before: [], wanted: [0, 1, 2], slots: [0, 1, 2] },
    { name: "the same rows", before: at(2, 0, 1), wanted: [0, 1, 2], slots: [2, 0, 1] },
    { name: "one further", before: at(0, 1, 2), wanted: [1, 2, 3], slots: [1, 2, 0] },
    { name: "far away", before: at(0, 1, 2), wanted: [70, 71, 72], slots: [0, 1, 2] },
    { name: "more than before", before: at(0, 1), wanted: [5, 6, 7], slots: [0, 1, 2] },
    { name: "fewer than before", before: at(0, 1, 2), wanted: [2], slots: [2] },
    { name: "with the row that has the focus", before: at(0, 1, 2), wanted: [1, 8, 9], slots: [1, 0, 2] },
  ])("$name", ({ before, wanted, slots }) => {
    expect(slotted(before, wanted)).toEqual(wanted.map((index, n) => ({ index, slot: slots[n] ?? -1 })));
  });

  test("no two rows ever share one, and no more are made than are shown at once", () => {
    const wanted = fc.tuple(fc.nat(1000), fc.integer({ min: 1, max: 30 }));
    fc.assert(
      fc.property(fc.array(wanted, { maxLength: 20 }), (views) => {
        let shown: readonly Slot[] = [];
        for (const [first, count] of views) {
          shown = slotted(
            shown,
            Array.from({ length: count }, (_, n) => first + n),
          );
          const slots = shown.map(({ slot }) => slot);
          expect(new Set(slots).size).toBe(count);
          expect(Math.max(...slots)).toBeLessThan(30);
        }
      }),
    );
  });
});

test.each([
  [{ key: "a" }, true],
  [{ key: "?" }, true],
  [{ key: "Dead" }, true],
  [{ key: "ą", altKey: true }, true],
  [{ key: "ą", ctrlKey: true, altKey: true, graph: true }, true],
  [{ key: "a", altKey: true }, false],
  [{ key: "c", ctrlKey: true }, false],
  [{ key: " " }, false],
  [{ key: "F2" }, false],
] as const)("%p writes something: %p", (key: { key: string; graph?: boolean }, writes) => {
  const none = { ctrlKey: false, metaKey: false, altKey: false };
  expect(isWritten({ ...none, ...key, getModifierState: () => key.graph === true })).toBe(writes);
});

describe("a change of all that a list finds", () => {
  test.each([
    ["", "", { op: "delete", all: true }],
    ["sort=-age", "", { op: "delete", all: true }],
    ["table_name=orders&sort=no", "?table_name=orders", { op: "delete" }],
    [
      "q=a*&filter%5Bage%5D%5Bgt%5D=3&any%5B0%5D%5Bx%5D=1",
      "?q=a*&filter%5Bage%5D%5Bgt%5D=3&any%5B0%5D%5Bx%5D=1",
      { op: "delete" },
    ],
  ])("of %j", (query, search, body) => {
    expect(bulkCall(new URLSearchParams(query), { op: "delete" })).toEqual({ search, body });
  });
  test("carries the fields", () => {
    const { body } = bulkCall(new URLSearchParams("q=a"), { op: "update", data: { age: null } });
    expect(body).toEqual({ op: "update", data: { age: null } });
  });
});
