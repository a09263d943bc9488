import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { person, startTestApp, type TestApp } from "../../../../tests/harness.ts";
import { bytesIn } from "../../../../tests/fixtures/encoded.ts";
import { rowsXml, workbook } from "../../../../tests/fixtures/workbook.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const send = (body: BodyInit, query: Record<string, string>, token?: string) =>
  app.post(`/core/dbs/from_file?${new URLSearchParams(query)}`, undefined, {
    raw: body,
    headers: { "content-type": "text/csv" },
    ...(token !== undefined && { token }),
  });

const databases = async () => (await app.get("/core/dbs.json?limit=1000")).json.length;

/** Its schema's fields and the data of its records. */
async function made(name: string, body: BodyInit, query: Record<string, string> = {}) {
  const answer = await send(body, { name, ...query });
  expect([answer.status, answer.json.errors]).toEqual([201, undefined]);
  const { db, task } = answer.json;
  const records = await app.get(`/core/dbs/${db.code}/records.json?sort=id&limit=100`);
  return { db, task, fields: db.schema.fields, data: records.json.map((record: { data: object }) => record.data) };
}

describe("a database of a file", () => {
  test("has the fields, formats and indexes that the preview shows, and the rows", async () => {
    const { db, task, data } = await made(
      "Price list",
      "Nazwa;Cena brutto;Od;Stan;E-mail\r\nKrzesło;1 299,00 zł;31.01.2026;12;a@example.com\r\nStół;2 450,50 zł;1.02.2026;3;b@example.com\r\n",
    );
    expect(db).toMatchObject({ name: "Price list", code: "price-list" });
    expect(db.schema).toEqual({
      fields: {
        nazwa: { type: "string", label: "Nazwa" },
        cena_brutto: { type: "number", label: "Cena brutto", format: "money", currency: "PLN" },
        od: { type: "date", label: "Od" },
        stan: { type: "integer", label: "Stan" },
        e_mail: { type: "string", label: "E-mail", format: "email" },
      },
      indexed_fields: ["nazwa", "e_mail", "cena_brutto", "stan", "od"],
      title_field: "nazwa",
    });
    expect(task).toMatchObject({ kind: "import", status: "finished", stored: 2, failed: 0 });
    expect(data).toEqual([
      { nazwa: "Krzesło", cena_brutto: 1299, od: "2026-01-31", stan: 12, e_mail: "a@example.com" },
      { nazwa: "Stół", cena_brutto: 2450.5, od: "2026-02-01", stan: 3, e_mail: "b@example.com" },
    ]);
  });

  test("has choices of few values where that is said, however they are capitalised, and other kinds", async () => {
    const file =
      "Nr;Status;Tags;Tel\n1;offen;a, b;030 123\n2;Bezahlt;b;\n3;bezahlt ;;\n4;offen;c;\n5;offen;c;\n6;Offen;c;\n7;storniert;c;\n";
    expect((await made("Unsaid", file, {})).fields.status).toEqual({ type: "string", label: "Status" });
    const formats = {
      Status: { kind: "choice" },
      Tags: { type: "list", kind: "choice" },
      Tel: { type: "string", kind: "phone" },
    };
    const { fields, data } = await made("States", file, { formats: JSON.stringify(formats) });
    expect(fields.status).toEqual({
      type: "string",
      label: "Status",
      choices: [
        { value: "offen", color: "sky" },
        { value: "Bezahlt", color: "plum" },
        { value: "storniert", color: "teal" },
      ],
    });
    expect(fields.tags.choices.map(({ value }: { value: string }) => value)).toEqual(["a", "b", "c"]);
    expect(fields.tel).toEqual({ type: "string", label: "Tel", format: "phone" });
    expect(data.slice(0, 3)).toEqual([
      { nr: 1, status: "offen", tags: ["a", "b"], tel: "030 123" },
      { nr: 2, status: "Bezahlt", tags: ["b"] },
      { nr: 3, status: "Bezahlt" },
    ]);
    const many = `a\n${Array.from({ length: 201 }, (_, at) => `v${at}`).join("\n")}\n`;
    const answer = await send(many, { name: "Many", formats: '{"a":{"type":"string","kind":"choice"}}' });
    expect([answer.status, answer.json]).toEqual([422, { formats: ['"a".kind: a choice has 1 to 200 values'] }]);
  });

  test("gets codes of its own where two are made at once", async () => {
    const both = await Promise.all([made("Twins", "a,b\nx,1\n"), made("Twins", "a,b\ny,2\n")]);
    expect(new Set(both.map(({ db }) => db.code))).toEqual(new Set(["twins", "twins-2"]));
    expect(both.map(({ data }) => data.length)).toEqual([1, 1]);
  });

  test("follows the mapping and formats that are given", async () => {
    const { fields, data } = await made("Mapped", "Name,When,Note\na,01/02/2026,x\n", {
      mapping: JSON.stringify({ Name: "title", Note: null }),
      formats: JSON.stringify({ When: { date_order: "dmy" } }),
    });
    expect(Object.keys(fields)).toEqual(["title", "when"]);
    expect(data).toEqual([{ title: "a", when: "2026-02-01" }]);
  });

  test("leaves out rows that cannot be read, or is not made with `partial=false`", async () => {
    const rows = Array.from({ length: 30 }, (_, at) => `n${at},${at}`).join("\n");
    const body = `name,count\n${rows}\nbad,n/a\n`;
    const { task } = await made("Partly", body);
    expect(task).toMatchObject({ status: "finished", stored: 30, failed: 1 });
    const before = await databases();
    const answer = await send(body, { name: "Whole", partial: "false" });
    expect([answer.status, answer.json.failed]).toEqual([422, 1]);
    expect(await databases()).toBe(before);
  });

  test("is made of a workbook, of JSON and of lines of JSON too", async () => {
    const sheets = [
      {
        rows: rowsXml([
          ["Name", "Count"],
          ["a", 1],
          ["b", 2],
        ]),
      },
    ];
    expect((await made("Workbook", workbook({ sheets }))).data).toEqual([
      { name: "a", count: 1 },
      { name: "b", count: 2 },
    ]);
    const json = await made("Json", '[{"Name":"a","n":1.5,"tags":["x"]},{"Name":"b","n":12345678901234567890.5}]');
    expect(json.fields).toEqual({ name: { type: "string", label: "Name" }, n: { type: "number" } });
    expect(json.data[0]).toEqual({ name: "a", n: 1.5, tags: ["x"] });
    expect((await made("Lines", '{"a":true}\n{"a":false}\n')).data).toEqual([{ a: true }, { a: false }]);
  });

  test("takes more columns than a schema has fields", async () => {
    const names = Array.from({ length: 300 }, (_, at) => `c${at}`);
    const { fields, data } = await made("Wide", `${names.join(",")}\n${names.map((_, at) => at).join(",")}\n`);
    expect([Object.keys(fields).length, Object.keys(data[0]).length]).toEqual([200, 300]);
  });

  const refused: [string, BodyInit, Record<string, string>, object][] = [
    ["no name", "a\n1\n", {}, { name: ["is required"] }],
    ["an empty file", "", { name: "x" }, { file: ["is empty"] }],
    ["an unknown column", "a\n1\n", { name: "x", mapping: '{"z":"y"}' }, { mapping: ['there is no column "z"'] }],
    [
      "a name that is no field's",
      "a\n1\n",
      { name: "x", mapping: `{"a":"${"y".repeat(300)}"}` },
      { mapping: expect.arrayContaining([expect.stringContaining("1 to 100 characters")]) },
    ],
  ];
  test.each(refused)("is not made of %s", async (_, body, query, answer) => {
    const before = await databases();
    const found = await send(body, query);
    expect([found.status, found.json]).toEqual([422, answer]);
    expect(await databases()).toBe(before);
  });

  test("takes the privilege `dbs`", async () => {
    const { token } = await person(app, { role: "guest" });
    expect((await send("a\n1\n", { name: "x" }, token)).status).toBe(403);
  });
});

/** Small files of our own, in the form in which these programs describe their exports. */
describe("files as people have them", () => {
  test("Excel in Polish: semicolons, decimal commas, Windows-1250", async () => {
    const text =
      "Imię i nazwisko;Kwota;Data wpłaty;Zapłacono;Kod pocztowy\r\nŻaneta Łęcka;1 234,56;31.01.2026;TAK;02-123\r\nJan Król;-7,00;2.02.2026;NIE;00-950\r\n";
    const { fields, data } = await made("Excel pl", Uint8Array.from(bytesIn(text, "windows-1250")));
    expect(fields).toMatchObject({ imie_i_nazwisko: { type: "string", label: "Imię i nazwisko" } });
    expect(data[0]).toEqual({
      imie_i_nazwisko: "Żaneta Łęcka",
      kwota: 1234.56,
      data_wplaty: "2026-01-31",
      zaplacono: true,
      kod_pocztowy: "02-123",
    });
  });

  test("Excel in German: semicolons, decimal commas, points between groups, Windows-1252", async () => {
    const text =
      "Größe;Preis;Datum;Aktiv;PLZ\r\nSmall;1.234,50 €;31.12.2025;WAHR;01067\r\nGroß;-3,20 €;01.02.2026;FALSCH;80331\r\n";
    const { fields, data } = await made("Excel de", Uint8Array.from(bytesIn(text, "windows-1252")));
    expect(fields.preis).toMatchObject({ type: "number", format: "money", currency: "EUR" });
    expect(data[1]).toEqual({ grosse: "Groß", preis: -3.2, datum: "2026-02-01", aktiv: false, plz: "80331" });
  });

  test("orders of Shopify", async () => {
    const text =
      'Name,Email,Financial Status,Paid at,Total,Discount Code,Lineitem quantity,Lineitem name,Accepts Marketing,Phone,Id\n#1001,ann@example.com,paid,2026-01-31 10:15:00 +0100,59.90,"",2,"Mug, white",yes,+48 600 100 200,5000000000001\n#1002,bob@example.com,refunded,2026-02-01 08:00:00 +0100,120.00,SALE,1,"Poster ""A3""",no,+48 600 100 201,5000000000002\n';
    const { fields, data } = await made("Shopify", text);
    expect(fields).toMatchObject({
      total: { type: "number" },
      paid_at: { type: "datetime" },
      accepts_marketing: { type: "boolean" },
      phone: { type: "string" },
      original_id: { type: "integer" },
    });
    expect(data[1]).toMatchObject({
      name: "#1002",
      paid_at: "2026-02-01T08:00:00+0100",
      lineitem_name: 'Poster "A3"',
      original_id: 5000000000002,
    });
  });

  test("payments of Stripe", async () => {
    const text =
      "id,Created date (UTC),Amount,Currency,Captured,Customer Email,Description\nch_1,2026-01-31 10:15,59.90,eur,TRUE,ann@example.com,\nch_2,2026-02-01 08:00,120.00,eur,FALSE,bob@example.com,Order 7\n";
    const { fields, data } = await made("Stripe", text);
    expect(fields).toMatchObject({ created_date_utc: { type: "datetime" }, captured: { type: "boolean" } });
    expect(data[0]).toMatchObject({ original_id: "ch_1", amount: 59.9, captured: true, currency: "eur" });
  });

  test("contacts of HubSpot", async () => {
    const text =
      '"Record ID","First Name","Last Name","Email","Phone Number","Create Date","Number of Sessions"\n"151","Ann","Nowak","ann@example.com","(030) 123456","2026-01-31 10:15","12"\n"152","Bob","","bob@example.com","","2026-02-01 08:00",""\n';
    const { fields, data } = await made("HubSpot", text);
    expect(fields).toMatchObject({ record_id: { type: "integer" }, email: { format: "email" } });
    expect(data[1]).toEqual({
      record_id: 152,
      first_name: "Bob",
      last_name: "",
      email: "bob@example.com",
      phone_number: null,
      create_date: expect.stringMatching(/^2026-02-01T08:00/),
    });
  });

  test("orders of WooCommerce", async () => {
    const text =
      'Order Number,Order Status,Order Date,Order Total Amount,Coupon Code,Customer Note\n7001,wc-completed,2026-01-31 10:15:00,59.9,,"two\nlines"\n7002,wc-processing,2026-02-01 08:00:00,120,SALE,\n';
    const { fields, data } = await made("WooCommerce", text);
    expect(fields).toMatchObject({ order_number: { type: "integer" }, order_total_amount: { type: "number" } });
    expect(data[0]).toMatchObject({ order_number: 7001, order_total_amount: 59.9, customer_note: "two\nlines" });
  });

  test("a table of Airtable", async () => {
    const text =
      '\uFEFFName,Status,Due,Done,Tags,Budget,Link\nSite,In progress,1/31/2026,checked,"a,b",$1200.50,https://example.com\nShop,Todo,2/1/2026,,a,$300.00,https://example.org/x\n';
    const { fields, data } = await made("Airtable", text);
    expect(fields).toMatchObject({
      due: { type: "date" },
      done: { type: "boolean" },
      budget: { type: "number", format: "money", currency: "USD" },
      link: { format: "url" },
    });
    expect(data[0]).toMatchObject({ due: "2026-01-31", done: true, tags: "a,b", budget: 1200.5 });
  });

  test("tabs of Google Sheets", async () => {
    const text = "Produkt\tMarża\tDodano\r\nMug\t12,5%\t2026-01-31\r\nPoster\t7%\t2026-02-01\r\n";
    const { fields, data } = await made("Sheets", text);
    expect(fields).toMatchObject({ marza: { type: "number", format: "percent" }, dodano: { type: "date" } });
    expect(data).toEqual([
      { produkt: "Mug", marza: 0.125, dodano: "2026-01-31" },
      { produkt: "Poster", marza: 0.07, dodano: "2026-02-01" },
    ]);
  });
});

test("a file that is sent again with its Idempotency-Key makes one database", async () => {
  const once = (body: string) =>
    app.post("/core/dbs/from_file?name=Once", undefined, {
      raw: body,
      headers: { "content-type": "text/csv", "idempotency-key": "a-file-sent-twice" },
    });
  const [before, first, again] = [await databases(), await once("a,b\n1,2\n"), await once("a,b\n1,2\n")];
  expect([first.status, again.status, again.json.db.id]).toEqual([201, 201, first.json.db.id]);
  expect(await databases()).toBe(before + 1);
  expect((await once("a,b\n1,3\n")).status).toBe(409);
});

describe("columns that name records and people", () => {
  const file = "No;Firm;Seller\n1;Acme;Ann Bell\n2;Birch;nobody\n3;Cedar;Ann Bell\n4;Zeta;\n";
  const preview = async (query: Record<string, unknown> = {}, token?: string) => {
    const parameters = Object.entries(query).map(([name, value]) => [name, JSON.stringify(value)]);
    const answer = await app.post(`/core/dbs/import/preview?${new URLSearchParams(parameters)}`, undefined, {
      raw: file,
      headers: { "content-type": "text/csv" },
      ...(token !== undefined && { token }),
    });
    expect([answer.status, answer.json.columns.length]).toEqual([200, 3]);
    const column = ({ field, type, linked, format, doubtful }: Record<string, unknown>) => ({
      field,
      type,
      linked,
      format,
      doubtful,
    });
    return answer.json.columns.map(column);
  };
  let firms: string[];
  beforeAll(async () => {
    const schema = { fields: { name: "string" }, indexed_fields: ["name"] };
    const access = [{ to: "user:1", may: "manage" }];
    await app.post("/core/dbs", { db: { name: "Firms", code: "firms", schema, access } });
    firms = [];
    for (const name of ["Acme", "Birch", "Cedar"])
      firms.push((await app.post("/core/dbs/firms/records", { record: { data: { name } } })).json.id);
  });

  test("a link is offered with its evidence, to who may read that table, and never made by itself", async () => {
    const [, firm] = await preview();
    expect(firm).toMatchObject({ field: "firm", format: {}, linked: { link: "firms", by: "name", found: 3, of: 4 } });
    const other = await person(app);
    expect((await preview({}, other.token))[1].linked).toBeUndefined();
    const { fields, data } = await made("Unlinked", file);
    expect([fields.firm.link, data[0]?.firm]).toEqual([undefined, "Acme"]);
  });

  test("a chosen link is looked up, and what names nothing is a faulty row", async () => {
    const mapping = { Firm: "firm:name" };
    const formats = { Firm: { type: "string", link: "firms" } };
    const [, firm] = await preview({ mapping, formats });
    expect(firm.format).toEqual(formats.Firm);
    expect(firm.doubtful).toEqual([{ row: 4, value: "Zeta", why: 'no record of firms has the name "Zeta"' }]);
    const json = { mapping: JSON.stringify(mapping), formats: JSON.stringify(formats) };
    const { task, db, fields, data } = await made("Linked", file, json);
    expect(fields.firm).toEqual({ type: "string", label: "Firm", link: "firms" });
    expect(data.map((one: { firm: string }) => one.firm)).toEqual(firms);
    expect([task.stored, task.failed, db.schema.title_field]).toEqual([3, 1, "seller"]);
    const other = await person(app);
    const { json: theirs } = await send(file, { name: "Theirs", ...json }, other.token);
    expect([theirs.task.stored, theirs.task.failed]).toEqual([0, 4]);
  });

  test("people are found by what they are called", async () => {
    const ann = await person(app);
    await app.patch(`/account/users/${ann.id}`, { user: { name: "Ann Bell" } });
    const formats = { Seller: { type: "integer", kind: "user" } };
    expect((await preview({ formats }))[2].doubtful).toEqual([]);
    const { db, task, fields, data } = await made("Sold", file, { formats: JSON.stringify(formats) });
    expect(fields.seller).toEqual({ type: "integer", label: "Seller", format: "user" });
    expect(data.map((one: { seller: number }) => one.seller)).toEqual([ann.id, ann.id, undefined]);
    const { json: errors } = await app.get(`/core/dbs/${db.code}/tasks/${task.id}/errors.json`);
    expect(errors).toMatchObject([{ row: 2, field: "seller", message: expect.stringContaining("login") }]);
  });
});
