import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { eventually, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { accounts } from "../../accounts/api.ts";
import { jsonDatabases } from "../api.ts";
import { parseSchema, noTable } from "../databases/schema.ts";
import { asNew, asStored, checkRecord } from "./record.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const fields = {
  name: { type: "string", required: true },
  size: { type: "string", choices: ["S", "M"], default: "S" },
  mail: { type: "string", format: "email" },
  stars: { type: "integer", format: "rating" },
  age: { type: "integer", min: 18 },
  tags: { type: "list", max: 2 },
  total: { type: "number", rollup: { of: "orders.customer", op: "count" } },
};
const wrong = {
  size: "must be one of S, M",
  mail: "must be an e-mail address like ann@example.com",
  stars: "must be from 1 to 5",
  age: "must be at least 18",
  tags: "may have at most 2 items",
};
const bad = { name: "x", size: "L", mail: "nobody", stars: 6, age: 17, tags: ["a", "b", "c"] };
const good = { name: "Ann", size: "M", mail: "ann@example.com", stars: 5, age: 18, tags: ["a", 1] };
const told = Object.fromEntries(Object.entries(wrong).map(([name, message]) => [name, [message]]));

let made = 0;
async function newDb(schema: object = { fields }, more: object = {}): Promise<string> {
  const answer = await app.post("/core/dbs.json", { db: { name: `Kinds ${++made}`, schema, ...more } });
  expect([answer.status, answer.text]).toEqual([201, answer.text]);
  return answer.json.code;
}
const create = (db: string, data: unknown, options = {}) =>
  app.post(`/core/dbs/${db}/records.json`, { record: { data } }, options);
/** As they are kept: answers have what is worked out besides. The newest first. */
const stored = (db: string) =>
  app.sql<{ id: string; data: Record<string, unknown> }[]>`
    select r.id, r.data from records r join dbs d on d.id = r.db_id where d.code = ${db} order by r.id desc`;
const open = { public_methods: { create: true, update: true } };
const send = (db: string, type: string, body: string) =>
  app.post(`/core/dbs/${db}/import`, undefined, { raw: body, headers: { "content-type": type } });
const csvOf = (data: Record<string, unknown>) =>
  `${Object.keys(data).join(";")}\n${Object.values(data)
    .map((value) => (Array.isArray(value) ? value.join(", ") : value))
    .join(";")}\n`;

/** Each way in: what it says of a record's fields, undefined where it stores them. */
const ways: Record<string, (db: string, data: Record<string, unknown>) => Promise<unknown>> = {
  create: async (db, data) => faults(await create(db, data)),
  PATCH: async (db, data) => {
    const { json } = await create(db, { name: "old" });
    return faults(await app.patch(`/core/dbs/${db}/records/${json.id}.json`, { record: { data } }));
  },
  "batch create": async (db, data) => {
    const answer = await app.post(`/core/dbs/${db}/batch.json`, { operations: [{ op: "create", data }] });
    return atPlaces(faults(answer), "operations[0].data.");
  },
  "batch update": async (db, data) => {
    const { id } = (await create(db, { name: "old" })).json;
    const answer = await app.post(`/core/dbs/${db}/batch.json`, { operations: [{ op: "update", id, data }] });
    return atPlaces(faults(answer), "operations[0].data.");
  },
  bulk: async (db, data) => {
    await create(db, { name: "old" });
    return faults(await app.post(`/core/dbs/${db}/bulk.json`, { op: "update", data, all: true }));
  },
  "import of JSON": async (db, data) => ofRows(await send(db, "application/json", JSON.stringify([data]))),
  "import of NDJSON": async (db, data) => ofRows(await send(db, "application/x-ndjson", JSON.stringify(data))),
  "import of CSV": async (db, data) => ofRows(await send(db, "text/csv", csvOf(data))),
  "public create": async (db, data) =>
    faults(await app.post(`/core/db/${db}/create`, { data }, { token: null }))?.["errors"],
  "public update": async (db, data) => {
    const { id } = (await create(db, { name: "old" })).json;
    return faults(await app.post(`/core/db/${db}/update`, { id, data }, { token: null }))?.["errors"];
  },
  "form of a browser": async (db, data) => {
    const form = new URLSearchParams(
      Object.entries(data).flatMap(([name, value]) =>
        [value].flat().map((one): [string, string] => [name, String(one)]),
      ),
    );
    const answer = await fetch(`${app.origin}/core/db/${db}/create`, { method: "POST", body: form });
    return answer.status === 422 ? (await answer.json()).errors : undefined;
  },
  "other plugins": async (db, data) => {
    const { id } = await app.service(accounts).defaultAccount();
    try {
      await app.service(jsonDatabases).create(id, db, { data });
      return undefined;
    } catch (error) {
      return error instanceof Error && "fields" in error ? error.fields : error;
    }
  },
};

interface Answered {
  readonly status: number;
  readonly json: Record<string, unknown>;
}
const faults = ({ status, json }: Answered) => (status === 422 ? json : undefined);
const atPlaces = (found: Record<string, unknown> | undefined, place: string) =>
  found && Object.fromEntries(Object.entries(found).map(([name, messages]) => [name.replace(place, ""), messages]));
const ofRows = ({ json }: Answered) => {
  const errors = json["errors"];
  if (!Array.isArray(errors)) return undefined;
  return Object.fromEntries(errors.map(({ field, message }: { field: string; message: string }) => [field, [message]]));
};

describe.each(Object.keys(ways))("%s", (name) => {
  const way = ways[name] ?? (() => Promise.resolve(undefined));
  test("refuses what a field is not for, by its field", async () => {
    const db = await newDb({ fields }, open);
    expect(await way(db, bad)).toEqual(told);
    expect((await stored(db)).filter(({ data }) => data["name"] === "x")).toEqual([]);
  });

  test("stores what is right, and nothing in a field that is worked out", async () => {
    const db = await newDb({ fields }, open);
    expect(await way(db, { ...good, total: 5 })).toBeUndefined();
    const found = await eventually(
      async () => (await stored(db)).find(({ data }) => data["name"] === "Ann"),
      "the record",
    );
    const isText = name === "import of CSV" || name === "form of a browser";
    expect(found.data).toEqual({ ...good, tags: isText ? ["a", "1"] : ["a", 1] });
  });
});

describe("a default", () => {
  const dated = {
    fields: {
      name: "string",
      state: { type: "string", default: "new", choices: ["new", "old"], required: true },
      at: { type: "datetime", default: "{now}" },
      clock: { type: "time", default: "{now}" },
      day: { type: "date", default: "{today}" },
      by: { type: "integer", default: "{user_id}" },
      by_text: { type: "string", default: "{user_id}" },
      who: { type: "string", default: "{user_name}" },
      login: { type: "string", default: "{user_login}" },
      note: { type: "text", default: "by {user_name} for {nobody}" },
      tags: { type: "list", default: ["x"] },
      open: { type: "boolean", default: false },
    },
  };

  test("is what a new record lacks, by every way in that makes one", async () => {
    for (const name of Object.keys(ways).filter((one) => !/PATCH|update|bulk/.test(one))) {
      const db = await newDb(undefined, open);
      expect([name, await ways[name]?.(db, { name: "Ann" })]).toEqual([name, undefined]);
      expect((await stored(db)).map(({ data }) => data)).toEqual([{ name: "Ann", size: "S" }]);
    }
  });

  test("is the time, the day of the account and the person of the request", async () => {
    const db = await newDb(dated, open);
    const { json: me } = await app.get("/account/me");
    const before = Date.now();
    const { json } = await create(db, { name: "x" });
    expect(json.data).toEqual({
      name: "x",
      state: "new",
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      clock: expect.stringMatching(/^\d\d:\d\d:\d\d$/),
      day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      by: me.id,
      by_text: String(me.id),
      who: me.name,
      login: me.login,
      note: `by ${me.name} for {nobody}`,
      tags: ["x"],
      open: false,
    });
    expect(Date.parse(json.data.at)).toBeWithin(before - 1, Date.now() + 1);
    const visitor = await app.post(`/core/db/${db}/create`, { data: {} }, { token: null });
    expect(Object.keys(visitor.json.data)).not.toContain("by");
    expect([visitor.json.data.who, visitor.json.data.note]).toEqual([undefined, "by  for {nobody}"]);
  });

  test("is not what was given: null stays null, and is refused where required", async () => {
    const db = await newDb(dated);
    expect((await create(db, { state: "old", day: null, open: null })).json.data).toMatchObject({
      state: "old",
      day: null,
      open: null,
    });
    const refused = await create(db, { state: null });
    expect([refused.status, refused.json]).toEqual([422, { state: ["is required"] }]);
  });

  test("is of new records only", async () => {
    const db = await newDb();
    const { id } = (await create(db, { name: "x" })).json;
    await app.patch(`/core/dbs/${db}.json`, {
      db: { schema: { fields: { ...fields, size: "string", color: { type: "string", default: "red" } } } },
    });
    const { json } = await app.patch(`/core/dbs/${db}/records/${id}.json`, { record: { data: { age: 20 } } });
    expect(json.data).toEqual({ name: "x", size: "S", age: 20, total: null });
  });

  test("that was stored unread by an older version and is wrong has no effect", async () => {
    const db = await newDb({ fields: { n: "integer" } });
    const schema = {
      fields: { n: { type: "integer", default: "five", min: "x" }, m: { type: "integer", required: true } },
    };
    await app.sql`update dbs set schema = ${JSON.stringify(schema)}::text::json, schema_version = 99, rules_version = 99 where code = ${db}`;
    // Any change makes the processes read it anew.
    await app.patch(`/core/dbs/${db}.json`, { db: { fields: { a: 1 } } });
    expect((await create(db, { m: 1 })).json.data).toEqual({ m: 1 });
    expect((await create(db, { n: "x" })).json).toEqual({
      n: [expect.stringContaining("whole number")],
      m: ["is required"],
    });
  });
});

test("nothing is what forms send for an empty field that holds no free text", async () => {
  const db = await newDb();
  const { json } = await create(db, { name: "x", size: "", mail: "", age: "", tags: "" });
  expect(json.data).toEqual({ name: "x", size: null, mail: null, age: null, tags: null, total: null });
});

test("a list is found by its items", async () => {
  const db = await newDb();
  for (const tags of [["red", "blue"], ["red"], [5], [], null]) await create(db, { name: JSON.stringify(tags), tags });
  const found = async (query: string) =>
    (await app.get(`/core/dbs/${db}/search.json?sort=id&fields=name&${query}`)).json.map(
      ({ name }: { name: string }) => name,
    );
  expect(await found("filter[tags]=red")).toEqual(['["red","blue"]', '["red"]']);
  expect(await found("filter[tags][in]=blue,5")).toEqual(['["red","blue"]', "[5]"]);
  expect(await found("filter[tags][ne]=red")).toEqual(["[5]", "[]", "null"]);
  expect(await found("filter[tags]=re")).toEqual([]);
  expect(await found("filter[tags][null]=true")).toEqual(["null"]);
});

test("a wrong option is 422 under `schema` with its place, an unknown one is named in Warning", async () => {
  const refused = await app.post("/core/dbs.json", {
    db: { name: "x", schema: { fields: { a: { type: "string", choices: [] } } } },
  });
  expect([refused.status, refused.json]).toEqual([
    422,
    { schema: [expect.stringMatching(/^fields\.a\.choices: must be/)] },
  ]);
  const odd = await app.post("/core/dbs.json", {
    db: { name: "x", schema: { fields: { a: { type: "string", choises: [] } } } },
  });
  expect([odd.status, odd.headers.get("warning")]).toEqual([201, expect.stringContaining("choises")]);
});

test("whatever is stored fits its field, and is stored again unchanged", () => {
  const parsed = parseSchema({ fields });
  const table = ("schema" in parsed ? parsed.schema.tables.get("") : undefined) ?? noTable;
  const value = fc.oneof(fc.jsonValue(), fc.constantFrom("", "S", "ann@example.com", 5, 18, ["a"]));
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...Object.keys(fields), "other"), value), (data) => {
      const kept = asNew({ timezone: "UTC" }, table, data);
      if (checkRecord(table, kept)) return;
      expect(kept).toEqual(asStored(table, kept));
      expect(Object.keys(kept)).not.toContain("total");
      expect(["S", "M", null]).toContain(kept["size"] as string | null);
      expect(kept["age"] === undefined || kept["age"] === null || Number(kept["age"]) >= 18).toBe(true);
    }),
  );
});
