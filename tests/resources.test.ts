/** Every resource is compared with its table. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { plugins } from "../plugins/index.ts";
import type { Sql } from "../runtime/db/db.ts";
import type { ResourceFacts } from "../runtime/plugin/facts.ts";
import { startTestApp, type TestApp } from "./harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const resources = plugins.flatMap((plugin) => plugin.resources ?? []);

describe("the table of a resource", () => {
  test.each(resources.map((one) => [one.name, one] as const))("is what %s declares", async (_, one) => {
    expect(await mistakesInTable(app.sql, one)).toEqual([]);
  });

  test("is told apart from one with another field, another type, another null, and a field less", async () => {
    const [one] = resources;
    if (!one) throw new Error("there are resources");
    const [first, second, third, ...rest] = one.columns.toReversed();
    if (!first || !second || !third) throw new Error("there are columns");
    const other = {
      ...one,
      columns: [
        { ...second, type: "point" },
        { ...third, orNull: !third.orNull },
        ...rest,
        { ...first, name: "nowhere" },
      ],
    };
    expect(await mistakesInTable(app.sql, other)).toHaveLength(4);
  });
});

/** What differs, in words; [] if nothing does. */
async function mistakesInTable(sql: Sql, { table, columns, others }: ResourceFacts): Promise<string[]> {
  const rows = await sql<{ name: string; type: string; orNull: boolean }[]>`
    select column_name as name, udt_name as type, is_nullable = 'YES' as or_null
    from information_schema.columns where table_schema = current_schema() and table_name = ${table}`;
  const stored = new Map(rows.map((row) => [row.name, row]));
  const told = new Set([...columns.map(({ name }) => name), ...others]);
  return [
    ...columns.flatMap(({ name, type, orNull }) => {
      const column = stored.get(name);
      if (!column) return [`${table} has no column ${name}`];
      const wrong = column.type === type ? [] : [`${table}.${name} is ${column.type}, not ${type}`];
      return column.orNull === orNull
        ? wrong
        : [...wrong, `${table}.${name} ${column.orNull ? "may" : "may not"} be null`];
    }),
    ...rows.flatMap(({ name }) => (told.has(name) ? [] : [`${table}.${name} is not declared`])),
  ];
}
