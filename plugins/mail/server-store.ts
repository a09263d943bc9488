/** All SQL about the mail servers of accounts. */
import type { Sql, Tx, Queryable } from "platform";
import type { TlsMode } from "../smtp/api.ts";

export interface ServerRow {
  readonly url: string;
  readonly username: string | null;
  /** Sealed. */
  readonly password: string | null;
  readonly sender: string;
  readonly replyTo: string | null;
  readonly tls: TlsMode | null;
  readonly version: number;
  readonly updatedAt: Date;
}

export type ServerInput = Omit<ServerRow, "version" | "updatedAt">;

const columns = (sql: Queryable) => sql`url, username, password, sender, reply_to, tls, version, updated_at`;

export async function find(sql: Sql, accountId: number): Promise<ServerRow | undefined> {
  const [row] = await sql<ServerRow[]>`select ${columns(sql)} from mail_servers where account_id = ${accountId}`;
  return row;
}

export async function has(tx: Tx, accountId: number): Promise<boolean> {
  return (await tx`select 1 from mail_servers where account_id = ${accountId}`).length > 0;
}

/** Counts all accounts' servers. */
export async function count(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from mail_servers`;
  return row?.count ?? 0;
}

export async function lock(tx: Tx, accountId: number): Promise<ServerRow | undefined> {
  const [row] = await tx<ServerRow[]>`
    select ${columns(tx)} from mail_servers where account_id = ${accountId} for update`;
  return row;
}

export async function put(tx: Tx, accountId: number, userId: number, input: ServerInput): Promise<void> {
  const { url, username, password, sender, replyTo, tls } = input;
  await tx`
    insert into mail_servers (account_id, url, username, password, sender, reply_to, tls, updated_by_id)
    values (${accountId}, ${url}, ${username}, ${password}, ${sender}, ${replyTo}, ${tls}, ${userId})
    on conflict (account_id) do update set url = excluded.url, username = excluded.username,
      password = excluded.password, sender = excluded.sender, reply_to = excluded.reply_to, tls = excluded.tls,
      updated_by_id = excluded.updated_by_id, version = mail_servers.version + 1, updated_at = now()`;
}

export async function remove(tx: Tx, accountId: number): Promise<void> {
  await tx`delete from mail_servers where account_id = ${accountId}`;
}
