import { readPage, type Page, type Queryable, type Role, type Sql, type Static, type Tx } from "platform";
import type { Prompt, PromptVersion } from "./answers.ts";
import type { Place, Reader } from "./cascade.ts";
import type { Named } from "./explained.ts";
import type { Base } from "./permission.ts";

export type Kind = "chat" | "agent";

/** The fields that a save writes and a version keeps. */
export interface Saved extends Place {
  readonly code: string;
  readonly name: string;
  readonly content: string;
  readonly kind: Kind;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface PromptRow extends Saved {
  readonly id: string;
  readonly createdById: number;
  readonly updatedById: number | null;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface VersionRow extends Saved {
  readonly version: number;
  readonly createdById: number;
  readonly createdAt: Date;
}

/** A prompt as the cascade sees it. */
export interface Candidate extends Place {
  readonly id: string;
  readonly code: string;
  readonly version: number;
}

/** Who looks: people see their own prompts, an administrator all. behaviour B.5. */
export interface Viewer extends Reader {
  readonly role: Role;
}

export interface PromptFilter {
  /** A LIKE pattern. */
  readonly q?: string | undefined;
  readonly code?: string | undefined;
  readonly kind?: string | undefined;
  readonly scope?: string | undefined;
}

export const orders = ["id", "created_at", "updated_at", "name", "code"] as const;
export interface Order {
  readonly by: (typeof orders)[number];
  readonly descending: boolean;
}

/** What a save writes and a version keeps. */
export const savedColumns = (sql: Sql) => sql`scope, scope_id, code, name, content, kind, fields`;

/** Applies to a prompt and to a version of it, which may have had another place. */
export const visibleTo = (sql: Sql, { role, id, teamIds, departmentIds }: Viewer) =>
  role === "admin"
    ? sql`true`
    : sql`(scope = 'account' or (scope = 'user' and scope_id = ${id})
        or (scope = 'team' and scope_id = any(${teamIds}::bigint[]))
        or (scope = 'department' and scope_id = any(${departmentIds}::bigint[])))`;

/** The latest ones of a prompt; older ones go with the next save. */
export const keptVersions = 200;

/** All SQL for prompts; version-store.ts reads their versions. */
export function createPromptStore(sql: Sql) {
  const saved = savedColumns(sql);
  const columns = sql`id, ${saved}, created_by_id, updated_by_id, version, created_at, updated_at`;

  const keepVersion = (tx: Tx, accountId: number, row: PromptRow) => tx`
    with pruned as (
      delete from prompt_versions
      where account_id = ${accountId} and prompt_id = ${row.id} and version <= ${row.version - keptVersions}
    )
    insert into prompt_versions (prompt_id, version, account_id, ${saved}, created_by_id, created_at)
    select id, version, account_id, ${saved}, coalesce(updated_by_id, created_by_id), updated_at
    from prompts where account_id = ${accountId} and id = ${row.id}`;

  return {
    async list(accountId: number, viewer: Viewer, filter: PromptFilter, order: Order, page: Page) {
      const { q, code, kind, scope } = filter;
      const where = sql`
        account_id = ${accountId} and ${visibleTo(sql, viewer)}
        ${q === undefined ? sql`` : sql`and (name ilike ${q} or code ilike ${q})`}
        ${code === undefined ? sql`` : sql`and code = ${code}`}
        ${kind === undefined ? sql`` : sql`and kind = ${kind}`}
        ${scope === undefined ? sql`` : sql`and scope = ${scope}`}`;
      const direction = order.descending ? sql`desc` : sql`asc`;
      return readPage<PromptRow>(sql, page, {
        columns,
        from: sql`prompts where ${where}`,
        order: sql`${sql(order.by)} ${direction}, id ${direction}`,
        hasNumbers: true,
      });
    },

    async byId(accountId: number, viewer: Viewer, id: string): Promise<PromptRow | undefined> {
      const [row] = await sql<PromptRow[]>`
        select ${columns} from prompts where account_id = ${accountId} and id = ${id} and ${visibleTo(sql, viewer)}`;
      return row;
    },

    /** The same, locked until this transaction ends. */
    async lock(tx: Tx, accountId: number, viewer: Viewer, id: string): Promise<PromptRow | undefined> {
      const [row] = await tx<PromptRow[]>`
        select ${columns} from prompts where account_id = ${accountId} and id = ${id} and ${visibleTo(sql, viewer)} for update`;
      return row;
    },

    /** The places and creators of the prompts with this code, in all scopes except `user`. */
    async shared(accountId: number, code: string, on: Queryable = sql): Promise<Base[]> {
      return on<Base[]>`
        select scope, scope_id, created_by_id from prompts
        where account_id = ${accountId} and code = ${code} and scope <> 'user'`;
    },

    async insert(
      tx: Tx,
      accountId: number,
      id: string,
      token: string,
      userId: number,
      given: Saved,
    ): Promise<PromptRow> {
      const { scope, scopeId, code, name, content, kind, fields } = given;
      const [row] = await tx<PromptRow[]>`
        insert into prompts (id, account_id, ${saved}, token, created_by_id)
        values (${id}, ${accountId}, ${scope}, ${scopeId}, ${code}, ${name}, ${content}, ${kind},
          ${JSON.stringify(fields)}::text::jsonb, ${token}, ${userId})
        returning ${columns}`;
      if (!row) throw new Error("an insert without a conflict clause gives its row");
      await keepVersion(tx, accountId, row);
      return row;
    },

    async update(tx: Tx, accountId: number, id: string, userId: number, given: Saved): Promise<PromptRow> {
      const { scope, scopeId, code, name, content, kind, fields } = given;
      const [row] = await tx<PromptRow[]>`
        update prompts set scope = ${scope}, scope_id = ${scopeId}, code = ${code}, name = ${name}, content = ${content},
          kind = ${kind}, fields = ${JSON.stringify(fields)}::text::jsonb, updated_by_id = ${userId},
          version = version + 1, updated_at = now()
        where account_id = ${accountId} and id = ${id} returning ${columns}`;
      if (!row) throw new Error("an update of a locked row finds it");
      await keepVersion(tx, accountId, row);
      return row;
    },

    async delete(tx: Tx, accountId: number, id: string): Promise<void> {
      await tx`delete from prompts where account_id = ${accountId} and id = ${id}`;
    },

    /** All prompts of an account with one of these codes: the choice among them depends on who asks. */
    async candidates(accountId: number, codes: readonly string[]): Promise<Candidate[]> {
      return sql<Candidate[]>`
        select id, scope, scope_id, code, version from prompts
        where account_id = ${accountId} and code = any(${codes}::text[])`;
    },

    /** The same with their names, for people. */
    async named(accountId: number, codes: readonly string[]): Promise<Named[]> {
      return sql<Named[]>`
        select id, scope, scope_id, code, name, version from prompts
        where account_id = ${accountId} and code = any(${codes}::text[])`;
    },
  };
}

export type PromptStore = ReturnType<typeof createPromptStore>;

/** A prompt as the API shows it, and as `Core::Prompt` is delivered. behaviour 2.1. */
export function toApi(row: PromptRow): Static<typeof Prompt> {
  return {
    id: row.id,
    ...savedToApi(row),
    created_by_id: row.createdById,
    updated_by_id: row.updatedById,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}

/** behaviour B.10. */
export function versionToApi(row: VersionRow): Static<typeof PromptVersion> {
  return { version: row.version, created_at: row.createdAt, created_by_id: row.createdById, ...savedToApi(row) };
}

function savedToApi({ name, code, content, kind, scope, scopeId, fields }: Saved) {
  const placeholder = fields["ai_placeholder"];
  const aiPlaceholder = typeof placeholder === "string" ? placeholder : null;
  return { name, code, content, kind, scope, scope_id: scopeId, ai_placeholder: aiPlaceholder, fields };
}
