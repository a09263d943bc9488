/** A record `r` leaves PostgreSQL as one text, which print.ts puts into answers without parsing its data. */

/** For `printRaw`: id, created_at, updated_at, table_name and `data`, an expression of jsonb. */
export const rawRecord = (data = "r.data") =>
  String.raw`concat_ws(E'\x01', r.id, r.created_at, r.updated_at, r.table_name, ${data})`;

/** The separator between raw records of a page. */
export const betweenRecords = String.raw`E'\x02'`;

/** Only these fields of a record's data; `names` is an expression of text[]. */
export const selectedData = (names: string) =>
  `(select coalesce(jsonb_object_agg(e.key, e.value), '{}') from jsonb_each(r.data) e where e.key = any(${names}))`;

/**
 * Data without the record's own fields of a flat answer. Checks first, because removing a key copies all of the data.
 */
export const withoutOwn = (data: string) =>
  `(case when ${data} ?| '{id,created_at,updated_at}' then ${data} - '{id,created_at,updated_at}'::text[] else ${data} end)`;

/**
 * Whether the data of a record `r` surely has a text of less than 90 times these bytes, which are at most 2,000: what is
 * larger PostgreSQL compresses, and only numbers are longer as text than as stored (up to 1,000 digits in 12 bytes).
 */
export const isSmall = (bytes: string | number = 2000) =>
  `pg_column_size(r.data) <= ${bytes} and pg_column_compression(r.data) is null`;
