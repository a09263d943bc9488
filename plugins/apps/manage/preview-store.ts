/** All SQL for previews. */
import { type AppEngine, type CssEngine } from "../engines.ts";
import type { Sql, Tx } from "platform";

import type { Json } from "../store.ts";

export interface PreviewRow {
  readonly accountId: number;
  readonly userId: number;
  readonly appId: string | null;
  readonly name: string;
  readonly appEngine: AppEngine;
  readonly cssEngine: CssEngine;
  readonly appCode: string;
  readonly cssCode: string;
  readonly fields: Json;
  readonly config: Json;
  readonly expiresAt: Date;
  /** The saved app's database. */
  readonly dbCode: string | null;
}

export type NewPreview = Omit<PreviewRow, "dbCode"> & { readonly tokenHash: string };

/** Also deletes the person's older previews, except the `most - 1` newest. */
export async function insert(tx: Tx, preview: NewPreview, most: number): Promise<void> {
  const { tokenHash, accountId, userId, appId, name, appEngine, cssEngine, appCode, cssCode, expiresAt } = preview;
  await tx`
    insert into app_previews (token_hash, account_id, user_id, app_id, name, app_engine, css_engine, app_code,
      css_code, fields, config, expires_at)
    values (${tokenHash}, ${accountId}, ${userId}, ${appId}, ${name}, ${appEngine}, ${cssEngine}, ${appCode},
      ${cssCode}, ${JSON.stringify(preview.fields)}::text::jsonb, ${JSON.stringify(preview.config)}::text::jsonb,
      ${expiresAt})`;
  await tx`
    delete from app_previews where account_id = ${accountId} and token_hash in (
      select token_hash from app_previews where account_id = ${accountId} and user_id = ${userId}
      order by created_at desc, (token_hash = ${tokenHash}) desc offset ${most})`;
}

export async function find(sql: Sql, accountId: number, tokenHash: string): Promise<PreviewRow | undefined> {
  const [row] = await sql<PreviewRow[]>`
    select p.account_id, p.user_id, p.app_id, p.name, p.app_engine, p.css_engine, p.app_code, p.css_code, p.fields,
      p.config, p.expires_at, a.db_code
    from app_previews p left join apps a on a.id = p.app_id and a.account_id = p.account_id
    where p.account_id = ${accountId} and p.token_hash = ${tokenHash}`;
  return row;
}

export async function prune(sql: Sql): Promise<void> {
  await sql`delete from app_previews where expires_at < now()`;
}
