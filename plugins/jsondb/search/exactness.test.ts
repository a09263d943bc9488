/** A filter or a sort gives the same answer whether or not the field is indexed: the index is only a help. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { startTestApp, type TestApp } from "../../../tests/harness.ts";

const fields = {
  name: "string",
  long: "text",
  count: "integer",
  price: "number",
  day: "date",
  at: "datetime",
  clock: "time",
  ok: "boolean",
} as const;
type Name = keyof typeof fields;

// Two databases can index nine fields of the eight together; a third one indexes nothing.
const databases = {
  plain: [],
  one: ["name", "long", "count", "price", "day", "at"],
  two: ["long", "name", "price", "count", "clock"],
};

const start = "a".repeat(254);
const longs = [
  `${start}a`,
  `${start}b`,
  `${start}ab`,
  `${start}ac`,
  `${start}a${"z".repeat(300)}`,
  `${start}aŻ`,
  "short",
  "",
];
const values: Record<Name, readonly unknown[]> = {
  name: ["Ann", "ann", "Żółw", "żółw", "100%", "a_b", "a\\b", "axb", "", "Zoë", "🦊 fox", "10", "9"],
  long: longs,
  count: [
    0,
    1,
    5,
    -1,
    "9007199254740993",
    "9007199254740992",
    "9223372036854775807",
    "-9223372036854775808",
    9007199254740991,
  ],
  price: [0, 0.1, 0.2, 1, 1.5, -0.5, -1, 1e30, 2e30, -1e30, 9.99, 1e-7],
  day: ["2026-01-31", "2024-02-29", "0099-12-31", "9999-12-31"],
  at: [
    "2026-01-31T10:00:00Z",
    "2026-01-31T12:00:00+02:00",
    "2026-01-31T10:00:00.5Z",
    "2026-01-31T10:00",
    "2026-01-31T11:00Z",
  ],
  clock: ["10:00", "10:00:00", "09:59:59", "23:59"],
  ok: [true, false],
};
const names: readonly Name[] = ["name", "long", "count", "price", "day", "at", "clock", "ok"];

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  for (const [code, indexed] of Object.entries(databases)) {
    const made = await app.post("/core/dbs", { db: { name: code, code, schema: { fields, indexed_fields: indexed } } });
    expect(made.status).toBe(201);
  }
  const random = fc.sample(
    fc.record(Object.fromEntries(names.map((name) => [name, fc.constantFrom(...values[name], null)])), {
      requiredKeys: [],
    }),
    { numRuns: 120, seed: 7 },
  );
  for (const [n, data] of random.entries()) {
    for (const code of Object.keys(databases)) {
      const answer = await app.post(`/core/dbs/${code}/records`, { record: { data: { ...data, n } } });
      expect([answer.status, answer.text]).toEqual([201, answer.text]);
    }
  }
});
afterAll(() => app.stop());

/** The `n` of the records found in each database, in order. */
async function found(query: URLSearchParams): Promise<unknown[]> {
  const answers = await Promise.all(Object.keys(databases).map((code) => app.get(`/core/dbs/${code}/search?${query}`)));
  return answers.map(({ status, json }) => (status === 200 ? json.map(({ n }: { n: number }) => n) : [status, json]));
}

async function expectSame(query: Record<string, string>): Promise<unknown[]> {
  const [plain, ...others] = await found(new URLSearchParams({ limit: "100", fields: "n", ...query }));
  for (const other of others) expect([query, other]).toEqual([query, plain]);
  if (!Array.isArray(plain)) throw new Error("no answer");
  return plain;
}

describe("with and without an index", () => {
  for (const name of names) {
    test(`a sort by ${name} is the same, upwards and downwards`, async () => {
      for (const sort of [name, `-${name}`]) {
        const order = await expectSame({ sort });
        expect(order).toHaveLength(100);
        await expectSame({ sort, offset: "95" });
      }
    });

    test(`a filter by ${name} finds the same`, async () => {
      const others = [
        "",
        "x",
        "1e0",
        "15e-1",
        "1.0",
        "1.",
        "1.50",
        "9223372036854775808",
        "1e30",
        `1${"0".repeat(30)}`,
        "-9223372036854775809",
        "0.10",
        "+5",
        "2026-01-31T10:00:00.500Z",
        "10:00:00",
        "TRUE",
        "1",
        "null",
      ];
      for (const value of [...values[name].map(String), ...others, ...longs.map((text) => text.slice(0, 255))])
        await expectSame({ [`filter[${name}]`]: value });
    });
  }

  test("every combination of filters, phrase, sort and page gives the same", async () => {
    const name = fc.constantFrom(...names);
    const value = (field: Name) =>
      fc.oneof(
        fc.constantFrom(...values[field].map(String)),
        fc.constantFrom("a*", "*Ż*", "%0%", "", "*_*", "*\\*", "1"),
      );
    const filter = name.chain((field) => fc.tuple(fc.constant(`filter[${field}]`), value(field)));
    const query = fc.record(
      {
        filters: fc.array(filter, { maxLength: 2 }),
        sort: fc
          .tuple(fc.constantFrom("", "-"), fc.constantFrom(...names, "id", "created_at", "n", "other"))
          .map((pair) => pair.join("")),
        q: fc.constantFrom("ann", "ŻÓŁ", "_", "\\", "100%", "*b", "aaaa*z", "fox", "aŻ"),
        offset: fc.nat(30).map(String),
        limit: fc.integer({ min: 1, max: 40 }).map(String),
      },
      { requiredKeys: ["filters"] },
    );
    await fc.assert(
      fc.asyncProperty(query, async ({ filters, q, ...page }) => {
        const phrase = q === undefined ? {} : { q, search_in: "name,long" };
        await expectSame({ ...page, ...phrase, ...Object.fromEntries(filters) });
      }),
      { numRuns: 150 },
    );
  }, 600_000);

  test("pages by cursor are the whole list once, whatever the order", async () => {
    for (const sort of [...names, ...names.map((name) => `-${name}`), "id", "-updated_at", "n", "other"]) {
      for (const code of Object.keys(databases)) {
        const whole = await app.get(`/core/dbs/${code}/search?sort=${sort}&limit=100&fields=n`);
        const rest = await app.get(`/core/dbs/${code}/search?sort=${sort}&limit=100&fields=n&offset=100`);
        const seen: unknown[] = [];
        let after: string | null = "";
        while (after !== null) {
          const page = await app.get(
            `/core/dbs/${code}/search?sort=${sort}&limit=17&fields=n&after=${encodeURIComponent(after)}`,
          );
          expect(page.status).toBe(200);
          seen.push(...page.json);
          after = page.headers.get("x-next-cursor");
        }
        expect([sort, code, seen]).toEqual([sort, code, [...whole.json, ...rest.json]]);
      }
    }
  }, 600_000);
});

describe("the answers themselves", () => {
  const sorted = async (sort: string) => {
    const answer = await app.get(`/core/dbs/one/search?sort=${sort}&limit=100`);
    return answer.json.map((record: Record<string, unknown>) => record[sort.replace("-", "")]);
  };

  test("integers are ordered beyond 2^53 by their exact values, nothing last", async () => {
    const order: (number | string | null | undefined)[] = await sorted("count");
    const numbers = order.filter((value) => value !== null && value !== undefined).map((value) => BigInt(value));
    expect(numbers).toEqual(numbers.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)));
    expect(order.slice(numbers.length).every((value) => value === null || value === undefined)).toBe(true);
  });

  test("long strings are ordered by what lies beyond the column", async () => {
    const order = (await sorted("long")).filter((value: unknown) => typeof value === "string");
    expect(order).toEqual(order.toSorted(new Intl.Collator("en").compare));
  });

  test("datetimes are compared by instant, in any offset", async () => {
    const answer = await app.get(
      `/core/dbs/one/search?filter[at]=${encodeURIComponent("2026-01-31T05:00:00-05:00")}&limit=100`,
    );
    const spellings = new Set(answer.json.map(({ at }: { at: string }) => at));
    expect(spellings).toEqual(new Set(["2026-01-31T10:00:00Z", "2026-01-31T12:00:00+02:00", "2026-01-31T10:00"]));
  });

  test("a neighbour of a large integer is another integer", async () => {
    const answer = await app.get("/core/dbs/one/search?filter[count]=9007199254740993&limit=100");
    expect(new Set(answer.json.map(({ count }: { count: unknown }) => count))).toEqual(new Set(["9007199254740993"]));
  });
});
