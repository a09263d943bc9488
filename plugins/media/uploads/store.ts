/** SQL about files that arrive in several requests. */
import type { Queryable, Sql, Tx } from "platform";
import type { MediaPatch } from "../fields.ts";

export interface UploadRow {
  readonly id: string;
  readonly accountId: number;
  readonly userId: number;
  readonly size: number;
  readonly fields: MediaPatch & { readonly name: string };
  readonly mediaId: string | null;
  readonly expiresAt: Date;
}

export interface Owner {
  readonly accountId: number;
  readonly userId: number;
}

/** The key of an upload. */
export type Upload = Pick<UploadRow, "id" | "accountId">;

/** A request that writes. */
export interface Writer {
  readonly id: string;
  readonly process: string;
  /** A process that wrote before and is gone. */
  readonly dead?: string | null;
}

/** A writer says this often that it is there. */
const leaseSeconds = 60;

const columns = (sql: Queryable) => sql`id, account_id, user_id, size, fields, media_id, expires_at`;

/** Uploads of an account that go on, and the bytes that they will have. */
export async function open(tx: Tx, accountId: number): Promise<{ count: number; bytes: number }> {
  const [row] = await tx<{ count: number; bytes: number }[]>`
    select count(*)::int as count, coalesce(sum(size), 0)::float8 as bytes from media_uploads
    where account_id = ${accountId} and media_id is null and expires_at > now()`;
  return row ?? { count: 0, bytes: 0 };
}

export async function insert(
  tx: Tx,
  { id, accountId, userId, size, fields }: Omit<UploadRow, "mediaId" | "expiresAt">,
  seconds: number,
) {
  const [row] = await tx<UploadRow[]>`
    insert into media_uploads (id, account_id, user_id, size, fields, expires_at)
    values (${id}, ${accountId}, ${userId}, ${size}, ${JSON.stringify(fields)}::text::jsonb,
      now() + make_interval(secs => ${seconds}))
    returning ${columns(tx)}`;
  return row;
}

export async function find(sql: Sql, { accountId, userId }: Owner, id: string): Promise<UploadRow | undefined> {
  const [row] = await sql<UploadRow[]>`
    select ${columns(sql)} from media_uploads
    where id = ${id} and account_id = ${accountId} and user_id = ${userId} and expires_at > now()`;
  return row;
}

/** Which process writes now, if one does. */
export async function writingProcess(sql: Sql, { accountId, id }: Upload): Promise<string | undefined> {
  const [row] = await sql<{ writerProcess: string | null }[]>`
    select writer_process from media_uploads where account_id = ${accountId} and id = ${id}`;
  return row?.writerProcess ?? undefined;
}

/** Undefined while another process than `dead` writes. */
export async function take(
  sql: Sql,
  { accountId, id }: Upload,
  { id: writer, process, dead = null }: Writer,
): Promise<UploadRow | undefined> {
  const [row] = await sql<UploadRow[]>`
    update media_uploads set writer = ${writer}, writer_process = ${process}, writes_until = now() + make_interval(secs => ${leaseSeconds})
    where account_id = ${accountId} and id = ${id} and (writer is null or writer = ${writer} or writer_process = ${dead} or writes_until < now())
    returning ${columns(sql)}`;
  return row;
}

/** The writer has ended; from now on the upload is kept so long. */
export async function release(sql: Sql, { accountId, id }: Upload, writer: string, seconds: number): Promise<void> {
  await sql`
    update media_uploads set writer = null, expires_at = now() + make_interval(secs => ${seconds})
    where account_id = ${accountId} and id = ${id} and writer = ${writer}`;
}

export async function became(on: Queryable, { accountId, id }: Upload, mediaId: string): Promise<void> {
  await on`update media_uploads set media_id = ${mediaId} where account_id = ${accountId} and id = ${id}`;
}

export async function remove(sql: Sql, { accountId, id }: Upload): Promise<void> {
  await sql`delete from media_uploads where account_id = ${accountId} and id = ${id}`;
}

/** Abandoned uploads. */
export async function expired(sql: Sql, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    delete from media_uploads where (account_id, id) in (
      select account_id, id from media_uploads where expires_at < now() limit ${limit})
    returning id`;
  return rows.map(({ id }) => id);
}
