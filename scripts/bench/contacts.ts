/**
 * The benchmark's data: the same contacts in Corestead and beside it. Contact `n` is a function of `n`, so that the load
 * generator knows the right answer to each request.
 */
import { databaseOf, tableForWrite } from "../../plugins/jsondb/databases/database.ts";
import type { DbRow } from "../../plugins/jsondb/databases/fields.ts";
import { indexValues } from "../../plugins/jsondb/records/index-values.ts";
import { newClaims } from "../../plugins/jsondb/records/keys.ts";
import * as manyStore from "../../plugins/jsondb/records/many-store.ts";
import type { Sql } from "../../runtime/db/db.ts";
import { adminToken, api, type Server } from "./harness.ts";

export interface Contact {
  readonly name: string;
  readonly email: string;
  readonly city: string;
  readonly age: number;
  readonly visits: number;
  readonly joined_at: string;
  readonly phone: string;
  readonly note: string;
  readonly active: boolean;
}

/** The schema of Corestead's database: three strings, two integers and one time are indexed. */
export const schema = {
  fields: {
    name: { type: "string", required: true },
    email: { type: "string", required: true },
    city: "string",
    age: "integer",
    visits: "integer",
    joined_at: "datetime",
    phone: "string",
    note: "text",
    active: "boolean",
  },
  indexed_fields: ["name", "email", "city", "age", "visits", "joined_at"],
};

/** The schema beside the narrow ceiling: what its list, its search and its patch are about. */
export const narrowSchema = { ...schema, indexed_fields: ["name", "city", "visits"] };

export interface Grant {
  readonly to: string;
  readonly may: string;
  readonly where?: object;
}

/** What a table may have beside its fields, to be measured beside the same without it (`--table`). */
export interface TableRules {
  readonly schema: object;
  readonly plain: object;
  /** For a person who may only read. */
  readonly access?: readonly Grant[];
  /** More of each contact, and of each list. */
  readonly linksTo?: string;
  readonly query?: string;
  /** Least requests by those without it. */
  readonly least: Readonly<Record<string, number>>;
}

const person = { to: "everyone", may: "read" };
const withFields = (fields: object) => ({ ...schema, fields: { ...schema.fields, ...fields } });
const linked = { schema: withFields({ company: { type: "string", link: "companies" } }), linksTo: "companies" };

export const tableRules: Readonly<Record<string, TableRules>> = {
  history: { schema: { ...schema, history: true }, plain: schema, least: { patch: 0.85 } },
  unique: {
    schema: withFields({ email: { type: "string", required: true, unique: true } }),
    plain: schema,
    least: { create: 0.85 },
  },
  link: { ...linked, plain: withFields({ company: "string" }), least: { create: 0.8 } },
  expand: { ...linked, plain: linked.schema, query: "&expand=company", least: { list: 1 / 1.3 } },
  where: { schema, plain: schema, access: [{ ...person, where: { age: { gte: 18 } } }], least: { search: 0.9 } },
};

export const contactsPerCity = 200;

const firstNames = words(0x51, 300, 2);
const lastNames = words(0x52, 6000, 3);
const noteWords = words(0x53, 400, 2);
const firstDay = Date.UTC(2019, 0, 1);

/** Numbers from 0 to 1, the same sequence for the same seed (mulberry32). */
export function randomSequence(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A whole number from 0 to `below` - 1. */
export function pick(random: () => number, below: number): number {
  return Math.floor(random() * below);
}

/** A UUID of version 7 as the application would make it, `n` milliseconds after the first. */
export function idOf(n: number): string {
  const random = randomSequence(n * 7919 + 3);
  const hex = (digits: number) =>
    pick(random, 16 ** digits)
      .toString(16)
      .padStart(digits, "0");
  const time = (0x0196_0000_0000 + n).toString(16).padStart(12, "0");
  const variant = "89ab"[pick(random, 4)];
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(3)}-${variant}${hex(3)}-${hex(6)}${hex(6)}`;
}

/** The city of contact `n` of `total`: about `contactsPerCity` live in each. */
export function cityOf(n: number, total: number): string {
  const cities = Math.max(1, Math.round(total / contactsPerCity));
  const number = pick(randomSequence(n * 104_729 + 11), cities);
  const random = randomSequence(number + 0x54_0000);
  return `${capital(word(random, 3))} ${number}`;
}

export function contactOf(n: number, total: number): Contact {
  const random = randomSequence(n * 31 + 7);
  const first = firstNames[pick(random, firstNames.length)] ?? "";
  const last = lastNames[pick(random, lastNames.length)] ?? "";
  const note = Array.from({ length: 6 + pick(random, 12) }, () => noteWords[pick(random, noteWords.length)]);
  return {
    name: `${capital(first)} ${capital(last)}`,
    email: `${first}.${last}.${n}@example.com`,
    city: cityOf(n, total),
    age: 18 + pick(random, 70),
    visits: pick(random, 100_000),
    joined_at: new Date(firstDay + pick(random, 2_000 * 86_400) * 1000).toISOString(),
    phone: `+48 ${100_000_000 + pick(random, 900_000_000)}`,
    note: note.join(" "),
    active: random() < 0.8,
  };
}

/** Five to eight letters of the last name of contact `n`, as somebody would type into a search box. */
export function fragmentOf(n: number, random: () => number): string {
  const last = contactOf(n, contactsPerCity).name.split(" ")[1]?.toLowerCase() ?? "";
  const length = Math.min(last.length, 5 + pick(random, 4));
  const start = pick(random, last.length - length + 1);
  return last.slice(start, start + length);
}

/** A database `contacts`, made through the API and filled by its store, because a million requests would take longer. */
export async function seedCorestead(
  server: Server,
  sql: Sql,
  total: number,
  fields: object = schema,
  more: { readonly access?: readonly Grant[]; readonly companies?: readonly string[] } = {},
): Promise<void> {
  const { access, companies = [] } = more;
  const { id } = await api(server, "POST", "/core/dbs.json", {
    db: { name: "Contacts", code: "contacts", schema: fields, ...(access && { access }) },
  });
  const [row] = await sql<DbRow[]>`select * from dbs where id = ${id}`;
  if (!row) throw new Error("the database is not there");
  const db = databaseOf(row);
  const table = tableForWrite(db, undefined);
  await withoutIndexes(sql, "records", () =>
    inBatches(total, (batch) => {
      const rows = batch.map(({ id: one, ...contact }, at) => {
        const company = companies[at % companies.length];
        const data = { ...contact, ...(company !== undefined && { company }) };
        return { id: one, createdAt: new Date(), data, json: JSON.stringify(data), index: indexValues(table, data) };
      });
      const claims = rows.flatMap(({ id: one, data }) => newClaims(db, table.name, one, data));
      return manyStore.insert(sql, db, table, rows, { claims, links: [] });
    }),
  );
}

export type Ceiling = "wide" | "narrow";

/** Fills the database of the server written by hand (ceiling.ts) with the same. */
export async function seedCeiling(sql: Sql, total: number, ceiling: Ceiling): Promise<void> {
  await sql.unsafe(tables + indexes[ceiling]);
  const hash = new Bun.CryptoHasher("sha256").update(adminToken).digest("hex");
  await sql`insert into tokens (token_hash, user_id) values (${hash}, 1)`;
  await withoutIndexes(sql, "contacts", () =>
    inBatches(
      total,
      (batch) => sql`
        insert into contacts (id, name, email, city, age, visits, joined_at, phone, note, active)
        select id, name, email, city, age, visits, joined_at, phone, note, active
        from json_populate_recordset(null::contacts, ${JSON.stringify(batch)}::text::json)`,
    ),
  );
}

const tables = `
  create extension if not exists pg_trgm;
  create table tokens (
    token_hash text primary key, user_id bigint not null, active boolean not null default true, expires_at timestamptz
  );
  create table contacts (
    id uuid primary key, name text not null, email text not null, city text, age bigint, visits bigint,
    joined_at timestamptz, phone text, note text, active boolean,
    created_at timestamptz not null default now(), updated_at timestamptz not null default now()
  );`;

/**
 * Wide: an index wherever Corestead has one for the same schema, and its free space in each page, where an update of
 * what no index holds finds room. Narrow: as one writes them for exactly this list and this search.
 */
const indexes: Record<Ceiling, string> = {
  wide: `
    alter table contacts set (fillfactor = 90);
    create index contacts_by_name on contacts (name, id, age, visits, joined_at, hashtext(email), hashtext(city));
    create index contacts_by_email on contacts (email, id, age, visits, joined_at, hashtext(name), hashtext(city));
    create index contacts_by_city on contacts (city, id, age, visits, joined_at, hashtext(name), hashtext(email));
    create index contacts_by_age on contacts
      (age, id, visits, joined_at, hashtext(name), hashtext(email), hashtext(city));
    create index contacts_by_visits on contacts
      (visits, id, age, joined_at, hashtext(name), hashtext(email), hashtext(city));
    create index contacts_by_joined_at on contacts
      (joined_at, id, age, visits, hashtext(name), hashtext(email), hashtext(city));
    create index contacts_by_fragment on contacts using gin
      (lower(name) gin_trgm_ops, lower(email) gin_trgm_ops, lower(city) gin_trgm_ops);`,
  narrow: `
    create index contacts_by_city on contacts (city, visits desc);
    create index contacts_by_fragment on contacts using gin (lower(name) gin_trgm_ops);`,
};

/** The site `bench.test` with the pages `cached`, which is small, and `rendered`, of 31 kB and different at each request. */
export async function seedSite(server: Server): Promise<void> {
  const items = Array.from({ length: 50 }, (_, n) => ({ name: `Item ${n}`, price: n * 2, text: "Text. ".repeat(45) }));
  const menu = Array.from({ length: 20 }, (_, n) => ({ path: `p${n}`, name: `Page ${n}` }));
  const fields = { title: "A page", text: `<p>${"A paragraph of text. ".repeat(200)}</p>`, items, menu };
  const page = { site_code: "bench", layout_code: "frame", fields };
  const things = {
    site: [{ code: "bench", name: "Bench", locale: "pl", multilang: true }],
    layout: [{ code: "frame", name: "Frame", site_code: "bench", content: layout }],
    page: [
      { ...page, code: "cached", path: "cached", name: "Cached", content: "<h1>{{ title }}</h1>" },
      { ...page, code: "rendered", path: "rendered", name: "Rendered", content: `${content}<!-- {{ params.r }} -->` },
    ],
    domain: [{ name: "bench.test", site_code: "bench", locale: "pl" }],
  };
  for (const [kind, all] of Object.entries(things))
    for (const one of all) await api(server, "POST", `/cms/${kind}s.json`, { [kind]: one });
}

const layout = `<!doctype html>
<html lang="{{ html_lang }}"><head><meta charset="utf-8"><title>{{ html_title | escape }}</title>{{ seo_head }}</head>
<body><header>{% for entry in menu %}<a href="/{{ entry.path }}">{{ entry.name | escape }}</a>{% endfor %}</header>
<main>{{ content }}</main></body></html>`;

const content = `<h1>{{ title }}</h1>{{ text }}
{% for item in items %}<section class="item"><h2>{{ item.name | escape }}</h2><p>{{ item.text }}</p>
{% if item.price > 50 %}<strong>{{ item.price | times: 1.23 | round: 2 }}</strong>{% else %}<em>{{ item.price }}</em>{% endif %}</section>{% endfor %}
<ul>{% for item in items %}<li>{{ forloop.index }}. <a href="/{{ item.name | downcase }}">{{ item.name }}</a> {{ item.text | truncate: 40 }}</li>{% endfor %}</ul>`;

type Seeded = Contact & { readonly id: string };

/** Passes contacts `0` to `total` - 1 to `insert`. */
async function inBatches(total: number, insert: (batch: readonly Seeded[]) => Promise<unknown>): Promise<void> {
  const size = 5_000;
  for (let start = 0; start < total; start += size) {
    const numbers = Array.from({ length: Math.min(size, total - start) }, (_, i) => start + i);
    await insert(numbers.map((n) => ({ id: idOf(n), ...contactOf(n, total) })));
  }
}

/** Builds the table's indexes after `fill`: this is faster, and makes them equally compact on both sides. */
async function withoutIndexes(sql: Sql, table: string, fill: () => Promise<void>): Promise<void> {
  const dropped = await sql<{ name: string; definition: string; comment: string | null }[]>`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition,
      obj_description(indexrelid, 'pg_class') as comment
    from pg_index where indrelid = ${table}::regclass and not indisprimary`;
  for (const { name } of dropped) await sql`drop index ${sql(name)}`;
  await fill();
  const reserved = await sql.reserve();
  await reserved`set maintenance_work_mem = '256MB'`;
  for (const { name, definition, comment } of dropped) {
    await reserved.unsafe(definition);
    // The comment holds the version of ICU: without it the server rebuilds the index.
    if (comment !== null) await reserved.unsafe(`comment on index ${name} is '${comment}'`);
  }
  await reserved`reset maintenance_work_mem`;
  await reserved.unsafe(`vacuum (analyze) ${table}`);
  reserved.release();
}

function words(seed: number, count: number, syllables: number): string[] {
  const random = randomSequence(seed);
  return Array.from({ length: count }, () => word(random, syllables));
}

function word(random: () => number, syllables: number): string {
  let text = "";
  for (let i = 0; i < syllables; i++) {
    text += "bcdfghjklmnprstwz"[pick(random, 17)];
    text += "aeiouy"[pick(random, 6)];
    if (random() < 0.4) text += "lmnrskt"[pick(random, 7)];
  }
  return text;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
