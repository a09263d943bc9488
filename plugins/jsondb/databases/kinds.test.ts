import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { exactly } from "platform";
import { fieldTypes } from "./columns.ts";
import { compareValues, faultOf, instantKey } from "./kinds.ts";
import { parseField } from "./options.ts";
import { parseSchema, schemaHints, noTable } from "./schema.ts";

const said = (definition: unknown) => {
  const mistakes: string[] = [];
  const field = parseField(definition, "f", (place, message) => void mistakes.push(`${place} ${message}`));
  return { field, mistakes };
};
const fieldOf = (definition: unknown) => {
  const { field, mistakes } = said(definition);
  if (!field || mistakes.length > 0) throw new Error(mistakes.join());
  return field;
};

describe("the options of a field", () => {
  test("stand typed in it", () => {
    const { fields } = tableOf({
      fields: {
        size: { type: "string", choices: ["S", { value: "M", label: { en: "Medium" }, color: "green" }], default: "S" },
        price: {
          type: "number",
          format: "money",
          currency: "EUR",
          min: 0,
          max: exactly("12345678901234567890.5"),
          label: null,
        },
        customer: { type: "string", link: "crm.people", on_delete: "cascade", help: "Who" },
        total: { type: "number", rollup: { of: "shop.orders.customer", op: "sum", field: "price" } },
        no: { type: "integer", unique: true },
      },
    });
    expect(Object.fromEntries(fields)).toEqual({
      size: {
        type: "string",
        required: false,
        choices: [
          { value: "S", label: undefined, color: undefined },
          { value: "M", label: { en: "Medium" }, color: "green" },
        ],
        default: "S",
      },
      price: {
        type: "number",
        required: false,
        format: "money",
        currency: "EUR",
        min: 0,
        max: exactly("12345678901234567890.5"),
      },
      customer: {
        type: "string",
        required: false,
        link: { db: "crm", table: "people", onDelete: "cascade" },
        help: "Who",
      },
      total: {
        type: "number",
        required: false,
        rollup: { db: "shop", link: "orders.customer", op: "sum", field: "price" },
      },
      no: { type: "integer", required: false, unique: true },
    });
  });

  const text = (length: number) => "x".repeat(length);
  test.each<[string, unknown]>([
    ["label", { type: "boolean", label: { pl: "Tak", "de-AT": "Ja" } }],
    ["help", { type: "list", help: text(2000) }],
    ["choices of integers", { type: "integer", choices: [1, { value: 2 }, "9223372036854775807"] }],
    ["choices of a list", { type: "list", choices: ["a", 1] }],
    ["choices, 200", { type: "string", choices: Array.from({ length: 200 }, (_, at) => `c${at}`) }],
    ["format of a text", { type: "text", format: "markdown" }],
    ["format of a list", { type: "list", format: "file" }],
    ["format of a number", { type: "number", format: "percent" }],
    ["format of an integer", { type: "integer", format: "rating" }],
    ["min of a date", { type: "date", min: "2026-01-31", max: "2026-01-31" }],
    ["min of a time", { type: "time", min: "08:00", max: "16:00:30" }],
    ["min of a datetime", { type: "datetime", min: "2026-01-31T10:00+02:00", max: "2026-01-31T08:00:00.5Z" }],
    ["min of an integer", { type: "integer", min: "-9223372036854775808", max: 5 }],
    ["min of a text", { type: "text", min: 0, max: 10 }],
    ["min of a list", { type: "list", min: 1, max: 1 }],
    ["default false", { type: "boolean", default: false }],
    ["default of a list", { type: "list", default: ["a"], choices: ["a"] }],
    ["default {now}", { type: "datetime", default: "{now}" }],
    ["default {now} of a time", { type: "time", default: "{now}" }],
    ["default {today}", { type: "date", default: "{today}" }],
    ["default {user_id}", { type: "integer", default: "{user_id}" }],
    ["default {user_name} among words", { type: "string", default: "by {user_name}", max: 5 }],
    ["default with another brace", { type: "text", default: "{a} and {b}" }],
    ["unique of a date", { type: "date", unique: true }],
    ["unique, not", { type: "datetime", unique: false }],
    ["a link to a database", { type: "string", link: "customers" }],
    ["links", { type: "list", link: "019a9c1e-0000-7000-8000-000000000001.people", on_delete: "restrict" }],
    ["a table with a point", { type: "string", link: "crm.v1.people" }],
    ["a rollup that counts", { type: "integer", rollup: { of: "orders.customer", op: "count" } }],
    ["a rollup of times", { type: "datetime", rollup: { of: "orders.customer", op: "max", field: "at" } }],
  ])("%s is taken", (_, definition) => {
    expect(said(definition).mistakes).toEqual([]);
  });

  test.each<[unknown, string]>([
    [{ type: "string", label: 5 }, "f.label: must be a text of at most 200 characters, or an object"],
    [{ type: "string", label: text(201) }, "f.label: must be a text"],
    [{ type: "string", label: { "not a locale": "x" } }, "f.label.not a locale: is not a locale"],
    [{ type: "string", help: { en: 5 } }, "f.help.en: must be a text of at most 2000"],
    [{ type: "string", choices: [] }, "f.choices: must be a list of 1 to 200"],
    [
      { type: "string", choices: Array.from({ length: 201 }, (_, at) => `c${at}`) },
      "f.choices: must be a list of 1 to 200",
    ],
    [{ type: "string", choices: ["a", 5] }, "f.choices[1]: must be a string"],
    [{ type: "string", choices: ["a", ""] }, "f.choices[1]: must be a string that is not empty"],
    [{ type: "string", choices: ["a", { value: "a" }] }, 'f.choices[1]: "a" is there already'],
    [{ type: "string", choices: [{ label: "A" }] }, "f.choices[0].value: must be a string"],
    [{ type: "string", choices: [{ value: "a", color: "url(x)" }] }, "f.choices[0].color: must be one of red, orange"],
    [{ type: "string", choices: [{ value: "a", label: 5 }] }, "f.choices[0].label: must be a text"],
    [{ type: "integer", choices: [1.5] }, "f.choices[0]: must be a whole number"],
    [{ type: "list", choices: [true] }, "f.choices[0]: must be a string or a number"],
    [{ type: "boolean", choices: [true] }, "f.choices: is not for a field of type boolean"],
    [
      { type: "string", format: "money" },
      'f.format: must be one of email, url, phone, markdown, color, file, time_zone, not "money"',
    ],
    [{ type: "number", format: "email" }, "f.format: must be one of money, percent, rating"],
    [{ type: "list", format: "email" }, "f.format: must be one of file"],
    [{ type: "date", format: "email" }, "f.format: is not for a field of type date"],
    [{ type: "number", currency: "EUR" }, "f.currency: needs the format money"],
    [{ type: "number", format: "money", currency: "zł" }, "f.currency: must be the code of a currency"],
    [{ type: "string", currency: "EUR" }, "f.currency: is not for"],
    [{ type: "boolean", min: 1 }, "f.min: is not for a field of type boolean"],
    [{ type: "integer", min: 1.5 }, "f.min: must be a value of type integer"],
    [{ type: "number", max: "5" }, "f.max: must be a value of type number"],
    [{ type: "date", min: "tomorrow" }, "f.min: must be a value of type date"],
    [{ type: "string", min: -1 }, "f.min: must be a length"],
    [{ type: "list", max: 1.5 }, "f.max: must be a number of items"],
    [{ type: "number", min: 5, max: 4.5 }, "f.max: must not be less than min"],
    [{ type: "datetime", min: "2026-01-31T10:00Z", max: "2026-01-31T11:00+02:00" }, "f.max: must not be less than min"],
    [{ type: "time", min: "10:00:01", max: "10:00" }, "f.max: must not be less than min"],
    [{ type: "integer", default: "5" }, "f.default: must be a whole number"],
    [{ type: "string", choices: ["a"], default: "b" }, "f.default: must be one of a"],
    [{ type: "integer", max: 5, default: 6 }, "f.default: must be at most 5"],
    [{ type: "date", default: "{now}" }, "f.default: {now} is not a variable for it: use one of {today}"],
    [{ type: "string", default: "{user-id}" }, "f.default: {user-id} is not a variable"],
    [{ type: "boolean", default: "{now}" }, "f.default: must be a value of type boolean"],
    [{ type: "string", unique: "yes" }, "f.unique: must be true or false"],
    [{ type: "text", unique: true }, "f.unique: is not for a field of type text"],
    [{ type: "number", unique: true }, "f.unique: is not for a field of type number"],
    [{ type: "string", link: 5 }, "f.link: must name a database"],
    [{ type: "string", link: "a b" }, "f.link: must name a database"],
    [{ type: "string", link: "crm." }, "f.link: must name a database"],
    [{ type: "integer", link: "crm" }, "f.link: is not for a field of type integer"],
    [{ type: "string", link: "crm", on_delete: "forget" }, "f.on_delete: must be one of clear, restrict, cascade"],
    [{ type: "string", on_delete: "clear" }, "f.on_delete: needs a link"],
    [{ type: "number", rollup: "orders" }, "f.rollup: must be { of, op, field }"],
    [{ type: "number", rollup: { of: "orders", op: "count" } }, "f.rollup.of: must name the linking field"],
    [{ type: "number", rollup: { of: "orders.customer", op: "median" } }, "f.rollup.op: must be one of count"],
    [{ type: "number", rollup: { of: "orders.customer", op: "sum" } }, "f.rollup.field: must name the field that sum"],
    [
      { type: "datetime", rollup: { of: "orders.customer", op: "sum", field: "x" } },
      "f.rollup.op: must be one of min, max",
    ],
    [{ type: "string", rollup: { of: "orders.customer", op: "count" } }, "f.rollup: is not for a field of type string"],
    [{ type: "number", required: true, rollup: { of: "a.b", op: "count" } }, "f.required: cannot be true of a rollup"],
    [{ type: "number", min: 1, rollup: { of: "a.b", op: "count" } }, "f.min: is not for a rollup"],
  ])("%j is refused", (definition, message) => {
    expect(said(definition).mistakes.join("\n")).toStartWith(message);
  });

  test("that nobody knows are named, with their place", () => {
    const fields = { a: { type: "string", choises: ["x"] } };
    expect(schemaHints({ fields, title_field: "a", history: true }).join()).toContain(
      'unknown field "choises" in schema.fields.a',
    );
    expect(schemaHints({ tables: { t: { fields, trash_day: 5 } } })).toHaveLength(2);
    expect(schemaHints({ fields: { a: { type: "string", choices: ["x"], on_delete: null } } })).toEqual([]);
  });

  test("are parsed or refused, whatever JSON they are", () => {
    const names = [
      "label",
      "choices",
      "format",
      "currency",
      "min",
      "max",
      "default",
      "unique",
      "link",
      "on_delete",
      "rollup",
    ];
    const options = fc.dictionary(fc.constantFrom(...names), fc.jsonValue());
    fc.assert(
      fc.property(fc.constantFrom(...fieldTypes), options, fc.jsonValue(), (type, given, value) => {
        const { field } = said({ ...given, type });
        if (!field) throw new Error("the type is known");
        expect(["string", "undefined"]).toContain(typeof faultOf(field, value));
      }),
    );
  });
});

function tableOf(schema: Record<string, unknown>) {
  const result = parseSchema(schema);
  if ("mistakes" in result) throw new Error(result.mistakes.join());
  return result.schema.tables.get("") ?? noTable;
}

describe("the options of a table", () => {
  const fields = { age: "integer", name: "string", no: "string" };
  test("have what they say, or what holds without", () => {
    const shown = ({ titleField, history, trashDays, unique }: ReturnType<typeof tableOf>) => [
      titleField,
      history,
      trashDays,
      unique,
    ];
    expect(shown(tableOf({ fields }))).toEqual(["name", false, 30, []]);
    expect(shown(tableOf({ fields, title_field: "no", history: true, trash_days: 0 }))).toEqual(["no", true, 0, []]);
    expect(shown(tableOf({ fields: { age: "integer", no: { type: "integer", unique: true } } }))).toEqual([
      undefined,
      false,
      30,
      ["no"],
    ]);
  });

  test("may stand beside the tables, for all that do not say it themselves", () => {
    const result = parseSchema({
      tables: { a: { fields, history: false, trash_days: 3650 }, b: { fields } },
      history: true,
      trash_days: 7,
    });
    const tables = "schema" in result ? [...result.schema.tables.values()] : [];
    expect(tables.map(({ name, history, trashDays }) => [name, history, trashDays])).toEqual([
      ["", true, 7],
      ["a", false, 3650],
      ["b", true, 7],
    ]);
  });

  test("that are wrong in a schema of an older version have no effect", () => {
    const wrong = { type: "integer", required: true, min: 5, max: 1, format: "date" };
    const stored = {
      fields: { n: wrong, s: { type: "string", choices: ["a", "a"], max: 3 } },
      title_field: 5,
      trash_days: "x",
    };
    expect(parseSchema(stored)).toHaveProperty("mistakes");
    const result = parseSchema(stored, true);
    const table = "schema" in result ? result.schema.tables.get("") : undefined;
    expect(Object.fromEntries(table?.fields ?? [])).toEqual({
      n: { type: "integer", required: true },
      s: { type: "string", required: false, max: 3 },
    });
    expect([table?.titleField, table?.trashDays]).toEqual(["s", 30]);
    expect(parseSchema({ fields: { n: { type: "nope" } } }, true)).toHaveProperty("mistakes");
  });

  const unique = { type: "string", unique: true };
  test.each<[unknown, string]>([
    [{ fields, title_field: "nope" }, 'title_field: "nope" is not one of the fields'],
    [{ fields, history: 1 }, "history: must be true or false"],
    [{ fields, trash_days: -1 }, "trash_days: must be a number of days from 0 to 3650"],
    [{ fields, trash_days: 3651 }, "trash_days: must be"],
    [{ tables: { t: { fields, trash_days: "7" } } }, "tables.t.trash_days: must be"],
    [{ tables: { t: { fields } }, title_field: "name" }, "title_field: belongs into one of the tables"],
    [{ tables: { t: { fields } }, history: "yes" }, "history: must be true or false"],
    [
      { fields: { a: unique, b: unique, c: unique, d: unique, e: unique } },
      "fields.e.unique: a table may have at most 4",
    ],
  ])("%j is refused", (schema, message) => {
    const result = parseSchema(schema);
    expect("mistakes" in result ? result.mistakes.join("\n") : "").toStartWith(message);
  });
});

describe("a value", () => {
  const id = "019a9c1e-0000-7000-8000-000000000001";
  const values: [unknown, unknown[], unknown[]][] = [
    [{ type: "string", choices: ["a", { value: "b" }] }, ["a", "b"], ["c", "A", "", 1]],
    [{ type: "integer", choices: [1, "9223372036854775807"] }, [1, "9223372036854775807"], [2, "1"]],
    [{ type: "list", choices: ["a", 1] }, [[], ["a"], [1, "a", "a"]], [["b"], ["a", "1"], "a"]],
    [
      { type: "string", format: "email" },
      ["ann@example.com", "a+b.c@sub.example.co.uk", "zoë@münchen.de", "a'b@x.pl"],
      [
        "ann",
        "ann@",
        "@x.pl",
        "a@b",
        "a b@x.pl",
        "a@x..pl",
        ".a@x.pl",
        "a.@x.pl",
        "a@-x.pl",
        "a@x.pl,b@x.pl",
        "a@1.2.3.4",
        `${"a".repeat(65)}@x.pl`,
        `a@${"x".repeat(400)}.pl`,
      ],
    ],
    [
      { type: "string", format: "url" },
      ["https://example.com/a?b=c#d", "HTTP://x", "mailto:ann@example.com?subject=x", "tel:+48123456789"],
      [
        "javascript:alert(1)",
        "example.com",
        "//x",
        "ftp://x",
        "https:x",
        "https://",
        "https:///x",
        "https://a b",
        "data:x",
        "mailto:",
        "tel:abc",
        "https://x\\y",
        " https://x",
        `https://x/${"a".repeat(4000)}`,
      ],
    ],
    [
      { type: "string", format: "phone" },
      ["+48 123-456-789", "(022) 555 12 34", "112"],
      ["call me", "+", "1", "1".repeat(21), "12+34"],
    ],
    [{ type: "text", format: "markdown" }, ["# any", ""], [1]],
    [{ type: "string", format: "color" }, ["#2f6feb", "#ABC", "#2f6feb80"], ["red", "2f6feb", "#12345", "#ggg"]],
    [{ type: "string", format: "file" }, [id, id.toUpperCase()], ["photo.jpg", 1, `${id}x`]],
    [{ type: "list", format: "file" }, [[], [id, id]], [["x"], [1], id]],
    [
      { type: "string", format: "time_zone" },
      ["Europe/Warsaw", "UTC", "America/Argentina/Buenos_Aires"],
      ["Mars/Base", "+02:00", "", "x".repeat(100)],
    ],
    [{ type: "number", format: "money", currency: "PLN" }, [0.25, -5], ["5"]],
    [{ type: "number", format: "rating" }, [1, 5, 3.5], [0, 5.01, exactly("5.00000000000000000001")]],
    [{ type: "integer", min: -5, max: 10 }, [-5, 0, 10], [-6, 11, "9007199254740993"]],
    [{ type: "integer", max: "9223372036854775806" }, ["9223372036854775806", 1], ["9223372036854775807"]],
    [
      { type: "number", min: 0.1, max: exactly("0.30000000000000000001") },
      [0.1, 0.3],
      [0.09, 0.31, exactly("0.30000000000000000002")],
    ],
    [
      { type: "date", min: "2026-01-31", max: "2026-02-28" },
      ["2026-01-31", "2026-02-28"],
      ["2026-01-30", "2026-03-01"],
    ],
    [{ type: "time", min: "08:00", max: "16:00" }, ["08:00", "08:00:00", "16:00:00"], ["07:59:59", "16:00:01"]],
    [
      { type: "datetime", min: "2026-01-31T10:00:00Z" },
      ["2026-01-31T12:00+02:00", "2026-01-31T10:00"],
      ["2026-01-31T10:00+02:00", "2026-01-31T09:59:59.999999999Z"],
    ],
    [{ type: "string", min: 2, max: 3 }, ["ab", "😀😀😀"], ["a", "abcd", "", "😀"]],
    [{ type: "list", min: 1, max: 2 }, [["a"], ["a", "b"]], [[], ["a", "b", "c"]]],
    [{ type: "string", link: "crm" }, [id], ["x", ""]],
    [{ type: "list", link: "crm" }, [[], [id]], [["x"], [5], id]],
  ];
  test.each(values)("of %j", (definition, good, bad) => {
    const field = fieldOf(definition);
    for (const value of good) expect([value, faultOf(field, value)]).toEqual([value, undefined]);
    for (const value of bad) expect([value, typeof faultOf(field, value)]).toEqual([value, "string"]);
  });

  test("that is refused is told how it must be", () => {
    const many = Array.from({ length: 12 }, (_, at) => at);
    const faults = [
      faultOf(fieldOf({ type: "string", choices: ["a", "b"] }), "c"),
      faultOf(fieldOf({ type: "integer", choices: many }), 99),
      faultOf(fieldOf({ type: "list", choices: ["a"] }), ["b"]),
      faultOf(fieldOf({ type: "integer", min: 5 }), 4),
      faultOf(fieldOf({ type: "date", max: "2026-01-31" }), "2026-02-01"),
      faultOf(fieldOf({ type: "string", max: 1 }), "ab"),
    ];
    expect(faults).toEqual([
      "must be one of a, b",
      "must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more",
      "may have only a",
      "must be at least 5",
      "must not be after 2026-01-31",
      "may have at most 1 characters",
    ]);
  });
});

describe("instants", () => {
  test("are equal in any offset, and ordered as time is", () => {
    const instants = fc.date({ min: new Date("0001-01-02"), max: new Date("9999-12-30"), noInvalidDate: true });
    fc.assert(
      fc.property(instants, instants, fc.integer({ min: -15 * 60, max: 15 * 60 }), (a, b, minutes) => {
        const local = new Date(a.getTime() + minutes * 60_000);
        fc.pre(local.getUTCFullYear() >= 1 && local.getUTCFullYear() <= 9999);
        const size = Math.abs(minutes);
        const two = (number: number) => String(number).padStart(2, "0");
        const offset = `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}${two(size % 60)}`;
        expect(instantKey(local.toJSON().replace("Z", offset))).toBe(instantKey(a.toJSON()));
        expect(Math.sign(compareValues("datetime", a.toJSON(), b.toJSON()))).toBe(Math.sign(a.getTime() - b.getTime()));
      }),
    );
  });

  test.each([
    ["2026-01-31T10:00", "2026-01-31T10:00:00.000000000Z"],
    ["2026-01-31T10:00:00.5Z", "2026-01-31T12:00:00.500+02"],
    ["2026-01-31T10:00Z", "2026-01-31T10:00:00+0000"],
  ])("%s is %s", (a, b) => expect(instantKey(a)).toBe(instantKey(b)));
});
