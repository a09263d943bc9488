import type { Page, Sql, Tx } from "platform";

export interface ItemInput {
  readonly title: string;
  readonly text: string;
}

export interface ItemRow extends ItemInput {
  readonly id: string;
  /** Null until they are counted. */
  readonly words: number | null;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type ItemStore = ReturnType<typeof createItemStore>;

/** All SQL of this plugin. Every statement names the account: no query crosses accounts. */
export function createItemStore(sql: Sql) {
  const columns = sql`id, title, text, words, version, created_at, updated_at`;

  return {
    async list(accountId: number, { limit, offset }: Page): Promise<{ rows: ItemRow[]; total: number }> {
      const rows = await sql<ItemRow[]>`
        select ${columns} from sample_plugin_items where account_id = ${accountId}
        order by id limit ${limit} offset ${offset}`;
      const [count] = await sql<{ total: number }[]>`
        select count(*) as total from sample_plugin_items where account_id = ${accountId}`;
      return { rows, total: count?.total ?? 0 };
    },

    async byId(accountId: number, id: string): Promise<ItemRow | undefined> {
      const [row] = await sql<ItemRow[]>`
        select ${columns} from sample_plugin_items where account_id = ${accountId} and id = ${id}`;
      return row;
    },

    async insert(tx: Tx, accountId: number, id: string, { title, text }: ItemInput): Promise<ItemRow> {
      const [row] = await tx<ItemRow[]>`
        insert into sample_plugin_items (id, account_id, title, text) values (${id}, ${accountId}, ${title}, ${text})
        returning ${columns}`;
      if (!row) throw new Error("an insert without a conflict clause gives its row");
      return row;
    },

    async update(
      tx: Tx,
      accountId: number,
      id: string,
      { title, text }: Partial<ItemInput>,
      expected?: number,
    ): Promise<ItemRow | undefined> {
      const [row] = await tx<ItemRow[]>`
        update sample_plugin_items set
          title = coalesce(${title ?? null}, title), text = coalesce(${text ?? null}, text),
          version = version + 1, updated_at = now()
        where account_id = ${accountId} and id = ${id}
          ${expected === undefined ? sql`` : sql`and version = ${expected}`}
        returning ${columns}`;
      return row;
    },

    async remove(tx: Tx, accountId: number, id: string): Promise<ItemRow | undefined> {
      const [row] = await tx<ItemRow[]>`
        delete from sample_plugin_items where account_id = ${accountId} and id = ${id} returning ${columns}`;
      return row;
    },

    /** Does nothing to a version that is no longer the latest: another count is on its way. */
    async setWords(accountId: number, id: string, version: number, words: number): Promise<void> {
      await sql`
        update sample_plugin_items set words = ${words}
        where account_id = ${accountId} and id = ${id} and version = ${version}`;
    },
  };
}

/** The item as clients see it. */
export function toApi({ id, title, text, words, createdAt, updatedAt }: ItemRow) {
  return { id, title, text, words, created_at: createdAt, updated_at: updatedAt };
}
