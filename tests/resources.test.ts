/** Every resource is compared with its table. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { plugins } from "../plugins/index.ts";
import type { Sql } from "../runtime/db/db.ts";
import type { ResourceFacts } from "../runtime/plugin/facts.ts";
import { accounts } from "../plugins/accounts/api.ts";
import { flows } from "../plugins/flows/api.ts";
import { accountSettings } from "../plugins/jsondb/records/events.ts";
import { otherAccount, person, startTestApp, type TestApp } from "./harness.ts";

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

describe("the words of a resource", () => {
  test("name every field of its bodies and answers, and every choice, in three languages", async () => {
    const { paths, components } = (await app.get("/openapi.json")).json;
    const schemas = Object.values<Described>(components.schemas).filter((one) => one["x-fields"]);
    const models = new Set(resources.map(({ activity }) => activity.model));
    expect(new Set<string | undefined>(schemas.flatMap((one) => one["x-model"] ?? []))).toEqual(models);
    expect(schemas.flatMap(wordless)).toEqual([]);
    const bodies = Object.values<Documented>(paths).flatMap(({ patch }) => {
      const name = patch?.responses["200"]?.content?.["application/json"]?.schema.$ref?.split("/").at(-1) ?? "";
      const fields = components.schemas[name]?.["x-fields"];
      const [body] = Object.values(patch?.requestBody?.content?.["application/json"]?.schema.properties ?? {});
      // `replace` takes no fields of it.
      return fields && body?.properties ? [{ properties: body.properties, "x-fields": fields }] : [];
    });
    expect(bodies.length).toBeGreaterThanOrEqual(resources.length);
    expect(bodies.flatMap(wordless)).toEqual([]);
  });

  test("are missed if a field has none, or a choice", () => {
    const words = { en: "Kind", pl: "Rodzaj", de: "Art" };
    const kind = { enum: ["one", null] };
    expect(wordless({ properties: { kind }, "x-fields": {} })).toEqual(["kind", "kind one"]);
    expect(wordless({ properties: { kind }, "x-fields": { kind: { label: { ...words, pl: " " } } } })).toEqual([
      "kind",
      "kind one",
    ]);
    expect(wordless({ properties: { kind }, "x-fields": { kind: { label: words, choices: { one: words } } } })).toEqual(
      [],
    );
  });
});

/** The fields and choices of a schema that are not said in each language. */
function wordless({ properties, "x-fields": fields = {} }: Described): string[] {
  const all = Object.entries(properties).filter(([name]) => !["id", "created_at", "updated_at"].includes(name));
  return all.flatMap(([name, { enum: values = [] }]) => {
    const { label, choices = {} } = fields[name] ?? {};
    const unsaid = values.filter((value) => value !== null && !isSaid(choices[value]));
    return [...(isSaid(label) ? [] : [name]), ...unsaid.map((value) => `${name} ${value}`)];
  });
}

const isSaid = (words?: Words) =>
  words !== undefined && [words.en, words.pl, words.de].every((one) => one.trim() !== "");

/** One that asks for a second connection inside of its transaction would wait for the others, and they for it. */
test("more is made at once than there are connections", async () => {
  const few = await startTestApp({ env: { DATABASE_POOL: "2", DATABASE_QUEUE_SECONDS: "3" } });
  const { paths } = (await few.get("/openapi.json")).json;
  const examples = Object.entries<Documented>(paths).flatMap(([path, { post }]) => {
    const body = post?.requestBody?.content?.["application/json"]?.example;
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

/** By a second connection it would see nothing of what this transaction has written. */
test("what a transaction asks of accounts and flows is read in it, where no cache has it", async () => {
  const { id } = await person(app, { role: "guest" });
  await app.post("/connect/flows.json", { flow: { name: "Fresh", code: "fresh", fields: { program: [] } } });
  await app.patch(`/account/users/${id}.json`, { user: { name: "Changed" } });
  const other = await otherAccount(app);
  const [people, started] = [app.service(accounts), app.service(flows)];
  await app.sql
    .begin(async (tx) => {
      await tx`update users set privileges = '{dbs}' where id = ${id}`;
      await tx`insert into account_settings (account_id, name, value) values (${other.id}, 'activity_databases', 'fresh')`;
      await tx`update flows set active = false where code = 'fresh'`;
      expect((await people.access(id, tx))?.privileges.has("dbs")).toBe(true);
      expect((await people.settingsOf(other.id, accountSettings, tx)).logged("fresh")).toBe(true);
      expect(await started.startFlow({ accountId: 1, code: "fresh", input: {}, tx })).toBeUndefined();
      throw new Error("undone");
    })
    .catch((error: unknown) => expect(error).toEqual(new Error("undone")));
  expect((await people.access(id))?.privileges.has("dbs")).toBe(false);
});

type Words = Readonly<Record<"en" | "pl" | "de", string>>;

/** As far as these tests read a schema. */
interface Described {
  readonly properties: Readonly<Record<string, { readonly enum?: readonly (string | null)[] }>>;
  readonly "x-model"?: string;
  readonly "x-fields"?: Readonly<
    Record<string, { readonly label?: Words; readonly choices?: Readonly<Record<string, Words>> }>
  >;
}

interface Media {
  readonly example?: object;
  readonly schema: { readonly $ref?: string; readonly properties?: Readonly<Record<string, Partial<Described>>> };
}

interface Content {
  readonly content?: Readonly<Partial<Record<"application/json", Media>>>;
}

interface Operation {
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

type Documented = Readonly<Partial<Record<"post" | "patch", Operation>>>;

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
