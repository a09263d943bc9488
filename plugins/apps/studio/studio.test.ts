/** What the Studio's pages of apps decide, and the apps that one can start with. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "platform/test";
import { freeName, jsonOf, rowsOf, sampleOf, valuesOf } from "./actions.ts";
import { entriesOf } from "./console.ts";
import { answerOf, changedLines, guideOf, inputsOfTables, tablesOfApp } from "./describe.ts";
import { createLatest } from "./latest.ts";
import { placeOf, visitorsMay } from "./place.ts";
import { fieldsIn, sourceOf, starters } from "./starters.ts";

describe("starters", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.stop());

  const hostile = {
    name: '"</script>`${x}`{',
    fields: [{ name: "FIELDS", type: "text", required: true }],
    table: "NAME",
  };

  test.each(starters.filter(({ source }) => source !== "").map((starter) => [starter.id, starter] as const))(
    "%s compiles, its needs can be made",
    async (_, starter) => {
      const { engine: app_engine, css: css_engine, database, action } = starter;
      const own = { name: "Own", fields: fieldsIn(starter), table: null };
      for (const filling of [own, hostile, { ...own, isOpen: true }]) {
        const source_code = sourceOf(starter, filling);
        const made = await app.post("/core/apps/preview.json", { app: { app_engine, css_engine, source_code } });
        expect({ status: made.status, json: made.json }).toMatchObject({ status: 200 });
      }
      if (database) expect((await app.post("/core/dbs.json", { db: { name: "Own", ...database } })).status).toBe(201);
      if (action) {
        const flow = { name: "Own", fields: { program: action.program } };
        expect((await app.post("/connect/flows.json", { flow })).status).toBe(201);
      }
    },
  );
});

describe("reports of a preview", () => {
  const entry = (fields: object) => ({
    type: "core:report",
    entries: [{ level: "error", text: "x", place: "", count: 1, ...fields }],
  });

  test.each([
    ["another message", { type: "core:height", height: 3 }],
    ["no entries", { type: "core:report" }],
    ["a text", "core:report"],
    ["null", null],
  ])("%s is none", (_, message) => {
    expect(entriesOf(message, null)).toBeUndefined();
  });

  test.each([
    ["the place", { place: "app:3:14" }, null, 3],
    ["the place in a page of HTML", { place: "3q2-7wAbCdEfGhIjKlMnOpQr:12:1" }, null, 12],
    ["the stack", { text: "Error: no\n    at f (app:7:2)" }, null, 7],
    ["the stack of a page", { text: "Error: no\n  at http://x/a/preview/abc-_9:5:2" }, null, 5],
    ["the source's line", { place: "app:3:14" }, [0, 4, 9], 9],
    ["a line of the compiler's own", { place: "app:1:1" }, [0, 4, 9], undefined],
    ["a line beyond the code", { place: "app:9:1" }, [0, 4, 9], undefined],
    ["a runtime's line", { place: "vue.js:3:14" }, null, undefined],
  ])("the line is that of %s", (_, fields, lines, line) => {
    expect(entriesOf(entry(fields), lines)?.[0]?.line).toBe(line);
  });

  test("are cut, counted and never more than 200", () => {
    const many = Array.from({ length: 5000 }, (_, n) => ({
      level: "evil",
      text: `${n} ${"a".repeat(9000)}`,
      count: n,
    }));
    const entries =
      entriesOf(
        { type: "core:report", entries: [...many, null, { text: 3 }, { level: "warn", text: "w", count: 2.5 }] },
        null,
      ) ?? [];
    expect(entries).toHaveLength(198);
    expect(entries[0]).toMatchObject({ level: "log", count: 4803 });
    expect(entries[0]?.text).toHaveLength(4000);
    expect(entries.at(-1)).toEqual({ level: "warn", text: "w", count: 2 });
  });
});

describe("work that follows typing", () => {
  function begun() {
    const timers = new Set<() => void>();
    const ran: string[] = [];
    const ends: (() => void)[] = [];
    const latest = createLatest<string>({
      waitMs: 600,
      run: (wanted) => {
        ran.push(wanted);
        return new Promise((resolve) => ends.push(resolve));
      },
      later: (work) => {
        timers.add(work);
        return () => timers.delete(work);
      },
    });
    const pause = () => {
      for (const work of timers) {
        timers.delete(work);
        work();
      }
    };
    const end = async () => {
      ends.shift()?.();
      await Promise.resolve();
      await new Promise((resolve) => queueMicrotask(() => resolve(undefined)));
    };
    return { latest, ran, pause, end };
  }

  test("begins after a pause, with the last wish", () => {
    const { latest, ran, pause } = begun();
    latest.want("a");
    latest.want("ab");
    expect(ran).toEqual([]);
    pause();
    expect(ran).toEqual(["ab"]);
  });

  test("is one at a time; what was wished meanwhile comes next", async () => {
    const { latest, ran, pause, end } = begun();
    latest.want("a", true);
    latest.want("b");
    pause();
    latest.want("c");
    pause();
    expect(ran).toEqual(["a"]);
    await end();
    expect(ran).toEqual(["a", "c"]);
    await end();
    expect(ran).toEqual(["a", "c"]);
  });

  test("ends with the page", () => {
    const { latest, ran, pause } = begun();
    latest.want("a");
    latest.stop();
    pause();
    expect(ran).toEqual([]);
  });
});

describe("actions", () => {
  test("are rows, and JSON again", () => {
    const rows = [{ action: "a", flow_code: "f", description: "", public: true }];
    expect(rowsOf(jsonOf(rows))).toEqual(rows);
    expect(rowsOf('[{"action":"a","flow_code":"f","description":null}, 7]')).toEqual([
      { action: "a", flow_code: "f", description: "", public: false },
      { action: "", flow_code: "", description: "", public: false },
    ]);
    expect([rowsOf(""), jsonOf([])]).toEqual([[], "[]"]);
  });

  test.each([
    ["", {}],
    ['{"city":"Łódź"}', { city: "Łódź" }],
    ["[1]", undefined],
    ["null", undefined],
    ["{", undefined],
  ])("are run with %s", (text, values) => {
    expect(valuesOf(text)).toEqual(values);
  });

  test("are run with all digits of a number, which alone is no object", () => {
    expect(JSON.stringify(valuesOf('{"order":7615917337495251231}'))).toBe('{"order":7615917337495251231}');
    expect(valuesOf("7615917337495251231")).toBeUndefined();
  });

  test.each([
    ["Weather in { city, day }", '{"city":"","day":""}'],
    ["No values", "{}"],
    ["{ a b }", "{}"],
  ])("of the description %s take %s", (description, sample) => {
    expect(sampleOf(description)).toBe(sample);
  });
});

describe("what a model answers", () => {
  const fence = "```";
  test.each([
    ["no code", "Which table?", "Which table?", undefined],
    ["words before and after", `Done.\n${fence}svelte\n<p>\n${fence}\nEnjoy.`, "Done.\nEnjoy.", "<p>\n"],
    ["code that is still coming in", `Done.\n\n${fence}html\n<p>\n<b`, "Done.", "<p>\n<b"],
    ["fences in the code", `${fence}js\na;\n${fence}\nb;\n${fence}\n`, "", `a;\n${fence}\nb;\n`],
  ])("with %s", (_, text, prose, source) => expect(answerOf(text)).toEqual({ prose, source }));

  test("is told in lines that were added and removed", () => {
    expect(changedLines("a\nb\nb\n", "a\nb\nc\nd\n")).toEqual({ added: 2, removed: 1 });
  });
  test("follows instructions without their head, which name others plainly", () => {
    expect(guideOf('---\nname: X\n---\n# T\nSee {{ "apps_api" | prompt_url }}.')).toBe("# T\nSee `apps_api`.");
  });
});

test("the tables of an app are its own one and those of `fields.dbs`", () => {
  expect(tablesOfApp("a", '{"dbs":["b","a",7],"x":1}')).toEqual(["a", "b"]);
  expect([tablesOfApp("", "{"), tablesOfApp("", '{"dbs":"x"}')]).toEqual([[], []]);
  const { db_code, fields } = inputsOfTables(["b", "c"], '{"dbs":["x"],"x":1}');
  expect([db_code, JSON.parse(fields)]).toEqual(["b", { x: 1, dbs: ["c"] }]);
  expect(inputsOfTables([], '{"dbs":["x"]}')).toEqual({ db_code: "", fields: "{}" });
});

test.each([
  [{ list: {} }, "look", true],
  [{ get: null, create: {} }, "look", false],
  [{ create: {} }, "create", true],
  [null, "delete", false],
] as const)("with the public methods %j visitors may %s: %p", (methods, what, may) =>
  expect(visitorsMay(methods, what)).toBe(may),
);

test.each([
  ["pack", [], "pack"],
  ["2 go", [], "run_2_go"],
  ["pack", ["pack", "pack_2"], "pack_3"],
])("the flow %p beside %j is called %p", (code, taken, name) => {
  const rows = taken.map((action) => ({ action, flow_code: "", description: "", public: false }));
  expect(freeName(code, rows)).toBe(name);
});

test.each([
  ["crm", false, 2, { module: "crm", view: undefined, home: "None" }],
  ["tasks/show", true, undefined, { module: undefined, view: "tasks/show", home: "Own" }],
  ["", true, 2, { module: undefined, view: undefined, home: "2" }],
  ["", true, "x", { module: undefined, view: undefined, home: "Own" }],
] as const)("an app of %p, tile %p of the width %p appears there", (where, tile, width, place) => {
  expect(placeOf(where, tile, width)).toEqual(place);
});
