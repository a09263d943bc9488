/** Exports are made from bytes: they must be what parsing and printing each record would give. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { startTestApp, type TestApp } from "../../../../tests/harness.ts";
import { parseExactly } from "../../../../runtime/base/exact-number.ts";
import { csvLine, withoutFormula } from "../csv.ts";
import { headerOfField } from "./csv.ts";
import { printRecord } from "../../records/print.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const fields = ["name", "n", "Ż", 'odd "key"', "tab\there", "a", "__proto__"];
const schema = { fields: Object.fromEntries(fields.slice(0, 4).map((name) => [name, "string"])) };

let made = 0;
async function newDb(tables?: object): Promise<string> {
  const db = { name: `Lines ${++made}`, schema: tables ?? schema };
  return (await app.post("/core/dbs.json", { db })).json.code;
}

/** Stores this JSON, also what no request can bring. Microseconds and changes make all forms of times. */
async function store(code: string, rows: readonly string[], table = "", from = "2026-01-31 10:00:00"): Promise<void> {
  await app.sql`
    insert into records (db_id, id, account_id, created_at, updated_at, plan_version, rules_version, table_name, data)
    select d.id, gen_random_uuid(), d.account_id, ${from}::text::timestamptz + make_interval(secs => row.place * 0.0125),
      '2026-02-28 23:59:59'::timestamptz + make_interval(secs => row.place * 0.1), 0, 0, ${table}, row.data::jsonb
    from dbs d, unnest(${[...rows]}::text[]) with ordinality as row (data, place) where d.code = ${code}`;
}

const stored = (code: string) => app.sql<Stored[]>`
  select r.id, r.table_name, r.data::text as data, r.created_at, r.updated_at
  from records r join dbs d on d.id = r.db_id where d.code = ${code} order by r.id`;

interface Stored {
  readonly id: string;
  readonly tableName: string;
  readonly data: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What an export was before it worked with bytes. */
async function expected(code: string, columns: readonly string[], safe = false, tables = false): Promise<string> {
  const shown = (text: string) => (safe ? withoutFormula(text) : text);
  const rows = await stored(code);
  const lines = rows.map(({ id, tableName, data, createdAt, updatedAt }) => {
    const values = parseExactly(data) as Record<string, unknown>;
    const cells = columns.map((column) => {
      const value = Object.hasOwn(values, column) ? values[column] : null;
      if (value === null) return null;
      return typeof value === "string" ? shown(value) : JSON.stringify(value);
    });
    return csvLine([id, ...(tables ? [tableName || null] : []), ...cells, createdAt.toJSON(), updatedAt.toJSON()]);
  });
  const names = columns.map((column) => shown(headerOfField(column)));
  return [csvLine(["id", ...(tables ? ["table_name"] : []), ...names, "created_at", "updated_at"]), ...lines].join("");
}

const exported = async (code: string, query = "", format = "csv") =>
  (await app.get(`/core/dbs/${code}/export?format=${format}${query}`)).text;

async function expectedRecords(code: string): Promise<string[]> {
  return (await stored(code)).map(({ createdAt, updatedAt, ...record }) =>
    printRecord({ ...record, createdAt: createdAt.toJSON(), updatedAt: updatedAt.toJSON() }, "nested"),
  );
}

const numbers = ["0", "-1", "1.50", "5.0", "0.1", "0.05", "0.0000001", "-0.00", "1e-7", "1e21", "123456789012345"];
const longNumbers = ["9007199254740993", "12345678901234567890", "0.30000000000000004", "1e400", "-1e400", "1e-400"];
const units = [
  "a",
  "|",
  "N",
  "1",
  "Ż",
  ",",
  ";",
  '"',
  "\r",
  "\n",
  " ",
  "=",
  "+",
  "-",
  "@",
  "\\",
  "😀",
  "\t",
  "\u0001",
  "\u0002",
  "'",
];
const blanks = [
  "\u00a0",
  "\u2028",
  "\u2029",
  "\u3000",
  "\ufeff",
  "\u0085",
  "\u007f",
  "/",
  "\b",
  "{",
  "}",
  "[",
  ":",
  "語",
];
const text = fc.string({ unit: fc.constantFrom(...units, ...blanks), maxLength: 6 });
const nested = fc
  .jsonValue({ maxDepth: 2 })
  .map((value) => JSON.stringify(value))
  .filter((json) => !/\\u0000|\\ud[89a-f]/i.test(json));
const value = fc.oneof(
  text.map((one) => JSON.stringify(one)),
  fc.constantFrom("null", "true", "false", "{}", "[]", '""', ...numbers, ...longNumbers),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => JSON.stringify(one)),
  fc.record({ [" x"]: text, y: text }).map((one) => JSON.stringify([one])),
  nested,
);
const row = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...fields), value), { selector: ([name]) => name, maxLength: fields.length })
  .map((pairs) => `{${pairs.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join()}}`);

describe("an export as CSV", () => {
  test("is the same as of parsed records, whatever they hold", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 60 }), fc.boolean(), async (rows, safe) => {
        const code = await newDb();
        await store(code, rows);
        const others = fields.slice(4).filter((name) => rows.some((json) => Object.hasOwn(JSON.parse(json), name)));
        const columns = [...fields.slice(0, 4), ...others.toSorted()];
        expect(await exported(code, safe ? "&spreadsheet=true" : "")).toBe(await expected(code, columns, safe));
      }),
      { numRuns: 40 },
    );
  });

  test("has the names of tables, in quotes where they need them", async () => {
    const tables = { "a, b": { fields: { name: "string" } }, 'c"d': { fields: { size: "number" } } };
    const code = await newDb({ tables });
    await store(code, ['{"name": "x", "size": 1.0}'], "a, b");
    await store(code, ['{"size": 2}', "{}"], 'c"d');
    await store(code, ['{"size": [3, 4]}']);
    expect(await exported(code)).toBe(await expected(code, ["name", "size"], false, true));
  });

  test("finds keys that only few of many records have, and goes on where records are large", async () => {
    const code = await newDb();
    const rows = Array.from(
      { length: 21_000 },
      (_, n) => `{"n": ${n}${n % 10_400 === 0 ? `, "late ${n}": true` : ""}}`,
    );
    await store(code, [...rows, ...Array.from({ length: 8 }, () => JSON.stringify({ name: "x,".repeat(500_000) }))]);
    const columns = [...fields.slice(0, 4), "late 0", "late 10400", "late 20800"];
    expect(Bun.hash(await exported(code))).toBe(Bun.hash(await expected(code, columns)));
  });
});

describe("an export as JSON and NDJSON", () => {
  test("is the same as of records printed one by one, whatever they hold", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 60 }), async (rows) => {
        const code = await newDb();
        await store(code, rows);
        const records = await expectedRecords(code);
        expect(await exported(code, "", "json")).toBe(`[${records.join(",\n")}]`);
        expect(await exported(code, "", "ndjson")).toBe(records.map((record) => `${record}\n`).join(""));
      }),
      { numRuns: 15 },
    );
  });

  test("has the names of tables, and times of any day", async () => {
    const code = await newDb({ [`"Ż" ${"x".repeat(300)}`]: { fields: {} }, b: { fields: {} } });
    await store(code, ["{}", '{"a": 1}'], `"Ż" ${"x".repeat(300)}`, "1999-12-31 23:59:59.9995");
    await store(code, ['{"a": 2}'], "b", "1969-07-20 20:17:40.000001");
    await store(code, ['{"a": 3}'], "", "9999-12-31 23:59:59.5");
    expect(await exported(code, "", "ndjson")).toBe(`${(await expectedRecords(code)).join("\n")}\n`);
  });

  test("holds records of all sizes, in the order of their ids", async () => {
    const code = await newDb();
    // Random, because PostgreSQL compresses what repeats.
    const large = () => Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString("hex");
    const sized = (n: number) => (n % 700 === 699 || (n > 1500 && n < 1504) ? large() : "small");
    await store(
      code,
      Array.from({ length: 3000 }, (_, n) => JSON.stringify({ n, note: sized(n) })),
    );
    const records = await expectedRecords(code);
    expect(Bun.hash(await exported(code, "", "json"))).toBe(Bun.hash(`[${records.join(",\n")}]`));
  });
});
