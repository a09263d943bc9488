/** The SQL about providers beside the usual statements. */
import { words, type Sql } from "platform";
import { Provider, type ProviderRow } from "./provider.ts";

export type ProviderStore = ReturnType<typeof createProviderStore>;

export function createProviderStore(sql: Sql) {
  return {
    /** For the buttons of pages. */
    buttons: (accountId: number) => sql<Pick<ProviderRow, "code" | "name" | "label" | "emailDomains">[]>`
      select code, name, label, email_domains from sign_in_providers where account_id = ${accountId} and active order by created_at, id`,

    async activeByCode(accountId: number, code: string): Promise<ProviderRow | undefined> {
      const [row] = await sql<ProviderRow[]>`
        select ${words(sql, Provider.read)} from sign_in_providers where account_id = ${accountId} and code = ${code} and active`;
      return row;
    },
  };
}
