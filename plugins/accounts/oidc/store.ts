/** SQL about signing in by providers beside the usual statements: who people are there, ways there and back, sessions. */
import { readPage, type Page, type Queryable, type Sql, type Tx } from "platform";

/** Identifies somebody at a provider, and never changes. */
interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

export interface IdentityRow extends Identity {
  readonly id: number;
  readonly userId: number;
  readonly login: string;
  readonly name: string;
  readonly email: string;
  readonly lastUsedAt: Date;
  readonly createdAt: Date;
}

interface ProviderRef {
  readonly accountId: number;
  readonly providerId: string;
}

export async function identitiesOf(sql: Sql, { accountId, providerId }: ProviderRef, page: Page) {
  const where = sql`i.account_id = ${accountId} and i.provider_id = ${providerId}`;
  return readPage<IdentityRow>(sql, page, {
    columns: sql`i.id, i.user_id, u.login, u.name, i.issuer, i.subject, i.email, i.last_used_at, i.created_at`,
    from: sql`sign_in_identities i join users u on u.id = i.user_id where ${where}`,
    order: sql`i.id`,
    counted: sql`sign_in_identities i where ${where}`,
  });
}

/** Whose it is; notes that it was used. */
export async function useIdentity(
  sql: Sql,
  { accountId, providerId }: ProviderRef,
  { issuer, subject }: Identity,
): Promise<number | undefined> {
  const [row] = await sql<{ userId: number }[]>`
    update sign_in_identities set last_used_at = now()
    where account_id = ${accountId} and provider_id = ${providerId} and issuer = ${issuer} and subject = ${subject}
    returning user_id`;
  return row?.userId;
}

/** False if it is somebody's already, or the person has another one at this provider. */
export async function addIdentity(
  on: Queryable,
  { accountId, providerId }: ProviderRef,
  userId: number,
  { issuer, subject, email }: Identity & { readonly email: string },
): Promise<boolean> {
  const result = await on`
    insert into sign_in_identities (account_id, provider_id, user_id, issuer, subject, email)
    select u.account_id, p.id, u.id, ${issuer}, ${subject}, ${email}
    from users u, sign_in_providers p
    where u.account_id = ${accountId} and u.id = ${userId} and p.account_id = ${accountId} and p.id = ${providerId}
    on conflict do nothing`;
  return result.count === 1;
}

/** Ends what a person has at other providers with other addresses. */
export async function removeOtherIdentities(
  tx: Tx,
  { accountId, providerId }: ProviderRef,
  userId: number,
  email: string,
): Promise<void> {
  await tx`
    delete from sign_in_identities
    where account_id = ${accountId} and user_id = ${userId} and provider_id <> ${providerId}
      and lower(email) <> lower(${email})`;
}

export async function removeIdentity(tx: Tx, { accountId, providerId }: ProviderRef, id: number): Promise<boolean> {
  const result = await tx`
    delete from sign_in_identities where account_id = ${accountId} and provider_id = ${providerId} and id = ${id}`;
  return result.count === 1;
}

export async function removeIdentities(tx: Tx, { accountId, providerId }: ProviderRef): Promise<void> {
  await tx`delete from sign_in_identities where account_id = ${accountId} and provider_id = ${providerId}`;
}

interface Attempt {
  readonly accountId: number;
  readonly providerId: string;
  readonly stateHash: string;
  /** Hash of the cookie: the answer counts only in the browser that began. */
  readonly browserHash: string;
  readonly purpose: "sign_in" | "sign_out";
}

interface SignInGoal {
  readonly returnTo: string;
  /** The invitation that it takes up. */
  readonly invitationHash: string | null;
}

const nowhere: SignInGoal = { returnTo: "", invitationHash: null };

export async function addAttempt(
  sql: Sql,
  attempt: Attempt,
  seconds: number,
  goal: SignInGoal = nowhere,
): Promise<void> {
  const { accountId, providerId, stateHash, browserHash, purpose } = attempt;
  await sql`
    insert into sign_in_attempts
      (state_hash, account_id, provider_id, browser_hash, purpose, return_to, invitation_hash, expires_at)
    values (${stateHash}, ${accountId}, ${providerId}, ${browserHash}, ${purpose}, ${goal.returnTo},
      ${goal.invitationHash}, now() + make_interval(secs => ${seconds}))`;
}

/** Ends it: of two answers with one state, one counts. In another browser, or by another provider, it goes on. */
export async function takeAttempt(sql: Sql, attempt: Attempt): Promise<SignInGoal | undefined> {
  const { accountId, providerId, stateHash, browserHash, purpose } = attempt;
  const [row] = await sql<SignInGoal[]>`
    delete from sign_in_attempts
    where state_hash = ${stateHash} and account_id = ${accountId} and provider_id = ${providerId}
      and browser_hash = ${browserHash} and purpose = ${purpose} and expires_at > now()
    returning return_to, invitation_hash`;
  return row;
}

export async function pruneAttempts(sql: Sql): Promise<void> {
  await sql`delete from sign_in_attempts where expires_at < now()`;
}

interface OriginRow extends ProviderRef {
  readonly id: string;
  readonly issuer: string;
  /** Sealed for this row. */
  readonly idToken: string | null;
}

interface NewOrigin extends OriginRow {
  readonly subject: string;
  readonly sid: string | null;
}

/** Whose sessions a provider has ended: of a subject, of one of its own sessions, or both. */
interface EndedSessions {
  readonly issuer: string;
  readonly subject: string | undefined;
  readonly sid: string | undefined;
}

export async function addOrigin(
  sql: Sql,
  { accountId, id, providerId, issuer, subject, sid, idToken }: NewOrigin,
): Promise<void> {
  await sql`
    insert into sign_in_origins (account_id, id, provider_id, issuer, subject, sid, id_token)
    values (${accountId}, ${id}, ${providerId}, ${issuer}, ${subject}, ${sid}, ${idToken})`;
}

export async function originOfSession(sql: Sql, accountId: number, sessionId: number): Promise<OriginRow | undefined> {
  const [row] = await sql<OriginRow[]>`
    select account_id, id, provider_id, issuer, id_token from sign_in_origins
    where account_id = ${accountId} and session_id = ${sessionId}`;
  return row;
}

/** Deletes them, and gives their sessions. A sign-in of which no `sid` is known ends with its subject. */
export async function endOrigins(
  tx: Tx,
  { accountId, providerId }: ProviderRef,
  { issuer, subject, sid }: EndedSessions,
): Promise<number[]> {
  const rows = await tx<{ sessionId: number | null }[]>`
    delete from sign_in_origins
    where account_id = ${accountId} and provider_id = ${providerId} and issuer = ${issuer}
      and (${subject ?? null}::text is null or subject = ${subject ?? null})
      and (${sid ?? null}::text is null or sid = ${sid ?? null} or (sid is null and ${subject ?? null}::text is not null))
    returning session_id`;
  return rows.flatMap(({ sessionId }) => sessionId ?? []);
}

export async function removeOrigins(tx: Tx, { accountId, providerId }: ProviderRef): Promise<void> {
  await tx`delete from sign_in_origins where account_id = ${accountId} and provider_id = ${providerId}`;
}

/** False if it was used before. */
export async function useLogout(
  tx: Tx,
  { accountId, providerId }: ProviderRef,
  tokenHash: string,
  seconds: number,
): Promise<boolean> {
  const result = await tx`
    insert into sign_in_logouts (account_id, provider_id, token_hash, expires_at)
    values (${accountId}, ${providerId}, ${tokenHash}, now() + make_interval(secs => ${seconds}))
    on conflict do nothing`;
  return result.count === 1;
}

export async function pruneOrigins(sql: Sql): Promise<void> {
  await sql`delete from sign_in_logouts where expires_at < now()`;
  await sql`delete from sign_in_origins where session_id is null and created_at < now() - interval '1 hour'`;
}

interface Button {
  readonly code: string;
  readonly name: string;
  readonly label: string | null;
  readonly emailDomains: readonly string[];
}

/** For the buttons of pages. */
export async function buttons(sql: Sql, accountId: number): Promise<readonly Button[]> {
  return sql<Button[]>`
    select code, name, label, email_domains from sign_in_providers where account_id = ${accountId} and active order by created_at, id`;
}
