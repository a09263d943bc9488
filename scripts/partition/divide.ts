/**
 * A partitioned twin in the schema `partitioning`, which a trigger keeps up to date, gets what is there, batch by batch,
 * then its indexes, one after the other (`concurrently`), and takes the place of the table under a lock of milliseconds.
 * The table that was is left in the schema `undivided`. Neither schema is part of a backup.
 */
import type { Queryable, Sql, Tx } from "../../runtime/db.ts";
import { endOf, indexesOf, nameOn, positionOf, shapeOf, withLocks, type Shape } from "./catalogue.ts";
import { byRange, hashParts, horizonOf, months, numbers, rangeParts, wayOf, type Part, type Way } from "./tables.ts";

interface Wanted {
  /** Of a table that is divided by hash. */
  readonly partitions: number;
  /** Ids of a partition, where they are counted. */
  readonly rows: number;
}

export interface Moved {
  readonly copySeconds: number;
  readonly indexSeconds: number;
  /** How long nobody could read or write the table. */
  readonly lockMs: number;
}

const batch = 50_000;

export async function divide(sql: Sql, table: string, wanted: Partial<Wanted> = {}): Promise<Moved> {
  const way = wayOf(table);
  const shape = await shapeOf(sql, table);
  if (shape.isDivided) throw new Error(`${table} is divided already`);
  if (!shape.isMine) throw new Error(`${table} belongs to another role: connect as the server does`);
  // PostgreSQL before 18 cannot let a divided table refer to another one without checking all of its rows.
  const whole = (await referringTo(sql, table)).find((key) => byRange.includes(key.target) && !key.isTargetDivided);
  if (whole) throw new Error(`${table} refers to ${whole.target}, which has to be divided first`);
  const parts = await partsOf(sql, table, way, { partitions: 16, rows: 10_000_000, ...wanted });
  await begin(sql);
  try {
    await withLocks(sql, (tx) => makeTwin(tx, shape, way, parts));
    const began = performance.now();
    await copy(sql, shape);
    const copied = performance.now();
    await buildIndexes(sql, shape, way, parts);
    const built = performance.now();
    const lockMs = await withLocks(sql, (tx) => exchange(tx, shape, parts));
    for (const key of await referring(sql, table))
      await sql.unsafe(`alter table ${key.table} validate constraint ${key.name}`);
    return { copySeconds: (copied - began) / 1000, indexSeconds: (built - copied) / 1000, lockMs };
  } finally {
    await abandon(sql);
  }
}

/** What is left of a division. The server writes to the twin as long as it is there. */
export async function abandon(sql: Sql): Promise<void> {
  await withLocks(sql, (tx) => tx`drop schema if exists partitioning cascade`);
}

/** One at a time: whoever makes the schema. */
async function begin(sql: Sql): Promise<void> {
  const [found] = await sql`select from pg_namespace where nspname = 'partitioning'`;
  if (found) throw new Error("a table is being divided; if that was broken off: --abandon");
  await sql`create schema partitioning`;
}

async function partsOf(sql: Sql, table: string, way: Way, wanted: Wanted): Promise<readonly Part[]> {
  if (way.by === "hash") return hashParts(table, wanted.partitions);
  const scale = way.by === "month" ? months : numbers(wanted.rows);
  const last = await positionOf(sql, way);
  const first = (await endOf(sql, table, way.column, scale, "asc")) ?? last;
  return [
    ...rangeParts(table, scale, Math.min(first, last), horizonOf(scale, last)),
    { name: `${table}_default`, bound: "default" },
  ];
}

async function makeTwin(tx: Tx, shape: Shape, way: Way, parts: readonly Part[]): Promise<void> {
  const { table, keys, columns, primaryKey, settings } = shape;
  const rest = columns.filter((column) => !keys.includes(column));
  const of = (row: string, names: readonly string[]) => names.map((name) => `${row}.${name}`).join(", ");
  const refers = await referringTo(tx, table);
  await tx.unsafe(`
    create table partitioning.${table} (like public.${table} including all excluding indexes)
      partition by ${way.by === "hash" ? "hash" : "range"} (${way.column});
    alter table partitioning.${table} add constraint ${primaryKey} primary key (${keys.join(", ")});
    ${parts.map(({ name, bound }) => `create table partitioning.${name} partition of partitioning.${table} ${bound}${settings};`).join("\n")}
    ${refers.map(({ name, definition }) => `alter table partitioning.${table} add constraint ${name} ${definition};`).join("\n")}
    -- What is deleted while it is being copied would come back.
    create table partitioning.gone as select ${keys.join(", ")} from public.${table} with no data;
    alter table partitioning.gone add primary key (${keys.join(", ")});
    create function partitioning.follow() returns trigger language plpgsql as $$
    begin
      if tg_op = 'TRUNCATE' then
        raise exception '${table} is being divided into partitions';
      elsif tg_op = 'DELETE' then
        delete from partitioning.${table} t where (${of("t", keys)}) = (${of("old", keys)});
        insert into partitioning.gone values (${of("old", keys)}) on conflict do nothing;
      else
        insert into partitioning.${table} (${columns.join(", ")}) overriding system value values (${of("new", columns)})
        on conflict (${keys.join(", ")}) do update set ${rest.map((name) => `${name} = excluded.${name}`).join(", ")};
      end if;
      return null;
    end $$;
    create trigger partitioning_follow after insert or update or delete on public.${table}
      for each row execute function partitioning.follow();
    create trigger partitioning_refuse before truncate on public.${table} execute function partitioning.follow()`);
}

/** In the order of the key; what the trigger has written is newer, and stays. */
async function copy(sql: Sql, { table, keys, keyTypes, columns }: Shape): Promise<void> {
  const [key, all] = [keys.join(", "), columns.join(", ")];
  const after = `where (${key}) > (${keyTypes.map((type, at) => `$${at + 1}::text::${type}`).join(", ")})`;
  let last: string[] | undefined;
  do {
    last = await retried(() =>
      sql.unsafe<{ key: string[] }[]>(
        `with batch as materialized (
          select ${all} from public.${table} ${last ? after : ""} order by ${key} limit ${batch}
        ), copied as (
          insert into partitioning.${table} (${all}) overriding system value select ${all} from batch on conflict do nothing
        )
        select array[${keys.map((name) => `${name}::text`).join(", ")}] as key from batch
        order by ${keys.map((name) => `batch.${name} desc`).join(", ")} limit 1`,
        last ?? [],
      ),
    );
  } while (last);
}

/** What the rows refer to may be deleted, and they with it, while they are being copied. */
async function retried(run: () => Promise<{ key: string[] }[]>): Promise<string[] | undefined> {
  for (let attempt = 1; ; attempt++)
    try {
      return (await run())[0]?.key;
    } catch (error) {
      const isGone = error instanceof Error && "code" in error && error.code === "23503";
      if (!isGone || attempt === 20) throw error;
    }
}

/** Each index on each partition, without holding up writers, and then the one over all of them. */
async function buildIndexes(sql: Sql, { table }: Shape, way: Way, parts: readonly Part[]): Promise<void> {
  for (const { name, isUnique, rest, columns } of await indexesOf(sql, `public.${table}`)) {
    const unique = isUnique ? "unique" : "";
    // PostgreSQL has no unique index over partitions without the column that divides them: each has its own.
    const isWhole = !isUnique || columns.includes(way.column);
    if (isWhole) await sql.unsafe(`create ${unique} index ${name} on only partitioning.${table} ${rest}`);
    for (const part of parts) {
      const own = nameOn(part.name, name, table);
      await sql.unsafe(`create ${unique} index concurrently ${own} on partitioning.${part.name} ${rest}`);
      if (isWhole) await sql.unsafe(`alter index partitioning.${name} attach partition partitioning.${own}`);
    }
  }
  await sql.unsafe(`analyze partitioning.${table}`);
}

interface ForeignKey {
  readonly table: string;
  readonly name: string;
  readonly definition: string;
  readonly target: string;
  readonly isTargetDivided: boolean;
}

/** Foreign keys from other tables to this one, and from this one to others. */
const referring = (on: Queryable, table: string) => foreignKeys(on, table, "confrelid");
const referringTo = (on: Queryable, table: string) => foreignKeys(on, table, "conrelid");

async function foreignKeys(on: Queryable, table: string, side: "conrelid" | "confrelid"): Promise<ForeignKey[]> {
  return on<ForeignKey[]>`
    select k.conrelid::regclass::text as table, quote_ident(k.conname) as name, pg_get_constraintdef(k.oid) as definition,
      t.relname as target, t.relkind = 'p' as is_target_divided
    from pg_constraint k join pg_class t on t.oid = k.confrelid
    where k.contype = 'f' and k.${on(side)} = ${`public.${table}`}::regclass and k.conparentid = 0`;
}

/** The twin takes the name, with the triggers, the counter, and what refers to the table. Milliseconds under the lock. */
async function exchange(tx: Tx, { table, keys }: Shape, parts: readonly Part[]): Promise<number> {
  const refers = await referring(tx, table);
  const locked = new Set([...refers.map((key) => key.table), `public.${table}`]);
  await tx.unsafe(`lock table ${[...locked].join(", ")} in access exclusive mode`);
  const began = performance.now();
  const same = (a: string, b: string) => keys.map((key) => `${a}.${key} = ${b}.${key}`).join(" and ");
  await tx.unsafe(`
    delete from partitioning.${table} t using partitioning.gone g
    where ${same("t", "g")} and not exists (select from public.${table} r where ${same("r", "g")});
    drop function partitioning.follow() cascade`);
  const after = [...(await triggersOf(tx, table)), ...(await functionsOf(tx, table))];
  await counted(tx, table);
  await tx.unsafe(`
    create schema if not exists undivided;
    ${refers.map((key) => `alter table ${key.table} drop constraint ${key.name};`).join("\n")}
    ${(await referringTo(tx, table)).map((key) => `alter table public.${table} drop constraint ${key.name};`).join("\n")}
    alter table public.${table} set schema undivided;
    ${[table, ...parts.map(({ name }) => name)].map((name) => `alter table partitioning.${name} set schema public;`).join("\n")}
    ${refers.map((key) => `alter table ${key.table} add constraint ${key.name} ${key.definition} not valid;`).join("\n")}
    ${after.join(";\n")}`);
  return performance.now() - began;
}

async function triggersOf(tx: Tx, table: string): Promise<readonly string[]> {
  const rows = await tx<{ definition: string; comment: string | null }[]>`
    select pg_get_triggerdef(oid) as definition, format('comment on trigger %I on public.%I is %L', tgname, ${table}::text,
      obj_description(oid, 'pg_trigger')) as comment
    from pg_trigger where tgrelid = ${`public.${table}`}::regclass and not tgisinternal`;
  return rows.flatMap(({ definition, comment }) => [definition, comment ?? ""]);
}

/** The functions that give rows of the table. */
async function functionsOf(tx: Tx, table: string): Promise<readonly string[]> {
  const rows = await tx<{ signature: string; name: string; definition: string }[]>`
    select oid::regprocedure::text as signature, proname as name, pg_get_functiondef(oid) as definition
    from pg_proc where prorettype = ${`public.${table}`}::regtype`;
  return rows.flatMap(({ signature, name, definition }) => [
    `drop function ${signature}`,
    name === "record_candidates" ? candidates(definition) : definition,
  ]);
}

/** From now on it looks into the one partition that has the database. */
function candidates(definition: string): string {
  const [, condition = ""] = /from records r\s+where (.*?)\s+limit most;/s.exec(definition) ?? [];
  if (condition === "") throw new Error("record_candidates is not as it was");
  return definition.replace(condition, () => `r.db_id = db and (${condition})`);
}

/** Its own numbers go on where the table's have come to. */
async function counted(tx: Tx, table: string): Promise<void> {
  const rows = await tx<{ before: string; now: string }[]>`
    select pg_get_serial_sequence(${`public.${table}`}, attname) as before,
      pg_get_serial_sequence(${`partitioning.${table}`}, attname) as now
    from pg_attribute where attrelid = ${`public.${table}`}::regclass and attidentity <> '' and not attisdropped`;
  for (const { before, now } of rows) await tx.unsafe(`select setval('${now}', last_value, is_called) from ${before}`);
}
