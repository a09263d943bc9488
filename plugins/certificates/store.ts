/** All SQL about certificates. Hosts are those of the whole installation, which one process orders for. */
import { column, readPage, view, words, type KeptOf, type Page, type Queryable, type Sql, type Tx } from "platform";
import type { Due } from "./renewal.ts";

export interface CertificateRow {
  readonly id: number;
  readonly host: string;
  readonly accountId: number;
  readonly chain: string | null;
  readonly keySealed: string | null;
  readonly notBefore: Date | null;
  readonly expiresAt: Date | null;
  readonly renewAt: Date | null;
  readonly failures: number;
  readonly lastError: string | null;
  readonly tryAt: Date;
  readonly orderedAt: Date | null;
  readonly createdAt: Date;
}

const { choice, integer, text, time } = column;
const orNull = true;

const fields = {
  host: text({ label: ["Host", "Host", "Host"], example: "www.example.com" }),
  state: choice(["valid", "waiting", "failed", "expired"], {
    label: ["State", "Stan", "Status"],
    choices: {
      valid: ["Valid", "Ważny", "Gültig"],
      waiting: ["Waiting", "Czeka", "Wartet"],
      failed: ["Failed", "Nie powiodło się", "Fehlgeschlagen"],
      expired: ["Expired", "Wygasł", "Abgelaufen"],
    },
    from: `case when failures > 0 then 'failed' when expires_at is null then 'waiting'
      when expires_at > now() then 'valid' else 'expired' end`,
    example: "valid",
  }),
  not_before: time({
    label: ["Valid from", "Ważny od", "Gültig ab"],
    orNull,
    example: new Date("2026-01-31T10:00:00.000Z"),
  }),
  expires_at: time({ label: ["Ends", "Wygasa", "Läuft ab"], orNull, example: new Date("2026-05-01T10:00:00.000Z") }),
  renew_at: time({
    label: ["Renewal", "Odnowienie", "Erneuerung"],
    orNull,
    example: new Date("2026-03-30T22:14:07.000Z"),
  }),
  failures: integer({ label: ["Failures", "Niepowodzenia", "Fehlschläge"], example: 0 }),
  last_error: text({ label: ["Last error", "Ostatni błąd", "Letzter Fehler"], orNull }),
  try_at: time({
    label: ["Next attempt", "Następna próba", "Nächster Versuch"],
    orNull,
    from: "case when last_error is not null then try_at end",
  }),
  ordered_at: time({
    label: ["Ordered", "Zamówiono", "Bestellt"],
    orNull,
    example: new Date("2026-01-31T10:00:00.000Z"),
  }),
};

/** A certificate as people see it. */
export const Certificate = view("Certificate", fields);
type CertificateView = KeptOf<typeof fields>;

export interface Issued {
  readonly chain: string;
  readonly keySealed: string;
  readonly notBefore: Date;
  readonly expiresAt: Date;
  readonly renewAt: Date;
}

export interface KnownHost {
  readonly host: string;
  readonly accountId: number;
}

const columns = (sql: Queryable) => sql`
  id, host, account_id, chain, key_sealed, not_before, expires_at, renew_at, failures, last_error, try_at, ordered_at,
  created_at`;

export async function begin(sql: Sql, host: string, accountId: number): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    insert into certificate_orders (host, account_id) values (${host}, ${accountId}) returning id`;
  return row?.id ?? 0;
}

export async function succeeded(tx: Tx, orderId: number): Promise<void> {
  await tx`update certificate_orders set issued = true where id = ${orderId}`;
}

/** For the whole installation. */
export async function ordersOfLastHour(sql: Sql): Promise<number> {
  const [row] = await sql<{ orders: number }[]>`
    select count(*) as orders from certificate_orders where at > now() - interval '1 hour'`;
  return row?.orders ?? 0;
}

export async function challenge(sql: Sql, name: string, answerSealed: string): Promise<void> {
  await sql`
    insert into certificate_challenges (name, answer_sealed, expires_at)
    values (${name}, ${answerSealed}, now() + interval '10 minutes')
    on conflict (name) do update set answer_sealed = excluded.answer_sealed, expires_at = excluded.expires_at`;
}

export async function answerTo(sql: Sql, name: string): Promise<string | undefined> {
  const [row] = await sql<{ answerSealed: string }[]>`
    select answer_sealed from certificate_challenges where name = ${name} and expires_at > now()`;
  return row?.answerSealed;
}

export async function endChallenge(sql: Sql, name: string): Promise<void> {
  await sql`delete from certificate_challenges where name = ${name}`;
}

export async function authority(
  sql: Sql,
  directory: string,
): Promise<{ keySealed: string; accountUrl: string } | undefined> {
  const [row] = await sql<{ keySealed: string; accountUrl: string }[]>`
    select key_sealed, account_url from certificate_authorities where directory = ${directory}`;
  return row;
}

export async function keepAuthority(sql: Sql, directory: string, keySealed: string, accountUrl: string): Promise<void> {
  await sql`
    insert into certificate_authorities (directory, key_sealed, account_url)
    values (${directory}, ${keySealed}, ${accountUrl}) on conflict (directory) do nothing`;
}

export async function prune(sql: Sql): Promise<void> {
  await sql`delete from certificate_orders where at < now() - interval '30 days'`;
  await sql`delete from certificate_challenges where expires_at < now()`;
}

export async function byHost(sql: Sql, host: string): Promise<CertificateRow | undefined> {
  const [row] = await sql<CertificateRow[]>`select ${columns(sql)} from certificates where host = ${host}`;
  return row;
}

export async function ofAccount(sql: Sql, accountId: number, host: string): Promise<CertificateView | undefined> {
  const [row] = await sql<CertificateView[]>`
    select ${words(sql, Certificate.read)} from certificates where account_id = ${accountId} and host = ${host}`;
  return row;
}

export async function list(sql: Sql, accountId: number, page: Page) {
  return readPage<CertificateView>(sql, page, {
    columns: words(sql, Certificate.read),
    from: sql`certificates where account_id = ${accountId}`,
    order: sql`host`,
  });
}

/** Writes down hosts that have no row yet, and to whom the others belong now. Those that are not named lose theirs. */
export async function keep(sql: Sql, hosts: readonly KnownHost[]): Promise<void> {
  const [names, accounts] = [hosts.map(({ host }) => host), hosts.map(({ accountId }) => accountId)];
  await sql`
    insert into certificates (host, account_id)
    select * from unnest(${names}::text[], ${accounts}::bigint[])
    on conflict (host) do update set account_id = excluded.account_id
    where certificates.account_id <> excluded.account_id`;
  // One that comes back soon has its certificate still.
  await sql`
    delete from certificates where not host = any(${names}::text[])
      and (expires_at is null or expires_at < now() or try_at < now() - interval '30 days')`;
}

/** The hosts for which an order is due, of these: accounts' own and those that have a certificate are never left out. */
export async function due(
  sql: Sql,
  hosts: readonly string[],
  ofAccounts: readonly string[],
  limit: number,
): Promise<Due[]> {
  return sql<Due[]>`
    with due as (
      select host, account_id, not_before, expires_at, try_at, host = any(${ofAccounts}::text[]) as is_account_host
      from certificates
      where host = any(${hosts}::text[]) and try_at <= now() and (renew_at is null or renew_at <= now())
      order by host <> all(${ofAccounts}::text[]), expires_at nulls last, try_at limit ${limit}
    )
    select d.*, h.orders as host_orders, h.issued as host_issued, a.orders as account_orders
    from due d cross join lateral (
      select count(*) filter (where at > now() - interval '1 hour') as orders, count(*) filter (where issued) as issued
      from certificate_orders where host = d.host and at > now() - interval '7 days'
    ) h left join lateral (
      select count(*) as orders from certificate_orders where account_id = d.account_id and at > now() - interval '1 hour'
    ) a on true`;
}

/** Certificates about whose renewal the authority was not asked for a day. */
export async function unadvised(sql: Sql, limit: number): Promise<{ host: string; chain: string }[]> {
  return sql<{ host: string; chain: string }[]>`
    update certificates set advice_at = now() where id in (
      select id from certificates
      where chain is not null and expires_at > now() and (advice_at is null or advice_at < now() - interval '1 day')
      order by advice_at nulls first limit ${limit} for update skip locked)
    returning host, chain`;
}

export async function setRenewal(sql: Sql, host: string, at: Date): Promise<void> {
  await sql`update certificates set renew_at = ${at} where host = ${host}`;
}

/**
 * Orders at once, whatever happened before, but for what was issued within the last minute: whoever asks twice gets
 * one certificate. False if the account has no such host.
 */
export async function askAgain(sql: Sql, accountId: number, host: string): Promise<boolean> {
  const rows = await sql`
    update certificates set try_at = now(),
      renew_at = case when failures = 0 and ordered_at > now() - interval '1 minute' then renew_at else least(renew_at, now()) end
    where account_id = ${accountId} and host = ${host} returning id`;
  return rows.length > 0;
}

export async function issued(
  tx: Tx,
  host: string,
  { chain, keySealed, notBefore, expiresAt, renewAt }: Issued,
): Promise<void> {
  await tx`
    update certificates set chain = ${chain}, key_sealed = ${keySealed}, not_before = ${notBefore},
      expires_at = ${expiresAt}, renew_at = ${renewAt}, advice_at = null, failures = 0, last_error = null,
      try_at = now(), ordered_at = now()
    where host = ${host}`;
}

export async function failed(sql: Sql, host: string, error: string, failures: number, tryAt: Date): Promise<void> {
  await sql`
    update certificates set failures = ${failures}, last_error = ${error.slice(0, 1000)}, try_at = ${tryAt},
      ordered_at = now()
    where host = ${host}`;
}

/** For the whole installation: the number of certificates, and those that fail or end soon, the worst first. */
export async function troubled(sql: Sql, limit: number): Promise<{ total: number; rows: CertificateRow[] }> {
  const rows = await sql<CertificateRow[]>`
    select ${columns(sql)} from certificates
    where failures > 0 or expires_at is null or expires_at < now() + interval '7 days'
    order by expires_at nulls first, host limit ${limit}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from certificates`;
  return { total: count?.total ?? 0, rows };
}

/** For /metrics. */
export async function counts(sql: Sql): Promise<{ failing: number; soonestSeconds: number | null }> {
  const [row] = await sql<{ failing: number; soonestSeconds: number | null }[]>`
    select count(*) filter (where failures > 0) as failing,
      extract(epoch from min(expires_at) - now())::float8 as soonest_seconds
    from certificates`;
  return row ?? { failing: 0, soonestSeconds: null };
}

/** Orders, challenges, and the account at the authority. */
