/** All SQL about pictures in other sizes. */
import type { Sql } from "platform";

export interface VariantRow {
  readonly hash: string;
  readonly variant: string;
  /** SHA-256 of the picture that was made. */
  readonly content: string;
  readonly size: number;
}

export async function find(sql: Sql, hash: string, variant: string): Promise<VariantRow | undefined> {
  const [row] = await sql<VariantRow[]>`
    select hash, variant, content, size from media_variants where hash = ${hash} and variant = ${variant}`;
  return row;
}

export async function put(sql: Sql, hash: string, variant: string, content: string, size: number): Promise<void> {
  await sql`
    insert into media_variants (hash, variant, content, size) values (${hash}, ${variant}, ${content}, ${size})
    on conflict (hash, variant) do update set content = ${content}, size = ${size}, used_at = now()`;
}

export async function used(sql: Sql, hash: string, variant: string): Promise<void> {
  await sql`update media_variants set used_at = now() where hash = ${hash} and variant = ${variant}`;
}

/** Forgets those not used for the longest beyond `maxBytes`, and those of no file; returns contents nobody has now. */
export async function trim(sql: Sql, maxBytes: number): Promise<string[]> {
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
