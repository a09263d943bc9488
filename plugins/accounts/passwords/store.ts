/** All SQL about links that set a password. */
import { column, readPage, view, words, type KeptOf, type Page, type Queryable, type Sql, type Tx } from "platform";
import { languages, languageWords } from "../../mail/api.ts";

const { choice, flag, text, time, uuid } = column;
const ofPerson = (name: string) =>
  `(select u.${name} from users u where u.account_id = password_links.account_id and u.id = user_id)`;

const fields = {
  id: column.id({ label: ["Id", "ID", "ID"], example: 4 }),
  user_id: column.id({ label: ["Person", "Osoba", "Person"], example: 12 }),
  purpose: choice(["invitation", "reset"], { hidden: true }),
  login: text({ label: ["Login", "Login", "Benutzername"], from: ofPerson("login"), example: "jan@example.com" }),
  name: text({ label: ["Name", "Imię i nazwisko", "Name"], from: ofPerson("name"), example: "Jan Kowalski" }),
  email: text({ label: ["E-mail", "E-mail", "E-Mail"], example: "jan@example.com" }),
  language: choice(languages, {
    label: ["Language", "Język", "Sprache"],
    choices: languageWords,
    orNull: true,
    example: "pl",
  }),
  is_new: flag({
    label: ["New person", "Nowa osoba", "Neue Person"],
    doc: "of somebody who was added for it and has never come in",
    example: true,
  }),
  state: choice(["pending", "expired"], {
    label: ["State", "Stan", "Status"],
    choices: { pending: ["Waiting", "Czeka", "Wartet"], expired: ["Expired", "Wygasło", "Abgelaufen"] },
    from: "case when expires_at > now() then 'pending' else 'expired' end",
    example: "pending",
  }),
  invited_by_id: column.id({ label: ["Invited by", "Zaproszenie od", "Eingeladen von"], orNull: true, example: 1 }),
  mail_id: uuid({
    label: ["Mail", "Wiadomość", "E-Mail"],
    orNull: true,
    example: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e20",
  }),
  expires_at: time({ label: ["Ends", "Wygasa", "Läuft ab"], example: new Date("2026-02-07T10:00:00.000Z") }),
  created_at: time({
    label: ["Created at", "Utworzono", "Angelegt"],
    example: new Date("2026-01-31T10:00:00.000Z"),
  }),
};

export type LinkRow = KeptOf<typeof fields>;
export const Invitation = view("MailedInvitation", fields);

export interface NewLink extends Pick<LinkRow, "userId" | "purpose" | "email" | "language" | "isNew" | "expiresAt"> {
  readonly accountId: number;
  readonly tokenHash: string;
  readonly invitedById: number | null;
}

const columns = (on: Queryable) => words(on, Invitation.read);

export async function invitations(sql: Sql, accountId: number, page: Page) {
  return readPage<LinkRow>(sql, page, {
    columns: columns(sql),
    from: sql`password_links where account_id = ${accountId} and purpose = 'invitation'`,
    order: sql`id desc`,
  });
}

export async function invitation(db: Queryable, accountId: number, id: number): Promise<LinkRow | undefined> {
  const [row] = await db<LinkRow[]>`
    select ${columns(db)} from password_links
    where account_id = ${accountId} and id = ${id} and purpose = 'invitation'`;
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
