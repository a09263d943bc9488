/** SQL about people, as values of records name them. */
import type { Queryable } from "platform";

export interface Person {
  readonly id: number;
  readonly login: string;
  readonly name: string;
}

/** Of these ids those of active people of the account. */
export async function active(on: Queryable, accountId: number, ids: readonly string[]): Promise<readonly string[]> {
  const rows = await on<{ id: string }[]>`
    select id::text from users where account_id = ${accountId} and active and id = any(${[...ids]}::bigint[])`;
  return rows.map(({ id }) => id);
}

/** People with these ids, those who are no longer active too. */
export async function byIds(on: Queryable, accountId: number, ids: readonly string[]) {
  return on<Pick<Person, "id" | "name">[]>`
    select id, name from users where account_id = ${accountId} and id = any(${[...ids]}::bigint[])`;
}

/** Active people whose login or name holds these words, those whose begins with them first. */
export async function like(on: Queryable, accountId: number, asked: string, most: number) {
  const typed = asked.toLowerCase();
  return on<Person[]>`
    select id, login, name from users
    where account_id = ${accountId} and active and strpos(lower(login || ' ' || name), ${typed}) > 0
    order by not (starts_with(lower(login), ${typed}) or starts_with(lower(name), ${typed})), lower(name), id
    limit ${most}`;
}

/** Of each text, in small letters, the only active person with it as login or e-mail address, else as name. */
export async function byTexts(on: Queryable, accountId: number, texts: readonly string[]) {
  const rows = await on<{ text: string; id: number }[]>`
    select t.text, min(u.id) as id
    from users u, lateral (values (lower(login), false), (lower(email), false), (lower(name), true)) as t (text, by_name)
    where account_id = ${accountId} and active and t.text = any(${[...texts]}::text[])
    group by t.text, t.by_name having count(distinct u.id) = 1 order by t.by_name desc`;
  return new Map(rows.map(({ text, id }) => [text, id]));
}
