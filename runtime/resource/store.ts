/** The statements of every resource. A row is found by the account and its id, so that a sharded table needs one shard. */
import type { Fragment, Queryable, Tx } from "../db/db.ts";
import { readPage, type ReadPage } from "../db/page-store.ts";
import type { Page } from "../base/values.ts";
import type { Look } from "../http/route.ts";
import type { IdKind, IdOf } from "./fields.ts";
import type { Author, Draft, Id, Resource, Row, Shape } from "./declaration.ts";

/** An id, or the code of a resource that has one. */
export type Ref<I extends IdKind> = { readonly id: IdOf<I> } | { readonly code: string };

/** `narrowed`: further conditions, each with its `and`. */
export async function list<T extends Shape>(
  of: Resource<T>,
  on: Queryable,
  accountId: number,
  narrowed: Fragment[],
  page: Page,
  order: Fragment = words(on, of.order ?? "id"),
): Promise<ReadPage<Row<T>>> {
  return readPage<Row<T>>(on, page, {
    columns: words(on, of.read),
    from: on`${words(on, of.table)} where account_id = ${accountId} ${all(on, [...fixed(of, on), ...narrowed])}`,
    order,
  });
}

export async function find<T extends Shape>(
  of: Resource<T>,
  on: Queryable,
  accountId: number,
  ref: Ref<T["id"]>,
  narrowed: Fragment[] = [],
): Promise<Row<T> | undefined> {
  const code = typeof of.byCode === "string" ? of.byCode : "code";
  const named = "id" in ref ? on`and id = ${ref.id}` : on`and ${on(code)} = ${ref.code}`;
  return one(of, on, accountId, [named, ...narrowed]);
}

/** The row that has these values, which no two have. */
export async function findBy<T extends Shape>(
  of: Resource<T>,
  on: Queryable,
  accountId: number,
  values: { readonly [K in keyof T["fields"]]?: string | number },
): Promise<Row<T> | undefined> {
  const conditions = Object.entries(values).map(([name, value]) => on`and ${on(name)} = ${value}`);
  return one(of, on, accountId, conditions);
}

async function one<T extends Shape>(
  of: Resource<T>,
  on: Queryable,
  accountId: number,
  conditions: Fragment[],
): Promise<Row<T> | undefined> {
  const [row] = await on<Row<T>[]>`
    select ${words(on, of.read)} from ${words(on, of.table)}
    where account_id = ${accountId} ${all(on, [...fixed(of, on), ...conditions])}`;
  return row;
}

/** As `find`, held until the transaction ends, so that changes take turns. */
export async function lock<T extends Shape>(
  of: Resource<T>,
  tx: Tx,
  accountId: number,
  ref: Ref<T["id"]>,
  narrowed: Fragment[] = [],
): Promise<Row<T> | undefined> {
  return find(of, tx, accountId, ref, [...narrowed, words(tx, of.lock ?? "for no key update")]);
}

export async function insert<T extends Shape>(
  of: Resource<T>,
  tx: Tx,
  { account, user }: Author,
  id: Id<T>,
  draft: Draft<T>,
): Promise<Row<T>> {
  const values = {
    id,
    account_id: account.id,
    ...of.fixed,
    ...written(of, tx, draft),
    ...(of.authors?.includes("created_by_id") && { created_by_id: user.id }),
  };
  const each = Object.values(values).map((value, at) => (at === 0 ? tx`${value}` : tx`, ${value}`));
  // Ids that the database counts are known before, too.
  const [row] = await tx<Row<T>[]>`
    insert into ${words(tx, of.table)} (${tx(Object.keys(values))}) overriding system value values (${each})
    returning ${words(tx, of.read)}`;
  return row as Row<T>; // an insert of one row returns one
}

export async function update<T extends Shape>(
  of: Resource<T>,
  tx: Tx,
  { account, user }: Author,
  id: Id<T>,
  draft: Draft<T>,
): Promise<Row<T>> {
  const values = {
    ...written(of, tx, draft),
    ...(of.authors?.includes("updated_by_id") && { updated_by_id: user.id }),
  };
  const [row] = await tx<Row<T>[]>`
    update ${words(tx, of.table)} set ${tx(values)}, version = version + 1, updated_at = now()
    where account_id = ${account.id} and id = ${id} returning ${words(tx, of.read)}`;
  return row as Row<T>; // `lock` held the row
}

export async function remove<T extends Shape>(of: Resource<T>, tx: Tx, accountId: number, id: Id<T>): Promise<void> {
  await tx`delete from ${words(tx, of.table)} where account_id = ${accountId} and id = ${id}`;
}

/** What menus show of rows, the oldest first. */
export async function looks<T extends Shape>(
  of: Resource<T>,
  on: Queryable,
  accountId: number,
  narrowed: Fragment[],
  most: number,
): Promise<Look[]> {
  const code = typeof of.byCode === "string" ? of.byCode : "code";
  return on<Look[]>`
    select id, name, ${on(code)} as code, icon, color from ${words(on, of.table)}
    where account_id = ${accountId} ${all(on, [...fixed(of, on), ...narrowed])} order by created_at, id limit ${most}`;
}

/** How many there are. */
export async function count({ table }: { readonly table: string }, on: Queryable, accountId: number): Promise<number> {
  const [row] = await on<
    { total: number }[]
  >`select count(*) as total from ${words(on, table)} where account_id = ${accountId}`;
  return row?.total ?? 0;
}

/** The next id of a table whose ids the database makes. */
export async function nextId({ table }: { readonly table: string }, tx: Tx): Promise<number> {
  const [row] = await tx<{ id: number | null }[]>`select nextval(pg_get_serial_sequence(${table}, 'id')) as id`;
  if (typeof row?.id !== "number") throw new Error(`the database counts no ids of ${table}`);
  return row.id;
}

/** Names of a declaration in a statement: constants of ours. */
export function words(on: Queryable, text: string): Fragment {
  return on(Object.assign([text], { raw: [text] }));
}

const fixed = (of: Pick<Resource<Shape>, "fixed">, on: Queryable): Fragment[] =>
  Object.entries(of.fixed ?? {}).map(([name, value]) => on`and ${on(name)} = ${value}`);

/** Several fragments, one after another; an empty array would be a value. */
function all(on: Queryable, fragments: Fragment[]): Fragment[] | Fragment {
  return fragments.length > 0 ? fragments : on``;
}

type ColumnValues = Readonly<Record<string, string | number | boolean | Date | null>>;

/** The values of a draft by column. JSON goes as text, so that its keys keep their order. */
function written<T extends Shape>(of: Resource<T>, on: Queryable, draft: Draft<T>): ColumnValues {
  const values: Readonly<Record<string, unknown>> = draft;
  const entries = of.each.flatMap(({ name, key, info, field: { by, column, from, stored = name } }) => {
    if (by === "server" || from !== undefined) return [];
    const value = values[key];
    const isJson = (column === "json" || column === "jsonb") && value !== null;
    const isList = column === "_text" && value !== null;
    const kept = [
      stored,
      isJson ? on`${JSON.stringify(value)}::text::${on(column)}` : isList ? on`${value}::text[]` : value,
    ] as const;
    return info ? [kept, [info.name, values[info.key]] as const] : [kept];
  });
  return Object.fromEntries(entries) as ColumnValues; // the draft's type is made of the same fields
}
