/** SQL about the indexes of string columns in the order of a language. */
import type { Sql, Queryable } from "platform";
import { collate, collationOfAccount, collationOfEquals, rootCollation } from "../databases/columns-store.ts";

/** An index of one string column of one table or partition. */
export interface SortedIndex {
  readonly name: string;
  /** The table, or the partition of it. */
  readonly table: string;
  readonly collation: string;
  readonly column: 1 | 2 | 3;
}

// Where the table is partitioned, its partitions have them: no index of the whole is built concurrently.
const leaves = (sql: Queryable) => sql`(
  select c.oid, c.relname from pg_class c
  where c.relkind = 'r' and (c.oid = 'records'::regclass or c.oid in (select relid from pg_partition_tree('records'))))`;

// Of each index the collations of ICU that it has, and their versions as they are now.
const ordered = (sql: Queryable) => sql`
  select i.oid, i.relname as name, x.indisvalid as is_valid, c.collname as "collation",
    obj_description(i.oid, 'pg_class') as built_by, pg_collation_actual_version(c.oid) as version,
    exists (select from pg_inherits h where h.inhrelid = i.oid) as is_part
  from ${leaves(sql)} t join pg_index x on x.indrelid = t.oid join pg_class i on i.oid = x.indexrelid
  join pg_collation c on c.oid = any(x.indcollation::oid[]) and c.collprovider = 'i'`;

/**
 * The collations of the accounts, those of most accounts first; "C" where there is no ICU. Before them that of the
 * root, where equal strings are found by it.
 */
export async function wantedCollations(sql: Sql, most: number): Promise<readonly string[]> {
  const rows = await sql<{ collation: string }[]>`
    select c."collation" from (select ${sql.unsafe(collationOfAccount)} as "collation" from accounts a) c
    group by 1 order by count(*) desc, 1 limit ${most}`;
  const all = rows.map(({ collation }) => collation);
  const [found] = await sql<{ equalsBy: string }[]>`select ${sql.unsafe(collationOfEquals)} as equals_by`;
  return found?.equalsBy === rootCollation ? [...new Set([rootCollation, ...all])] : all;
}

/**
 * Drops what was built by another version of ICU, which orders some strings otherwise: PostgreSQL would trust it. One
 * that belongs to an index of the whole table is built again.
 */
export async function dropOutdated(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ name: string; isPart: boolean; builtBy: string | null; version: string }[]>`
    select name, is_part, built_by, version from (${ordered(sql)}) o
    where name ~ '_(sorted|learned)_' and built_by is distinct from version`;
  for (const { name, isPart, builtBy, version } of rows) {
    // Dividing a table builds its indexes anew, without their comments.
    if (isPart && builtBy !== null)
      await patiently(sql, async (own) => void (await own.unsafe(`reindex index concurrently ${quoted(name)}`)));
    if (isPart) await sql.unsafe(`comment on index ${quoted(name)} is '${version.replaceAll("'", "''")}'`);
    else await sql.unsafe(`drop index concurrently if exists ${quoted(name)}`);
  }
  return rows.map(({ name }) => name);
}

/** The indexes that these collations need and that do not exist. */
export async function missing(sql: Sql, collations: readonly string[]): Promise<readonly SortedIndex[]> {
  const tables = await sql<{ relname: string }[]>`select relname from ${leaves(sql)} t order by relname`;
  const valid = await sql<{ name: string }[]>`select name from (${ordered(sql)}) o where is_valid`;
  const known = new Set(valid.map(({ name }) => name));
  const all = tables.flatMap(({ relname: table }) =>
    collations.flatMap((collation) =>
      ([1, 2, 3] as const).map((column) => ({ name: nameOf(table, column, collation), table, collation, column })),
    ),
  );
  return all.filter(({ name }) => !known.has(name));
}

/** The names of those of other collations. */
export async function unused(sql: Sql, collations: readonly string[]): Promise<readonly string[]> {
  const rows = await sql<{ name: string }[]>`
    select name from (${ordered(sql)}) o
    where name ~ '_sorted_[123]_' and not is_part and o."collation" <> all(${[...collations]}::text[])`;
  return rows.map(({ name }) => name);
}

/** Writers go on meanwhile. It has the other columns too, as those of `003_sort_indexes.sql`. */
export async function build(sql: Sql, { name, table, collation, column }: SortedIndex): Promise<void> {
  const [a, b] = [1, 2, 3].filter((one) => one !== column);
  await patiently(sql, async (own) => {
    // What is left of a build that failed.
    await own.unsafe(`drop index concurrently if exists ${quoted(name)}`);
    await own.unsafe(`
      create index concurrently ${quoted(name)} on ${quoted(table)} (
        db_id, table_name, idx_str_${column} ${collate(collation)}, id, idx_int_1, idx_int_2, idx_time_1, idx_time_2,
        hashtext(idx_str_${a}), hashtext(idx_str_${b}))
      where idx_str_${column} is not null`);
  });
  const [rule] = await sql<{ version: string }[]>`
    select pg_collation_actual_version(oid) as version from pg_collation where collname = ${collation}`;
  await sql.unsafe(`comment on index ${quoted(name)} is '${rule?.version.replaceAll("'", "''")}'`);
}

export async function drop(sql: Sql, name: string): Promise<void> {
  await sql.unsafe(`drop index concurrently if exists ${quoted(name)}`);
}

/** A connection of its own: the time limit of statements is not for what takes minutes. */
async function patiently(sql: Sql, run: (own: Sql) => Promise<void>) {
  const own = await sql.reserve();
  try {
    const [limit] = await own<{ statementTimeout: string }[]>`show statement_timeout`;
    // Through a pooler there is none outside of transactions, and another client would get the setting.
    const isLimited = limit?.statementTimeout !== "0";
    if (isLimited) await own`set statement_timeout = 0`;
    try {
      await run(own);
    } finally {
      if (isLimited) await own`set statement_timeout to default`;
    }
  } finally {
    own.release();
  }
}

function nameOf(table: string, column: number, collation: string): string {
  const suffix = collation
    .replace(/-x-icu$/, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_");
  return `${table}_sorted_${column}_${suffix}`;
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
