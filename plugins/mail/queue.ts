/** Mails wait in the database, and a job sends each. No HTTP, no SQL. */
import { findBy, invalid, job, LiquidFault, SecretFault, tooMany, ValidationError, uuidv7 } from "platform";
import type { Account, Language, Tx } from "platform";
import { hasControl, parseAddress, sendMail, type Outcome } from "../smtp/api.ts";
import type { MailTemplate, MailTexts, OutgoingMail } from "./api.ts";
import { notSetUp, type Outgoing } from "./outgoing.ts";
import { render, type MailTemplateText } from "./render.ts";
import type { MailRow } from "./answers.ts";
import type { OpenMailRow } from "./store.ts";
import { Template } from "./template.ts";
import * as serverStore from "./server-store.ts";
import * as servers from "./outgoing.ts";
import * as mailStore from "./store.ts";
import type { MailContext } from "./context.ts";

interface QueuedMail {
  readonly accountId: number;
  readonly id: string;
  readonly run: number;
}

export const sendQueued = job<QueuedMail>("mail.send");

/** A mail that is sent while somebody waits for the answer. */
interface ImmediateMail {
  readonly accountId: number;
  readonly to: string;
  readonly template: MailTemplate;
  readonly language: Language | undefined;
  readonly values: Readonly<Record<string, unknown>>;
  /** Default: the account's, else the built-in ones. */
  readonly words?: MailTemplateText;
}

const timeoutMs = 30_000;
const headers = { "X-Auto-Response-Suppress": "All" };

export async function send(ctx: MailContext, mail: OutgoingMail, tx?: Tx): Promise<string> {
  const { accountId } = mail;
  mustFit(ctx.templates.get(mail.template), mail);
  const to = parseAddress(mail.to);
  if (!to) throw invalid({ to: ["is not a mail address"] });
  // In a transaction only its own connection may be used: the others may all be waiting for it.
  const isSetUp = tx && !ctx.standard ? await serverStore.has(tx, accountId) : await servers.isSetUp(ctx, accountId);
  if (!isSetUp) throw notSetUp();
  return tx ? write(ctx, tx, mail, to.address) : ctx.transaction((own) => write(ctx, own, mail, to.address));
}

export async function mustBeSetUp(ctx: MailContext, accountId: number): Promise<void> {
  if (!(await servers.isSetUp(ctx, accountId))) throw notSetUp();
}

export async function tell(ctx: MailContext, mail: OutgoingMail, tx: Tx): Promise<void> {
  await send(ctx, mail, tx).catch((error: unknown) => {
    if (!(error instanceof ValidationError)) throw error;
  });
}

/** The job. A mail that another job has taken over, or that is done, is left alone. */
export async function deliver(
  ctx: MailContext,
  { accountId, id, run }: QueuedMail,
  signal: AbortSignal,
): Promise<void> {
  const row = await mailStore.open(ctx.sql, accountId, id);
  if (row?.state !== "queued" || row.run !== run || row.content === null) return;
  if (row.expiresAt && row.expiresAt.getTime() <= Date.now()) return mailStore.expired(ctx.sql, row);
  try {
    await attempt(ctx, row, row.content, signal);
  } catch (error) {
    if (!(error instanceof SecretFault)) throw error;
    await mailStore.failed(ctx.sql, row, error.message);
  }
}

/** Sends at once, for somebody who waits; the outcome says what the mail server said. */
export async function sendNow(ctx: MailContext, mail: ImmediateMail, signal: AbortSignal): Promise<Outcome> {
  const outgoing = await servers.outgoingFor(ctx, mail.accountId);
  if (!outgoing) throw notSetUp();
  const turn = await ctx.sent.take(`${mail.accountId}`);
  if (!turn.allowed) throw tooMany(turn.retryAfterSeconds);
  return sent(ctx, { ...mail, id: uuidv7() }, outgoing, signal);
}

/** False unless it failed or waits for its next attempt. */
export function retry(ctx: MailContext, accountId: number, id: string): Promise<boolean> {
  return ctx.transaction(async (tx) => {
    const run = await mailStore.hurry(tx, accountId, id);
    if (run !== undefined) await schedule(ctx, tx, { accountId, id, run });
    return run !== undefined;
  });
}

function place(id: string) {
  return `mail:${id}`;
}

function schedule(ctx: MailContext, tx: Tx, waiting: QueuedMail, runAt?: Date) {
  return ctx.enqueue(sendQueued, waiting, { tx, accountId: waiting.accountId, runAt });
}

async function write(ctx: MailContext, tx: Tx, mail: OutgoingMail, recipient: string): Promise<string> {
  const { accountId, template, values, language = null, expiresAt = null } = mail;
  const id = mail.id ?? uuidv7();
  const content = ctx.secrets.seal(JSON.stringify(values), place(id));
  const isNew = await mailStore.insert(tx, { id, accountId, to: recipient, template, language, content, expiresAt });
  if (isNew) await schedule(ctx, tx, { accountId, id, run: 1 });
  return id;
}

async function sent(
  ctx: MailContext,
  mail: ImmediateMail & { id: string },
  outgoing: Outgoing,
  signal?: AbortSignal,
): Promise<Outcome> {
  const account = await ctx.accounts.accountById(mail.accountId);
  const to = parseAddress(mail.to);
  if (!account || !to) throw new Error("the account is gone, or the address was not checked");
  const { server, from, replyTo } = outgoing;
  const name = from.name || (hasControl(account.name) ? "" : account.name);
  const message = {
    from: { name, address: from.address },
    to: [to],
    cc: [],
    bcc: [],
    replyTo: replyTo ? [replyTo] : [],
    ...(await textsOf(ctx, mail, account)),
    attachments: [],
  };
  return sendMail(ctx, server, message, { timeoutMs, signal, key: mail.id, headers });
}

function later(ctx: MailContext, row: MailRow, seconds: number, error: string | null) {
  return ctx.transaction(async (tx) => {
    const at = new Date(Date.now() + seconds * 1000);
    const run = await mailStore.postpone(tx, row, at, error);
    if (run !== undefined) await schedule(ctx, tx, { accountId: row.accountId, id: row.id, run }, at);
  });
}

async function attempt(ctx: MailContext, row: OpenMailRow, content: string, signal: AbortSignal): Promise<void> {
  const { accountId, id } = row;
  const queued: Record<string, string> = JSON.parse(ctx.secrets.open(content, place(id)));
  const template = ctx.templates.get(row.template);
  const outgoing = await servers.outgoingFor(ctx, accountId);
  if (!template || !outgoing)
    return mailStore.failed(ctx.sql, row, template ? "mail is not set up" : "no plugin has this template any more");
  const values = template.atSending ? await template.atSending({ accountId, to: row.to, values: queued }) : queued;
  if (!values) return mailStore.expired(ctx.sql, row);
  const turn = await ctx.sent.take(`${accountId}`);
  if (!turn.allowed) return later(ctx, row, turn.retryAfterSeconds, null);
  const mail = { accountId, id, to: row.to, template, language: row.language ?? undefined, values };
  const { ok, data, error, bounced } = await sent(ctx, mail, outgoing, signal);
  if (ok) return mailStore.sent(ctx.sql, row, data?.message_id ?? "");
  const said = redacted(error ?? "", values);
  const seconds = bounced ? undefined : secondsUntilRetry(row.attempts + 1);
  if (seconds !== undefined) return later(ctx, row, seconds, said);
  ctx.log.warn("a mail was not sent", { mail: id, accountId, template: row.template, error: said });
  return mailStore.failed(ctx.sql, row, said);
}

/** The text of a mail, from the account's own template if it has one. */
async function textsOf(
  ctx: MailContext,
  { accountId, template, values, ...mail }: ImmediateMail,
  account: Pick<Account, "name" | "baseUrl" | "locale">,
): Promise<MailTexts> {
  const language = mail.language ?? languageOfLocale(account.locale);
  const variables = { ...values, account: { name: account.name, url: account.baseUrl } };
  const own = mail.words ?? (await findBy(Template, ctx.sql, accountId, { code: template.code, language }));
  try {
    if (own) return render(own, variables, language);
  } catch (error) {
    if (mail.words || !(error instanceof LiquidFault)) throw error;
    // They were right with the examples. A mail in other words is better than none.
    ctx.log.warn("an account's own words for a mail fail", { accountId, template: template.code, error });
  }
  return render(template.texts[language], variables, language);
}

export function languageOfLocale(locale: string): Language {
  const language = locale.slice(0, 2).toLowerCase();
  return language === "pl" || language === "de" ? language : "en";
}

function mustFit(template: MailTemplate | undefined, { template: code, values }: OutgoingMail): void {
  if (!template) throw new Error(`no plugin has registered the mail template "${code}"`);
  if (template.atSending) return;
  const missing = Object.keys(template.values).find((name) => !Object.hasOwn(values, name));
  if (missing !== undefined) throw new Error(`the mail "${code}" lacks the value "${missing}"`);
}

const minute = 60;
const hour = 60 * minute;
/** A server that is being mended is back within a day; the first waits are short because most faults are. */
const waits = [30, 2 * minute, 10 * minute, 30 * minute, hour, 3 * hour, 6 * hour, 12 * hour];

/** Seconds until the next attempt after this many failed ones; undefined = no more. */
export function secondsUntilRetry(attempts: number): number | undefined {
  return waits[attempts - 1];
}

const maxAnswerChars = 500;
const hidden = "[hidden]";
const shortest = 8;

/** A mail server's answer for the log: some quote the mail that they refuse, and a link in it is a key. */
export function redacted(answer: string, values: Readonly<Record<string, string>>): string {
  let text = answer.slice(0, 10_000);
  for (const value of Object.values(values)) if (value.length >= shortest) text = text.replaceAll(value, hidden);
  const words = text.split(/\s/).map((word) => (isTelling(word) ? hidden : word));
  return words.join(" ").slice(0, maxAnswerChars).toWellFormed();
}

/** An address of a page, or what may be a token; a line of quoted-printable may have cut it. */
function isTelling(word: string): boolean {
  return word.includes("://") || word.includes("token=") || /[A-Za-z0-9_-]{24}/.test(word);
}
