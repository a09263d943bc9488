/** A comment: what a person says about a record, and whom it mentions. behaviour B.7. */
import { column, field, forbidden, invalid, resource } from "platform";
import type { At, Change, DraftOf, RowOf, Tx } from "platform";
import { may } from "../access/reach.ts";
import { dbAccess, find } from "../databases/cache.ts";
import { tryOpen, type Database } from "../databases/database.ts";
import * as commentStore from "./store.ts";
import { mailMentions, type Receiver } from "./mails.ts";
import type { JsondbContext } from "../context.ts";
import * as peopleStore from "../people/store.ts";

export const commentLimits = { text: 10_000, perRecord: 1000, mentions: 50, lookedAt: 100, offered: 8 } as const;

const hidden = { by: "check", hidden: true } as const;

const fields = {
  text: column.text({
    label: ["Comment", "Komentarz", "Kommentar"],
    body: field.name(commentLimits.text),
    widget: "text",
    doc: "Markdown; `@login` mentions a person",
    example: "@anna please look at the **price**",
  }),
  user_id: column.id({
    label: ["Author", "Autor", "Angelegt von"],
    by: "server",
    stored: "created_by_id",
    orNull: true,
    example: 1,
  }),
  user_name: column.text({
    label: ["Author's name", "Imię i nazwisko autora", "Name des Autors"],
    by: "server",
    from: "(select u.name from users u where u.id = record_comments.created_by_id)",
    orNull: true,
    example: "Ann",
  }),
  mentions: column.ids({ label: ["Mentioned", "Wspomniani", "Erwähnt"], by: "check", example: [2] }),
  db_id: column.uuid(hidden),
  record_id: column.uuid(hidden),
};

export type CommentRow = RowOf<typeof fields, "uuid">;
type Its = Change<typeof fields, "uuid">;

/** Of a request: a record as the caller may read it. */
export interface CommentAt extends At, Pick<JsondbContext, "mail" | "mentionMails"> {
  readonly db: Database;
  readonly recordId: string;
  /** The people whom the text mentions and who may read the record: asked before the transaction. */
  readonly mentions?: readonly number[];
  /** Whom of them a mail tells of it. */
  readonly receivers?: readonly Receiver[];
}

export const Comment = resource("comment", {
  table: "record_comments",
  path: "/core/dbs/:db_id/records/:id/comments",
  id: "uuid",
  privilege: "dbs",
  or: dbAccess.or,
  model: "Core::Comment",
  missing: "there is no such comment",
  authors: ["created_by_id"],
  fields,
  check,
  mayErase: ({ db, caller }: CommentAt, { userId }) => {
    if (userId !== caller.user.id && !may(db, "manage")) throw forbidden("this is somebody else's comment");
  },
  changed: async (at, { before, after }, tx) => {
    const row = after ?? before;
    if (!row) return;
    const told = new Set(before?.mentions);
    const news = after?.mentions.filter((one) => !told.has(one)) ?? [];
    const others = news.filter((one) => one !== at.caller.user.id);
    const made = await commentStore.notify(tx, row, others);
    const receivers = new Map(at.receivers?.map((one) => [one.userId, one]));
    const mailed = made.flatMap(({ id, userId }) => {
      const to = receivers.get(userId);
      return to ? [{ id, to }] : [];
    });
    await mailMentions(at, tx, at.caller, mailed);
    await tell(at, !before ? "create" : after ? "update" : "destroy", row, tx);
  },
  visible: ({ db, recordId }, sql) => commentStore.ofRecord(sql, db, recordId),
  example: { id: "019a9c1e-0000-7000-8000-000000000005" },
  request: ["text"],
  change: { text: "The price is right" },
  changes: { mentions: [] },
});

async function check(
  { db, recordId, caller, mentions = [] }: CommentAt,
  { tx, before, after, given }: Its,
): Promise<DraftOf<typeof fields>> {
  if (before && before.userId !== caller.user.id) throw forbidden("this is somebody else's comment");
  if (!before && (await commentStore.count(tx, db, recordId)) >= commentLimits.perRecord)
    throw invalid({ base: [`a record may have at most ${commentLimits.perRecord} comments`] });
  const whom = before && given.text === undefined ? before.mentions : mentions;
  return { ...after, mentions: whom, dbId: db.id, recordId };
}

/** The event, with where the comment is. */
function tell(
  { changed, db }: CommentAt,
  kind: "create" | "update" | "destroy",
  row: CommentRow,
  tx: Tx,
): Promise<void> {
  const data = eventData(row, db.code);
  return changed({ accountId: row.accountId, sourceType: Comment.model, kind, id: row.id, data }, tx);
}

function eventData(row: CommentRow, dbCode: string) {
  const { id: own, text: said, userId, userName, mentions, recordId, createdAt, updatedAt } = row;
  const times = { created_at: createdAt.toJSON(), updated_at: updatedAt.toJSON() };
  return {
    id: own,
    db_code: dbCode,
    record_id: recordId,
    text: said,
    user_id: userId,
    user_name: userName,
    mentions,
    ...times,
  };
}

/** As events carry one. */
export const commentSample = {
  ...Comment.examples.one,
  db_code: "customers",
  record_id: "019a9c1e-0000-7000-8000-000000000002",
};

// Whom a comment mentions.

interface Mentions {
  readonly ids: readonly number[];
  readonly hints: readonly string[];
}

/** The people with these logins who may read the record; the others are named in the hints. */
export async function mentionsIn(ctx: JsondbContext, db: Database, recordId: string, text: string): Promise<Mentions> {
  const said = mentioned(text);
  const logins = [...new Set(said.flatMap((one) => one))];
  if (logins.length === 0) return { ids: [], hints: [] };
  const known = new Map(
    (await commentStore.idsByLogin(ctx.sql, db.accountId, logins)).map(({ id, login }) => [login, id]),
  );
  const ids = new Set<number>();
  const lost: string[] = [];
  for (const forms of said) {
    const id = forms.map((form) => known.get(form)).find((one) => one !== undefined);
    if (id !== undefined && (ids.has(id) || (await mayRead(ctx, db, recordId, id)))) ids.add(id);
    else lost.push(forms.at(-1) ?? "");
  }
  return { ids: [...ids], hints: lost.map((login) => `@${login} is nobody who may read the record`) };
}

async function mayRead(ctx: JsondbContext, db: Database, recordId: string, userId: number): Promise<boolean> {
  const [person, stored] = await Promise.all([ctx.accounts.access(userId), find(ctx, db.accountId, db.id)]);
  const open = person?.active && stored ? tryOpen(stored, person) : undefined;
  return open !== undefined && (await commentStore.openRecords(ctx.sql, open, [recordId], "read")).size > 0;
}

export interface Mentionable {
  readonly id: number;
  readonly login: string;
  readonly name: string;
}

/** People who may read the record and whose login or name holds these words: the first few by name. */
export async function mentionable(ctx: JsondbContext, db: Database, recordId: string, words: string) {
  const found: Mentionable[] = [];
  for (const one of await peopleStore.like(ctx.sql, db.accountId, words, commentLimits.lookedAt)) {
    if (await mayRead(ctx, db, recordId, one.id)) found.push(one);
    if (found.length >= commentLimits.offered) break;
  }
  return found;
}

const mention = /(?<![\p{L}\p{N}_.@-])@([^\s@]{1,100}(?:@[^\s@]{1,100})?)/gu;

/** What may be logins after each `@`, in lower case: as it stands, and without the punctuation that follows it. */
export function mentioned(text: string): string[][] {
  const found = new Map<string, string[]>();
  for (const [, word = ""] of text.matchAll(mention)) {
    const whole = word.toLowerCase();
    const bare = withoutEnd(whole);
    if (bare !== "") found.set(bare, [...new Set([whole, bare])]);
    if (found.size >= commentLimits.mentions) break;
  }
  return [...found.values()];
}

/** Without what punctuation ends a word. */
function withoutEnd(word: string): string {
  let end = word.length;
  while (end > 0 && !/[\p{L}\p{N}_-]/u.test(word.slice(end - 1, end))) end -= 1;
  return word.slice(0, end);
}
