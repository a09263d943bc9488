/** Finds people by what they sign in with. */
import type { Sql } from "platform";

export interface PasswordRow {
  readonly id: number;
  readonly active: boolean;
  readonly passwordHash: string | null;
}

export function createLoginStore(sql: Sql) {
  /** As it was typed, and as it is stored: with composed letters. */
  const forms = (typed: string) => sql`(lower(${typed}), lower(${typed.normalize("NFC")}))`;

  return {
    async idByLogin(accountId: number, login: string): Promise<number | undefined> {
      const [row] = await sql<{ id: number }[]>`
        select id from users where account_id = ${accountId} and lower(login) in ${forms(login)}`;
      return row?.id;
    },

    async passwordByLogin(accountId: number, loginOrEmail: string): Promise<PasswordRow | undefined> {
      const [row] = await sql<PasswordRow[]>`
        select id, active, password_hash from users
        where account_id = ${accountId} and (lower(login) in ${forms(loginOrEmail)} or lower(email) in ${forms(loginOrEmail)})
        order by lower(login) in ${forms(loginOrEmail)} desc limit 1`;
      return row;
    },

    async passwordById(accountId: number, id: number): Promise<string | null | undefined> {
      const [row] = await sql<PasswordRow[]>`
        select id, active, password_hash from users where account_id = ${accountId} and id = ${id}`;
      return row?.passwordHash;
    },
  };
}

export type LoginStore = ReturnType<typeof createLoginStore>;
