/** SQL about what names a database or its fields: views, and the schemas and public methods of others. */
import type { Fragment, Queryable, Tx } from "platform";
import type { Database } from "./database.ts";
import type { LinkingDb } from "./paths.ts";
import type { NamingView, Unknown } from "./renames.ts";

type Of = Pick<Database, "id" | "accountId">;

const viewsAtOnce = 500;

/** Every view of a table, as `change` makes it. */
export async function renameInViews(
  tx: Tx,
  { id, accountId }: Of,
  table: string,
  change: (view: NamingView) => NamingView,
): Promise<void> {
  for (let after = "00000000-0000-0000-0000-000000000000"; ;) {
    const views = await tx<(NamingView & { id: string })[]>`
      select id, filters, sort, columns, group_by, date_field, cover_field, measure_field
      from db_views
      where account_id = ${accountId} and db_id = ${id} and coalesce(table_name, '') = ${table} and id > ${after}
      order by id limit ${viewsAtOnce} for update`;
    for (const { id: viewId, ...view } of views) {
      const made = change(view);
      if (JSON.stringify(made) === JSON.stringify(view)) continue;
      const { filters, sort, columns, groupBy, dateField, coverField, measureField } = made;
      await tx`
        update db_views set filters = ${JSON.stringify(filters)}::text::json, sort = ${[...sort]}::text[],
          columns = ${[...columns]}::text[], group_by = ${groupBy}, date_field = ${dateField}, cover_field = ${coverField},
          measure_field = ${measureField}, version = version + 1, updated_at = now()
        where account_id = ${accountId} and id = ${viewId}`;
    }
    const last = views.at(-1);
    if (!last || views.length < viewsAtOnce) return;
    after = last.id;
  }
}

export interface ChangedDb {
  readonly id: string;
  readonly code: string;
}

const hasLinks = (on: Queryable, text: Fragment) =>
  on`(strpos(${text}, '"link"') > 0 or strpos(${text}, '"rollup"') > 0)`;

/** The databases of an account that link to others. */
export function linkingDbs(tx: Tx, accountId: number) {
  return tx<LinkingDb[]>`
    select id, code, schema from dbs where account_id = ${accountId} and ${hasLinks(tx, tx`schema::text`)} order by id`;
}

/** Keeps these codes as they are until the transaction ends. One that is being changed is waited for. */
export async function holdCodes(tx: Tx, accountId: number, codes: readonly string[]): Promise<void> {
  await tx`select from dbs where account_id = ${accountId} and code = any(${[...codes]}::text[]) order by id for key share`;
}

/** What names other databases, and fields of them. */
export interface Naming {
  readonly schema: unknown;
  readonly publicMethods: unknown;
}

/**
 * The schemas with links and rollups of an account's other databases, and of its deleted ones, with their public methods,
 * as `change` makes them. Gives the databases that were changed.
 */
export async function changeLinking(
  tx: Tx,
  accountId: number,
  but: string | undefined,
  change: (naming: Naming) => Naming,
): Promise<readonly ChangedDb[]> {
  const changed = (before: Naming) => {
    const after = change(before);
    return after.schema === before.schema && after.publicMethods === before.publicMethods ? undefined : after;
  };
  const isAnother = but === undefined ? tx`true` : tx`id <> ${but}`;
  const all = await tx<(Naming & { id: string })[]>`
    select id, schema, public_methods from dbs
    where account_id = ${accountId} and ${isAnother} and ${hasLinks(tx, tx`schema::text`)} order by id`;
  const done: ChangedDb[] = [];
  // Only those that change are held: of two renames at once neither waits for the other.
  for (const { id } of all.filter(changed)) {
    const [db] = await tx<(ChangedDb & Naming)[]>`
      select id, code, schema, public_methods from dbs where account_id = ${accountId} and id = ${id} for update`;
    const after = db && changed(db);
    if (!after) continue;
    await tx`
      update dbs set schema = ${JSON.stringify(after.schema)}::text::json,
        public_methods = ${jsonOrNull(after.publicMethods)}::text::json, schema_version = schema_version + 1,
        version = version + 1, updated_at = now()
      where account_id = ${accountId} and id = ${id}`;
    done.push(db);
  }
  const kept = await tx<(Naming & { id: string })[]>`
    select id, db -> 'schema' as schema, db -> 'public_methods' as public_methods from db_trash
    where account_id = ${accountId} and ${hasLinks(tx, tx`db ->> 'schema'`)} order by id for update`;
  for (const { id, ...before } of kept) {
    const after = changed(before);
    if (!after) continue;
    await tx`
      update db_trash set db = (
        select json_object_agg(key, case key when 'schema' then ${JSON.stringify(after.schema)}::text::json
          when 'public_methods' then ${JSON.stringify(after.publicMethods ?? null)}::text::json else value end)
        from json_each(db))
      where account_id = ${accountId} and id = ${id}`;
  }
  return done;
}

const jsonOrNull = (value: unknown) => (value === null || value === undefined ? null : JSON.stringify(value));

const looked = 100_000;

/** Among the newest records of a table; what is null or "" is no value. */
export async function unknownNames(
  on: Queryable,
  { id, accountId }: Of,
  table: string,
  known: readonly string[],
): Promise<readonly Unknown[]> {
  return on<Unknown[]>`
    select k.key as name, count(*)::int as records, array_agg(distinct jsonb_typeof(k.value)) as types,
      min(left(k.value #>> '{}', 300)) as least, max(left(k.value #>> '{}', 300)) as greatest,
      max(length(k.value #>> '{}')) as longest
    from (
      select r.data - ${[...known]}::text[] as data from records r
      where r.account_id = ${accountId} and r.db_id = ${id} and r.table_name = ${table}
      order by r.id desc limit ${looked}) r, jsonb_each(r.data) k
    where k.value not in ('null', '""') group by k.key order by records desc, name limit 200`;
}
