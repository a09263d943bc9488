import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { applied, blank, patchTo, checkPatch, sameCode, edited, cleanUrlCode } from "./patch.ts";
import type { AppPatch } from "../fields.ts";
import { isModule, isView } from "../choices.ts";
import type { AppRow, SavedFields } from "../store.ts";

const json = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 });
const tile = fc.constantFrom(undefined, true, false);
const saved: fc.Arbitrary<SavedFields> = fc
  .record({
    name: fc.string({ minLength: 1 }),
    sourceCode: fc.string({ minLength: 1 }),
    fields: json,
    config: json,
    tile,
  })
  .map(({ tile: flag, fields, ...rest }) => {
    const { dashboard_widget: _, ...plain } = fields;
    return {
      ...blank,
      ...rest,
      urlCode: "code",
      fields: flag === undefined ? plain : { ...plain, dashboard_widget: flag },
    };
  });

function row(fields: Partial<AppRow>): AppRow {
  const at = new Date();
  const head = {
    id: "i",
    accountId: 1,
    trusted: false,
    icon: null,
    color: null,
    appBuildTime: 0,
    cssBuildTime: 0,
    createdById: 1,
    updatedById: null,
  };
  return { ...blank, ...head, version: 1, createdAt: at, updatedAt: at, ...fields };
}

describe("a change", () => {
  test("of nothing changes nothing, and a version that is saved again is unchanged", () => {
    fc.assert(
      fc.property(saved, saved, (before, now) => {
        expect(applied(before, {})).toEqual(before);
        expect(applied(now, patchTo(before))).toEqual(before);
      }),
    );
  });

  test("of fields keeps the tile flag, and the flag beside them wins", () => {
    fc.assert(
      fc.property(saved, json, tile, (before, given, flag) => {
        const { dashboard_widget: _, ...fields } = given;
        const after = applied(before, { fields, ...(flag !== undefined && { dashboard_widget: flag }) });
        const { dashboard_widget: kept, ...others } = after.fields;
        expect(others).toEqual(fields);
        expect(kept).toBe(flag ?? before.fields["dashboard_widget"]);
      }),
    );
  });

  test("of what is not built leaves the build", () => {
    const change: AppPatch = { name: "n", prompt: "p", fields: {}, public: true, db_code: "d", actions: [] };
    expect(sameCode(applied(blank, change), blank)).toBe(true);
    for (const one of [{ source_code: "x" }, { app_engine: "vue" }, { css_engine: "none" }] satisfies AppPatch[])
      expect(sameCode(applied(blank, one), blank)).toBe(false);
  });

  test("takes what is empty as nothing", () => {
    const full = {
      ...blank,
      dbCode: "a",
      showInModule: "crm",
      urlCode: "u",
      actions: [{ action: "a", flow_code: "f" }],
    };
    const change = { db_code: "", show_in_module: "", url_code: "", actions: null, app_engine: null, css_engine: null };
    expect(applied(full, change)).toEqual(blank);
  });

  test("keeps of an action what was given and is known", () => {
    const given = JSON.parse(
      '[{"action":"a","flow_code":"f","public":true,"extra":1},{"action":"b","flow_code":"f","description":null,"public":null}]',
    );
    expect(applied(blank, { actions: given }).actions).toEqual([
      { action: "a", flow_code: "f", public: true },
      { action: "b", flow_code: "f", description: null },
    ]);
  });

  test("names every mistake at once", () => {
    const change = { source_code: "x".repeat(200_001), show_in_module: "x y", fields: { dashboard_widget: 1 } };
    expect(() => checkPatch(change)).toThrow(expect.objectContaining({ status: 422 }));
  });
});

describe("a url_code", () => {
  test("has the characters of an address only, and cleaning it again changes nothing", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (given) => {
        const code = cleanUrlCode(given);
        expect(code).toMatch(/^[A-Za-z0-9_-]*$/);
        expect(cleanUrlCode(code)).toBe(code);
      }),
    );
  });
});

describe("an edit", () => {
  test("replaces the first or every occurrence, whatever the texts hold", () => {
    const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(
        text,
        text,
        fc.array(text, { minLength: 1, maxLength: 5 }),
        fc.boolean(),
        (old, replacement, parts, all) => {
          const source = parts.join(old) + old;
          const expected = all ? source.split(old).join(replacement) : source.replace(old, () => replacement);
          fc.pre(/\S/.test(expected));
          const body = { field: "source_code", old, new: replacement, replace_all: all } as const;
          expect(edited(row({ sourceCode: source }), body)).toEqual({ source_code: expected });
        },
      ),
    );
  });

  test("of a prompt that is none finds nothing", () => {
    expect(() => edited(row({}), { field: "prompt", old: "a", new: "b" })).toThrow();
  });

  test("may take the tile flag out of fields", () => {
    const before = row({ fields: { a: 1, dashboard_widget: true } });
    const change = edited(before, { field: "fields", old: ',"dashboard_widget":true', new: "" });
    expect(applied(before, change).fields).toEqual({ a: 1 });
  });
});

test.each([
  ["crm", true, false],
  ["tasks/show", false, true],
  ["contacts/index", false, true],
  ["crm/clients/show", false, true],
  ["warehouse", false, false],
  ["Tasks/show", false, false],
  ["tasks/", false, false],
  ["/tasks", false, false],
  ["a/b/c/d/e", false, false],
  ["tasks/show?x", false, false],
])("%s as a module: %p, as a view: %p", (value, module, view) => {
  expect([isModule(value), isView(value)]).toEqual([module, view]);
});
