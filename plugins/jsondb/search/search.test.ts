import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { person, startTestApp, type TestApp } from "../../../tests/harness.ts";

const people = {
  fields: {
    name: "string",
    city: "string",
    age: "integer",
    score: "number",
    born: "date",
    member: "boolean",
    note: "text",
  },
  indexed_fields: ["name", "city", "age", "born"],
};
const rows = [
  { name: "Ann Żółta", city: "Łódź", age: 34, score: 1.5, born: "1992-03-01", member: true, note: "likes 100% cotton" },
  { name: "Bob", city: "Kraków", age: 5, score: 2, born: "2021-01-01", member: false, note: "a_b" },
  { name: "Cid", city: "Łódź", age: 70, born: "1956-12-31", note: "back\\slash" },
  { name: "ann lower", city: "", age: null, score: -3 },
  { name: "Zed", extra: { deep: ["Needle", 42] }, id: "mine", created_at: "never", updated_at: 1 },
];

let app: TestApp;
const ids: string[] = [];
beforeAll(async () => {
  app = await startTestApp();
  await app.post("/core/dbs", { db: { name: "people", schema: people } });
  for (const data of rows) ids.push((await app.post("/core/dbs/people/records", { record: { data } })).json.id);
  const table = { fields: { no: "string" }, indexed_fields: ["no"] };
  await app.post("/core/dbs", { db: { name: "shop", schema: { tables: { orders: table, lines: table } } } });
  for (const table_name of ["orders", "lines", null])
    await app.post("/core/dbs/shop/records", { record: { table_name, data: { no: `of ${table_name}` } } });
  await app.post("/core/dbs", { db: { name: "free" } });
  for (const data of rows) await app.post("/core/dbs/free/records", { record: { data } });
});
afterAll(() => app.stop());

const search = (query: string, db = "people") => app.get(`/core/dbs/${db}/search.json?${query}`);
const names = async (query: string, db = "people") => {
  const answer = await search(query, db);
  expect([query, answer.status]).toEqual([query, 200]);
  return answer.json.map(({ name }: { name: string }) => name[0]).join("");
};
const encoded = encodeURIComponent;

describe("a search", () => {
  test("answers with flat records, the newest first", async () => {
    const answer = await search("");
    expect(answer.json[0]).toEqual({
      ...rows[4],
      id: ids[4],
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(answer.json.map(({ id }: { id: string }) => id)).toEqual(ids.toReversed());
    expect(answer.headers.get("x-total-count")).toBeNull();
  });

  test.each<[string, string]>([
    ["q=ann", "aA"], // a fragment, case ignored
    ["q=ANN", "aA"],
    [`q=${encoded("żÓŁ")}`, "A"],
    ["q=ann*", "aA"], // at the beginning
    ["q=*ann", ""],
    ["q=*lower", "a"],
    ["q=a*a", "A"],
    ["q=a%25r", "a"],
    ["q=*", "ZaCBA"], // whatever has a value
    ["q=cotton", ""], // not in an indexed field
    ["q=cotton&search_in=note", "A"],
    ["q=ann&search_in=note,city", ""],
    [`q=${encoded("a_b")}&search_in=note`, "B"],
    ["q=_&search_in=note", "B"],
    [`q=${encoded("k\\s")}&search_in=note`, "C"],
    [`q=${encoded("100%")}&search_in=note`, ""], // % is a wildcard: it asks for what begins with 100
    [`q=${encoded("*100%")}&search_in=note`, "A"],
    ["q=70&search_in=age", "C"],
    ["q=70", "C"],
    ["q=7", ""], // a number is found by its whole value
    ["q=70.0", "C"],
    ["q=7*", "C"],
    ["q=1992-03-01", "A"],
    ["q=1992*", "A"],
    ["q=1992", ""],
    ["q=2", ""], // score is not indexed
    ["q=needle&search_in=extra", "Z"],
    ["q=ann&search_in=name&sort=name", "aA"],
    ["q=", "ZaCBA"],
    ["filter[name]=Bob", "B"],
    ["filter[name]=bob", ""],
    ["filter[name]=bob*", "B"],
    ["filter[name]=*OB*", "B"],
    ["filter[age]=34", "A"],
    ["filter[age]=34.0", "A"],
    ["filter[age]=x", ""],
    ["filter[age]=*4", "A"],
    ["filter[score]=1.50", "A"],
    ["filter[member]=true", "A"],
    ["filter[member]=0", "B"],
    ["filter[member]=maybe", ""],
    ["filter[born]=1992-03-01", "A"],
    ["filter[born]=1992-03-01T00:00:00Z", "A"],
    ["filter[city]=", "Za"], // missing or empty
    ["filter[score]=", "ZC"],
    ["filter[unknown]=", "ZaCBA"],
    ["filter[unknown]=x", ""],
    [`filter[city]=${encoded("Łódź")}&filter[age]=70`, "C"],
    [`filter[city]=${encoded("Łódź")}&q=ann`, "A"],
    ["sort=name", "aABCZ"],
    ["sort=-name", "ZCBAa"],
    ["sort=age", "BACaZ"], // nothing last
    ["sort=-age", "CABZa"],
    ["sort=score", "aABCZ"],
    ["sort=-score", "BAaZC"],
    ["sort=born", "CABaZ"],
    ["sort=created_at", "ABCaZ"],
    ["sort=id", "ABCaZ"],
    ["sort=-id", "ZaCBA"],
    ["sort=updated_at", "ABCaZ"],
    ["sort=-member", "ABZaC"],
    ["sort=nowhere", "ABCaZ"],
    ["limit=2", "Za"],
    ["limit=2&offset=2", "CB"],
    ["offset=10", ""],
  ])("%s finds %p", async (query, expected) => {
    expect(await names(query)).toBe(expected);
  });

  test("without a schema looks at all data, and compares as text", async () => {
    expect(await names("q=needle", "free")).toBe("Z");
    expect(await names("q=cotton", "free")).toBe("A");
    expect(await names("q=42", "free")).toBe("Z");
    expect(await names("q=deep", "free")).toBe(""); // a key is no value
    expect(await names("filter[age]=34", "free")).toBe("A");
    expect(await names("filter[age]=34.0", "free")).toBe("");
    expect(await names("sort=age", "free")).toBe("BACaZ");
  });

  test("finds a choice by how what people call it begins, with an index or without", async () => {
    const choices = [{ value: "pd", label: { en: "Paid", de: "Bezahlt" } }, "open"];
    const fields = {
      name: "string",
      state: { type: "string", choices },
      other: { type: "string", choices },
      tags: { type: "list", choices },
      rank: { type: "integer", choices: [{ value: 1, label: "First" }] },
    };
    for (const [code, indexed_fields] of [
      ["called", ["name", "state"]],
      ["plainly", []],
    ])
      expect((await app.post("/core/dbs", { db: { name: code, schema: { fields, indexed_fields } } })).status).toBe(
        201,
      );
    for (const code of ["called", "plainly"])
      for (const data of [
        { name: "A", state: "pd" },
        { name: "B", other: "pd" },
        { name: "C", tags: ["pd", "open"] },
        { name: "D", rank: 1 },
        { name: "Paid by E", state: "open" },
      ])
        expect((await app.post(`/core/dbs/${code}/records`, { record: { data } })).status).toBe(201);
    expect(await names("q=paid", "called")).toBe("PCBA");
    expect(await names("q=BEZAHLT", "called")).toBe("CBA");
    expect(await names("q=pai", "called")).toBe("PCBA");
    expect(await names("q=beza", "plainly")).toBe("CBA");
    expect(await names("q=ezahlt", "called")).toBe("");
    expect(await names("q=open", "called")).toBe("PC");
    expect(await names("q=first", "called")).toBe("D");
    expect(await names("q=aid&search_in=name", "called")).toBe("P");
    expect(await names("q=paid", "plainly")).toBe("PCBA");
    // What is hidden from somebody in some records is not found by it.
    const grant = { to: "everyone", may: "read", hide: ["state"] };
    await app.patch("/core/dbs/called", { db: { access: [{ to: "user:1", may: "manage" }, grant] } });
    const { token } = await person(app, { role: "user" });
    const theirs = await app.get("/core/dbs/called/search.json?q=bezahlt", { token });
    expect(theirs.json.map(({ name }: { name: string }) => name)).toEqual(["C", "B"]);
  });

  test("shows only the fields asked for, and always the record's own", async () => {
    const [found] = (await search("fields=age,city,nowhere&filter[name]=Bob")).json;
    expect(Object.keys(found).toSorted()).toEqual(["age", "city", "created_at", "id", "updated_at"]);
    const [own] = (await search("fields=id,created_at&filter[name]=Zed")).json;
    expect([own.id, Object.keys(own).length]).toEqual([ids[4], 3]);
  });

  test("finds by the record's own id and time where no field has those names", async () => {
    expect(await names(`filter[id]=${ids[1]?.toUpperCase()}`)).toBe("B");
    const [bob] = (await search("filter[name]=Bob")).json;
    expect(await names(`filter[created_at]=${bob.created_at}&filter[name]=Bob`)).toBe("B");
  });

  test("counts all that it finds where asked to", async () => {
    expect((await search("count=true&limit=1")).headers.get("x-total-count")).toBe("5");
    expect((await search("count=true&limit=1&q=ann")).headers.get("x-total-count")).toBe("2");
    expect((await search("count=true&limit=1&filter[age]=34&sort=name")).headers.get("x-total-count")).toBe("1");
    expect((await search("count=true&offset=100&q=nobody")).headers.get("x-total-count")).toBe("0");
  });
});

describe("a multi-table search", () => {
  test.each(["", "table_name=", "table_name=nope", "table_name=__proto__"])(
    "with %p is 400 and names the tables",
    async (query) => {
      const answer = await search(query, "shop");
      expect([answer.status, answer.json]).toEqual([
        400,
        { error: expect.stringMatching(/orders, lines/), available_tables: ["orders", "lines"] },
      ]);
    },
  );

  test("finds the records of its table alone", async () => {
    for (const query of ["", "&q=of", "&filter[no]=of*", "&sort=no"])
      expect((await search(`table_name=orders${query}`, "shop")).json.map(({ no }: { no: string }) => no)).toEqual([
        "of orders",
      ]);
  });
});

describe("a cursor", () => {
  const first = async (query: string) => (await search(query)).headers.get("x-next-cursor") ?? "";

  test("goes on where the page ended, though records are added and deleted meanwhile", async () => {
    await app.post("/core/dbs", {
      db: { name: "moving", schema: { fields: { n: "integer" }, indexed_fields: ["n"] } },
    });
    const add = async (n: number) => (await app.post("/core/dbs/moving/records", { record: { data: { n } } })).json.id;
    for (const n of [10, 20, 30, 40]) await add(n);
    const page = await search("sort=n&limit=2", "moving");
    await add(5);
    await add(25);
    await app.delete(`/core/dbs/moving/records/${page.json[1].id}`);
    const rest = await search(`sort=n&limit=10&after=${page.headers.get("x-next-cursor")}`, "moving");
    expect(rest.json.map(({ n }: { n: number }) => n)).toEqual([25, 30, 40]);
  });

  test("of a value too long for a header goes on as well", async () => {
    await app.post("/core/dbs", { db: { name: "longs", schema: { fields: { s: "string" }, indexed_fields: ["s"] } } });
    const start = "x".repeat(5000);
    for (const end of ["a", "b", "c"])
      await app.post("/core/dbs/longs/records", { record: { data: { s: start + end } } });
    const page = await search("sort=-s&limit=1", "longs");
    const cursor = page.headers.get("x-next-cursor") ?? "";
    expect(cursor.length).toBeLessThan(500);
    const rest = await search(`sort=-s&limit=5&after=${cursor}`, "longs");
    expect(rest.json.map(({ s }: { s: string }) => s.at(-1))).toEqual(["b", "a"]);
    await app.delete(`/core/dbs/longs/records/${page.json[0].id}`);
    expect((await search(`sort=-s&after=${cursor}`, "longs")).status).toBe(400);
  });

  test("is refused where it was changed, or made for another order or database", async () => {
    const cursor = await first("limit=1&sort=name");
    for (const wrong of [`${cursor}x`, cursor.slice(1), "x", "e30.e30", "x".repeat(10_000)])
      expect([wrong.length, (await search(`limit=1&sort=name&after=${encoded(wrong)}`)).status]).toEqual([
        wrong.length,
        400,
      ]);
    expect((await search(`sort=-name&after=${cursor}`)).status).toBe(400);
    expect((await search(`after=${cursor}`)).status).toBe(400);
    expect((await search(`sort=name&after=${cursor}`, "free")).status).toBe(400);
    expect((await search(`sort=name&after=${cursor}`)).status).toBe(200);
  });
});

describe("bad input", () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => `f${i}`);
  test.each([
    ["a NUL in q", "q=%00"],
    ["a NUL in sort", "sort=%00"],
    ["a sort by nothing", "sort=-"],
    ["a NUL in a filter's field", "filter[a%00]=1"],
    ["a NUL in a filter", "filter[a]=%00"],
    ["a NUL in fields", "fields=%00"],
    ["a NUL in search_in", "search_in=a%00,b&q=x"],
    ["a long q", `q=${"x".repeat(1001)}`],
    ["a long sort", `sort=${"x".repeat(300)}`],
    ["a long field of a filter", `filter[${"x".repeat(300)}]=1`],
    ["a long filter", `filter[a]=${"x".repeat(10_001)}`],
    ["too many fields", `fields=${many(201).join(",")}`],
    [
      "too many filters",
      many(21)
        .map((name) => `filter[${name}]=1`)
        .join("&"),
    ],
  ])("%s is 400", async (_, query) => {
    const answer = await search(query);
    expect([answer.status, Object.keys(answer.json)]).toEqual([400, ["error"]]);
  });

  test.each([
    `sort=${encoded("name; drop table records")}`,
    `sort=${encoded("name' or '1'='1")}`,
    `filter[${encoded("a' or true --")}]=x`,
    `filter[name]=${encoded("' or true --")}`,
    `fields=${encoded("a'),(select 1")}`,
    `q=${encoded("'; select pg_sleep(9) --")}`,
    `search_in=${encoded("a') is null or (1=1")}&q=x`,
    "filter[age]=1e999999",
    `filter[age]=${"9".repeat(90)}`,
    "filter[score]=-1e-300",
    "filter[born]=9999999-01-01",
    "filter[born]=0000-00-00",
    "filter[__proto__]=x&sort=__proto__",
    "filter[]=x",
    "limit=1e9&offset=99999999999999999999",
    "q=%25%25%25&search_in=name",
    `q=${encoded("\\")}`,
    `q=${encoded("\\*")}`,
  ])("%p does no harm", async (query) => {
    expect((await search(query)).status).toBe(200);
    expect(await names("sort=name")).toBe("aABCZ");
  });
});

describe("a field of the schema named like one of the record's own", () => {
  const schema = {
    fields: { no: "string", id: "string", created_at: "datetime", updated_at: "integer" },
    indexed_fields: ["id", "created_at", "updated_at"],
  };
  const made: { id: string; created_at: string }[] = [];
  beforeAll(async () => {
    const answer = await app.post("/core/dbs", { db: { name: "own", schema } });
    expect(answer.headers.get("warning")?.match(/the record's own/g)).toHaveLength(3);
    for (const no of ["2", "0", "1"]) {
      const data = { no, id: `x${no}`, created_at: `200${no}-01-01T00:00:00Z`, updated_at: Number(no) };
      made.push((await app.post("/core/dbs/own/records", { record: { data } })).json);
    }
  });
  const found = async (query: string) => {
    const answer = await search(query, "own");
    expect([query, answer.status]).toEqual([query, 200]);
    return answer.json.map(({ no }: { no: string }) => no).join("");
  };

  test("says so with every save of the schema", async () => {
    const patched = await app.patch("/core/dbs/own", { db: { schema } });
    expect(patched.headers.get("warning")).toContain("own created_at");
    const edit = { field: "schema", old_string: '"no":"string"', new_string: '"no":"text"' };
    const replaced = await app.patch("/core/dbs/own/replace", edit);
    expect([replaced.status, replaced.headers.get("warning")]).toEqual([200, expect.stringContaining("own id")]);
    const other = await app.patch("/core/dbs/own", { db: { name: "Own" } });
    expect(other.headers.get("warning")).toBeNull();
  });

  test.each([
    ["sort=created_at", "201"],
    ["sort=-id", "102"],
    ["sort=updated_at", "201"],
    ["filter[created_at][lt]=2005-01-01", ""],
    ["filter[created_at][gt]=2005-01-01&sort=id", "201"],
    ["filter[id]=x0", ""],
    ["filter[id][ne]=00000000-0000-0000-0000-000000000000&sort=id", "201"],
    ["filter[updated_at]=1", ""],
    ["filter[created_at][null]=true", ""],
    ["any[0][id]=x0&any[1][no]=1", "1"],
    ["q=x0&search_in=id", ""],
    ["q=200*&search_in=created_at", ""],
    ["q=20*Z&search_in=created_at&sort=id", "201"],
  ])("means the record's own in %p", async (query, order) => {
    expect(await found(query)).toBe(order);
  });

  test("means the record's own in exact filters, groups and measures", async () => {
    expect(await found(`filter[id]=${made[1]?.id}`)).toBe("0");
    expect(await found(`filter[created_at]=${made[2]?.created_at}&filter[id][in]=${made[2]?.id},${made[0]?.id}`)).toBe(
      "1",
    );
    expect(await found(`q=${made[2]?.id}&search_in=id`)).toBe("1");
    const groups = await app.get("/core/dbs/own/aggregate?group_by=id&min=id&max=created_at");
    expect(groups.json).toHaveLength(3);
    expect(groups.json[0].min.id).toBe(groups.json[0].group.id);
    expect(made.map(({ created_at }) => created_at)).toContain(groups.json[0].max.created_at);
    expect((await app.get("/core/dbs/own/aggregate?sum=updated_at")).status).toBe(422);
    const years = await app.get("/core/dbs/own/aggregate?group_by=created_at:year");
    expect(years.json).toEqual([{ group: { "created_at:year": made[0]?.created_at.slice(0, 4) }, count: 3 }]);
  });
});

describe("letters that look the same", () => {
  const [whole, apart] = ["Zoé", "Zoe\u0301"];
  beforeAll(async () => {
    for (const [code, indexed_fields] of [
      ["letters", ["name"]],
      ["loose", null],
    ] as const) {
      const schema = indexed_fields && { fields: { name: "string", [`cafe\u0301`]: "string" }, indexed_fields };
      await app.post("/core/dbs", { db: { name: code, code, schema } });
      await app.post(`/core/dbs/${code}/records`, { record: { data: { name: apart, [`cafe\u0301`]: "x" } } });
      await app.post(`/core/dbs/${code}/batch`, {
        operations: [{ op: "create", data: { name: whole, deep: [apart] } }],
      });
      await app.post(`/core/dbs/${code}/import`, undefined, {
        raw: `name\n${apart}\nΟΔΟΣ\nοδοι\n`,
        headers: { "content-type": "text/csv" },
      });
    }
  });

  test.each(["letters", "loose"])("are stored composed and found either way in %s", async (code) => {
    const count = async (query: string) => (await search(query, code)).json.length;
    for (const name of [whole, apart].map(encoded)) {
      expect(await count(`filter[name]=${name}`)).toBe(3);
      expect(await count(`filter[name][in][]=${name}`)).toBe(3);
      expect(await count(`filter[name][ne]=${name}`)).toBe(2);
      expect(await count(`filter[name]=${name}*`)).toBe(3);
      expect(await count(`q=${encoded(decodeURIComponent(name).toUpperCase())}`)).toBe(3);
    }
    const groups = await app.get(`/core/dbs/${code}/aggregate?group_by=name&limit=1`);
    expect(groups.json).toEqual([{ group: { name: whole }, count: 3 }]);
    expect(await count(`filter[${encoded("caf\u00e9")}]=x`)).toBe(1);
    for (const word of ["οδος", "οδοσ", "ΟΔΟΣ", "Οδος"]) {
      expect([word, await count(`q=${encoded(word)}`)]).toEqual([word, 1]);
      expect(await count(`filter[name]=${encoded(word)}*`)).toBe(1);
      expect(await count(`q=${encoded(word)}&search_in=name`)).toBe(1);
    }
    const [first] = (await search(`filter[name]=${encoded(whole)}&sort=id`, code)).json;
    const changed = await app.patch(`/core/dbs/${code}/records/${first.id}`, { record: { data: { note: apart } } });
    expect(changed.json.data.note).toBe(whole);
  });
});
