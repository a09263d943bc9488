/** SQL about media files beside that of the resource, their contents, and pictures in other sizes. */
import { readPage, type Fragment, type Page, type Queryable, type RowOf, type Sql, type Tx } from "platform";
import type { fields } from "./fields.ts";

export type MediaRow = RowOf<typeof fields, "uuid">;

export interface FolderRow {
  readonly path: string;
  readonly files: number;
  readonly bytes: number;
}

const columns = (
  sql: Queryable,
) => sql`id, account_id, hash, folder, name, size, mime, width, height, is_animated, is_public, titles, alts,
  hash as sha256,
  version, created_at, updated_at`;

/** Of these ids those of files of the account; with `userId` only public ones and that person's. */
export async function existing(
  on: Queryable,
  accountId: number,
  ids: readonly string[],
  userId?: number,
): Promise<ReadonlySet<string>> {
  const rows = await on<{ id: string }[]>`
    select id::text from media where account_id = ${accountId} and id = any(${[...ids]}::uuid[])
      and (${userId === undefined} or is_public or created_by_id = ${userId ?? null})`;
  return new Set(rows.map(({ id }) => id));
}

// What narrows a list.

export function inFolder(sql: Sql, query: URLSearchParams, name: string): Fragment | undefined {
  const folder = query.get(name)?.normalize("NFC");
  return folder === undefined ? undefined : sql`folder = ${folder}`;
}

/** `image/png`, or `image/` for all of them. */
export function ofKind(sql: Sql, query: URLSearchParams, name: string): Fragment | undefined {
  const mime = query.get(name);
  return mime ? sql`mime like ${mime.endsWith("/") ? prefix(mime) : mime.replaceAll("%", "")}` : undefined;
}

/** This folder and those in it; without one, all. */
export function below(sql: Queryable, folder: string | undefined): Fragment {
  if (folder === undefined) return sql`true`;
  return sql`(folder = ${folder} or folder like ${prefix(`${folder}/`)})`;
}

export async function listFolders(sql: Sql, accountId: number, page: Page) {
  return readPage<FolderRow>(sql, page, {
    columns: sql`folder as path, count(*) as files, sum(size)::bigint as bytes`,
    from: sql`media where account_id = ${accountId} group by folder`,
    order: sql`folder`,
    counted: sql`(select distinct folder from media where account_id = ${accountId}) f`,
  });
}

export async function byPlace(
  db: Queryable,
  accountId: number,
  folder: string,
  name: string,
): Promise<MediaRow | undefined> {
  const [row] = await db<MediaRow[]>`
    select ${columns(db)} from media where account_id = ${accountId} and folder = ${folder} and name = ${name}`;
  return row;
}

/** Public ones, by folder and name: `team/anna.jpg`. */
export async function publicByPaths(
  sql: Sql,
  accountId: number,
  paths: readonly string[],
): Promise<(MediaRow & { readonly path: string })[]> {
  const folders = paths.map((path) => path.slice(0, Math.max(0, path.lastIndexOf("/"))));
  const names = paths.map((path) => path.slice(path.lastIndexOf("/") + 1));
  return sql<(MediaRow & { path: string })[]>`
    select ${columns(sql)}, asked.path
    from unnest(${[...paths]}::text[], ${folders}::text[], ${names}::text[]) asked (path, asked_folder, asked_name)
    join media on account_id = ${accountId} and is_public and folder = asked_folder and name = asked_name`;
}

/** Uploads of an account take turns from here to the end of the transaction, so that none passes the quota. */
export async function bytesOf(tx: Tx, accountId: number): Promise<number> {
  await tx`select pg_advisory_xact_lock(hashtext('media'), ${accountId}::int)`;
  const [row] = await tx<{ bytes: number }[]>`
    select coalesce(sum(size), 0)::bigint as bytes from (
      select max(size) as size from media where account_id = ${accountId} group by hash) as contents`;
  return row?.bytes ?? 0;
}

export async function hasContent(db: Queryable, accountId: number, hash: string): Promise<boolean> {
  const rows = await db`select 1 from media where account_id = ${accountId} and hash = ${hash} limit 1`;
  return rows.length > 0;
}

/** From now on nobody removes this content for a while; waits for whoever is removing it. */
export async function touchContent(sql: Sql, hash: string, size: number): Promise<void> {
  await sql`
    insert into media_contents (hash, size) values (${hash}, ${size})
    on conflict (hash) do update set touched_at = now()`;
}

/** Forgets the dimensions of pictures with this content, which cannot be decoded: they have no other sizes. */
export async function undecodable(
  sql: Sql,
  { accountId, hash }: Pick<MediaRow, "accountId" | "hash">,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    update media set width = null, height = null where account_id = ${accountId} and hash = ${hash} returning id`;
  return rows.map(({ id }) => id);
}

/** Also of the folders in it. */
export async function renameFolder(
  tx: Tx,
  accountId: number,
  userId: number,
  from: string,
  to: string,
): Promise<MediaRow[]> {
  return tx<MediaRow[]>`
    update media set folder = trim(leading '/' from ${to}::text || substr(folder, length(${from}::text) + 1)),
      updated_by_id = ${userId}, version = version + 1, updated_at = now()
    where account_id = ${accountId} and ${below(tx, from)}
    returning ${columns(tx)}`;
}

/** A file is gone. Its content stays for a while, because somebody may be reading it. */
export async function leaveContent(tx: Tx, hash: string): Promise<void> {
  await tx`update media_contents set touched_at = now() where hash = ${hash}`;
}

/** Contents that no file has had since `before`, held until the transaction ends. */
export async function unused(tx: Tx, before: Date, limit: number): Promise<string[]> {
  const rows = await tx<{ hash: string }[]>`
    select hash from media_contents c where touched_at < ${before}
      and not exists (select 1 from media where media.hash = c.hash)
    order by touched_at limit ${limit} for update skip locked`;
  return rows.map(({ hash }) => hash);
}

export async function deleteContent(tx: Tx, hash: string): Promise<void> {
  await tx`delete from media_contents where hash = ${hash}`;
}

function prefix(text: string) {
  return `${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

export interface VariantRow {
  readonly hash: string;
  readonly variant: string;
  /** SHA-256 of the picture that was made. */
  readonly content: string;
  readonly size: number;
}

export async function findVariant(sql: Sql, hash: string, variant: string): Promise<VariantRow | undefined> {
  const [row] = await sql<VariantRow[]>`
    select hash, variant, content, size from media_variants where hash = ${hash} and variant = ${variant}`;
  return row;
}

export async function putVariant(
  sql: Sql,
  hash: string,
  variant: string,
  content: string,
  size: number,
): Promise<void> {
  await sql`
    insert into media_variants (hash, variant, content, size) values (${hash}, ${variant}, ${content}, ${size})
    on conflict (hash, variant) do update set content = ${content}, size = ${size}, used_at = now()`;
}

export async function variantUsed(sql: Sql, hash: string, variant: string): Promise<void> {
  await sql`update media_variants set used_at = now() where hash = ${hash} and variant = ${variant}`;
}

/** Forgets those not used for the longest beyond `maxBytes`, and those of no file; returns contents nobody has now. */
export async function trimVariants(sql: Sql, maxBytes: number): Promise<string[]> {
  const gone = await sql<{ content: string }[]>`
    with sums as (
      select hash, variant, sum(size) over (order by used_at desc, hash, variant) as bytes from media_variants),
    gone as (
      delete from media_variants v using sums s
      where v.hash = s.hash and v.variant = s.variant
        and (s.bytes > ${maxBytes} or not exists (select from media m where m.hash = v.hash))
      returning v.hash, v.variant, v.content)
    select distinct content from gone g
    where not exists (
      select from media_variants v where v.content = g.content
        and not exists (select from gone o where o.hash = v.hash and o.variant = v.variant))`;
  return gone.map(({ content }) => content);
}
