/** All SQL about connectors. */
import { readPage, type Page, type Queryable, type Sql, type Static, type Tx } from "platform";
import type { Connector } from "./answers.ts";

export interface ConnectorRow {
  readonly id: string;
  readonly accountId: number;
  readonly code: string;
  readonly name: string;
  readonly kind: string;
  readonly url: string;
  /** Encrypted for this row. */
  readonly secretToken: string | null;
  readonly secretTokenInfo: string | null;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly active: boolean;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type ConnectorInput = Pick<
  ConnectorRow,
  "code" | "name" | "kind" | "url" | "secretToken" | "secretTokenInfo" | "fields" | "active"
>;

export interface ConnectorFilter {
  readonly q: string | undefined;
  readonly code: string | undefined;
  readonly kind: string | undefined;
}

/** The object of behaviour B.9, without the secret. */
export function toApi(row: ConnectorRow): Static<typeof Connector> {
  return {
    id: row.id,
    name: row.name,
    code: row.code,
    kind: row.kind,
    url: row.url,
    secret_token_info: row.secretTokenInfo,
    fields: row.fields,
    active: row.active,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}

export type ConnectorStore = ReturnType<typeof createConnectorStore>;

export function createConnectorStore(sql: Sql) {
  const columns = sql`
    id, account_id, code, name, kind, url, secret_token, secret_token_info, fields, active, version, created_at, updated_at`;

  return {
    async list(accountId: number, filter: ConnectorFilter, page: Page) {
      const where = sql`account_id = ${accountId}
        ${filter.q === undefined ? sql`` : sql`and (name ilike ${filter.q} or code ilike ${filter.q})`}
        ${filter.code === undefined ? sql`` : sql`and code = ${filter.code}`}
        ${filter.kind === undefined ? sql`` : sql`and kind = ${filter.kind}`}`;
      return readPage<ConnectorRow>(sql, page, { columns, from: sql`connectors where ${where}`, order: sql`id` });
    },

    async byId(accountId: number, id: string, on: Queryable = sql): Promise<ConnectorRow | undefined> {
      const [row] = await on<ConnectorRow[]>`
        select ${columns} from connectors where account_id = ${accountId} and id = ${id}`;
      return row;
    },

    /** The same, locked until the transaction ends, so that changes take turns. */
    async lock(tx: Tx, accountId: number, id: string): Promise<ConnectorRow | undefined> {
      const [row] = await tx<ConnectorRow[]>`
        select ${columns} from connectors where account_id = ${accountId} and id = ${id} for no key update`;
      return row;
    },

    async byCode(accountId: number, code: string, on: Queryable = sql): Promise<ConnectorRow | undefined> {
      const [row] = await on<ConnectorRow[]>`
        select ${columns} from connectors where account_id = ${accountId} and code = ${code}`;
      return row;
    },

    async insert(
      tx: Tx,
      id: string,
      accountId: number,
      userId: number | null,
      input: ConnectorInput,
    ): Promise<ConnectorRow> {
      const [row] = await tx<ConnectorRow[]>`
        insert into connectors
          (id, account_id, code, name, kind, url, secret_token, secret_token_info, fields, active, created_by_id)
        values (${id}, ${accountId}, ${input.code}, ${input.name}, ${input.kind}, ${input.url}, ${input.secretToken},
          ${input.secretTokenInfo}, ${JSON.stringify(input.fields)}::text::json, ${input.active}, ${userId})
        returning ${columns}`;
      return row as ConnectorRow; // an insert of one row returns one
    },

    async update(
      tx: Tx,
      accountId: number,
      id: string,
      userId: number | null,
      input: ConnectorInput,
    ): Promise<ConnectorRow> {
      const [row] = await tx<ConnectorRow[]>`
        update connectors set code = ${input.code}, name = ${input.name}, kind = ${input.kind}, url = ${input.url},
          secret_token = ${input.secretToken}, secret_token_info = ${input.secretTokenInfo},
          fields = ${JSON.stringify(input.fields)}::text::json, active = ${input.active}, updated_by_id = ${userId},
          version = version + 1, updated_at = now()
        where account_id = ${accountId} and id = ${id} returning ${columns}`;
      return row as ConnectorRow; // `lock` held the row
    },

    async delete(tx: Tx, accountId: number, id: string): Promise<void> {
      await tx`delete from connectors where account_id = ${accountId} and id = ${id}`;
    },
  };
}
