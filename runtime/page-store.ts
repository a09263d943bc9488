/** Reads a page of a list: whole rows, but no more of them than an answer may have in bytes (behaviour B.3.21). */
import type { Fragment, Queryable } from "./db.ts";
import { bytesBefore, readBounds } from "./read-bounds.ts";
import type { Page } from "./values.ts";

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
  const { rows, next } = await readRows<Row>(sql, page, select);
  // A page that is not full ends the list, unless it begins after the end.
  const isLast = rows.length < page.limit && next === undefined && (rows.length > 0 || page.offset === 0);
  if (isLast) return { rows, next, total: page.offset + rows.length };
  const [count] = await sql<{ total: number }[]>`select count(*) as total from ${select.counted ?? select.from}`;
  return { rows, next, total: count?.total ?? 0 };
}

/** The same without the count. */
export async function readRows<Row>(
  sql: Queryable,
  { limit, offset }: Page,
  { columns, from, order }: Select,
): Promise<ReadRows<Row>> {
  const rows = await sql<(Row & { pageRows?: number; bytesBefore?: number })[]>`
    select * from (
      select p.*, count(*) over ()::int as page_rows, ${sql.unsafe(bytesBefore("octet_length(row_to_json(p)::text)"))} as bytes_before
      from (select ${columns} from ${from} order by ${order} limit ${limit} offset ${offset}) p) p
    where bytes_before < ${readBounds.answerBytes}`;
  const isCut = (rows[0]?.pageRows ?? 0) > rows.length;
  for (const row of rows) {
    // Some answers show all that a row has.
    delete row.pageRows;
    delete row.bytesBefore;
  }
  return { rows, next: isCut ? offset + rows.length : undefined };
}
