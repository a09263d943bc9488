/** `indexValues` and `record_index` say the same, so that it does not matter which of the two wrote a record. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { startTestApp, type TestApp } from "../../../tests/harness.ts";
import { exactly } from "../../../runtime/base/exact-number.ts";
import { numberLiteral } from "../../../tests/number-literals.ts";
import { indexValues } from "./index-values.ts";
import { checkRecord, type Data } from "./record.ts";
import { noTable, parseSchema } from "../databases/schema.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const parsed = parseSchema({
  fields: { a: "string", b: "text", c: "string", i: "integer", n: "number", d: "datetime", t: "time" },
  indexed_fields: ["a", "b", "c", "i", "n", "d", "t"],
});
const table = "schema" in parsed ? (parsed.schema.tables.get("") ?? noTable) : noTable;

interface Indexed {
  readonly row: readonly unknown[];
}

async function bySql(data: Data): Promise<readonly unknown[] | undefined> {
  const [found] = await app.sql<Indexed[]>`
    select jsonb_build_array(x.str_1, x.str_2, x.str_3, x.int_1::text, x.int_2::text, x.time_1, x.time_2, x.long_strings,
      x.inexact_numbers) as row
    from record_index(${JSON.stringify(data)}::text::jsonb, ${[...table.indexFields]}::text[]) x`;
  return found?.row;
}

async function byUs(data: Data): Promise<readonly unknown[] | undefined> {
  const { values, strings, numbers } = indexValues(table, data);
  const [str1, str2, str3, int1, int2, time1, time2] = values.map((value) => value ?? null);
  const [found] = await app.sql<Indexed[]>`
    select jsonb_build_array(${str1 ?? null}::text, ${str2 ?? null}::text, ${str3 ?? null}::text,
      (${int1 ?? null}::text::bigint)::text, (${int2 ?? null}::text::bigint)::text, ${time1 ?? null}::text::timestamptz,
      ${time2 ?? null}::text::timestamptz, ${strings.set}::int, ${numbers.set}::int) as row`;
  return found?.row;
}

const long = fc.oneof(
  fc.string({ minLength: 250, maxLength: 260, unit: "grapheme" }),
  fc.string({ minLength: 250, maxLength: 260 }),
  fc.integer({ min: 253, max: 257 }).map((length) => "🦊".repeat(length)),
);
const stored = fc.oneof(fc.string(), long).filter((text) => text.isWellFormed() && !text.includes("\0"));
const bigInteger = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  numberLiteral.map(exactly),
  fc.constantFrom(9.3e18, -9.3e18, 1e21, 2 ** 63, -0.5, 12345678901234567000),
);
const offset = fc.constantFrom("", "Z", "+02:00", "-0530", "+14");
const instant = fc
  .tuple(
    fc.date({ min: new Date("0002-01-01"), max: new Date("9998-12-31"), noInvalidDate: true }),
    fc.constantFrom(16, 19, 23),
    offset,
  )
  .map(([date, length, zone]) => `${date.toJSON().slice(0, length)}${zone}`);
const time = fc.constantFrom("00:00", "23:59:59", "10:30");
const or = <T>(value: fc.Arbitrary<T>) => fc.oneof(value, fc.constant(null));
const record = fc.record(
  {
    a: or(stored),
    b: or(stored),
    c: or(stored),
    i: or(fc.oneof(fc.maxSafeInteger(), bigInteger)),
    n: or(number),
    d: or(instant),
    t: or(time),
  },
  { requiredKeys: [] },
);

test("for every record that its table takes", async () => {
  let checked = 0;
  await fc.assert(
    fc.asyncProperty(record, async (data) => {
      if (checkRecord(table, data)) return;
      checked++;
      expect(await byUs(data)).toEqual(await bySql(data));
    }),
    { numRuns: 300 },
  );
  expect(checked).toBeGreaterThan(100);
}, 600_000);
