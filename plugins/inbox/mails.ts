/** Mails that tell people of questions: at first, when one is passed on, and as reminders. */
import type { Tx } from "platform";
import { textsIn, type MailTemplate } from "../mail/api.ts";
import type { InboxContext } from "./context.ts";
import { addressesIn, receiversOf } from "./people.ts";
import { toRemind, type AskRow } from "./store.ts";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

export const words = { en, pl, de };
const purpose = "inbox.ask";

/** The link by which somebody without sign-in answers. */
export function tokenOf(
  { secrets }: InboxContext,
  { accountId, id }: Pick<AskRow, "accountId" | "id">,
  address: string,
) {
  const payload = new TextEncoder().encode(JSON.stringify([accountId, id, address]));
  return secrets.sign(purpose, payload.toBase64({ alphabet: "base64url", omitPadding: true }));
}

export function readToken(
  { secrets }: InboxContext,
  token: string,
): { id: string; accountId: number; address: string } | undefined {
  const payload = token.length > 1000 ? undefined : secrets.verify(purpose, token);
  if (payload === undefined) return undefined;
  const text = new TextDecoder().decode(Uint8Array.fromBase64(payload, { alphabet: "base64url" }));
  const [accountId, id, address] = JSON.parse(text);
  return { accountId, id, address };
}

type Told = Pick<AskRow, "accountId" | "id" | "people" | "title" | "text" | "expiresAt">;

/** Queues a mail for each of those asked, as far as mail is set up and they want any. */
export async function tellPeople(ctx: InboxContext, tx: Tx, ask: Told): Promise<void> {
  const { accountId, id, people, title, text, expiresAt } = ask;
  if (!(await ctx.mail.isSetUp(accountId))) return;
  const account = await ctx.accounts.accountById(accountId, tx);
  if (!account) return;
  const mail = { accountId, template: "ask", expiresAt };
  const receivers = await receiversOf(ctx, accountId, people);
  const wants = await ctx.accounts.mailPreferences(
    accountId,
    receivers.map((one) => one.id),
  );
  for (const { id: userId, email } of receivers) {
    const { mentions = true, language } = wants.get(userId) ?? {};
    const link = `${account.baseUrl}/studio/inbox?open=${id}`;
    if (email && mentions) await ctx.mail.tell({ ...mail, to: email, language, values: { title, text, link } }, tx);
  }
  for (const address of addressesIn(people)) {
    const link = `${account.baseUrl}/asks/${tokenOf(ctx, ask, address)}`;
    await ctx.mail.tell({ ...mail, to: address, values: { title, text, link } }, tx);
  }
}

const mostAtOnce = 100;

export async function remind(ctx: InboxContext): Promise<void> {
  for (;;) {
    const count = await ctx.transaction(async (tx) => {
      const due = await toRemind(tx, mostAtOnce);
      for (const ask of due) await tellPeople(ctx, tx, ask);
      return due.length;
    });
    if (count < mostAtOnce || ctx.stopping.aborted) return;
  }
}

export const askTemplate: MailTemplate = {
  code: "ask",
  doc: "asks somebody a question of a flow",
  values: {
    title: { doc: "the question", example: "Approve order 12?" },
    text: { doc: "what the flow says about it", example: "It is 1,200 €, for Example Ltd." },
    link: { doc: "where it is answered", example: "https://core.example.com/studio/inbox?open=…", needed: true },
  },
  texts: textsIn({ en: en.mail, pl: pl.mail, de: de.mail }),
};
