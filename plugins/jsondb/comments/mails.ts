/** Mails to those whom a comment mentions. What one says is made when it is sent, of what its receiver may read then. */
import type { Caller, Tx } from "platform";
import { textsIn, type MailTemplate, type OutgoingMail, type QueuedValues } from "../../mail/api.ts";
import type { JsondbContext } from "../context.ts";
import { noticesOf } from "./inbox-routes.ts";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

const code = "mention";

/** Somebody whom a comment may be mailed to. */
export interface Receiver extends Pick<OutgoingMail, "to" | "language"> {
  readonly userId: number;
}

/** Those of these people who want such mails and have an address; nobody where no mail server is set up. */
export async function receiversOf(
  { accounts, mail }: JsondbContext,
  accountId: number,
  userIds: readonly number[],
): Promise<Receiver[]> {
  if (userIds.length === 0 || !(await mail.isSetUp(accountId))) return [];
  const preferences = await accounts.mailPreferences(accountId, userIds);
  const all = await Promise.all(
    userIds.map(async (userId) => {
      const to = (await accounts.access(userId))?.user.email;
      const { mentions = true, language } = preferences.get(userId) ?? {};
      return to && mentions ? [{ userId, to, language }] : [];
    }),
  );
  return all.flat();
}

/** Queues one mail for each notice, as far as the author may still send any this hour: the inbox has the others. */
export async function mailMentions(
  { mail, mentionMails }: Pick<JsondbContext, "mail" | "mentionMails">,
  tx: Tx,
  { account, user }: Pick<Caller, "account" | "user">,
  notices: readonly { readonly id: string; readonly to: Receiver }[],
): Promise<void> {
  for (const { id, to } of notices) {
    if (!(await mentionMails.take(`${account.id}:${user.id}`)).allowed) return;
    const { userId, ...receiver } = to;
    const values = { notice_id: id, user_id: `${userId}` };
    await mail.tell({ accountId: account.id, ...receiver, template: code, values }, tx);
  }
}

/** What the mail says; undefined if its receiver may not read the record any more, or has another address by now. */
async function valuesOf(ctx: JsondbContext, { accountId, to, values }: QueuedValues) {
  const person = await ctx.accounts.access(Number(values["user_id"]));
  if (!person?.active || person.account.id !== accountId || person.user.email !== to) return undefined;
  const wants = (await ctx.accounts.mailPreferences(accountId, [person.user.id])).get(person.user.id);
  const [notice] = wants?.mentions === false ? [] : await noticesOf(ctx, accountId, person, values["notice_id"]);
  if (!notice) return undefined;
  const { dbName, dbCode, recordId, text, fromUserName } = notice;
  const link = `${person.account.baseUrl}/studio/tables/${encodeURIComponent(dbCode)}?open=${recordId}`;
  return { name: person.user.name, from: fromUserName ?? "–", database: dbName ?? dbCode, text, link };
}

export const mentionTemplate = (ctx: JsondbContext): MailTemplate => ({
  code,
  doc: "tells a person of a comment that mentions them",
  values: {
    name: { doc: "the person's name", example: "Anna Nowak" },
    from: { doc: "who has written the comment", example: "Jan Kowalski" },
    database: { doc: "the database's name", example: "Customers" },
    text: { doc: "the first 500 characters of the comment", example: "@anna please look at the price" },
    link: {
      doc: "where the record is",
      example: "https://core.example.com/studio/tables/customers?open=019a9c1e-0000-7000-8000-000000000002",
    },
  },
  texts: textsIn({ en, pl, de }),
  atSending: (queued) => valuesOf(ctx, queued),
});
