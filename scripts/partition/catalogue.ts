/** What PostgreSQL knows of a table that is divided. */
import { transaction, type Queryable, type Sql, type Tx } from "../../runtime/db.ts";
import type { RangeWay, Scale } from "./tables.ts";

export interface Shape {
  readonly table: string;
  /** In the order of the key; and all that are stored. Quoted where they must be. */
  readonly keys: readonly string[];
  readonly keyTypes: readonly string[];
  readonly columns: readonly string[];
  readonly primaryKey: string;
  /** ` with (fillfactor = …)`, of each partition. */
  readonly settings: string;
  readonly isMine: boolean;
  readonly isDivided: boolean;
}

export async function shapeOf(sql: Queryable, table: string): Promise<Shape> {
  const [shape] = await sql<Shape[]>`
    select c.relname as table, c.relkind = 'p' as is_divided, pg_has_role(c.relowner, 'usage') as is_mine,
      i.relname as primary_key, k.names as keys, k.types as key_types,
      array(select quote_ident(attname) from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '' order by attnum) as columns,
      coalesce(' with (' || array_to_string(c.reloptions, ', ') || ')', '') as settings
    from pg_class c join pg_index x on x.indrelid = c.oid and x.indisprimary join pg_class i on i.oid = x.indexrelid,
      lateral (
        select array_agg(quote_ident(a.attname) order by u.at) as names,
          array_agg(format_type(a.atttypid, null) order by u.at) as types
        from unnest(x.indkey) with ordinality u (number, at)
        join pg_attribute a on a.attrelid = c.oid and a.attnum = u.number) k
    where c.oid = to_regclass('public.' || quote_ident(${table}))`;
  if (!shape) throw new Error(`there is no table ${table}`);
  return shape;
}

export interface Index {
  readonly name: string;
  readonly isUnique: boolean;
  /** What follows the name of the table. */
  readonly rest: string;
  readonly columns: readonly string[];
}

/** All but the primary key, and but those that the server makes and drops by itself. With `own`, those of no other. */
export async function indexesOf(sql: Queryable, relation: string, own = false): Promise<readonly Index[]> {
  const found = await sql<(Omit<Index, "rest"> & { definition: string })[]>`
    select c.relname as name, x.indisunique as is_unique, pg_get_indexdef(c.oid) as definition,
      array(select attname::text from pg_attribute where attrelid = x.indrelid and attnum = any(x.indkey)) as columns
    from pg_index x join pg_class c on c.oid = x.indexrelid
    where x.indrelid = ${relation}::regclass and not x.indisprimary and c.relname !~ '^records_learned_'
      and not (${own} and exists (select from pg_inherits where inhrelid = c.oid))`;
  return found.map(({ definition, ...index }) => {
    const [, rest] = /^CREATE (?:UNIQUE )?INDEX \S+ ON (?:ONLY )?\S+ (.*)$/s.exec(definition) ?? [];
    if (rest === undefined) throw new Error(`${index.name} is no index that can be divided: ${definition}`);
    return { ...index, rest };
  });
}

/** Its name on a partition: `records_by_str_1` is `records_p003_by_str_1` there. */
export function nameOn(part: string, index: string, table: string): string {
  return index.startsWith(table) ? `${part}${index.slice(table.length)}` : `${part}_${index}`;
}

/** Where the table has come to: the last id that anybody took, or the time. */
export async function positionOf(sql: Queryable, way: RangeWay): Promise<number> {
  const [row] =
    way.by === "number"
      ? await sql<{ at: number }[]>`
          select coalesce(pg_sequence_last_value(pg_get_serial_sequence(${way.counter}, 'id')), 0) as at`
      : await sql<{ at: number }[]>`select (extract(epoch from now()) * 1000)::bigint as at`;
  return row?.at ?? 0;
}

/** The least or the greatest of a column; undefined without rows. */
export async function endOf(sql: Queryable, relation: string, column: string, scale: Scale, order: "asc" | "desc") {
  const [row] = await sql.unsafe<{ value: string }[]>(
    `select ${column}::text as value from ${relation} order by ${relation}.${column} ${order} limit 1`,
  );
  return row && scale.read(row.value);
}

/**
 * In a transaction that gives up when it has to wait for a lock, and tries again: whoever comes meanwhile waits behind it.
 * Sooner than PostgreSQL looks for deadlocks, so that no transaction of the server's is ended for it.
 */
export async function withLocks<T>(sql: Sql, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      return await transaction(sql, async (tx) => {
        await tx`set local lock_timeout = '500ms'`;
        return work(tx);
      });
    } catch (error) {
      const isLocked = error instanceof Error && "code" in error && error.code === "55P03";
      if (!isLocked || attempt === 300) throw error;
      await Bun.sleep(1000);
    }
}
