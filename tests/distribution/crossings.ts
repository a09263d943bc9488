/**
 * The statements that look at several accounts on purpose, with single spaces. No request waits for them: the server
 * makes them by its schedules.
 */
import { problemsOf, type Layout } from "./statements.ts";

const crossings: readonly { readonly is: RegExp; readonly why: string }[] = [
  { is: /^delete from \w+ where [a-z]+_at (<|not between) /, why: "forgets what is too old" },
  { is: /^delete from record_history where at < /, why: "forgets what is too old" },
  { is: /^select distinct db_id, id from record_history /, why: "records of which more is kept than may be" },
  { is: /^delete from password_links where purpose = 'reset' and expires_at < /, why: "forgets what is too old" },
  { is: /^delete from sign_in_origins where session_id is null and created_at < /, why: "forgets what is too old" },
  { is: /^delete from db_views v where not v.shared and not exists /, why: "forgets those of people who are gone" },
  { is: /^delete from webhook_deliveries .* where d.created_at < /, why: "forgets what is too old" },
  { is: /^delete from hook_arrivals where created_at < /, why: "forgets what is too old" },
  { is: /^delete from media_uploads .* where expires_at < /, why: "forgets what is too old" },
  { is: /^delete from flow_processes .* where finished_at < /, why: "forgets what is too old" },
  { is: /^update mails set state = .* and expires_at < /, why: "forgets what is too old" },
  { is: /^with gone as \( delete from record_changes where at < /, why: "forgets what is too old" },
  { is: /^delete from record_(changes|feeds) \w+ where .*not exists/, why: "forgets what nobody follows" },
  { is: /^delete from cron_runs where due_at > /, why: "forgets due times in the future, after a clock was set back" },
  { is: /^update asks a set remind_at = /, why: "questions of whichever account are due to be told again" },
  { is: /from crons where next_run_at /, why: "the cron of whichever account is due" },
  { is: /from flow_processes p where p.status = 'pending' and not exists /, why: "processes that lost their job" },
  {
    is: /^with recursive a as \( \(select account_id as id from activity(_inbox)? /,
    why: "the accounts that have changes to be made entries of, and entries to be sealed",
  },
  { is: /^with sums as \( select hash, variant/, why: "contents of files are kept once for all accounts" },
  { is: /from media_contents c where touched_at < /, why: "contents of files are kept once for all accounts" },
  { is: /^select count\(\*\).* from mails where state = 'failed'/, why: "a number for /metrics" },
  { is: /^(DELETE FROM|UPDATE) ONLY "public"/, why: "PostgreSQL's own: a row of a reference table is deleted" },
  {
    is: /^select r\.\* from records r where r\.long_strings = 0 and record_lower/,
    why: "the index for fragments has no database; docs/scaling.md has the function for a table in partitions",
  },
];

/** What is wrong with the statements, each with its beginning. */
export async function unexpected(statements: Iterable<string>, layout: Layout): Promise<string[]> {
  const found: string[] = [];
  for (const statement of statements) {
    const flat = statement.replace(/\s+/g, " ").trim();
    if (flat === "" || crossings.some(({ is }) => is.test(flat))) continue;
    for (const problem of await problemsOf(whole(statement), layout)) found.push(`${problem}: ${flat.slice(0, 300)}`);
  }
  return found;
}

/** A condition of PL/pgSQL stands alone, and so does an assignment. */
function whole(statement: string): string {
  const value = statement.replace(/^\s*\w+ := /, "");
  return value !== statement || /^\s*(?:exists\b|\w+ [<>=])/.test(statement) ? `select ${value}` : statement;
}
