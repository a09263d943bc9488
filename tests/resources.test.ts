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

/** One that asks for a second connection inside of its transaction would wait for the others, and they for it. */
test("more is made at once than there are connections", async () => {
  const few = await startTestApp({ env: { DATABASE_POOL: "2", DATABASE_QUEUE_SECONDS: "3" } });
  const { paths } = (await few.get("/openapi.json")).json;
  const examples = Object.entries<Documented>(paths).flatMap(([path, { post }]) => {
    const body = post?.requestBody?.content["application/json"]?.example;
    // Building an app takes seconds, and no connection.
    const isResource = body && path !== "/core/apps.json" && `${path.replace(".json", "")}/{id}.json` in paths;
    return isResource ? [{ path, body }] : [];
  });
  expect(examples.length).toBeGreaterThan(15);
  const sign_in_provider = {
    name: "Staff",
    issuer: "https://a.test",
    client_id: "a",
    team_claim: "g",
    teams: { a: 1 },
  };
  const all = [...examples, { path: "/account/sign_in_providers.json", body: { sign_in_provider } }];
  const made = Array.from({ length: 4 }, () => all)
    .flat()
    .map(async ({ path, body }, n) => {
      const headers = n % 2 === 0 ? { "idempotency-key": `${n}` } : {};
      return [path, (await few.post(path, body, { headers })).status];
    });
  expect((await Promise.all(made)).filter(([, status]) => Number(status) >= 500)).toEqual([]);
  await few.stop();
});

interface Documented {
  readonly post?: {
    readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: object }>> };
  };
}

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
