/** Filters find what a plain reading of them finds, with an index and without. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { startTestApp, type TestApp } from "../../../tests/harness.ts";
import { conditionsOf, filterLimits, numberForm, readFilters, spanOf } from "./filters.ts";
import { parseSchema, noTable } from "../databases/schema.ts";

const types = {
  name: "string",
  long: "text",
  count: "integer",
  price: "number",
  at: "datetime",
  day: "date",
  clock: "time",
  ok: "boolean",
} as const;
type Name = keyof typeof types | "free";

const start = "a".repeat(254);
const samples: Record<Name, readonly unknown[]> = {
  name: ["Ann", "ann", "Żółw", "żółw", "", "Zoë", "🦊", "10", "9", "a_b"],
  long: [`${start}a`, `${start}b`, `${start}ab`, `${start}ac`, `${start}a${"z".repeat(300)}`, "short", ""],
  count: [0, 1, 5, -1, "9007199254740993", "9007199254740992", "9223372036854775807", "-9223372036854775808"],
  price: [0, 0.1, 0.2, 1, 1.5, -0.5, -1, 1e30, 2e30, -1e30, 9.99, 10],
  at: [
    "2026-01-31T10:00:00Z",
    "2026-01-31T12:00:00+02:00",
    "2026-01-31T10:00:00.5Z",
    "2026-01-31T10:00",
    "2025-01-01T00:00Z",
  ],
  day: ["2026-01-31", "2024-02-29", "0099-12-31", "9999-12-31"],
  clock: ["10:00", "10:00:00", "09:59:59", "23:59"],
  ok: [true, false],
  free: [1, 2.5, -3, "1", "b", "", true, ["x"], { a: 1 }],
};
const others: Partial<Record<Name, readonly string[]>> = {
  name: ["b", "Z", "ż"],
  long: ["a", start, `${start}a${"y".repeat(300)}`],
  count: ["0.5", "-0.5", "1e3", "9223372036854775808", "1e30", "-1e30", "+5", "9007199254740992.5"],
  price: ["0.15", "-0.75", "1.50", "1e30", "1e31", "9223372036854775807"],
  at: ["2026-01-31", "2026-01-31T10:00:00.250Z", "2030-01-01T00:00:00-01:00"],
  day: ["2026-01-31T00:00:01Z", "2026-02-01"],
  clock: ["10:30"],
  free: ["0", "2", "a", "c", "true"],
};
const names = Object.keys(samples) as Name[];
const typeOf = (name: Name) => (name === "free" ? undefined : types[name]);
const isOf =
  (...all: string[]) =>
  (name: Name) =>
    all.includes(typeOf(name) ?? "");
const isNumber = isOf("integer", "number");
const isTime = isOf("datetime", "date", "time");

type Data = Partial<Record<Name, unknown>>;
interface Condition {
  readonly name: Name;
  readonly op: "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "in" | "null";
  readonly value: string;
}

const instantOf = (text: string) => {
  if (/^\d\d:\d\d/.test(text)) return Date.parse(`1970-01-01T${text}Z`);
  return Date.parse(/^[\d-]{10}$/.test(text) ? `${text}T00:00Z` : /[Z+-]/.test(text.slice(16)) ? text : `${text}Z`);
};
/** A number of up to forty decimals, exactly. */
function scaled(value: unknown): bigint {
  const [, whole = "", fraction = "", exponent = "0"] = /^([+-]?\d+)(?:\.(\d+))?(?:e(.+))?$/i.exec(String(value)) ?? [];
  return BigInt(whole + fraction) * 10n ** BigInt(40 + Number(exponent) - fraction.length);
}
const collator = new Intl.Collator("en");
const difference = (a: unknown, b: unknown) => Number(scaled(a) - scaled(b));

/** A bare day is all of its instants; the account's time zone is UTC. */
function timesApart(name: Name, held: string, value: string): number {
  const apart = instantOf(held) - instantOf(value);
  return name === "at" && value.length === 10 && apart > 0 && apart < 86_400_000 ? 0 : apart;
}

/** Below 0, 0 or above 0 if the two can be compared. */
function compare(name: Name, held: unknown, value: string): number | undefined {
  if (held === undefined || held === null) return undefined;
  if (isNumber(name)) return difference(held, value);
  if (isTime(name)) return typeof held === "string" ? timesApart(name, held, value) : undefined;
  if (name === "free" && numberForm.test(value)) return typeof held === "number" ? difference(held, value) : undefined;
  return typeof held === "string" ? collator.compare(held, value) : undefined;
}

function equals(name: Name, held: unknown, value: string): boolean {
  if (value === "") return held === undefined || held === null || held === "";
  if (isNumber(name) || isTime(name)) return compare(name, held, value) === 0;
  return typeof held === "string" ? held === value : JSON.stringify(held) === value;
}

const comparisons = {
  gt: (order: number) => order > 0,
  gte: (order: number) => order >= 0,
  lt: (order: number) => order < 0,
  lte: (order: number) => order <= 0,
};

function holds({ name, op, value }: Condition, data: Data): boolean {
  const held = data[name];
  if (op === "eq") return equals(name, held, value);
  if (op === "ne") return !equals(name, held, value);
  if (op === "in") return value.split(",").some((one) => equals(name, held, one));
  if (op === "null") return (held === undefined || held === null) === (value === "true");
  const order = compare(name, held, value);
  return order !== undefined && comparisons[op](order);
}

const valueFor = (name: Name) => {
  const texts = samples[name].filter((one) => typeof one !== "object").map(String);
  return fc.constantFrom(...texts.filter((text) => text !== ""), ...(others[name] ?? []));
};
const condition: fc.Arbitrary<Condition> = fc.constantFrom(...names).chain((name) =>
  fc.oneof(
    fc.record({
      name: fc.constant(name),
      op: fc.constantFrom("eq" as const, "ne" as const),
      value: fc.oneof(valueFor(name), fc.constant("")),
    }),
    fc.record({ name: fc.constant(name), op: fc.constant("null" as const), value: fc.constantFrom("true", "false") }),
    fc.record({
      name: fc.constant(name),
      op: fc.constant("in" as const),
      value: fc.array(valueFor(name), { minLength: 1, maxLength: 3 }).map((all) => all.join(",")),
    }),
    ...(name === "ok"
      ? []
      : [
          fc.record({
            name: fc.constant(name),
            op: fc.constantFrom("gt" as const, "gte" as const, "lt" as const, "lte" as const),
            value: valueFor(name),
          }),
        ]),
  ),
);
const parameter = (prefix: string, { name, op, value }: Condition): [string, string] => [
  `${prefix}[${name}]${op === "eq" ? "" : `[${op}]`}`,
  value,
];

const databases = {
  none: [],
  first: ["name", "long", "count", "price", "at", "day"],
  second: ["long", "name", "price", "count", "clock"],
};
const stored: Data[] = fc.sample(
  fc.record(Object.fromEntries(names.map((name) => [name, fc.constantFrom(...samples[name], null)])), {
    requiredKeys: [],
  }),
  { numRuns: 90, seed: 11 },
);

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  for (const [code, indexed_fields] of Object.entries(databases)) {
    await app.post("/core/dbs", { db: { name: code, code, schema: { fields: types, indexed_fields } } });
    const rows = stored.map((data, n) => ({ ...data, n }));
    const answer = await app.post(`/core/dbs/${code}/import`, rows);
    expect([answer.status, answer.json]).toEqual([201, { imported: rows.length }]);
  }
});
afterAll(() => app.stop());

const search = (code: string, query: URLSearchParams | string) => app.get(`/core/dbs/${code}/search?${query}`);

test("any combination of filters and groups finds what a plain reading of it finds", async () => {
  const query = fc.record({
    filters: fc.array(condition, { maxLength: 2 }),
    any: fc.array(fc.array(condition, { minLength: 1, maxLength: 2 }), { maxLength: 3 }),
    sort: fc.constantFrom("n", "-n", "name", "-count", "at", "id"),
  });
  await fc.assert(
    fc.asyncProperty(query, async ({ filters, any, sort }) => {
      // Each repeated parameter is a condition of its own.
      const asked = [
        ...filters.map((one) => parameter("filter", one)),
        ...any.flatMap((group, at) => group.map((one) => parameter(`any[${at}]`, one))),
      ];
      const expected = stored.flatMap((data, n) => {
        const all = (group: readonly Condition[]) => group.every((one) => holds(one, data));
        return all(filters) && (any.length === 0 || any.some(all)) ? [n] : [];
      });
      for (const code of Object.keys(databases)) {
        const answer = await search(
          code,
          new URLSearchParams([...asked, ["sort", sort], ["limit", "100"], ["count", "true"]]),
        );
        const found = answer.status === 200 ? answer.json.map(({ n }: { n: number }) => n) : answer.json;
        expect([code, asked, [...found].toSorted((a, b) => a - b)]).toEqual([code, asked, expected]);
        expect(answer.headers.get("x-total-count")).toBe(`${expected.length}`);
        const counted = await app.get(`/core/dbs/${code}/aggregate?${new URLSearchParams(asked)}`);
        expect([code, asked, counted.json[0]?.count ?? 0]).toEqual([code, asked, expected.length]);
      }
    }),
    { numRuns: 150 },
  );
}, 600_000);

test("pages by cursor and phrases go with ranges and groups", async () => {
  const asked = "any[0][count][gte]=1&any[1][price][lt]=0&sort=-count&limit=100&fields=n";
  const whole = (await search("first", asked)).json;
  expect(whole.length).toBeGreaterThan(10);
  const pages: unknown[] = [];
  for (let after: string | null = ""; after !== null;) {
    const page = await search("first", `${asked.replace("100", "7")}&after=${encodeURIComponent(after)}`);
    pages.push(...page.json);
    after = page.headers.get("x-next-cursor");
  }
  expect(pages).toEqual(whole);
  const phrase = await search("first", "q=an&search_in=name&filter[count][ne]=1&limit=100");
  expect(phrase.json.every(({ name, count }: Data) => /an/i.test(String(name)) && count !== 1)).toBe(true);
  const listed = await app.get("/core/dbs/first/records?filter[price][gt]=9&limit=100");
  expect(listed.json.length).toBe(stored.filter(({ price }) => typeof price === "number" && price > 9).length);
});

describe("a record's own fields", () => {
  test("are compared as they are shown, created_at by the primary key", async () => {
    const all: { id: string; created_at: string; n: number }[] = (await search("none", "sort=id&limit=100")).json;
    const count = async (query: string) =>
      Number((await search("none", `${query}&count=true&limit=1`)).headers.get("x-total-count"));
    for (const { id, created_at } of [all[0], all[40], all.at(-1)].filter((one) => one !== undefined)) {
      for (const [op, is] of [
        ["gt", (a: string, b: string) => a > b],
        ["gte", (a: string, b: string) => a >= b],
        ["lt", (a: string, b: string) => a < b],
        ["lte", (a: string, b: string) => a <= b],
        ["ne", (a: string, b: string) => a !== b],
      ] as const) {
        expect([op, await count(`filter[id][${op}]=${id}`)]).toEqual([op, all.filter((one) => is(one.id, id)).length]);
        const times = all.filter((one) => is(one.created_at, created_at)).length;
        expect([op, await count(`filter[created_at][${op}]=${created_at}`)]).toEqual([op, times]);
      }
    }
    expect(await count(`filter[id][in]=${all[3]?.id},${all[5]?.id.toUpperCase()},${crypto.randomUUID()}`)).toBe(2);
    expect(await count("filter[created_at][gt]=1960-01-01&filter[updated_at][lt]=9999-01-01")).toBe(all.length);
    expect(await count("filter[created_at][lte]=1960-01-01")).toBe(0);
    expect([await count("filter[id][null]=true"), await count("filter[id][null]=false")]).toEqual([0, all.length]);
  });
});

describe("what is no filter is 400 and says why", () => {
  test.each<[string, RegExp]>([
    ["filter[count][above]=1", /the operators are gt, gte, lt, lte, ne, in, null/],
    ["filter[count][]=1", /the operators are/],
    ["filter[count][gt]=many", /`count` gt: must be a number/],
    ["filter[count][gt]=", /must be a number/],
    ["filter[count][gt]=1e9999", /must be a number/],
    ["filter[count][in]=1,x", /`count` in: must be a number/],
    ["filter[count][ne]=x", /`count` ne: must be a number/],
    ["filter[count][in][]=1&filter[count][in][]=x", /`count` in: must be a number/],
    ["filter[count][gt][]=1", /the operators are/],
    ["filter[at][gte]=2026-02-31", /must be a date like/],
    ["filter[at][lt]=yesterday", /must be a date like/],
    ["filter[day][lt]=10:00", /must be a date like/],
    ["filter[clock][lt]=2026-01-31", /must be a time like/],
    ["filter[ok][gt]=true", /have no order/],
    ["filter[ok][ne]=maybe", /must be true or false/],
    ["filter[name][null]=maybe", /must be true or false/],
    ["filter[id][gt]=5", /must be the id of a record/],
    ["filter[created_at][gt]=5", /must be a date like/],
    ["filter[name][gt]=%00", /cannot be searched for/],
    [`filter[name][gt]=${"x".repeat(10_001)}`, /at most 10000 characters/],
    ["any[x][name]=a", /written `any\[0\]\[field\]/],
    ["any[0]=a", /written `any\[0\]\[field\]/],
    ["any[0][name=a", /written `any\[0\]\[field\]/],
    ["any[1000][name]=a", /written `any\[0\]\[field\]/],
    ["any[0][count][gt]=x", /must be a number/],
    [Array.from({ length: 21 }, (_, at) => `any[${at}][name]=a`).join("&"), /at most 20 filters/],
    [`filter[count][in]=${Array.from({ length: 101 }, (_, at) => at).join(",")}`, /at most 100 values/],
    [Array.from({ length: 101 }, (_, at) => `filter[count][in][]=${at}`).join("&"), /at most 100 values/],
  ])("%p", async (query, message) => {
    for (const path of ["search", "records", "aggregate"]) {
      const answer = await app.get(`/core/dbs/first/${path}?${query}`);
      expect([path, answer.status, answer.json]).toEqual([path, 400, { error: expect.stringMatching(message) }]);
    }
  });
});

describe("a name in brackets", () => {
  const parsed = parseSchema({ fields: { "a][gt": "string", b: "integer" } });
  const table = ("schema" in parsed ? parsed.schema.tables.get("") : undefined) ?? noTable;
  const read = (query: string) => readFilters(table, conditionsOf(table, new URLSearchParams(query)));

  test("is a field of the schema before it is an operator", () => {
    expect(read("filter[a][gt]=1").filters).toEqual([{ op: "eq", field: "a][gt", value: "1", isPattern: false }]);
    expect(read("filter[b][gt]=1").filters).toEqual([{ op: "gt", field: "b", value: "1" }]);
    expect(read("filter[c][d][lt]=1").filters).toEqual([{ op: "lt", field: "c][d", value: "1" }]);
  });

  test("may begin a list, whose values may hold commas", () => {
    const { filters, any } = read(
      "filter[b][in][]=1&any[0][x][in][]=a,b&filter[b][in][]=2&filter[y][in]=&any[0][x][in][]=c",
    );
    expect(filters).toEqual([
      { op: "in", field: "b", values: ["1", "2"] },
      { op: "in", field: "y", values: [] },
    ]);
    expect(any).toEqual([[{ op: "in", field: "x", values: ["a,b", "c"] }]]);
  });

  test("belongs to its group, whatever the order of the parameters", () => {
    const { filters, any } = read("any[1][x]=1&filter[b]=2&any[0][y][in]=a,,b&any[01][z][null]=1&filter[b=3&sort=b");
    expect(filters).toEqual([{ op: "eq", field: "b", value: "2", isPattern: false }]);
    expect(any).toEqual([
      [
        { op: "eq", field: "x", value: "1", isPattern: false },
        { op: "null", field: "z", isNull: true },
      ],
      [{ op: "in", field: "y", values: ["a", "b"] }],
    ]);
    expect(filterLimits.conditions).toBe(20);
  });
});

test("names and values that hold a comma are found, shown, summed and exported by lists", async () => {
  await app.post("/core/dbs.json", { db: { name: "Commas", code: "commas" } });
  const field = "price, net";
  for (const [at, name] of ["Smith, John", "Smith", "John", ""].entries())
    await app.post("/core/dbs/commas/records.json", { record: { data: { name, [field]: at + 0.1 } } });
  const namesOf = async (query: string, path = "records") => {
    const { json } = await app.get(`/core/dbs/commas/${path}?${query}`);
    return json.map((one: Data & { data?: Data }) => one.data?.name ?? one.name);
  };
  const list = "filter[name][in][]=Smith,%20John&filter[name][in][]=John";
  for (const path of ["records", "search", "export"])
    expect([path, (await namesOf(list, path)).toSorted()]).toEqual([path, ["John", "Smith, John"]]);
  expect(await namesOf("filter[name][in]=Smith,John")).toEqual(["John", "Smith"]);
  for (const nothing of ["filter[name][in]=", "filter[name][in]=,,", "filter[name][in][]=", "any[0][name][in]="])
    expect([nothing, await namesOf(nothing)]).toEqual([nothing, []]);
  const shown = await app.get(`/core/dbs/commas/search?fields[]=${field}&fields[]=name&sort=id&limit=1`);
  expect([shown.json[0][field], shown.json[0].name, shown.headers.get("warning")]).toEqual([0.1, "Smith, John", null]);
  const sums = await app.get(`/core/dbs/commas/aggregate?sum[]=${field}&group_by[]=${field}&sort=group&limit=1`);
  expect(sums.json).toEqual([{ group: { [field]: 0.1 }, count: 1, sum: { [field]: 0.1 } }]);
  expect(await namesOf(`q=2.1&search_in[]=${field}`)).toEqual(["John"]);
  expect((await app.get("/core/dbs/commas/search?sort[]=name")).headers.get("warning")).toContain("sort[]");
});

describe("a bare day", () => {
  // In Warsaw clocks are put forward in the night to 2026-03-29: that day has 23 hours.
  const instants = ["2026-03-28T22:59:59Z", "2026-03-28T23:00:00Z", "2026-03-29T21:59:59.999Z", "2026-03-29T22:00Z"];
  let warsaw: TestApp;
  beforeAll(async () => {
    await app.sql`update accounts set timezone = 'Europe/Warsaw'`;
    warsaw = await startTestApp({ target: app.target });
    for (const [code, indexed_fields] of Object.entries({ days: ["at", "day", "n"], nights: [] })) {
      const fields = { at: "datetime", day: "date", n: "integer", t: "string" };
      await warsaw.post("/core/dbs", { db: { name: code, code, schema: { fields, indexed_fields } } });
      for (const [n, at] of instants.entries())
        await warsaw.post(`/core/dbs/${code}/records`, { record: { data: { at, day: "2026-03-29", n, t: "x" } } });
      await warsaw.sql`
        update records set created_at = (data ->> 'at')::timestamptz, updated_at = (data ->> 'at')::timestamptz
        where db_id = (select id from dbs where code = ${code})`;
    }
  });
  afterAll(() => warsaw.stop());

  const day = "2026-03-29";
  test.each([
    [`filter[at]=${day}`, "12"],
    [`filter[at][ne]=${day}`, "03"],
    [`filter[at][gt]=${day}`, "3"],
    [`filter[at][gte]=${day}`, "123"],
    [`filter[at][lt]=${day}`, "0"],
    [`filter[at][lte]=${day}`, "012"],
    [`filter[at][in]=${day},2026-03-30`, "123"],
    [`any[0][at]=${day}&any[0][n]=1&any[1][at][gt]=${day}`, "13"],
    [`filter[updated_at]=${day}`, "12"],
    [`filter[updated_at][lte]=${day}`, "012"],
    [`filter[day]=${day}`, "0123"],
    [`filter[day][gt]=${day}`, ""],
    [`filter[at]=2026-03-28T23:00:00Z`, "1"],
    [`filter[at][lt]=9999-12-31`, "0123"],
    [`filter[at][gt]=0001-01-01`, "0123"],
    [`q=${day}`, "0123"],
    [`q=2026-03-28`, "0"],
  ])("is one of the account's time zone in %p", async (query, found) => {
    for (const code of ["days", ...(query.startsWith("q=") ? [] : ["nights"])]) {
      const answer = await warsaw.get(`/core/dbs/${code}/search?sort=n&${query}`);
      expect([code, answer.status, answer.json.map(({ n }: { n: number }) => n).join("")]).toEqual([code, 200, found]);
      const exported = await warsaw.get(`/core/dbs/${code}/export?format=json&sort=n&${query}`);
      expect(exported.json.map(({ data }: { data: { n: number } }) => data.n).join("")).toBe(found);
      const counted = await warsaw.get(`/core/dbs/${code}/aggregate?${query}`);
      expect(counted.json[0]?.count ?? 0).toBe(found.length);
    }
  });

  test("of created_at is found by the primary key, and is the day of a group", async () => {
    const { json } = await warsaw.post("/core/dbs/days/records", { record: { data: { n: 9, t: "new" } } });
    const today = new Date(json.created_at).toLocaleDateString("sv", { timeZone: "Europe/Warsaw" });
    const found = await warsaw.get(`/core/dbs/days/search?filter[created_at]=${today}`);
    expect(found.json.map(({ n }: { n: number }) => n)).toEqual([9]);
    const groups = await warsaw.get("/core/dbs/days/aggregate?group_by=at:day&sort=group&filter[at][null]=false");
    expect(
      groups.json.map(({ group, count }: { group: object; count: number }) => [Object.values(group)[0], count]),
    ).toEqual([
      ["2026-03-28", 1],
      [day, 2],
      ["2026-03-30", 1],
    ] as never);
  });
});

describe("days of now", () => {
  // In Warsaw it is Thursday already.
  const now = Date.parse("2026-12-30T23:30:00Z");
  test.each([
    ["{today}", "2026-12-31", "2027-01-01"],
    ["{yesterday}", "2026-12-30", "2026-12-31"],
    ["{tomorrow}", "2027-01-01", "2027-01-02"],
    ["{this_week}", "2026-12-28", "2027-01-04"],
    ["{last_week}", "2026-12-21", "2026-12-28"],
    ["{next_month}", "2027-01-01", "2027-02-01"],
    ["{last_month}", "2026-11-01", "2026-12-01"],
    ["{this_year}", "2026-01-01", "2027-01-01"],
    ["{last_7_days}", "2026-12-25", "2027-01-01"],
    ["{next_30_days}", "2026-12-31", "2027-01-30"],
  ])("%s is from %s, before %s", (value, first, next) => {
    const span = spanOf(value, "Europe/Warsaw", now);
    expect([span?.first.toString(), span?.next.toString()]).toEqual([first, next]);
  });
  test.each(["today", "{last_0_days}", "{last_1000_days}", "{this_days}", "{now}", "{today }"])(
    "%s is none",
    (value) => {
      expect(spanOf(value, "UTC")).toBeUndefined();
    },
  );

  test("find dates and times by the day of the account, alone and in a view", async () => {
    const own = await startTestApp();
    try {
      const fields = { name: "string", due: "date", at: "datetime" };
      for (const indexed of [[], ["due", "at"]]) {
        const code = `spans${indexed.length}`;
        const schema = { fields, indexed_fields: indexed };
        expect((await own.post("/core/dbs.json", { db: { name: code, code, schema } })).status).toBe(201);
        const timezone = (await own.get("/core/account.json")).json.timezone ?? "UTC";
        const today = Temporal.Now.plainDateISO(timezone);
        const noon = (day: Temporal.PlainDate) =>
          day.toZonedDateTime({ timeZone: timezone, plainTime: "12:00" }).toInstant().toString();
        const days = { today: 0, yesterday: -1, late: -8, soon: 6, later: 7 };
        for (const [name, by] of Object.entries(days)) {
          const due = today.add({ days: by });
          const data = { name, due: due.toString(), at: noon(due) };
          expect((await own.post(`/core/dbs/${code}/records.json`, { record: { data } })).status).toBe(201);
        }
        const found = async (query: string) => {
          const { status, json } = await own.get(`/core/dbs/${code}/search.json?${query}`);
          return status === 200 ? json.map(({ name }: { name: string }) => name).toSorted() : [status, json.error];
        };
        for (const field of ["due", "at"]) {
          expect(await found(`filter[${field}]={today}`)).toEqual(["today"]);
          expect(await found(`filter[${field}][lt]={today}`)).toEqual(["late", "yesterday"]);
          expect(await found(`filter[${field}][lte]={yesterday}`)).toEqual(["late", "yesterday"]);
          expect(await found(`filter[${field}]={last_7_days}`)).toEqual(["today", "yesterday"]);
          expect(await found(`filter[${field}]={next_7_days}`)).toEqual(["soon", "today"]);
          expect(await found(`filter[${field}][gt]={next_7_days}`)).toEqual(["later"]);
          expect(await found(`filter[${field}][ne]={last_7_days}`)).toEqual(["late", "later", "soon"]);
          expect(await found(`filter[${field}][in]={yesterday},{today}`)).toEqual(["today", "yesterday"]);
          expect(await found(`filter[${field}][gt]={someday}`)).toEqual([400, expect.stringContaining("{this_week}")]);
        }
        expect(await found("filter[created_at]={today}")).toHaveLength(5);
        const view = { name: "Overdue", filters: { due: { lt: "{today}" } } };
        const made = await own.post(`/core/dbs/${code}/views.json`, { view });
        expect([made.status, made.json.filters]).toEqual([201, view.filters]);
        const exported = await own.get(`/core/dbs/${code}/export?format=csv&view=${made.json.id}`);
        expect(exported.text.trim().split("\n")).toHaveLength(3);
      }
    } finally {
      await own.stop();
    }
  });
});
