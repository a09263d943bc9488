/** SQL about prompts beside that of the resource: the cascade, who sees what, and their versions. */
import { notFound, readPage, words } from "platform";
import type { Fragment, JsonObject, Page, Queryable, Sql, Tx, User } from "platform";
import type { OwnedScope, PromptScope } from "./cascade.ts";
import type { NamedPrompt } from "./explained.ts";

export type Kind = "chat" | "agent";

/** Each save adds one, and none ever changes. */
export interface VersionRow extends PromptScope {
  readonly version: number;
  readonly code: string;
  readonly name: string;
  readonly content: string;
  readonly kind: Kind;
  readonly fields: JsonObject;
  readonly aiPlaceholder: string | null;
  readonly createdById: number;
  readonly createdAt: Date;
}

/** A prompt as the cascade sees it. */
export interface Candidate extends PromptScope {
  readonly id: string;
  readonly code: string;
  readonly version: number;
}

type Viewer = Pick<User, "role" | "id" | "teamIds" | "departmentIds">;

export const aiPlaceholder =
  "(case when jsonb_typeof(fields -> 'ai_placeholder') = 'string' then fields ->> 'ai_placeholder' end)";

/** Columns that a save writes and a version keeps. */
const saved = "scope, scope_id, code, name, content, kind, fields";

const versionColumns = (sql: Sql) =>
  words(sql, `version, ${saved}, ${aiPlaceholder} as ai_placeholder, created_by_id, created_at`);

/** The latest ones of a prompt; older ones go with the next save. */
export const keptVersions = 200;

/**
 * People see their own prompts, an administrator all. Applies to a prompt and to a version of it, which may have had
 * another place. behaviour B.5.
 */
export function visibleTo(sql: Sql, { role, id, teamIds, departmentIds }: Viewer): Fragment {
  return role === "admin"
    ? sql`true`
    : sql`(scope = 'account' or (scope = 'user' and scope_id = ${id})
        or (scope = 'team' and scope_id = any(${teamIds}::bigint[]))
        or (scope = 'department' and scope_id = any(${departmentIds}::bigint[])))`;
}

interface KeptRow {
  readonly accountId: number;
  readonly id: string;
  readonly version: number;
}

export async function keepVersion(tx: Tx, { accountId, id, version }: KeptRow): Promise<void> {
  const columns = words(tx, saved);
  await tx`
    with pruned as (
      delete from prompt_versions
      where account_id = ${accountId} and prompt_id = ${id} and version <= ${version - keptVersions}
    )
    insert into prompt_versions (prompt_id, version, account_id, ${columns}, created_by_id, created_at)
    select id, version, account_id, ${columns}, coalesce(updated_by_id, created_by_id), updated_at
    from prompts where account_id = ${accountId} and id = ${id}`;
}

export async function versions(sql: Sql, accountId: number, viewer: Viewer, id: string, page: Page) {
  const where = sql`account_id = ${accountId} and prompt_id = ${id} and ${visibleTo(sql, viewer)}`;
  return readPage<VersionRow>(sql, page, {
    columns: versionColumns(sql),
    from: sql`prompt_versions where ${where}`,
    order: sql`version desc`,
  });
}

/** Throws the 404. */
export async function findVersion(sql: Sql, accountId: number, viewer: Viewer, id: string, version: number) {
  const [row] = await sql<VersionRow[]>`
    select ${versionColumns(sql)} from prompt_versions
    where account_id = ${accountId} and prompt_id = ${id} and version = ${version} and ${visibleTo(sql, viewer)}`;
  if (!row) throw notFound();
  return row;
}

export async function contentOf(sql: Sql, accountId: number, id: string, version: number) {
  const [row] = await sql<Pick<VersionRow, "name" | "kind" | "content">[]>`
    select name, kind, content from prompt_versions
    where account_id = ${accountId} and prompt_id = ${id} and version = ${version}`;
  return row;
}

/** The code of a prompt that this person sees. */
export async function codeOf(sql: Sql, accountId: number, viewer: Viewer, id: string): Promise<string | undefined> {
  const [row] = await sql<{ code: string }[]>`
    select code from prompts where account_id = ${accountId} and id = ${id} and ${visibleTo(sql, viewer)}`;
  return row?.code;
}

/** The places and creators of the prompts with this code, in all scopes except `user`. */
export async function shared(on: Queryable, accountId: number, code: string): Promise<OwnedScope[]> {
  return on<OwnedScope[]>`
    select scope, scope_id, created_by_id from prompts
    where account_id = ${accountId} and code = ${code} and scope <> 'user'`;
}

/** All prompts of an account with one of these codes: the choice among them depends on who asks. */
export async function candidates(sql: Sql, accountId: number, codes: readonly string[]): Promise<Candidate[]> {
  return sql<Candidate[]>`
    select id, scope, scope_id, code, version from prompts
    where account_id = ${accountId} and code = any(${codes}::text[])`;
}

/** The same with their names, for people. */
export async function named(sql: Sql, accountId: number, codes: readonly string[]): Promise<NamedPrompt[]> {
  return sql<NamedPrompt[]>`
    select id, scope, scope_id, code, name, version from prompts
    where account_id = ${accountId} and code = any(${codes}::text[])`;
}
