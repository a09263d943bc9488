/** The SQL of apps for which people sign in, and of what these were given. */
import type { Queryable, Sql, Tx } from "platform";

export const authMethods = ["none", "client_secret_basic", "client_secret_post"] as const;
export type AuthMethod = (typeof authMethods)[number];

export interface Client {
  readonly accountId: number;
  readonly clientId: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly authMethod: AuthMethod;
  readonly secretHash: string | null;
  /** When its metadata document was read; null = it registered itself. */
  readonly readAt: Date | null;
}

export interface NewGrant {
  readonly accountId: number;
  readonly tokenId: number;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scope: string;
  readonly codeChallenge: string;
}

export interface Grant extends NewGrant {
  /** Its code can no longer be used. */
  readonly isLate: boolean;
  readonly familyHash: string | null;
  readonly refreshHash: string | null;
}

/** `isRecent`: a metadata document has been read within a day. */
export async function findClient(sql: Queryable, accountId: number, clientId: string) {
  const [row] = await sql<(Client & { isRecent: boolean })[]>`
    select account_id, client_id, name, redirect_uris, auth_method, secret_hash, read_at,
      read_at is null or read_at > now() - interval '1 day' as is_recent
    from oauth_clients where account_id = ${accountId} and client_id = ${clientId}`;
  return row;
}

/** A document that was read again takes the place of what it was. */
export async function saveClient(sql: Sql, client: Omit<Client, "readAt">, isDocument: boolean): Promise<void> {
  const { accountId, clientId, name, redirectUris, authMethod, secretHash } = client;
  await sql`
    insert into oauth_clients (account_id, client_id, name, redirect_uris, auth_method, secret_hash, read_at)
    values (${accountId}, ${clientId}, ${name}, ${redirectUris}::text[], ${authMethod}, ${secretHash},
      case when ${isDocument} then now() end)
    on conflict (account_id, client_id) do update
      set name = excluded.name, redirect_uris = excluded.redirect_uris, read_at = excluded.read_at
      where oauth_clients.read_at is not null`;
}

export async function addGrant(tx: Tx, grant: NewGrant, codeHash: string): Promise<void> {
  const { accountId, tokenId, clientId, redirectUri, scope, codeChallenge } = grant;
  await tx`
    insert into oauth_grants
      (account_id, token_id, client_id, redirect_uri, scope, code_challenge, code_hash, code_ends_at)
    values (${accountId}, ${tokenId}, ${clientId}, ${redirectUri}, ${scope}, ${codeChallenge}, ${codeHash},
      now() + interval '1 minute')`;
}

type Key = "code_hash" | "family_hash" | "token_id";

export async function findGrant(db: Queryable, accountId: number, by: Key, value: string): Promise<Grant | undefined> {
  const [row] = await db<Grant[]>`
    select account_id, token_id, client_id, redirect_uri, scope, code_challenge, family_hash, refresh_hash,
      code_ends_at < now() as is_late
    from oauth_grants where account_id = ${accountId} and ${db(by)} = ${value}`;
  return row;
}

/** False if the grant has changed meanwhile. Not held before: whoever ends its token holds that first. */
export async function setRefresh(tx: Tx, before: Grant, familyHash: string, refreshHash: string): Promise<boolean> {
  const { count } = await tx`
    update oauth_grants set family_hash = ${familyHash}, refresh_hash = ${refreshHash}
    where account_id = ${before.accountId} and token_id = ${before.tokenId}
      and refresh_hash is not distinct from ${before.refreshHash}`;
  return count > 0;
}

/** Grants whose code nobody has used in its time. */
export const unusedGrants = (sql: Sql) => sql<Pick<Grant, "accountId" | "tokenId">[]>`
  select account_id, token_id from oauth_grants where family_hash is null and code_ends_at < now() limit 1000`;

/** Those that have no grant 30 days after they were made or read. */
export async function pruneClients(sql: Sql): Promise<void> {
  await sql`
    delete from oauth_clients c where coalesce(read_at, created_at) < now() - interval '30 days'
      and not exists (select from oauth_grants g where g.account_id = c.account_id and g.client_id = c.client_id)`;
}
