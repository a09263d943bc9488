/** All SQL about mails, waiting and done. */
import { readPage, words, type Page, type Queryable, type Sql, type Tx } from "platform";
import { Mail, type MailRow } from "./answers.ts";

export interface OpenMailRow extends MailRow {
  /** Sealed; null once nothing is to be sent any more. */
  readonly content: string | null;
}

export interface NewMail extends Pick<MailRow, "id" | "accountId" | "to" | "template" | "language"> {
  readonly content: string;
  readonly expiresAt: Date | null;
}

export interface MailFilter {
  readonly to: string | undefined;
  readonly template: string | undefined;
  readonly state: string | undefined;
}

const columns = (on: Queryable) => words(on, Mail.read);

export async function list(sql: Sql, accountId: number, { to, template, state }: MailFilter, page: Page) {
  const where = sql`
    account_id = ${accountId} ${to === undefined ? sql`` : sql`and lower(recipient) = lower(${to})`}
    ${template === undefined ? sql`` : sql`and template = ${template}`}
    ${state === undefined ? sql`` : sql`and state = ${state}`}`;
  return readPage<MailRow>(sql, page, { columns: columns(sql), from: sql`mails where ${where}`, order: sql`id desc` });
}

export async function byId(db: Queryable, accountId: number, id: string): Promise<MailRow | undefined> {
  const [row] = await db<MailRow[]>`select ${columns(db)} from mails where account_id = ${accountId} and id = ${id}`;
  return row;
}

/** With its content, for the job that sends it. */
export async function open(sql: Sql, accountId: number, id: string): Promise<OpenMailRow | undefined> {
  const [row] = await sql<OpenMailRow[]>`
    select ${columns(sql)}, content from mails where account_id = ${accountId} and id = ${id}`;
  return row;
}

/** False if one has this id. */
export async function insert(tx: Tx, mail: NewMail): Promise<boolean> {
  const { id, accountId, to, template, language, content, expiresAt } = mail;
  const { count } = await tx`
    insert into mails (id, account_id, recipient, template, language, content, next_attempt_at, expires_at)
    values (${id}, ${accountId}, ${to}, ${template}, ${language}, ${content}, now(), ${expiresAt})
    on conflict (account_id, id) do nothing`;
  return count === 1;
}

/** These change nothing if the mail is another job's by now. */
export async function sent(sql: Sql, { accountId, id, run }: MailRow, messageId: string): Promise<void> {
  await sql`
    update mails set state = 'sent', attempts = attempts + 1, sent_at = now(), message_id = ${messageId},
      last_error = null, next_attempt_at = null, content = null
    where account_id = ${accountId} and id = ${id} and run = ${run}`;
}

/** Its content stays, so that it can be tried again. */
export async function failed(sql: Sql, { accountId, id, run }: MailRow, error: string): Promise<void> {
  await sql`
    update mails set state = 'failed', attempts = attempts + 1, last_error = ${error}, next_attempt_at = null
    where account_id = ${accountId} and id = ${id} and run = ${run}`;
}

export async function expired(sql: Sql, { accountId, id, run }: MailRow): Promise<void> {
  await sql`
    update mails set state = 'expired', next_attempt_at = null, content = null
    where account_id = ${accountId} and id = ${id} and run = ${run}`;
}

/** The number of the job that is to send it next; undefined if the mail is another job's by now. */
export async function postpone(
  tx: Tx,
  { accountId, id, run }: MailRow,
  at: Date,
  error: string | null,
): Promise<number | undefined> {
  const [row] = await tx<{ run: number }[]>`
    update mails set run = run + 1, next_attempt_at = ${at}, last_error = coalesce(${error}, last_error),
      attempts = attempts + ${error === null ? 0 : 1}
    where account_id = ${accountId} and id = ${id} and run = ${run} returning run`;
  return row?.run;
}

/** The same for at once; undefined unless it failed, waits for its next attempt, or its job was lost long ago. */
export async function hurry(tx: Tx, accountId: number, id: string): Promise<number | undefined> {
  const [row] = await tx<{ run: number }[]>`
    update mails set run = run + 1, state = 'queued', next_attempt_at = now()
    where account_id = ${accountId} and id = ${id} and content is not null
      and (state = 'failed' or (state = 'queued' and next_attempt_at not between now() - interval '15 minutes' and now()))
    returning run`;
  return row?.run;
}

/** Failures of all accounts in the last day. */
export async function failedLately(sql: Sql): Promise<{ failed: number; lastError: string | null }> {
  const [row] = await sql<{ failed: number; lastError: string | null }[]>`
    select count(*)::int as failed, (array_agg(last_error order by created_at desc))[1] as last_error
    from mails where state = 'failed' and created_at > now() - interval '1 day'`;
  return row ?? { failed: 0, lastError: null };
}

/** Forgets old mails, and what mails that are of no use any more would have said. */
export async function prune(sql: Sql, days: number): Promise<void> {
  await sql`delete from mails where created_at < now() - make_interval(days => ${days}) and state <> 'queued'`;
  await sql`
    update mails set state = case when state = 'queued' then 'expired' else state end, content = null,
      next_attempt_at = null, run = run + 1
    where content is not null and expires_at < now()`;
}
