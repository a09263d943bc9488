/** What `backup` and `restore` need to know about the tables of the schema `public`. */
import type { Queryable, Tx } from "../../db/db.ts";

export interface Table {
  name: string;
  /** Only stored columns: generated ones cannot be loaded. */
  columns: string[];
  /** An unlogged table, whose rows may be lost at any time and are not backed up. */
  unlogged?: boolean;
}

export interface Sequence {
  name: string;
  lastValue: string;
  isCalled: boolean;
}

export interface ForeignKey {
  name: string;
  table: string;
  target: string;
  deferrable: boolean;
}

export interface MigrationRow {
  plugin: string;
  name: string;
  checksum: string;
}

/** All tables by name, except that of the migrations and those owned by extensions. */
export async function databaseTables(sql: Queryable): Promise<Table[]> {
  return sql<Table[]>`
    select c.relname::text as name, array_agg(a.attname order by a.attnum)::text[] as columns,
      c.relpersistence = 'u' as unlogged
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname <> 'migrations'
      and not exists (select from pg_depend d where d.objid = c.oid and d.classid = 'pg_class'::regclass and d.deptype = 'e')
    group by c.relname, c.relpersistence
    order by c.relname`;
}

export async function migrationsOf(sql: Queryable): Promise<MigrationRow[]> {
  return sql<MigrationRow[]>`select plugin, name, checksum from public.migrations order by plugin, name`;
}

export async function sequences(tx: Tx): Promise<Sequence[]> {
  const names = await tx<{ name: string }[]>`
    select sequencename::text as name from pg_sequences where schemaname = 'public' order by 1`;
  const found: Sequence[] = [];
  for (const { name } of names) {
    const source = `select last_value::text as last_value, is_called from ${quoted(name)}`;
    const [state] = await tx.unsafe<{ lastValue: string; isCalled: boolean }[]>(source);
    if (state) found.push({ name, ...state });
  }
  return found;
}

export async function foreignKeys(sql: Queryable): Promise<ForeignKey[]> {
  return sql<ForeignKey[]>`
    select k.conname::text as name, c.relname::text as table, t.relname::text as target, k.condeferrable as deferrable
    from pg_constraint k
    join pg_class c on c.oid = k.conrelid
    join pg_class t on t.oid = k.confrelid
    where k.contype = 'f' and k.connamespace = 'public'::regnamespace and k.conparentid = 0`;
}

/**
 * Orders the tables so that each comes after those that its rows refer to. Also returns the foreign keys of cycles,
 * which no order satisfies. A table that refers to itself is not a cycle: its rows are checked after all of them are
 * loaded.
 */
export function loadOrder(
  tables: readonly Table[],
  keys: readonly ForeignKey[],
): { ordered: Table[]; circular: ForeignKey[] } {
  const place = new Map<string, number>();
  const ordered: Table[] = [];
  const visiting = new Set<string>();
  const visit = (table: Table) => {
    if (visiting.has(table.name)) return;
    visiting.add(table.name);
    const targets = new Set(keys.filter((key) => key.table === table.name).map(({ target }) => target));
    for (const target of tables) if (targets.has(target.name)) visit(target);
    place.set(table.name, ordered.push(table));
  };
  for (const table of tables) visit(table);
  const circular = keys.filter(({ table, target }) => (place.get(table) ?? 0) < (place.get(target) ?? 0));
  return { ordered, circular };
}

/** A name in the schema `public`, as SQL. postgres.js would treat a dot in it as a separator. */
export function quoted(name: string): string {
  return `public.${quotedName(name)}`;
}

export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
