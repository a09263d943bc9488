/** All SQL for previews of drafts. */
import type { Sql, Tx } from "platform";

export interface KeptPreview {
  readonly accountId: number;
  readonly userId: number;
  readonly tokenHash: string;
  readonly html: string;
  readonly expiresAt: Date;
}

/** Also deletes the person's older previews, except the `most - 1` newest. */
export async function insert(
  tx: Tx,
  { accountId, userId, tokenHash, html, expiresAt }: KeptPreview,
  most: number,
): Promise<void> {
  await tx`
    insert into cms_previews (account_id, token_hash, user_id, html, expires_at)
    values (${accountId}, ${tokenHash}, ${userId}, ${html}, ${expiresAt})`;
  await tx`
    delete from cms_previews where account_id = ${accountId} and token_hash in (
      select token_hash from cms_previews where account_id = ${accountId} and user_id = ${userId}
      order by created_at desc, (token_hash = ${tokenHash}) desc offset ${most})`;
}

export async function htmlOf(
  sql: Sql,
  accountId: number,
  userId: number,
  tokenHash: string,
): Promise<string | undefined> {
  const [row] = await sql<{ html: string }[]>`
    select html from cms_previews
    where account_id = ${accountId} and user_id = ${userId} and token_hash = ${tokenHash} and expires_at > now()`;
  return row?.html;
}

export async function prune(sql: Sql): Promise<void> {
  await sql`delete from cms_previews where expires_at < now()`;
}
