/** The SQL of questions, and of the people that they are for. */
import { words, type Queryable, type Sql, type Tx } from "platform";

export type AskStatus = "open" | "answered" | "expired" | "cancelled";

interface Passed {
  readonly by: string;
  readonly to: string;
  readonly at: string;
}

export interface AskRow {
  readonly accountId: number;
  readonly id: string;
  readonly processId: string;
  readonly flowCode: string;
  readonly status: AskStatus;
  readonly people: readonly string[];
  readonly title: string;
  readonly text: string;
  readonly choices: readonly Choice[];
  readonly fields: Readonly<Record<string, unknown>>;
  readonly otherwise: string | null;
  readonly choice: string | null;
  readonly answer: Readonly<Record<string, unknown>> | null;
  readonly comment: string | null;
  readonly answeredById: number | null;
  readonly answeredBy: string | null;
  readonly endedAt: Date | null;
  readonly passedOn: readonly Passed[];
  readonly expiresAt: Date;
  readonly createdAt: Date;
}

/** A label is a text, or locale to text. */
export interface Choice {
  readonly value: string;
  readonly label?: unknown;
  readonly color?: string;
}

export interface NewAsk extends Pick<
  AskRow,
  "accountId" | "id" | "processId" | "flowCode" | "people" | "title" | "text" | "choices" | "fields" | "otherwise"
> {
  readonly stepKey: string;
  readonly expiresAt: Date;
  readonly remindSeconds: number | null;
}

const columns =
  "account_id, id, process_id, flow_code, status, people, title, text, choices, fields, otherwise, choice, answer, " +
  "comment, answered_by_id, answered_by, ended_at, passed_on, expires_at, created_at";

/** False if the step has asked already. */
export async function insert(tx: Tx, ask: NewAsk): Promise<boolean> {
  const { accountId, id, processId, flowCode, stepKey, people, title, text, otherwise, expiresAt } = ask;
  const { count } = await tx`
    insert into asks (account_id, id, process_id, flow_code, step_key, people, title, text, choices, fields, otherwise,
      expires_at, remind_seconds, remind_at)
    values (${accountId}, ${id}, ${processId}, ${flowCode}, ${stepKey}, ${[...people]}, ${title}, ${text},
      ${JSON.stringify(ask.choices)}::text::json, ${JSON.stringify(ask.fields)}::text::json, ${otherwise},
      ${expiresAt}, ${ask.remindSeconds}, now() + make_interval(secs => ${ask.remindSeconds}))
    on conflict (account_id, process_id, step_key) where step_key is not null do nothing`;
  return count > 0;
}

export async function ofStep(sql: Queryable, accountId: number, processId: string, stepKey: string) {
  const [row] = await sql<AskRow[]>`
    select ${words(sql, columns)} from asks
    where account_id = ${accountId} and process_id = ${processId} and step_key = ${stepKey}`;
  return row;
}

/** Of those whose inbox it is in. */
export async function find(sql: Queryable, accountId: number, id: string, people: readonly string[]) {
  const [row] = await sql<AskRow[]>`
    select ${words(sql, columns)} from asks
    where account_id = ${accountId} and id = ${id} and people && ${[...people]}::text[]`;
  return row;
}

/** The newest of these people's. */
export async function listed(sql: Sql, accountId: number, people: readonly string[], most: number, isOpen: boolean) {
  return sql<AskRow[]>`
    select ${words(sql, columns)} from asks
    where account_id = ${accountId} and people && ${[...people]}::text[]
      and ${isOpen ? sql`status = 'open'` : sql`status <> 'open'`}
    order by id desc limit ${most}`;
}

export interface Answer {
  readonly choice: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly comment: string | null;
  readonly byId: number | null;
  readonly by: string;
}

/** Undefined if it has ended already, or has just been passed on to somebody else. */
export async function answer(tx: Tx, { accountId, id, people }: AskRow, given: Answer): Promise<AskRow | undefined> {
  const [row] = await tx<AskRow[]>`
    update asks set status = 'answered', choice = ${given.choice}, answer = ${JSON.stringify(given.values)}::text::json,
      comment = ${given.comment}, answered_by_id = ${given.byId}, answered_by = ${given.by}, ended_at = now()
    where account_id = ${accountId} and id = ${id} and status = 'open' and expires_at > now()
      and people = ${[...people]}::text[]
    returning ${words(tx, columns)}`;
  return row;
}

/** False if somebody has answered. From now on the step may ask again. */
export async function expire(sql: Queryable, accountId: number, id: string): Promise<boolean> {
  const { count } = await sql`
    update asks set status = 'expired', step_key = null, ended_at = now()
    where account_id = ${accountId} and id = ${id} and status = 'open'`;
  return count > 0;
}

export async function cancel(on: Queryable, accountId: number, processId: string): Promise<void> {
  await on`
    update asks set status = 'cancelled', step_key = null, ended_at = now()
    where account_id = ${accountId} and process_id = ${processId} and status = 'open'`;
}

export async function passOn(tx: Tx, { accountId, id, people }: AskRow, to: string, passed: Passed) {
  const [row] = await tx<AskRow[]>`
    update asks set people = array[${to}]::text[],
      passed_on = (passed_on::jsonb || ${JSON.stringify([passed])}::text::jsonb)::json
    where account_id = ${accountId} and id = ${id} and status = 'open' and people = ${[...people]}::text[]
      and json_array_length(passed_on) < 50
    returning ${words(tx, columns)}`;
  return row;
}

/** Some that are to be told again, of which the next time is noted. */
export async function toRemind(tx: Tx, most: number): Promise<readonly AskRow[]> {
  return tx<AskRow[]>`
    update asks a set remind_at = now() + make_interval(secs => a.remind_seconds)
    from (select account_id, id from asks where status = 'open' and remind_at <= now() and expires_at > now()
      order by remind_at limit ${most} for update skip locked) due
    where a.account_id = due.account_id and a.id = due.id
    returning ${words(
      tx,
      columns
        .split(", ")
        .map((name) => `a.${name}`)
        .join(", "),
    )}`;
}

export async function prune(sql: Sql, days: number): Promise<void> {
  await sql`delete from asks where ended_at < now() - make_interval(days => ${days})`;
}

export interface Receiver {
  readonly id: number;
  readonly name: string;
  readonly email: string | null;
}

export interface Wanted {
  readonly users: readonly number[];
  readonly roles: readonly string[];
  readonly units: readonly number[];
}

/** The active people that these words mean. */
export async function receivers(sql: Sql, accountId: number, { users, roles, units }: Wanted, most: number) {
  return sql<Receiver[]>`
    select id, name, email from users
    where account_id = ${accountId} and active and (
      id = any(${[...users]}::bigint[]) or role = any(${[...roles]}::text[])
      or id in (select user_id from memberships where unit_id = any(${[...units]}::bigint[])))
    order by id limit ${most}`;
}
