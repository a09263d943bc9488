/** All SQL about links that set a password. */
import { readPage, type Language, type Page, type Queryable, type Sql, type Tx } from "platform";

export interface LinkRow {
  readonly id: number;
  readonly userId: number;
  readonly purpose: "invitation" | "reset";
  readonly email: string;
  readonly language: Language | null;
  readonly isNew: boolean;
  readonly invitedById: number | null;
  readonly mailId: string | null;
  readonly expiresAt: Date;
  readonly createdAt: Date;
}

/** With whom it is for. */
export interface InvitationRow extends LinkRow {
  readonly login: string;
  readonly name: string;
}

export interface NewLink extends Pick<LinkRow, "userId" | "purpose" | "email" | "language" | "isNew" | "expiresAt"> {
  readonly accountId: number;
  readonly tokenHash: string;
  readonly invitedById: number | null;
}

const columns = (sql: Queryable) =>
  sql`id, user_id, purpose, email, language, is_new, invited_by_id, mail_id, expires_at, created_at`;
const invited = (sql: Queryable) => sql`
  l.id, l.user_id, l.purpose, l.email, l.language, l.is_new, l.invited_by_id, l.mail_id, l.expires_at, l.created_at,
  u.login, u.name`;

export async function invitations(sql: Sql, accountId: number, page: Page) {
  const where = sql`l.account_id = ${accountId} and l.purpose = 'invitation'`;
  return readPage<InvitationRow>(sql, page, {
    columns: invited(sql),
    from: sql`password_links l join users u on u.id = l.user_id where ${where}`,
    order: sql`l.id desc`,
    counted: sql`password_links l where ${where}`,
  });
}

export async function invitation(db: Queryable, accountId: number, id: number): Promise<InvitationRow | undefined> {
  const [row] = await db<InvitationRow[]>`
    select ${invited(db)} from password_links l join users u on u.id = l.user_id
    where l.account_id = ${accountId} and l.id = ${id} and l.purpose = 'invitation'`;
  return row;
}

export async function invitationOf(sql: Sql, accountId: number, userId: number): Promise<LinkRow | undefined> {
  const [row] = await sql<LinkRow[]>`
    select ${columns(sql)} from password_links
    where account_id = ${accountId} and user_id = ${userId} and purpose = 'invitation'`;
  return row;
}

/** One that works. */
export async function byToken(sql: Sql, accountId: number, tokenHash: string): Promise<LinkRow | undefined> {
  const [row] = await sql<LinkRow[]>`
    select ${columns(sql)} from password_links
    where account_id = ${accountId} and token_hash = ${tokenHash} and expires_at > now()`;
  return row;
}

/** Whether it was there until now: of two who use it at once, one. */
export async function use(tx: Tx, accountId: number, id: number, tokenHash: string): Promise<boolean> {
  const result = await tx`
    delete from password_links
    where account_id = ${accountId} and id = ${id} and token_hash = ${tokenHash} and expires_at > now()`;
  return result.count === 1;
}

/** An invitation takes the place of the one that the person had, whose token works no more; `is_new` stays. */
export async function insert(tx: Tx, link: NewLink): Promise<LinkRow> {
  const { accountId, userId, purpose, tokenHash, email, language, isNew, invitedById, expiresAt } = link;
  const [row] = await tx<LinkRow[]>`
    insert into password_links (account_id, user_id, purpose, token_hash, email, language, is_new, invited_by_id, expires_at)
    values (${accountId}, ${userId}, ${purpose}, ${tokenHash}, ${email}, ${language}, ${isNew}, ${invitedById},
      ${expiresAt})
    on conflict (account_id, user_id) where purpose = 'invitation' do update set token_hash = excluded.token_hash,
      email = excluded.email, language = excluded.language, invited_by_id = excluded.invited_by_id, expires_at = excluded.expires_at
    returning ${columns(tx)}`;
  return row as LinkRow; // an insert of one row returns one
}

export async function mailed(tx: Tx, accountId: number, id: number, mailId: string): Promise<void> {
  await tx`update password_links set mail_id = ${mailId} where account_id = ${accountId} and id = ${id}`;
}

/** Counts the links for a new password that this person was sent since then, and has not used. */
export async function resetsSince(tx: Tx, accountId: number, userId: number, since: Date): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*) as count from password_links
    where account_id = ${accountId} and user_id = ${userId} and purpose = 'reset' and created_at > ${since}`;
  return row?.count ?? 0;
}

export async function deleteInvitation(tx: Tx, accountId: number, userId: number): Promise<void> {
  await tx`
    delete from password_links
    where account_id = ${accountId} and user_id = ${userId} and purpose = 'invitation'`;
}

/** Invitations stay, so that somebody sees that they were not taken up. */
export async function prune(sql: Sql): Promise<void> {
  await sql`delete from password_links where purpose = 'reset' and expires_at < now() - interval '1 hour'`;
}
