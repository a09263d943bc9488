/** All SQL about who people are at providers. */
import { readPage, type Page, type Queryable, type Sql, type Tx } from "platform";

/** What never changes of somebody at a provider. */
export interface Identity {
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

interface Place {
  readonly accountId: number;
  readonly providerId: string;
}

export type IdentityStore = ReturnType<typeof createIdentityStore>;

export function createIdentityStore(sql: Sql) {
  return {
    async list({ accountId, providerId }: Place, page: Page) {
      const where = sql`i.account_id = ${accountId} and i.provider_id = ${providerId}`;
      return readPage<IdentityRow>(sql, page, {
        columns: sql`i.id, i.user_id, u.login, u.name, i.issuer, i.subject, i.email, i.last_used_at, i.created_at`,
        from: sql`sign_in_identities i join users u on u.id = i.user_id where ${where}`,
        order: sql`i.id`,
        counted: sql`sign_in_identities i where ${where}`,
      });
    },

    /** Whose it is; notes that it was used. */
    async use({ accountId, providerId }: Place, { issuer, subject }: Identity): Promise<number | undefined> {
      const [row] = await sql<{ userId: number }[]>`
        update sign_in_identities set last_used_at = now()
        where account_id = ${accountId} and provider_id = ${providerId} and issuer = ${issuer} and subject = ${subject}
        returning user_id`;
      return row?.userId;
    },

    /** False if it is somebody's already, or the person has another one at this provider. */
    async add(
      on: Queryable,
      { accountId, providerId }: Place,
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
    },

    /** Ends what a person has at other providers with other addresses. */
    async deleteOthers(tx: Tx, { accountId, providerId }: Place, userId: number, email: string): Promise<void> {
      await tx`
        delete from sign_in_identities
        where account_id = ${accountId} and user_id = ${userId} and provider_id <> ${providerId}
          and lower(email) <> lower(${email})`;
    },

    async delete(tx: Tx, { accountId, providerId }: Place, id: number): Promise<boolean> {
      const result = await tx`
        delete from sign_in_identities where account_id = ${accountId} and provider_id = ${providerId} and id = ${id}`;
      return result.count === 1;
    },

    async deleteAll(tx: Tx, { accountId, providerId }: Place): Promise<void> {
      await tx`delete from sign_in_identities where account_id = ${accountId} and provider_id = ${providerId}`;
    },
  };
}
