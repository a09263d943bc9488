/** Sends one mail through one mail server. */
import { type BaseContext, OutboundFault } from "platform";
import type { MailServer } from "./definition.ts";
import type { Mail } from "./message.ts";

export type MailContext = Pick<BaseContext, "connect" | "origin">;

export interface OpenServer extends MailServer {
  /** The password of `user`; null = no sign-in. */
  readonly password: string | null;
}

export interface Sending {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** The same for every attempt, and so is the Message-ID. */
  readonly key: string | undefined;
  /** In addition to those of every mail. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The mail server's response. It never contains the password. */
export interface Outcome {
  readonly ok: boolean;
  /** The code of its answer; null without one. */
  readonly status: number | null;
  readonly data: {
    readonly message_id: string;
    readonly accepted: readonly unknown[];
    readonly rejected: readonly { readonly address: string; readonly error: string }[];
    readonly response: string;
  } | null;
  readonly error: string | null;
  /** Whether it refused the mail itself for good (5xx), so that trying again is of no use. */
  readonly bounced: boolean;
}

/** Rejects only with the reason of the caller's own signal. */
export async function sendMail(ctx: MailContext, server: OpenServer, mail: Mail, sending: Sending): Promise<Outcome> {
  const { timeoutMs, signal: given } = sending;
  const end = new AbortController();
  const late = new OutboundFault("timeout", `the mail server did not take the mail within ${Math.round(timeoutMs)} ms`);
  const timer = setTimeout(() => end.abort(late), timeoutMs);
  const signal = given ? AbortSignal.any([end.signal, given]) : end.signal;
  try {
    return await sendThrough(ctx, server, mail, { ...sending, signal });
  } catch (error) {
    if (given?.aborted) throw given.reason;
    return failure(end.signal.aborted ? late : error);
  } finally {
    clearTimeout(timer);
  }
}

async function sendThrough({ connect, origin }: MailContext, server: OpenServer, mail: Mail, sending: Sending) {
  const { timeoutMs, signal } = sending;
  const { createTransport } = await import("nodemailer");
  const connection = await connect({ host: server.host, port: server.port, timeoutMs, signal });
  const transport = createTransport({
    ...transportOptions(server, connection.isPublic, timeoutMs),
    name: new URL(origin()).hostname,
    ...(server.password === null ? {} : { auth: { user: server.user, pass: server.password } }),
    forceAuth: true,
    // A connected `net.Socket`, as nodemailer accepts it for proxies.
    getSocket: (_, done) => done(null, { connection: connection.socket as never }),
  });
  try {
    const info = await transport.sendMail({ ...messageOf(mail, sending), ...(signal && { signal }) });
    return {
      ok: true,
      status: codeIn(info.response),
      data: {
        message_id: info.messageId,
        accepted: info.accepted,
        rejected: (info.rejectedErrors ?? []).map((error) => ({
          address: error.recipient ?? "",
          error: error.response ?? error.message,
        })),
        response: info.response,
      },
      error: null,
      bounced: false,
    };
  } finally {
    transport.close();
    connection.socket.destroy();
  }
}

/** By default TLS is required for public addresses, and optional for those of OUTBOUND_ALLOW. */
function transportOptions(server: MailServer, isPublic: boolean, timeoutMs: number) {
  const { host, port, secure, servername, ca } = server;
  const mode = server.tls ?? (isPublic ? "required" : "optional");
  return {
    host,
    port,
    secure,
    requireTLS: mode === "required",
    ignoreTLS: mode === "none",
    tls: { rejectUnauthorized: true, ...(servername ? { servername } : {}), ...(ca ? { ca } : {}) },
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    // Attachments come only from the call itself.
    disableFileAccess: true,
    disableUrlAccess: true,
    logger: false,
  };
}

function messageOf(mail: Mail, { key, headers }: Sending) {
  const { from, to, cc, bcc, replyTo, subject, text, html, attachments } = mail;
  const domain = from.address.slice(from.address.lastIndexOf("@") + 1);
  return {
    from,
    to: [...to],
    cc: [...cc],
    bcc: [...bcc],
    replyTo: [...replyTo],
    subject,
    ...(text === undefined ? {} : { text }),
    ...(html === undefined ? {} : { html }),
    attachments: attachments.map((attachment) => ({ ...attachment, encoding: "base64" })),
    messageId: `<${key ?? crypto.randomUUID()}@${domain}>`,
    // Autoresponders do not answer such mails.
    headers: { "Auto-Submitted": "auto-generated", ...headers },
    xMailer: false as const,
  };
}

interface MailFault extends Error {
  readonly code?: string;
  /** The socket's own error, if it failed. */
  readonly originalCode?: string;
  readonly responseCode?: number;
  readonly response?: string;
}

function failure(error: unknown): Outcome {
  if (!(error instanceof Error)) throw error;
  const { code = "", originalCode = code, responseCode, response = "", message }: MailFault = error;
  const failed = { ok: false, status: responseCode ?? null, data: null, bounced: false };
  if (error instanceof OutboundFault) return { ...failed, error: message };
  // The server's answer to a sign-in may repeat the credentials.
  if (code === "EAUTH" || code === "ENOAUTH")
    return { ...failed, error: `the mail server refused the sign-in${responseCode ? ` (${responseCode})` : ""}` };
  if (/TLS|CERT|SSL|SIGNATURE/.test(originalCode))
    return { ...failed, error: `no secure connection to the mail server: ${message}` };
  const bounced = responseCode !== undefined && responseCode >= 500;
  if (code === "EENVELOPE")
    return { ...failed, bounced, error: `the mail server refused sender or recipients: ${response}` };
  if (responseCode !== undefined) return { ...failed, bounced, error: `the mail server answered ${response}` };
  return { ...failed, error: `the mail server broke off before it took the mail (${originalCode || message})` };
}

function codeIn(response: string): number | null {
  const code = /^\d{3}/.exec(response)?.[0];
  return code === undefined ? null : Number(code);
}
