/** Mails that tell people of questions: at first, when one is passed on, and as reminders. */
import type { Tx } from "platform";
import { mailId, textsIn, type MailTemplate, type OutgoingMail } from "../mail/api.ts";
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
  const own = { title, text, link: `${account.baseUrl}/studio/inbox?open=${id}` };
  await tellHere(ctx, tx, accountId, people, () => ({ ...mail, values: own }));
  for (const address of addressesIn(people)) {
    const link = `${account.baseUrl}/asks/${tokenOf(ctx, ask, address)}`;
    await ctx.mail.tell({ ...mail, to: address, values: { title, text, link } }, tx);
  }
}

type MailFor = (userId: number) => Omit<OutgoingMail, "to" | "language">;

/** Queues a mail for each of these people of the account, as far as they want any. */
async function tellHere(ctx: InboxContext, tx: Tx, accountId: number, people: AskRow["people"], mailFor: MailFor) {
  const receivers = await receiversOf(ctx, accountId, people);
  const wants = await ctx.accounts.mailPreferences(
    accountId,
    receivers.map((one) => one.id),
  );
  for (const { id, email } of receivers) {
    const { mentions = true, language } = wants.get(id) ?? {};
    if (email && mentions) await ctx.mail.tell({ ...mailFor(id), to: email, language }, tx);
  }
}

/** Once for each row of failures, as the mail's id sees to. Some later ones try too: two runs may end at once. */
export async function tellOfFailures(ctx: InboxContext, accountId: number, flowCode: string): Promise<void> {
  const [flow] = await ctx.flows.failing(accountId, flowCode);
  if (!flow || flow.count >= flow.after + 20 || !(await ctx.mail.isSetUp(accountId))) return;
  const { baseUrl = "" } = (await ctx.accounts.accountById(accountId)) ?? {};
  const link = `${baseUrl}/studio/flows/${encodeURIComponent(flowCode)}?tab=runs`;
  const mail = { accountId, template: "flow_failing", values: { name: flow.name, count: String(flow.count), link } };
  const people = flow.to.map((one) => `${accountId}/${one}`);
  const mailFor = (userId: number) => ({ ...mail, id: mailId(flow.firstRunId, userId) });
  await ctx.transaction((tx) => tellHere(ctx, tx, accountId, people, mailFor));
}

export const failingTemplate: MailTemplate = {
  code: "flow_failing",
  doc: "says that a flow has failed several times in a row",
  values: {
    name: { doc: "what the flow is called", example: "Order intake" },
    count: { doc: "how many times it has failed", example: "3" },
    link: { doc: "its runs", example: "https://core.example.com/studio/flows/order-intake?tab=runs", needed: true },
  },
  texts: textsIn({ en: en.failing, pl: pl.failing, de: de.failing }),
};

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
