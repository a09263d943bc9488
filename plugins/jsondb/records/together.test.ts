import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openPool } from "../../../runtime/db/db.ts";
import { eventually, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { databaseOf, type DatabaseRow } from "../databases/database.ts";
import { noTable } from "../databases/schema.ts";
import { indexValues } from "./index-values.ts";
import * as manyStore from "./many-store.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  const fields = { name: { type: "string", required: true }, visits: "integer", at: "datetime" };
  await app.post("/core/dbs", { db: { name: "busy", schema: { fields, indexed_fields: ["name", "visits", "at"] } } });
  const tables = { orders: { fields: { total: "number" } }, lines: { fields: { count: "integer" } } };
  await app.post("/core/dbs", { db: { name: "shop", schema: { tables } } });
});
afterAll(() => app.stop());

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
const create = (data: object, table?: string) =>
  app.post(`/core/dbs/${table ? "shop" : "busy"}/records`, { record: { data, ...(table && { table_name: table }) } });
const patch = (id: string, data: object) => app.patch(`/core/dbs/busy/records/${id}`, { record: { data } });
const make = async (count: number, data: object = {}): Promise<string[]> => {
  const made = await Promise.all(numbers(count).map((n) => create({ name: `n${n}`, ...data })));
  return made.map(({ json }) => json.id);
};

describe("many at once", () => {
  test("creates share commits, and each is answered and stored as its own", async () => {
    const all = numbers(60);
    const at = "2026-01-31T10:00:00.123456Z";
    /** In how many commits they were stored. */
    const commits = async () => {
      const made = await Promise.all(all.map((n) => create({ name: `c${n} "\\{},é`, visits: n, at, list: [n, null] })));
      for (const [n, { status, json }] of made.entries()) {
        expect(status).toBe(201);
        expect(json.data).toEqual({ name: `c${n} "\\{},é`, visits: n, at, list: [n, null] });
        const found = await app.get(`/core/dbs/busy/records/${json.id}`);
        expect(found.json).toEqual(json);
        expect(found.headers.get("etag")).toBe(made[n]?.headers.get("etag") ?? "none");
      }
      const ids = made.map(({ json }) => json.id);
      const [row] = await app.sql`
        select count(distinct xmin::text)::int as commits, count(*)::int as records,
          count(*) filter (where idx_str_1 = data ->> 'name' and idx_int_1::text = data ->> 'visits'
            and idx_time_1 = ${at}::text::timestamptz)::int as indexed
        from records where id = any(${ids}::uuid[])`;
      expect(row).toMatchObject({ records: 60, indexed: 60 });
      return row?.["commits"];
    };
    // On a busy machine they may arrive one by one.
    await eventually(async () => (await commits()) < 60);
  });

  test("each create is checked alone, and goes into its own table", async () => {
    const wrong = { name: 5 };
    const good = { name: "good" };
    const made = await Promise.all(numbers(40).map((n) => create(n % 4 === 0 ? wrong : good)));
    expect(made.map(({ status }) => status)).toEqual(numbers(40).map((n) => (n % 4 === 0 ? 422 : 201)));
    const shop = await Promise.all(
      numbers(40).map((n) => create(n % 2 ? { total: n } : { count: n }, n % 2 ? "orders" : "lines")),
    );
    expect(shop.map(({ json }) => json.table_name)).toEqual(numbers(40).map((n) => (n % 2 ? "orders" : "lines")));
  });

  test("reads give each caller its own record, or 404", async () => {
    const ids = await make(10);
    const other = (await create({ total: 1 }, "orders")).json.id;
    const asked = numbers(60).map((n) => (n % 6 === 5 ? other : ids[n % 10]));
    const found = await Promise.all(asked.map((id) => app.get(`/core/dbs/busy/records/${id}`)));
    for (const [n, { status, json }] of found.entries()) {
      if (asked[n] === other) expect(status).toBe(404);
      else expect([status, json.id, json.data.name]).toEqual([200, asked[n], `n${n % 10}`]);
    }
  });

  test("changes of different records share commits", async () => {
    const ids = await make(60, { visits: 1, at: "2026-01-31T10:00:00Z" });
    const changed = await Promise.all(ids.map((id, n) => patch(id, { visits: n, name: `p${n}` })));
    for (const [n, { status, json }] of changed.entries()) {
      expect([status, json.id]).toEqual([200, ids[n]]);
      expect(json.errors ?? json.data.name).toBe(`p${n}`);
      expect(json).toEqual((await app.get(`/core/dbs/busy/records/${ids[n]}`)).json);
    }
    const [row] = await app.sql`
      select count(distinct xmin::text)::int as commits,
        count(*) filter (where idx_str_1 = data ->> 'name' and idx_time_1 is not null)::int as indexed
      from records where id = any(${ids}::uuid[])`;
    expect(row?.["indexed"]).toBe(60);
    expect(row?.["commits"]).toBeLessThan(60);
  });

  test("whichever fields changes set, alike or not, alone or among others, the index columns follow", async () => {
    const fields = { name: "string", visits: "number", at: "datetime" };
    const schema = { fields, indexed_fields: ["name", "visits", "at"] };
    await app.post("/core/dbs", { db: { name: "exact", schema } });
    const before = { name: "n", visits: 1.5, at: "2026-01-31T10:00:00Z" };
    const forms = [
      { visits: 7 },
      { visits: 2.5 },
      { visits: null },
      { name: 'a "new" \\ name, {é}' },
      { name: "long ".repeat(100) },
      { at: "2026-03-31T10:00:00.654321+02:00" },
      { at: null },
      { note: { deep: [1, null, "\u2028"] } },
      {},
      { name: "all", visits: -3, at: "2020-01-01T00:00:00Z" },
    ];
    const changesOf = [...forms.map((form) => [form]), ...forms.map((form) => numbers(20).map(() => form))];
    changesOf.push(numbers(40).flatMap((n) => forms[n % forms.length] ?? []));
    for (const changes of changesOf) {
      const made = changes.map(() => app.post("/core/dbs/exact/records", { record: { data: before } }));
      const ids = (await Promise.all(made)).map(({ json }) => json.id);
      const patched = ids.map((id, n) =>
        app.patch(`/core/dbs/exact/records/${id}`, { record: { data: changes[n] ?? {} } }),
      );
      const changed = await Promise.all(patched);
      for (const [n, { status, json }] of changed.entries()) {
        expect(status).toBe(200);
        expect(json.data).toEqual({ ...before, ...changes[n] });
      }
      const [row] = await app.sql`
        select count(*)::int as records, count(*) filter (where
          (idx_str_1, idx_int_1, idx_time_1, r.long_strings, r.inexact_numbers) is not distinct from
          (x.str_1, x.int_1, x.time_1, x.long_strings, x.inexact_numbers))::int as indexed
        from records r, record_index(data, '{name,null,null,visits,null,at,null}') x
        where id = any(${ids}::uuid[])`;
      expect(row).toMatchObject({ records: ids.length, indexed: ids.length });
    }
  });

  test("changes of one record are all made, one after the other", async () => {
    const [id = ""] = await make(1);
    const changed = await Promise.all(numbers(50).map((n) => patch(id, { [`f${n}`]: n })));
    expect(new Set(changed.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(changed.map(({ headers }) => headers.get("etag"))).size).toBe(50);
    const { data } = (await app.get(`/core/dbs/busy/records/${id}`)).json;
    expect(data).toEqual({ name: "n0", ...Object.fromEntries(numbers(50).map((n) => [`f${n}`, n])) });
  });
});

describe("the statements about many records", () => {
  test("bring no more than an answer of large ones, and each caller still gets its own", async () => {
    const ids = await make(8, { text: "x".repeat(1_500_000) });
    const [row] = await app.sql<DatabaseRow[]>`select * from dbs where code = 'busy'`;
    if (!row) throw new Error("no database");
    const db = databaseOf(row);
    const small = await make(1);
    const rows = await manyStore.get(app.sql, db, [crypto.randomUUID(), ...ids, ...small]);
    expect(
      rows
        .filter(manyStore.isOnlyId)
        .map(({ raw }) => raw)
        .toSorted(),
    ).toEqual(ids.toSorted());
    expect(rows.filter((one) => !manyStore.isOnlyId(one)).map(({ raw }) => raw.slice(0, 36))).toEqual(small);
    const table = db.schema.tables.get("") ?? noTable;
    const index = indexValues(table, {});
    const patches = ids.map((id) => ({ id, json: '{"a":1}', actor: undefined, index }));
    for (const logged of [false, true]) {
      const changed = await manyStore.update(
        app.sql,
        db,
        table,
        patches.map((one) => ({ ...one, ...(logged && { actor: "{}" }) })),
      );
      expect(changed.filter(manyStore.isOnlyId)).toHaveLength(ids.length);
    }
    const [found, changed] = [
      await Promise.all(ids.map((id) => app.get(`/core/dbs/busy/records/${id}`))),
      await Promise.all(ids.map((id, b) => patch(id, { b }))),
    ];
    expect(found.map(({ json }) => json.id)).toEqual(ids);
    expect(changed.map(({ json }) => [json.id, json.data.b])).toEqual(ids.map((id, b) => [id, b]));
  });

  test("keep one plan, whatever their number, which finds each record by its key even in a table that was empty", async () => {
    const made = await app.post("/core/dbs", { db: { name: "new", schema: { fields: { visits: "integer" } } } });
    const [row] = await app.sql<DatabaseRow[]>`select * from dbs where id = ${made.json.id}`;
    if (!row) throw new Error("no database");
    const db = databaseOf(row);
    const sql = openPool(app.target, { max: 1 });
    const data = { visits: 1 };
    for (const count of numbers(12)) {
      const ids = numbers(count + 2).map(() => Bun.randomUUIDv7());
      await manyStore.get(sql, db, ids);
      const index = indexValues(noTable, data);
      const patches = ids.map((id) => ({ id, json: JSON.stringify(data), actor: undefined, index }));
      await manyStore.update(sql, db, noTable, patches);
    }
    const kept = await sql<{ statement: string; genericPlans: number }[]>`
      select statement, generic_plans from pg_prepared_statements where statement like ${"%((select $1::text%"}`;
    expect(kept.map(({ genericPlans }) => genericPlans)).toEqual([7, 7]);
    for (const { statement } of kept) {
      const rows = await sql.unsafe(`explain (generic_plan) ${statement}`).simple();
      const plan = rows.map((line) => `${Object.values(line)[0]}`).join("\n");

      const reads = plan.match(/Scan.* on records.*\n.*/g) ?? [];
      expect(reads.length).toBeGreaterThan(0);
      for (const read of reads)
        expect(read).toMatch(
          /using records_pkey.*\n +Index Cond: \(\(db_id = .*\) AND \(id = |^Scan on records r(?:_1)? .*\n +TID Cond: \(h\.place = ctid\)/u,
        );
    }
    await sql.end();
  });
});

describe("beside others", () => {
  test("a change that is refused refuses no other", async () => {
    const ids = await make(12);
    const [large = "", gone = ""] = ids;
    // What no compression makes smaller: two such fields are too much for a record.
    const block = numbers(20_000).map(() => String.fromCharCode(0x4e00 + Math.floor(Math.random() * 20_000)));
    const long = block.join("").repeat(95);
    await patch(large, { a: long });
    await app.delete(`/core/dbs/busy/records/${gone}`);
    const changed = await Promise.all(ids.map((id) => patch(id, id === large ? { b: long } : { visits: 7 })));
    expect(changed.map(({ status }) => status)).toEqual([422, 404, ...numbers(10).map(() => 200)]);
    expect(changed[0]?.json).toEqual({ data: ["may have at most 8000000 bytes as JSON"] });
  });

  describe("that PostgreSQL refuses at any statement of theirs", () => {
    const wrong = { refused: true };
    beforeAll(async () => {
      await app.sql`
        alter table records add constraint refused check (not data @> '{"refused": true}') not valid`;
      await app.patch("/account/settings.json", { settings: { activity_databases: "shop, busy" } });
    });
    afterAll(async () => {
      await app.sql`alter table records drop constraint refused`;
    });

    const updates = async (ids: readonly string[]) => {
      const logged = () => app.sql<{ id: string }[]>`
        select record_id as id from activity where model = 'Core::Record' and action = 'update'
          and record_id = any(${[...ids]}::text[])`;
      await eventually(async () => (await app.sql`select from activity_inbox`).length === 0);
      return (await logged()).length;
    };

    test("a create is stored once, and answered as stored, whatever the table", async () => {
      const asked = numbers(120).map((n) => (n % 3 === 2 ? "refused" : n % 2 ? "orders" : "lines"));
      const made = await Promise.all(
        asked.map((name, n) => (name === "refused" ? create(wrong, "orders") : create({ n }, name))),
      );
      expect(made.map(({ status }) => status)).toEqual(asked.map((name) => (name === "refused" ? 422 : 201)));
      const ids = made.flatMap(({ json }) => json.id ?? []);
      expect(await app.sql`select from records where id = any(${ids}::uuid[])`).toHaveLength(80);
    });

    test("a change is made once and logged once, of one record or of several, whatever the table", async () => {
      const made = await Promise.all(numbers(20).map((n) => create({ n }, n % 2 ? "orders" : "lines")));
      const records = made.map(({ json }) => json);
      const asked = numbers(100).map((n) => ({ ...records[n % 7 === 6 ? 0 : n % 20], isWrong: n % 5 === 4 }));
      const changed = await Promise.all(
        asked.map(({ id, table_name, isWrong }, n) =>
          app.patch(`/core/dbs/shop/records/${id}`, {
            record: { table_name, data: isWrong ? wrong : { [`f${n}`]: n } },
          }),
        ),
      );
      expect(changed.map(({ status }) => status)).toEqual(asked.map(({ isWrong }) => (isWrong ? 422 : 200)));
      expect(await updates(records.map(({ id }) => id))).toBe(80);
    });
  });

  test("a record that somebody holds keeps no other waiting", async () => {
    const ids = await make(40);
    const [held = ""] = ids;
    const release = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const holder = app.sql.begin(async (tx) => {
      await tx`select from records where id = ${held} for update`;
      locked.resolve();
      await release.promise;
    });
    await locked.promise;
    let isDone = false;
    const waiting = patch(held, { visits: 1 }).finally(() => (isDone = true));
    const others = await Promise.all(ids.slice(1).map((id) => patch(id, { visits: 2 })));
    expect(others.every(({ status }) => status === 200)).toBe(true);
    expect(isDone).toBe(false);
    release.resolve();
    await holder;
    expect((await waiting).json.data).toEqual({ name: "n0", visits: 1 });
  });

  test("a schema that changes meanwhile is the one that counts", async () => {
    const schema = (type: string) => ({ db: { schema: { fields: { value: type }, indexed_fields: ["value"] } } });
    await app.post("/core/dbs", { db: { name: "moving", ...schema("string").db } });
    const write = () => app.post("/core/dbs/moving/records", { record: { data: { value: 5 } } });
    const [before, changed, during] = await Promise.all([
      Promise.all(numbers(10).map(write)),
      app.patch("/core/dbs/moving", schema("integer")),
      Promise.all(numbers(20).map(write)),
    ]);
    expect(changed.status).toBe(200);
    expect((await write()).status).toBe(201);
    const made = [...before, ...during].filter(({ status }) => status === 201).length + 1;
    const [row] = await app.sql`
      select count(*)::int as records, count(idx_int_1)::int as indexed from records
      where data -> 'value' = '5'`;
    expect(row).toEqual({ records: made, indexed: made });
  });
});
