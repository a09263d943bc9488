/** All SQL for the values that apps store for their visitors. */
import { invalid, type Queryable, type Sql, type Tx } from "platform";

export interface StorageOwner {
  readonly accountId: number;
  readonly appId: string;
  /** `user:<id>` or `visitor:<key>`. */
  readonly owner: string;
}

export interface Entry {
  readonly key: string;
  /** JSON text. */
  readonly value: string;
}

export const storageLimits = { bytes: 1_000_000, entries: 1000, bytesOfVisitors: 1_000_000_000 } as const;

/** The total of all visitors of an app is kept under this owner, since the number of visitors is unlimited. */
const allVisitors = "visitors";

/** At most 1 MB in all. */
export async function entriesOf(sql: Sql, whose: StorageOwner, prefix: string): Promise<Entry[]> {
  return sql<Entry[]>`
    select key, value from app_storage where ${owned(sql, whose)} and starts_with(key, ${prefix})
    order by key collate "C"`;
}

export async function get(sql: Sql, whose: StorageOwner, key: string): Promise<string | undefined> {
  const [row] = await sql<{ value: string }[]>`
    select value from app_storage where ${owned(sql, whose)} and key = ${key}`;
  return row?.value;
}

/** Throws the 422 if the total would pass the limit. Undefined if the app is gone. */
export async function set(tx: Tx, whose: StorageOwner, { key, value }: Entry): Promise<true | undefined> {
  // First, for its lock: a concurrent write then sees what this one has written.
  if (!(await book(tx, whose, 0, 0))) return undefined;
  const before = await sizeOf(tx, whose, key);
  const size = new TextEncoder().encode(key + value).length;
  const [bytes, entries] = [size - (before ?? 0), before === undefined ? 1 : 0];
  const usage = await book(tx, whose, bytes, entries);
  if (usage && usage.bytes > storageLimits.bytes)
    throw invalid({
      value: [`is too large: an app may store at most ${storageLimits.bytes} bytes for each visitor`],
    });
  if (usage && usage.entries > storageLimits.entries)
    throw invalid({
      key: [`is one too many: an app may store at most ${storageLimits.entries} keys for each visitor`],
    });
  await bookForAll(tx, whose, bytes, entries);
  await tx`
    insert into app_storage (account_id, app_id, owner, key, value)
    values (${whose.accountId}, ${whose.appId}, ${whose.owner}, ${key}, ${value})
    on conflict (account_id, app_id, owner, key) do update set value = excluded.value, updated_at = now()`;
  return true;
}

export async function remove(tx: Tx, whose: StorageOwner, key: string): Promise<void> {
  if (!(await book(tx, whose, 0, 0))) return;
  const before = await sizeOf(tx, whose, key);
  if (before === undefined) return;
  await tx`delete from app_storage where ${owned(tx, whose)} and key = ${key}`;
  await book(tx, whose, -before, -1);
  await bookForAll(tx, whose, -before, -1);
}

function owned(on: Queryable, { accountId, appId, owner }: StorageOwner) {
  return on`
  account_id = ${accountId} and app_id = ${appId} and owner = ${owner}`;
}

/** Adds the difference. The row stays locked until the transaction ends, so that concurrent writes cannot pass the limit. */
async function book(tx: Tx, { accountId, appId, owner }: StorageOwner, bytes: number, entries: number) {
  const [usage] = await tx<{ bytes: number; entries: number }[]>`
    insert into app_storage_usage as u (account_id, app_id, owner, bytes, entries)
    select account_id, id, ${owner}, ${bytes}, ${entries} from apps where account_id = ${accountId} and id = ${appId}
    on conflict (account_id, app_id, owner) do update set bytes = u.bytes + excluded.bytes, entries = u.entries + excluded.entries
    returning bytes, entries`;
  return usage;
}

/** Throws the 422 if it would pass the limit. */
async function bookForAll(tx: Tx, whose: StorageOwner, bytes: number, entries: number): Promise<void> {
  if (!whose.owner.startsWith("visitor:")) return;
  const usage = await book(tx, { ...whose, owner: allVisitors }, bytes, entries);
  if (usage && bytes > 0 && usage.bytes > storageLimits.bytesOfVisitors)
    throw invalid({ value: ["is too large: this app's storage for its visitors is full"] });
}

async function sizeOf(tx: Tx, whose: StorageOwner, key: string): Promise<number | undefined> {
  const [row] = await tx<{ size: number }[]>`
    select octet_length(key) + octet_length(value) as size from app_storage where ${owned(tx, whose)} and key = ${key}`;
  return row?.size;
}
