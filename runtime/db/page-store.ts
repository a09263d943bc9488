/** Reads a page of a list: whole rows, but no more of them than an answer may have in bytes (behaviour B.3.21). */
import type { Fragment, Queryable } from "./db.ts";
import { bytesBefore, readBounds } from "../base/read-bounds.ts";
import type { Page } from "../base/values.ts";

interface ReadRows<Row> {
  readonly rows: readonly Row[];
  /** The `offset` that goes on, where the page ends early. */
  readonly next: number | undefined;
}

export interface ReadPage<Row> extends ReadRows<Row> {
  readonly total: number;
}

interface Select {
  readonly columns: Fragment;
  /** Tables, joins and conditions. */
  readonly from: Fragment;
  readonly order: Fragment;
  /** As `from`, where its count needs less. */
  readonly counted?: Fragment;
}

/** PostgreSQL measures the rows as JSON, so that those after the end are not sent. */
export async function readPage<Row>(sql: Queryable, page: Page, select: Select): Promise<ReadPage<Row>> {
  const count = sql`(select count(*) from ${select.counted ?? select.from})`;
  // A page that is not full ends the list, unless it begins after the end.
  const total = sql`case when whole < ${page.limit} then ${page.offset} + whole else ${count} end`;
  const read = await readWith<Row>(sql, page, select, total);
  if (read.total !== undefined) return { ...read, total: read.total };
  if (page.offset === 0) return { ...read, total: 0 };
  const [all] = await sql<{ total: number }[]>`select ${count} as total`;
  return { ...read, total: all?.total ?? 0 };
}

/** The same without the count. */
export async function readRows<Row>(sql: Queryable, page: Page, select: Select): Promise<ReadRows<Row>> {
  const { rows, next } = await readWith<Row>(sql, page, select, sql`null::bigint`);
  return { rows, next };
}

/** `total` is that of the first row: undefined without one. */
async function readWith<Row>(
  sql: Queryable,
  { limit, offset }: Page,
  { columns, from, order }: Select,
  total: Fragment,
): Promise<ReadRows<Row> & { readonly total: number | undefined }> {
  // To print rows as JSON takes PostgreSQL longer than all else of a short list: `fits` is null where there is no need.
  // Their size as stored would not do: 1e100000 is 12 bytes of jsonb.
  const isLarge = sql`sum(octet_length(page::text)) > ${surelySmallText}`;
  const rows = await sql<(Row & { pageCut?: true | null; pageTotal?: number })[]>`
    with page as materialized (select ${columns} from ${from} order by ${order} limit ${limit} offset ${offset}),
      facts as materialized (
        select count(*) as whole, case when ${isLarge} then (
          select count(*) from (
            select ${sql.unsafe(bytesBefore("octet_length(row_to_json(page)::text)"))} as bytes_before from page) b
          where bytes_before < ${readBounds.answerBytes}) end as fits
        from page)
    select page.*, (select case when fits < whole then true end from facts) as page_cut,
      (select ${total} from facts) as page_total
    from page limit (select fits from facts)`;
  const { pageCut, pageTotal } = rows[0] ?? {};
  // Some answers show all that a row has.
  for (const row of rows) {
    delete row.pageCut;
    delete row.pageTotal;
  }
  return { rows, next: pageCut ? offset + rows.length : undefined, total: pageTotal };
}

/** A character of control has six as JSON. */
const surelySmallText = readBounds.answerBytes / 8;
