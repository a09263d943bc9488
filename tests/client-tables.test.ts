/** Types made of the account's schemas (`corestead client --dbs`), and a program that uses them with the typed client. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { adminToken, databaseSettings, person, secretKey, startTestApp, type TestApp } from "./harness.ts";
import { fromSource, run } from "./server-process.ts";

const root = resolve(import.meta.dir, "..");
let app: TestApp;
let folder: string;
let used: Used;

const databases: [code: string, schema: object, more?: object][] = [
  ["companies", { fields: { name: { type: "string", required: true }, country: "string", parent: link("companies") } }],
  [
    "people",
    {
      fields: {
        name: { type: "string", required: true, label: { pl: "Nazwisko", en: "Surname" } },
        company: link("companies"),
        secret: "string",
      },
    },
  ],
  [
    "deals",
    {
      fields: {
        title: { type: "string", required: true, help: "*/ ends no comment" },
        stage: { type: "string", required: true, choices: ["open", { value: "won" }], default: "open" },
        value: { type: "number", format: "money", currency: "EUR" },
        closes: "date",
        customer: link("people"),
        watchers: { type: "list", link: "people" },
        tags: { type: "list", choices: ["a", "b"] },
        notes: { type: "list" },
        size: { type: "integer", choices: [1, 2] },
      },
    },
  ],
  [
    "shop",
    {
      tables: {
        orders: {
          fields: {
            no: { type: "string", required: true },
            buyer: link("people"),
            lines: { type: "number", rollup: { of: "shop.lines.order", op: "count" } },
          },
        },
        lines: { fields: { order: link("shop.orders"), sku: "string" } },
      },
    },
  ],
];

function link(to: string) {
  return { type: "string", link: to };
}

beforeAll(async () => {
  app = await startTestApp();
  folder = mkdtempSync(join(tmpdir(), "corestead-tables-"));
  for (const [code, schema] of databases) {
    const made = await app.post("/core/dbs.json", { db: { name: code, code, schema } });
    expect([made.status, made.text]).toEqual([201, expect.any(String)]);
  }
  const access = [{ to: "role:user", may: "read", hide: ["secret"] }];
  expect((await app.patch("/core/dbs/people.json", { db: { access } })).status).toBe(200);
  expect((await app.patch("/core/dbs/deals.json", { db: { access: [] } })).status).toBe(200);
  await Bun.write(join(folder, "client.ts"), (await app.get("/client.ts")).text);
  const env = { ...(await databaseSettings(app.target)), DATA_DIR: "data", SECRET_KEY: secretKey };
  const made = await run([...fromSource, "client", "--dbs", "dbs.ts"], { cwd: folder, env });
  expect([made.code, made.stdout, made.stderr]).toEqual([0, "wrote dbs.ts\n", ""]);
  await Bun.write(join(folder, "use.ts"), sample);
  await Bun.write(join(folder, "mistakes.ts"), mistakes);
  await Bun.write(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: strict, include: ["*.ts"] }));
  used = await import(join(folder, "use.ts"));
});
afterAll(async () => {
  await app.stop();
  rmSync(folder, { recursive: true });
});

/** Compiled, and run against the server. */
const sample = `
import { createClient, type ClientOptions } from "./client.ts";
import type { Company, Dbs, Deal, Person, ShopLine, ShopOrder } from "./dbs.ts";

export async function use(options: ClientOptions) {
  const client = createClient(options);
  const companies = client.db<Company>("companies");
  const people = client.db<Person>("people");
  const deals = client.db<Deal>("deals");
  const acme = (await companies.create({ name: "Acme", country: "PL" })).data;
  const child = (await companies.create({ name: "Child", country: "DE", parent: acme.id })).data;
  const ann = (await people.create({ name: "Ann", company: child.id })).data;
  const bob = (await people.create({ name: "Bob", company: acme.id })).data;
  const deal = (await deals.create({ title: "Big", value: 12.5, customer: ann.id, watchers: [ann.id, bob.id], tags: ["a"] })).data;
  const stage: "open" | "won" = deal.data.stage;

  const read = await deals.get(deal.id, { expand: ["customer", "customer.company.parent", "watchers"] });
  const { expand } = read.data;
  const customer: string | undefined = expand.customer?.name;
  const parent: string | undefined = expand["customer.company.parent"]?.name;
  const watchers: (string | undefined)[] | undefined = expand.watchers?.map((one) => one?.name);

  const [found] = (await deals.search({
    filter: { stage: { in: ["open"] }, value: { gte: 10 }, tags: "a", "customer.name": "An*", closes: null },
    any: [{ size: { gt: 1 } }, { title: { ne: "Small" } }],
    sort: "-value", fields: ["title"], expand: ["customer"], count: true,
  })).data;
  const nothing = await deals.search({ filter: { stage: { in: [] } } });
  const page = await deals.list({ limit: 1, filter: { "customer.company": child.id } });
  const titles: string[] = [];
  for await (const one of deals.each({ expand: ["watchers.company"] })) titles.push(one.data.title, ...(one.expand["watchers.company"] ?? []).map((end) => end?.name ?? "-"));

  const won = await deals.update(deal.id, { stage: "won" }, { ...(read.etag && { ifMatch: read.etag }) });
  const late = await deals.update(deal.id, { stage: "open" }, { ...(read.etag && { ifMatch: read.etag }) }).catch((error) => error.status);

  const orders = client.db<ShopOrder>("shop", { table: "orders" });
  const lines = client.db<ShopLine>("shop", { table: "lines" });
  const order = (await orders.create({ no: "1", buyer: bob.id })).data;
  const { results } = (await lines.batch([{ op: "create", data: { order: order.id, sku: "x" } }, { op: "create", data: { sku: "y" } }])).data;
  const counted: number | null | undefined = (await orders.get(order.id)).data.data.lines;
  const linked = (await people.linked(bob.id)).data.map(({ db_code: db, field, count }) => [db, field, count]);

  const comments = deals.comments(deal.id);
  const comment = (await comments.create({ text: "Look" })).data;
  await comments.update(comment.id, { text: "See" });
  const texts = (await comments.list()).data.map(({ text }) => text);
  await comments.delete(comment.id);
  const view = (await deals.views.create({ name: "Open", kind: "board", filters: { stage: "open" } })).data;
  await deals.views.update(view.id, { group_by: "stage" });
  const views = (await deals.views.list()).data.map(({ name, group_by }) => [name, group_by]);
  await deals.views.delete(view.id);

  const table: keyof Dbs = "shop.orders";
  const gone = (await deals.delete(deal.id)).status;
  return { stage, customer, parent, watchers, found, nothing: nothing.data, page: page.data.length, titles, won: won.data.data.stage, late,
    tables: results.map((one) => "table_name" in one && one.table_name), counted, linked, texts, views, table, gone };
}`;

const mistakes = `
import { createClient, type ClientOptions } from "./client.ts";
import type { Deal, Person, ShopOrder } from "./dbs.ts";

export async function mistakes(options: ClientOptions) {
  const client = createClient(options);
  const deals = client.db<Deal>("deals");
  // @ts-expect-error the title is missing
  await deals.create({ stage: "open" });
  // @ts-expect-error there is no such choice
  await deals.create({ title: "a", stage: "lost" });
  // @ts-expect-error nor in a list
  await deals.create({ title: "a", tags: ["c"] });
  // @ts-expect-error nor among numbers
  await deals.create({ title: "a", size: 3 });
  // @ts-expect-error the types know more than records have
  await deals.create({ title: "a", "~row": {} });
  // @ts-expect-error there is no such field
  await deals.update("x", { titel: "a" });
  // @ts-expect-error there is no such choice to filter by
  await deals.search({ filter: { stage: "lost" } });
  // @ts-expect-error there is no such operator
  await deals.search({ filter: { value: { above: 1 } } });
  // @ts-expect-error there is no such field to filter by
  await deals.search({ filter: { vlaue: 1 } });
  // @ts-expect-error nor at the other end
  await deals.search({ filter: { "customer.nme": "a" } });
  // @ts-expect-error filters go one link deep
  await deals.search({ filter: { "customer.company.name": "a" } });
  // @ts-expect-error there is no such link
  await deals.get("x", { expand: ["custmer"] });
  // @ts-expect-error four are too deep
  await deals.get("x", { expand: ["customer.company.parent.parent"] });
  // @ts-expect-error it was not asked for
  (await deals.get("x", { expand: ["customer"] })).data.expand.watchers;
  // @ts-expect-error nothing was asked for
  (await deals.get("x")).data.expand;
  // @ts-expect-error the person may not be shown
  (await deals.get("x", { expand: ["customer"] })).data.expand.customer.name;
  // @ts-expect-error that field was left out
  (await deals.search({ fields: ["title"] })).data[0]?.stage;
  // @ts-expect-error it is worked out
  await client.db<ShopOrder>("shop", { table: "orders" }).create({ no: "1", lines: 1 });
  // @ts-expect-error there is no such operation
  await client.db<Person>("people").batch([{ op: "destroy", id: "x" }]);
  // @ts-expect-error there is no such kind
  await deals.views.create({ name: "a", kind: "list" });
}`;

const strict = {
  target: "esnext",
  module: "preserve",
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  erasableSyntaxOnly: true,
  verbatimModuleSyntax: true,
  allowImportingTsExtensions: true,
  noUnusedLocals: true,
  noEmit: true,
  lib: ["esnext", "dom"],
  types: [],
};

describe("a program with the types of the databases", () => {
  test("compiles in the strictest settings, and each mistake does not", async () => {
    const tsc = Bun.spawn([join(root, "node_modules/.bin/tsc"), "-p", folder], { stdout: "pipe" });
    expect([await new Response(tsc.stdout).text(), await tsc.exited]).toEqual(["", 0]);
  });

  test("follows links, filters through them, and reads what belongs to a record", async () => {
    const result = await used.use({ baseUrl: app.origin, token: adminToken });
    expect(result).toMatchObject({
      stage: "open",
      customer: "Ann",
      parent: "Acme",
      watchers: ["Ann", "Bob"],
      found: { title: "Big", expand: { customer: { name: "Ann" } } },
      nothing: [],
      page: 1,
      titles: ["Big", "Child", "Acme"],
      won: "won",
      late: 412,
      tables: ["lines", "lines"],
      counted: 1,
      linked: expect.arrayContaining([
        ["deals", "watchers", 1],
        ["shop", "buyer", 1],
      ]),
      texts: ["See"],
      views: [["Open", "stage"]],
      gone: 204,
    });
  });
});

test("the types are those of what one may read, without what is hidden", async () => {
  const { token } = await person(app, { role: "user" });
  const whole = (await app.get("/core/db_types.ts")).text;
  expect(whole).toBe(await Bun.file(join(folder, "dbs.ts")).text());
  const { text, headers } = await app.get("/core/db_types.ts", { token });
  expect(headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(whole).toContain('"secret"');
  expect(text).toContain("export interface Person {");
  expect(text).not.toContain("secret");
  expect(text).not.toContain("Deal");
  expect((await app.get("/core/db_types.ts", { token: null })).status).toBe(401);
});

test("names become those of types, each once", async () => {
  for (const code of ["order-lines", "order_line", "dbs", "1st", "boxes", "status"])
    await app.post("/core/dbs.json", { db: { name: code, code, schema: { fields: { a: "string" } } } });
  const { text } = await app.get("/core/db_types.ts");
  const names = [...text.matchAll(/^export interface (\w+)/gm)].map(([, name]) => name);
  expect(names).toEqual(expect.arrayContaining(["OrderLine", "OrderLine2", "Db", "Row1st", "Box", "Status", "Dbs"]));
  expect(new Set(names).size).toBe(names.length);
});

interface Used {
  use(options: { readonly baseUrl: string; readonly token: string }): Promise<unknown>;
}
