import { describe, expect, test } from "bun:test";
import { databaseOf } from "../databases/database.ts";
import { readList, readSearch } from "../search/query.ts";
import { noTable } from "../databases/schema.ts";
import { fieldsOfShape, parseShape, printShape, shapeOf } from "./shape.ts";

const fields = { name: "string", city: "string", age: "integer", born: "date", note: "text", member: "boolean" };
const database = (more: object = {}) =>
  databaseOf({
    id: "019a9c1e-0000-7000-8000-000000000001",
    accountId: 1,
    code: "people",
    schema: { fields, indexed_fields: ["name", "city", "age", "born"] },
    publicMethods: null,
    version: 1,
    schemaVersion: 1,
    rulesVersion: 1,
    planVersion: 1,
    timezone: "UTC",
    collation: "C",
    equalsBy: "C",
    indexedVersion: 1,
    live: false,
    ...more,
  });

describe("the shape of a search", () => {
  test.each<[string, string | undefined]>([
    ["filter[city]=Rome&sort=-age", "idx_str_2>idx_int_1"],
    ["filter[city]=Rome&sort=age&limit=5&offset=7", "idx_str_2>idx_int_1"],
    ["filter[city]=Rome&filter[name]=Ann&sort=born", "idx_str_1,idx_str_2>idx_time_1"],
    ["filter[name]=Ann&filter[city]=Rome&sort=born", "idx_str_1,idx_str_2>idx_time_1"],
    ["filter[age]=5&filter[city]=Rome", "idx_int_1,idx_str_2>"],
    // what the indexes that every database has serve as well
    ["filter[city]=Rome", undefined],
    ["filter[city]=Rome&sort=city", undefined],
    ["sort=-age", undefined],
    ["", undefined],
    // what no such index serves
    ["filter[city]=Ro*&sort=age", undefined],
    ["filter[city]=&sort=age", undefined],
    ["filter[city][ne]=Rome&sort=age", undefined],
    ["filter[age][gt]=5&sort=born", undefined],
    ["filter[member]=true&sort=age", undefined],
    ["filter[unknown]=1&sort=age", undefined],
    ["filter[city]=Rome&sort=note", undefined],
    ["filter[city]=Rome&sort=updated_at", undefined],
    ["filter[city]=Rome&filter[name]=Ann&filter[age]=1&sort=born", undefined],
    ["filter[city]=Rome&sort=age&q=ann", undefined],
  ])("%s", (text, shape) => {
    const db = database();
    expect(shapeOf(db, readSearch(db, new URLSearchParams(text)))).toBe(shape);
  });

  test("is none while records are indexed anew, and none of all tables mixed", () => {
    const asked = new URLSearchParams("filter[city]=Rome&sort=age");
    const moving = database({ planVersion: 2 });
    expect(shapeOf(moving, readSearch(moving, asked))).toBeUndefined();
    const tables = { orders: { fields, indexed_fields: ["city", "age"] }, lines: {} };
    const shop = database({ schema: { tables } });
    expect(shapeOf(shop, readList(shop, new URLSearchParams()))).toBeUndefined();
    const orders = readSearch(shop, new URLSearchParams("table_name=orders&filter[city]=Rome&sort=age"));
    expect(shapeOf(shop, orders)).toBe("idx_str_1>idx_int_1");
  });

  test("is read as it is printed, and said in the fields of a table", () => {
    const shape = parseShape("idx_str_1,idx_str_2>idx_time_1");
    expect(printShape(shape)).toBe("idx_str_1,idx_str_2>idx_time_1");
    const table = database().schema.tables.get("") ?? noTable;
    expect(fieldsOfShape(table, shape)).toEqual({ filters: ["name", "city"], sort: "born" });
    expect(fieldsOfShape(table, parseShape("idx_int_1,idx_str_2>"))).toEqual({
      filters: ["age", "city"],
      sort: "created_at",
    });
    expect(fieldsOfShape(table, parseShape("idx_str_3>idx_int_1"))).toBeUndefined();
    expect(() => parseShape("idx_str_1; drop table records>")).toThrow("is no index column");
  });
});
