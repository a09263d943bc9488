/** All SQL about providers. */
import { readPage, type Page, type Queryable, type Role, type Sql, type Tx } from "platform";

export interface ProviderRow {
  readonly id: string;
  readonly accountId: number;
  readonly code: string;
  readonly name: string;
  readonly label: string | null;
  readonly issuer: string;
  readonly clientId: string;
  /** Sealed for this row. */
  readonly clientSecret: string | null;
  readonly scopes: string;
  readonly active: boolean;
  readonly createPeople: boolean;
  readonly emailDomains: readonly string[];
  readonly linkByEmail: boolean;
  readonly verifiedClaim: string;
  readonly trustSecondFactor: boolean;
  readonly signOutThere: boolean;
  readonly defaultRole: Role | null;
  readonly roleClaim: string | null;
  readonly roles: Readonly<Record<string, Role>>;
  readonly teamClaim: string | null;
  readonly teams: Readonly<Record<string, number>>;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type ProviderInput = Omit<ProviderRow, "id" | "accountId" | "version" | "createdAt" | "updatedAt">;
export type ProviderStore = ReturnType<typeof createProviderStore>;

export function createProviderStore(sql: Sql) {
  const columns = sql`
    id, account_id, code, name, label, issuer, client_id, client_secret, scopes, active, create_people, email_domains,
    link_by_email, verified_claim, trust_second_factor, sign_out_there, default_role, role_claim, roles, team_claim, teams,
    version, created_at, updated_at`;

  return {
    async list(accountId: number, page: Page) {
      return readPage<ProviderRow>(sql, page, {
        columns,
        from: sql`sign_in_providers where account_id = ${accountId}`,
        order: sql`created_at, id`,
      });
    },

    /** For the buttons of pages. */
    buttons: (accountId: number) => sql<Pick<ProviderRow, "code" | "name" | "label" | "emailDomains">[]>`
      select code, name, label, email_domains from sign_in_providers where account_id = ${accountId} and active order by created_at, id`,

    async byId(accountId: number, id: string, on: Queryable = sql): Promise<ProviderRow | undefined> {
      const [row] = await on<ProviderRow[]>`
        select ${columns} from sign_in_providers where account_id = ${accountId} and id = ${id}`;
      return row;
    },

    async activeByCode(accountId: number, code: string): Promise<ProviderRow | undefined> {
      const [row] = await sql<ProviderRow[]>`
        select ${columns} from sign_in_providers where account_id = ${accountId} and code = ${code} and active`;
      return row;
    },

    /** Locked until the transaction ends. */
    async lock(tx: Tx, accountId: number, id: string): Promise<ProviderRow | undefined> {
      const [row] = await tx<ProviderRow[]>`
        select ${columns} from sign_in_providers where account_id = ${accountId} and id = ${id} for no key update`;
      return row;
    },

    async insert(tx: Tx, id: string, accountId: number, userId: number, input: ProviderInput): Promise<ProviderRow> {
      const [row] = await tx<ProviderRow[]>`
        insert into sign_in_providers (id, account_id, code, name, label, issuer, client_id, client_secret, scopes,
          active, create_people, email_domains, link_by_email, verified_claim, trust_second_factor, sign_out_there,
          default_role, role_claim, roles, team_claim, teams, created_by_id)
        values (${id}, ${accountId}, ${input.code}, ${input.name}, ${input.label}, ${input.issuer}, ${input.clientId},
          ${input.clientSecret}, ${input.scopes}, ${input.active}, ${input.createPeople},
          ${input.emailDomains}::text[], ${input.linkByEmail}, ${input.verifiedClaim}, ${input.trustSecondFactor},
          ${input.signOutThere}, ${input.defaultRole}, ${input.roleClaim}, ${JSON.stringify(input.roles)}::text::json, ${input.teamClaim},
          ${JSON.stringify(input.teams)}::text::json, ${userId})
        returning ${columns}`;
      return row as ProviderRow; // an insert of one row returns one
    },

    async update(tx: Tx, accountId: number, id: string, userId: number, input: ProviderInput): Promise<ProviderRow> {
      const [row] = await tx<ProviderRow[]>`
        update sign_in_providers set code = ${input.code}, name = ${input.name}, label = ${input.label},
          issuer = ${input.issuer}, client_id = ${input.clientId}, client_secret = ${input.clientSecret},
          scopes = ${input.scopes}, active = ${input.active}, create_people = ${input.createPeople},
          email_domains = ${input.emailDomains}::text[], link_by_email = ${input.linkByEmail},
          verified_claim = ${input.verifiedClaim}, trust_second_factor = ${input.trustSecondFactor},
          sign_out_there = ${input.signOutThere},
          default_role = ${input.defaultRole}, role_claim = ${input.roleClaim},
          roles = ${JSON.stringify(input.roles)}::text::json, team_claim = ${input.teamClaim},
          teams = ${JSON.stringify(input.teams)}::text::json, updated_by_id = ${userId}, version = version + 1,
          updated_at = now()
        where account_id = ${accountId} and id = ${id} returning ${columns}`;
      return row as ProviderRow; // `lock` held the row
    },

    async delete(tx: Tx, accountId: number, id: string): Promise<void> {
      await tx`delete from sign_in_providers where account_id = ${accountId} and id = ${id}`;
    },
  };
}
