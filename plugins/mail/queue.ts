/** Mails wait in the database, and a job sends each. No HTTP, no SQL. */
import {
  type BaseContext,
  findBy,
  invalid,
  job,
  type Language,
  LiquidFault,
  SecretFault,
  tooMany,
  ValidationError,
  type Tx,
  uuidv7,
} from "platform";
import type { Accounts } from "../accounts/api.ts";
import { hasControl, parseAddress, sendMail, type Outcome } from "../smtp/api.ts";
import type { MailTemplate, MailTexts, OutgoingMail } from "./api.ts";
import { notSetUp, type Outgoing, type Servers } from "./outgoing.ts";
import { redacted } from "./redact.ts";
import type { Renderer, Words } from "./render.ts";
import { secondsUntilRetry } from "./retry.ts";
import type { ServerStore } from "./server-store.ts";
import type { MailRow, MailStore, OpenMailRow } from "./store.ts";
import { Template } from "./template.ts";

interface Waiting {
  readonly accountId: number;
  readonly id: string;
  readonly run: number;
}

export const sendQueued = job<Waiting>("mail.send");

interface Needed {
  readonly ctx: Pick<
    BaseContext,
    "connect" | "enqueue" | "limiter" | "log" | "origin" | "secrets" | "sql" | "transaction"
  >;
  readonly accounts: Pick<Accounts, "accountById">;
  readonly mailStore: MailStore;
  readonly serverStore: Pick<ServerStore, "has">;
  readonly servers: Servers;
  readonly templates: ReadonlyMap<string, MailTemplate>;
  readonly renderer: Renderer;
  readonly hourlyLimit: number;
}

/** A mail that is sent while somebody waits for the answer. */
interface Now {
  readonly accountId: number;
  readonly to: string;
  readonly template: MailTemplate;
  readonly language: Language | undefined;
  readonly values: Readonly<Record<string, unknown>>;
  /** Default: the account's, else the built-in ones. */
  readonly words?: Words;
}

const timeoutMs = 30_000;
const headers = { "X-Auto-Response-Suppress": "All" };

export type Mails = ReturnType<typeof createMails>;

export function createMails(needed: Needed) {
  const { ctx, accounts, mailStore, serverStore, servers, templates } = needed;
  const turns = ctx.limiter("mail.sent", { limit: needed.hourlyLimit, windowSeconds: 3600 });
  const place = (id: string) => `mail:${id}`;

  const schedule = (tx: Tx, waiting: Waiting, runAt?: Date) =>
    ctx.enqueue(sendQueued, waiting, { tx, accountId: waiting.accountId, runAt });

  const write = async (tx: Tx, mail: OutgoingMail, recipient: string): Promise<string> => {
    const { accountId, template, values, language = null, expiresAt = null } = mail;
    const id = uuidv7();
    const content = ctx.secrets.seal(JSON.stringify(values), place(id));
    await mailStore.insert(tx, { id, accountId, recipient, template, language, content, expiresAt });
    await schedule(tx, { accountId, id, run: 1 });
    return id;
  };

  const textsOf = createTexts(needed);

  const sent = async (mail: Now & { id: string }, outgoing: Outgoing, signal?: AbortSignal): Promise<Outcome> => {
    const account = await accounts.accountById(mail.accountId);
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
      ...(await textsOf(mail, account)),
      attachments: [],
    };
    return sendMail(ctx, server, message, { timeoutMs, signal, key: mail.id, headers });
  };

  const later = (row: MailRow, seconds: number, error: string | null) =>
    ctx.transaction(async (tx) => {
      const at = new Date(Date.now() + seconds * 1000);
      const run = await mailStore.postpone(tx, row, at, error);
      if (run !== undefined) await schedule(tx, { accountId: row.accountId, id: row.id, run }, at);
    });

  const attempt = async (row: OpenMailRow, content: string, signal: AbortSignal): Promise<void> => {
    const { accountId, id } = row;
    const values: Record<string, string> = JSON.parse(ctx.secrets.open(content, place(id)));
    const template = templates.get(row.template);
    const outgoing = await servers.of(accountId);
    if (!template || !outgoing)
      return mailStore.failed(row, template ? "mail is not set up" : "no plugin has this template any more");
    const turn = await turns.take(`${accountId}`);
    if (!turn.allowed) return later(row, turn.retryAfterSeconds, null);
    const mail = { accountId, id, to: row.recipient, template, language: row.language ?? undefined, values };
    const { ok, data, error, bounced } = await sent(mail, outgoing, signal);
    if (ok) return mailStore.sent(row, data?.message_id ?? "");
    const said = redacted(error ?? "", values);
    const seconds = bounced ? undefined : secondsUntilRetry(row.attempts + 1);
    if (seconds !== undefined) return later(row, seconds, said);
    ctx.log.warn("a mail was not sent", { mail: id, accountId, template: row.template, error: said });
    return mailStore.failed(row, said);
  };

  const send = async (mail: OutgoingMail, tx?: Tx): Promise<string> => {
    const { accountId } = mail;
    mustFit(templates.get(mail.template), mail);
    const to = parseAddress(mail.to);
    if (!to) throw invalid({ to: ["is not a mail address"] });
    // In a transaction only its own connection may be used: the others may all be waiting for it.
    const isSetUp = tx && !servers.standard ? await serverStore.has(tx, accountId) : await servers.isSetUp(accountId);
    if (!isSetUp) throw notSetUp();
    return tx ? write(tx, mail, to.address) : ctx.transaction((own) => write(own, mail, to.address));
  };

  return {
    async mustBeSetUp(accountId: number): Promise<void> {
      if (!(await servers.isSetUp(accountId))) throw notSetUp();
    },

    send,

    async tell(mail: OutgoingMail, tx: Tx): Promise<void> {
      await send(mail, tx).catch((error: unknown) => {
        if (!(error instanceof ValidationError)) throw error;
      });
    },

    /** The job. A mail that another job has taken over, or that is done, is left alone. */
    async deliver({ accountId, id, run }: Waiting, signal: AbortSignal): Promise<void> {
      const row = await mailStore.open(accountId, id);
      if (row?.state !== "queued" || row.run !== run || row.content === null) return;
      if (row.expiresAt && row.expiresAt.getTime() <= Date.now()) return mailStore.expired(row);
      try {
        await attempt(row, row.content, signal);
      } catch (error) {
        if (!(error instanceof SecretFault)) throw error;
        await mailStore.failed(row, error.message);
      }
    },

    /** Sends at once, for somebody who waits; the outcome says what the mail server said. */
    async sendNow(mail: Now, signal: AbortSignal): Promise<Outcome> {
      const outgoing = await servers.of(mail.accountId);
      if (!outgoing) throw notSetUp();
      const turn = await turns.take(`${mail.accountId}`);
      if (!turn.allowed) throw tooMany(turn.retryAfterSeconds);
      return sent({ ...mail, id: uuidv7() }, outgoing, signal);
    },

    /** False unless it failed or waits for its next attempt. */
    retry: (accountId: number, id: string): Promise<boolean> =>
      ctx.transaction(async (tx) => {
        const run = await mailStore.hurry(tx, accountId, id);
        if (run !== undefined) await schedule(tx, { accountId, id, run });
        return run !== undefined;
      }),
  };
}

/** What a mail says, in the account's own words if it has any. */
function createTexts({ ctx, renderer }: Pick<Needed, "ctx" | "renderer">) {
  interface Place {
    readonly name: string;
    readonly baseUrl: string;
    readonly locale: string;
  }
  return async ({ accountId, template, values, ...mail }: Now, account: Place): Promise<MailTexts> => {
    const language = mail.language ?? languageOfLocale(account.locale);
    const variables = { ...values, account: { name: account.name, url: account.baseUrl } };
    const own = mail.words ?? (await findBy(Template, ctx.sql, accountId, { code: template.code, language }));
    try {
      if (own) return renderer.render(own, variables, language);
    } catch (error) {
      if (mail.words || !(error instanceof LiquidFault)) throw error;
      // They were right with the examples. A mail in other words is better than none.
      ctx.log.warn("an account's own words for a mail fail", { accountId, template: template.code, error });
    }
    return renderer.render(template.texts[language], variables, language);
  };
}

export function languageOfLocale(locale: string): Language {
  const language = locale.slice(0, 2).toLowerCase();
  return language === "pl" || language === "de" ? language : "en";
}

function mustFit(template: MailTemplate | undefined, { template: code, values }: OutgoingMail): void {
  if (!template) throw new Error(`no plugin has registered the mail template "${code}"`);
  const missing = Object.keys(template.values).find((name) => !Object.hasOwn(values, name));
  if (missing !== undefined) throw new Error(`the mail "${code}" lacks the value "${missing}"`);
}
