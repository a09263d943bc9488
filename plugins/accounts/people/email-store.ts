/** All SQL about addresses that wait for their confirmation. */
import type { Sql, Tx } from "platform";

export interface EmailChangeRow {
  readonly userId: number;
  readonly email: string;
  readonly emailBefore: string | null;
}

export interface NewEmailChange extends EmailChangeRow {
  readonly accountId: number;
  readonly tokenHash: string;
  readonly expiresAt: Date;
}

export async function pendingOf(sql: Sql, accountId: number, userId: number): Promise<string | null> {
  const [row] = await sql<{ email: string }[]>`
    select c.email from email_changes c join users u on u.account_id = c.account_id and u.id = c.user_id
    where c.account_id = ${accountId} and c.user_id = ${userId} and c.expires_at > now()
      and c.email_before is not distinct from u.email`;
  return row?.email ?? null;
}

/** One that works. */
export async function byToken(sql: Sql, accountId: number, tokenHash: string): Promise<EmailChangeRow | undefined> {
  const [row] = await sql<EmailChangeRow[]>`
    select user_id, email, email_before from email_changes
    where account_id = ${accountId} and token_hash = ${tokenHash} and expires_at > now()`;
  return row;
}

export async function put(tx: Tx, change: NewEmailChange): Promise<void> {
  const { accountId, userId, email, emailBefore, tokenHash, expiresAt } = change;
  await tx`
    insert into email_changes (account_id, user_id, email, email_before, token_hash, expires_at)
    values (${accountId}, ${userId}, ${email}, ${emailBefore}, ${tokenHash}, ${expiresAt})
    on conflict (account_id, user_id) do update set email = excluded.email, email_before = excluded.email_before,
      token_hash = excluded.token_hash, expires_at = excluded.expires_at, created_at = now()`;
}

/** Whether it was there until now: of two who use it at once, one. */
export async function use(tx: Tx, accountId: number, userId: number, tokenHash: string): Promise<boolean> {
  const { count } = await tx`
    delete from email_changes
    where account_id = ${accountId} and user_id = ${userId} and token_hash = ${tokenHash} and expires_at > now()`;
  return count === 1;
}

export async function remove(tx: Tx, accountId: number, userId: number): Promise<void> {
  await tx`delete from email_changes where account_id = ${accountId} and user_id = ${userId}`;
}

export async function prune(sql: Sql): Promise<void> {
  await sql`delete from email_changes where expires_at < now()`;
}
