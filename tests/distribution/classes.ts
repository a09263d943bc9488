/**
 * What becomes of each table on a hash-distributed PostgreSQL (docs/sharding.md).
 * `distribution.test.ts` compares this with the catalogue.
 */

import type { Sql } from "../../runtime/db/db.ts";
import type { Layout } from "./statements.ts";

/** By the account, together on one node with everything else of the account. */
const byAccount = `
  account_settings user_preferences activity activity_inbox activity_seals activity_heads apps app_versions app_previews app_storage
  app_storage_usage cms_layouts cms_pages cms_paragraphs cms_categories cms_articles cms_article_categories
  cms_redirects cms_redirect_rules cms_previews connectors crons cron_runs hooks hook_arrivals asks flow_waits oauth_clients oauth_grants totp_factors recovery_codes passkeys
  passkey_challenges password_links sign_in_failures sign_in_steps sign_in_devices sign_in_providers
  sign_in_identities sign_in_attempts sign_in_origins sign_in_logouts flows flow_programs flow_processes flow_process_steps db_tasks bulk_changes
  db_task_errors db_task_records db_views record_comments inbox_notices record_links mail_servers mail_templates mails media media_uploads prompts prompt_versions webhooks
  webhook_deliveries idempotency_keys email_changes`
  .trim()
  .split(/\s+/);

/** By the database: an account with many records has them on several nodes. */
const byDatabase = ["records", "record_changes", "record_feeds", "record_history", "record_keys", "record_trash"];

/** Whole on every node, and why: read with everything, or before the account is known; small, and seldom written. */
export const reference: Readonly<Record<string, string>> = {
  accounts: "a host leads to the account; tables refer to it",
  account_sign_in_hosts: "a host leads to the accounts whose people sign in there",
  users: "tables refer to it, and lists show logins beside rows",
  units: "memberships refer to it",
  memberships: "read with each person, and has no account",
  api_tokens: "the text of a token leads to its account, and sign-ins refer to it",
  api_token_texts: "the earlier text of a token leads to it",
  dbs: "read with its records, which are distributed by its id",
  db_trash: "as dbs",
  cms_sites: "domains refer to it, and they lead to the account",
  cms_domains: "a host leads to the site and its account; a domain is one account's in the whole installation",
  media_contents: "a content is kept once for all accounts",
};

/** On the first node alone, and why: of the installation, or a queue that any process takes from for all accounts. */
export const local: Readonly<Record<string, string>> = {
  migrations: "of the installation",
  runtime_state: "of the installation",
  backup_runs: "of the installation",
  schedule_runs: "of the installation: its own schedules",
  rate_limits: "limits over all machines, counted by name and key; rows that live for minutes",
  jobs: "a queue: claimed for all accounts in one statement, with rows that live for seconds",
  job_history: "written by the statement that takes the job out of the queue",
  webhook_queue: "a queue, as jobs",
  webhook_rates: "when each webhook has last sent: written by the statement that gives its deliveries back",
  activity_sealed: "one row: up to which entry everything is sealed",
  certificates:
    "a host's certificate stays with it when it moves to another account, and is read before the account is known",
  certificate_orders: "the limits of an authority hold for the installation",
  certificate_challenges: "an authority asks by token or host",
  certificate_authorities: "of the installation",
  record_imports: "rows of imports on their way into records: they live for seconds, and nothing is logged of them",
  db_indexes: "what is known of the indexes on records, counted over all databases",
  media_variants: "what is known of a cache of files, once for all accounts",
};

/**
 * Unique indexes that stay until the next release, because servers of the release before name them as conflicts while the
 * new version starts beside them: each has its like with the column. On several servers they are dropped first.
 */
export const replaced: readonly string[] = [
  "app_storage_before",
  "app_storage_usage_before",
  "totp_factors_before",
  "password_links_before",
  "sign_in_devices_before",
  "webhook_deliveries_before",
];

/** The column by which each distributed table is distributed. */
export const distributed: ReadonlyMap<string, string> = new Map([
  ...byAccount.map((table) => [table, "account_id"] as const),
  ...byDatabase.map((table) => [table, "db_id"] as const),
]);

export async function layoutOf(sql: Sql): Promise<Layout> {
  const rows = await sql<{ table: string; column: string }[]>`
    select table_name as table, column_name as column from information_schema.columns where table_schema = 'public'`;
  const columns = new Map<string, Set<string>>();
  for (const { table, column } of rows) columns.set(table, (columns.get(table) ?? new Set()).add(column));
  return { distributed, columns };
}
