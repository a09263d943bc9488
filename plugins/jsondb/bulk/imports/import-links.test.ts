/** Links in files of people: by titles and unique fields, and what of it a preview and a dry run say. behaviour B.7. */
import { beforeAll, describe, expect, test } from "bun:test";
import { person } from "../../../../tests/harness.ts";
import { csv, importServer, json } from "../../../../tests/fixtures/import.ts";
import { rowsXml, workbook } from "../../../../tests/fixtures/workbook.ts";

const server = importServer();
const { send } = server;
const xlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
const ids: Record<string, string> = {};

beforeAll(async () => {
  const db = async (code: string, schema: object) =>
    expect((await server.app.post("/core/dbs", { db: { name: code, code, schema } })).status).toBe(201);
  await db("people", {
    fields: {
      name: "string",
      email: { type: "string", unique: true },
      no: { type: "integer", unique: true },
      since: { type: "datetime", unique: true },
      secret: { type: "string" },
    },
  });
  const people = [
    { name: "Ann", email: "ann@x.pl", no: 1, since: "2026-01-31T10:00:00Z", secret: "s1" },
    { name: "Bob", email: "bob@x.pl", no: 2 },
    { name: "Łódź, Sp. z o.o.", email: "eve@x.pl" },
    { name: "Twin", email: "twin1@x.pl" },
    { name: "Twin", email: "twin2@x.pl" },
  ];
  for (const data of people) {
    const { json: made } = await server.app.post("/core/dbs/people/records", { record: { data } });
    ids[data.email] = made.id;
  }
});

let made = 0;
async function orders(fields: object = {}): Promise<string> {
  const code = `orders-${++made}`;
  const schema = {
    fields: {
      ref: { type: "string", unique: true },
      customer: { type: "string", link: "people" },
      watchers: { type: "list", link: "people" },
      ...fields,
    },
  };
  expect((await server.app.post("/core/dbs", { db: { name: code, code, schema } })).status).toBe(201);
  return code;
}
const stored = async (db: string) =>
  (await server.app.get(`/core/dbs/${db}/records?limit=100&sort=id`)).json.map(({ data }: { data: object }) => data);
const mapping = (columns: object) => `?${new URLSearchParams({ mapping: JSON.stringify(columns) })}`;

describe("an import of links", () => {
  test("takes them by the title and by unique fields: in a header, a mapping, a workbook and JSON", async () => {
    const db = await orders();
    const header = await send(
      db,
      csv,
      "ref,customer:email,watchers:email\n1,ann@x.pl,ann@x.pl; bob@x.pl\n2,,\n3, bob@x.pl ,\n",
    );
    expect([header.status, header.json]).toEqual([201, { imported: 3 }]);
    const mapped = await send(
      db,
      csv,
      'Nr;Kunde;Copy\n4;Łódź, Sp. z o.o.;"Ann\nBob"\n',
      mapping({ Nr: "ref", Kunde: "customer:name", Copy: "watchers:name" }),
    );
    expect([mapped.status, mapped.json]).toEqual([201, { imported: 1 }]);
    const sheet = workbook({
      sheets: [
        {
          rows: rowsXml([
            ["Nr", "Kunde"],
            ["5", 2],
          ]),
        },
      ],
    });
    const worked = await send(db, xlsx, sheet, mapping({ Nr: "ref", Kunde: "customer:no" }));
    expect([worked.status, worked.json]).toEqual([201, { imported: 1 }]);
    const objects = [
      { ref: "6", "customer:no": 1, "watchers:name": ["Łódź, Sp. z o.o.", "Ann"] },
      { ref: "7", "customer:since": "2026-01-31T11:00:00+01:00" },
      { ref: "8", customer: ids["bob@x.pl"] },
    ];
    expect((await send(db, json, JSON.stringify(objects))).json).toEqual({ imported: 3 });
    const [ann, bob, eve] = ["ann@x.pl", "bob@x.pl", "eve@x.pl"].map((email) => ids[email]);
    expect(await stored(db)).toEqual([
      { ref: "1", customer: ann, watchers: [ann, bob] },
      { ref: "2" },
      { ref: "3", customer: bob },
      { ref: "4", customer: eve, watchers: [ann, bob] },
      { ref: "5", customer: bob },
      { ref: "6", customer: ann, watchers: [eve, ann] },
      { ref: "7", customer: ann },
      { ref: "8", customer: bob },
    ]);
    const { json: linked } = await server.app.get(`/core/dbs/people/records/${bob}/linked.json`);
    expect(
      linked.find((one: { db_code: string; field: string }) => one.db_code === db && one.field === "customer"),
    ).toMatchObject({ count: 3 });
  });

  test("refuses rows that name no record, several, or one twice, and stores the others with partial", async () => {
    const db = await orders();
    const stranger = crypto.randomUUID();
    const rows = `ref,customer:name,customer:email,customer\n1,Ann,,\n2,Nobody,,\n3,Twin,,\n4,Ann,ann@x.pl,\n5,,,${stranger}\n6,,bob@x.pl,\n`;
    const errors = [
      { row: 2, line: 3, field: "customer:name", message: 'no record of people has the name "Nobody"' },
      { row: 3, line: 4, field: "customer:name", message: 'several records of people have the name "Twin"' },
      { row: 4, line: 5, field: "customer:email", message: "customer is given twice" },
      { row: 5, line: 6, field: "customer", message: `${stranger} is not the id of a record of people` },
    ];
    const refused = await send(db, csv, rows);
    expect([refused.status, refused.json]).toEqual([422, { errors, failed: 4, total: 6 }]);
    const dry = await send(db, csv, rows, "?dry_run=true");
    expect([dry.status, dry.json]).toEqual([200, { rows: 6, good: 2, faulty: 4, errors }]);
    const partial = await send(db, csv, rows, "?partial=true");
    expect([partial.status, partial.json]).toEqual([200, { imported: 2, failed: 4, total: 6, errors }]);
    expect((await stored(db)).map(({ ref }: { ref: string }) => ref)).toEqual(["1", "6"]);
  });

  test("names what may stand for a link where it is given something else", async () => {
    const db = await orders();
    const header = await send(db, csv, "ref,customer:secret\n1,s1\n");
    expect([header.status, header.json.errors[0]]).toEqual([
      422,
      {
        row: 1,
        line: 2,
        field: "customer:secret",
        message: "is not known here: use customer:name or customer:email or customer:no or customer:since",
      },
    ]);
    const mapped = await send(db, csv, "ref;x\n1;s1\n", mapping({ x: "customer:secret" }));
    expect([mapped.status, mapped.json]).toEqual([
      422,
      {
        mapping: [
          '"x": there is no field "customer:secret", but there is customer:name, customer:email, customer:no, customer:since',
        ],
      },
    ]);
    const twice = await send(db, csv, "x;y\nAnn;ann@x.pl\n", mapping({ x: "customer:name", y: "customer:email" }));
    expect(twice.json.errors[0].message).toBe('two columns go into the field "customer"');
    expect((await send(db, json, '[{"customer:name": {"a": 1}}]')).json.errors[0]).toMatchObject({
      field: "customer:name",
      message: "must be a text, or a number",
    });
  });

  test("finds only what the importer may read, and nothing by a field that is hidden", async () => {
    const db = await orders();
    const who = await person(server.app, { role: "user" });
    const access = (grant: object) =>
      server.app.patch("/core/dbs/people", { db: { access: [{ to: `user:${who.id}`, may: "read", ...grant }] } });
    const named = async (head: string, value: string) => {
      const answer = await server.app.request("POST", `/core/dbs/${db}/import?dry_run=true`, undefined, {
        raw: `${head}\n${value}\n`,
        headers: { "content-type": csv },
        token: who.token,
      });
      return [answer.status, answer.json.good, answer.json.errors[0]?.message];
    };
    await access({ where: { name: "Ann" } });
    expect(await named("customer:email", "ann@x.pl")).toEqual([200, 1, undefined]);
    expect(await named("customer:email", "bob@x.pl")).toEqual([200, 0, 'no record of people has the email "bob@x.pl"']);
    expect(await named("customer", ids["bob@x.pl"] ?? "")).toEqual([200, 0, expect.stringContaining("is not the id")]);
    await access({ hide: ["name"] });
    expect(await named("customer:name", "Ann")).toEqual([
      200,
      0,
      expect.stringContaining("is not known here: use customer:email"),
    ]);
    await server.app.patch("/core/dbs/people", { db: { access: [] } });
    expect(await named("customer:email", "ann@x.pl")).toEqual([200, 0, "is not known here: use ids"]);
    await server.app.patch("/core/dbs/people", { db: { access: null } });
  });

  test("finds titles of any length by their index column, and only of the table that the link names", async () => {
    const long = "ł".repeat(300);
    const tables = {
      shops: { fields: { name: "string" }, indexed_fields: ["name"] },
      parts: { fields: { name: "string" }, indexed_fields: ["name"] },
    };
    await server.app.post("/core/dbs", { db: { name: "Shop", code: "shop", schema: { tables } } });
    const add = async (table_name: string, name: string) =>
      (await server.app.post("/core/dbs/shop/records", { record: { table_name, data: { name } } })).json.id;
    const [one, other] = [await add("shops", `${long}a`), await add("shops", `${long}b`)];
    await add("parts", "Both");
    const both = await add("shops", "Both");
    const db = await orders({ shop: { type: "string", link: "shop.shops" } });
    const answer = await send(db, csv, `shop:name\n${long}b\n${long}a\nBoth\n`);
    expect([answer.status, answer.json]).toEqual([201, { imported: 3 }]);
    expect(await stored(db)).toEqual([{ shop: other }, { shop: one }, { shop: both }]);
  });

  test("reads more rows than a page, each page with a statement", async () => {
    const db = await orders();
    const rows = Array.from({ length: 2500 }, (_, at) => `${at},${at % 2 === 0 ? "ann" : "bob"}@x.pl`);
    const answer = await send(db, csv, `ref,customer:email\n${rows.join("\n")}\n2500,x@x.pl\n`, "?partial=true");
    expect(answer.json).toMatchObject({ imported: 2500, failed: 1, errors: [{ row: 2501 }] });
    const [row] = await server.app.sql`
      select count(*)::int as n from record_links l join dbs d on d.id = l.db_id where d.code = ${db}`;
    expect(row?.["n"]).toBe(2500);
  });
});

describe("a dry run", () => {
  test("counts values of unique fields that are taken, or repeat in the file, as the import does", async () => {
    const db = await orders();
    expect((await send(db, csv, "ref\nold\n")).status).toBe(201);
    const rows = "ref,customer:email\nold,ann@x.pl\nnew,ann@x.pl\nnew,bob@x.pl\nnext,x@x.pl\nnext,bob@x.pl\n";
    const dry = await send(db, csv, rows, "?dry_run=true");
    expect(dry.json).toMatchObject({ rows: 5, good: 2, faulty: 3 });
    expect(dry.json.errors).toEqual([
      { row: 1, line: 2, field: "ref", message: "is already taken" },
      { row: 3, line: 4, field: "ref", message: "is already taken" },
      { row: 4, line: 5, field: "customer:email", message: 'no record of people has the email "x@x.pl"' },
    ]);
    const done = await send(db, csv, rows, "?partial=true");
    expect(done.json).toMatchObject({ imported: 2, failed: 3, total: 5 });
    const { id } = (await server.app.get(`/core/dbs/${db}/records?sort=id`)).json[0];
    await server.app.delete(`/core/dbs/${db}/records/${id}`);
    expect((await send(db, csv, "ref\nold\n", "?dry_run=true")).json).toMatchObject({ good: 1 });
  });
});

describe("a preview", () => {
  const preview = async (db: string, raw: string) =>
    (
      await server.app.request("POST", `/core/dbs/import/preview?db=${db}`, undefined, {
        raw,
        headers: { "content-type": csv },
      })
    ).json.columns;

  test("says by what the values of a link are found, and which are not; the import takes it so", async () => {
    const db = await orders();
    const file = "Ref;Customer;Watchers\n1;Ann;ann@x.pl, bob@x.pl\n2;Bob;bob@x.pl\n3;Nobody;\n";
    const columns = await preview(db, file);
    expect(columns).toMatchObject([
      { name: "Ref", field: "ref" },
      {
        name: "Customer",
        field: "customer:name",
        type: "string",
        samples: ["Ann", "Bob", "Nobody"],
        doubtful: [{ row: 3, value: "Nobody", why: 'no record of people has the name "Nobody"' }],
      },
      { name: "Watchers", field: "watchers:email", type: "list", doubtful: [] },
    ]);
    expect(JSON.stringify(columns)).not.toContain("named");
    const columnFields = columns.map(({ name, field }: { name: string; field: string }) => [name, field]);
    const done = await send(db, csv, file.replace("3;Nobody;\n", ""), mapping(Object.fromEntries(columnFields)));
    expect([done.status, done.json]).toEqual([201, { imported: 2 }]);
  });

  test("keeps ids, a field that the header names, and says what is neither", async () => {
    const db = await orders();
    expect(await preview(db, `customer\n${ids["ann@x.pl"]}\n`)).toMatchObject([{ field: "customer", doubtful: [] }]);
    expect(await preview(db, "customer:no,customer\n1,Ann\n")).toMatchObject([
      { field: "customer:no" },
      { field: null },
    ]);
    expect(await preview(db, "Customer email\nx\n")).toMatchObject([
      { field: "customer:email", doubtful: [{ row: 1, value: "x" }] },
    ]);
    expect(await preview(db, "customer\nx\ny\n")).toMatchObject([
      { field: "customer", doubtful: [{ row: 1, value: "x", why: "is not the id of a record" }, { row: 2 }] },
    ]);
  });
});
