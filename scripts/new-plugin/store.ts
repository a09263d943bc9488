/** All SQL of this plugin. Every statement names the account: no query crosses accounts. */
import type { Page, Queryable, Sql, Tx } from "platform";

/** The fields that a person writes. */
export interface ItemValues {
  readonly title: string;
  readonly text: string | null;
}

export interface ItemRow extends ItemValues {
  readonly id: string;
  /** Null until they are counted. */
  readonly words: number | null;
  readonly version: number;
  readonly createdById: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface NewItem extends ItemValues {
  readonly id: string;
  readonly createdById: number;
}

const columnsOf = (sql: Queryable) => sql`id, title, text, words, version, created_by_id, created_at, updated_at`;

export async function list(
  sql: Sql,
  accountId: number,
  { limit, offset }: Page,
): Promise<{ rows: ItemRow[]; total: number }> {
  const rows = await sql<ItemRow[]>`
    select ${columnsOf(sql)} from sample_plugin_items where account_id = ${accountId}
    order by id limit ${limit} offset ${offset}`;
  return { rows, total: await count(sql, accountId) };
}

export async function count(sql: Sql, accountId: number): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*) as total from sample_plugin_items where account_id = ${accountId}`;
  return row?.total ?? 0;
}

export async function byId(sql: Sql, accountId: number, id: string): Promise<ItemRow | undefined> {
  const [row] = await sql<ItemRow[]>`
    select ${columnsOf(sql)} from sample_plugin_items where account_id = ${accountId} and id = ${id}`;
  return row;
}

/** Locked until the transaction ends: of two concurrent changes, the second sees the result of the first. */
export async function lock(tx: Tx, accountId: number, id: string): Promise<ItemRow | undefined> {
  const [row] = await tx<ItemRow[]>`
    select ${columnsOf(tx)} from sample_plugin_items where account_id = ${accountId} and id = ${id} for update`;
  return row;
}

export async function isCreator(db: Queryable, accountId: number, userId: number): Promise<boolean> {
  const rows = await db`
    select from sample_plugin_items where account_id = ${accountId} and created_by_id = ${userId} limit 1`;
  return rows.length > 0;
}

export async function insert(tx: Tx, accountId: number, { id, title, text, createdById }: NewItem): Promise<ItemRow> {
  const [row] = await tx<ItemRow[]>`
    insert into sample_plugin_items (id, account_id, title, text, created_by_id)
    values (${id}, ${accountId}, ${title}, ${text}, ${createdById})
    returning ${columnsOf(tx)}`;
  if (!row) throw new Error("an insert without a conflict clause gives its row");
  return row;
}

export async function save(tx: Tx, accountId: number, { id, title, text }: ItemRow): Promise<ItemRow> {
  const [row] = await tx<ItemRow[]>`
    update sample_plugin_items set title = ${title}, text = ${text}, version = version + 1, updated_at = now()
    where account_id = ${accountId} and id = ${id}
    returning ${columnsOf(tx)}`;
  if (!row) throw new Error("a locked row does not vanish");
  return row;
}

export async function remove(tx: Tx, accountId: number, id: string): Promise<void> {
  await tx`delete from sample_plugin_items where account_id = ${accountId} and id = ${id}`;
}

/** Does nothing if the version is no longer the latest: another count is on its way. */
export async function setWords(sql: Sql, accountId: number, id: string, version: number, words: number): Promise<void> {
  await sql`
    update sample_plugin_items set words = ${words}
    where account_id = ${accountId} and id = ${id} and version = ${version}`;
}

/** Items of every account that have not changed since then; at most 1,000. */
export async function unchangedSince(sql: Sql, time: Date): Promise<{ accountId: number; id: string }[]> {
  return sql<{ accountId: number; id: string }[]>`
    select account_id, id from sample_plugin_items where updated_at < ${time} order by updated_at limit 1000`;
}
