/** `core/smtp`: the method `send`, and mails declared in `fields.methods`. behaviour B.9. */
import { createTransport } from "nodemailer";
import { type BaseContext, OutboundFault } from "platform";
import { createFiller, type CallOutcome, type ConnectorKind, type KindCall } from "../connectors/api.ts";
import type { OpenConnector } from "../connectors/api.ts";
import {
  checkDefinition,
  connectorFields,
  methodsOf,
  serverOf,
  templateOf,
  type MailServer,
  type Template,
} from "./definition.ts";
import { mailOf, type Mail } from "./message.ts";

const mostMs = 30_000;

type Needed = Pick<BaseContext, "connect" | "origin">;

export function smtpConnector(needed: Needed): ConnectorKind {
  return {
    name: "core/smtp",
    fields: connectorFields,
    needsUrl: true,
    methods: methodsOf,
    check: checkDefinition,
    async call(connector, call) {
      const template = call.method === "send" ? undefined : templateOf(connector.fields, call.method);
      const mail = mailOf(template ? filled(template, call.params) : call.params, connector.fields);
      const startedAt = performance.now();
      const outcome = await send(needed, connector, mail, call);
      return { ...outcome, retryAfterSeconds: null, durationMs: Math.round(performance.now() - startedAt) };
    },
  };
}

/** The fields of a declared mail. Throws the 422 that names every missing parameter. */
function filled(template: Template, params: KindCall["params"]): Record<string, unknown> {
  const fill = createFiller(params);
  const { html, ...texts } = template;
  const fields: Record<string, unknown> = {};
  for (const [key, text] of Object.entries(texts)) fields[key] = fill.text(text);
  if (html !== undefined) fields["html"] = fill.html(html);
  fill.check();
  return fields;
}

type Outcome = Omit<CallOutcome, "retryAfterSeconds" | "durationMs">;

async function send(needed: Needed, connector: OpenConnector, mail: Mail, call: KindCall): Promise<Outcome> {
  const timeoutMs = Math.min(call.timeoutMs, mostMs);
  const end = new AbortController();
  const late = new OutboundFault("timeout", `the mail server did not take the mail within ${timeoutMs} ms`);
  const timer = setTimeout(() => end.abort(late), timeoutMs);
  const signal = call.signal ? AbortSignal.any([end.signal, call.signal]) : end.signal;
  try {
    return await sendThrough(needed, connector, mail, { timeoutMs, signal, key: call.idempotencyKey });
  } catch (error) {
    if (call.signal?.aborted) throw call.signal.reason;
    return failure(end.signal.aborted ? late : error);
  } finally {
    clearTimeout(timer);
  }
}

interface Sending {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The same for every attempt, and so is the Message-ID. */
  readonly key: string | undefined;
}

async function sendThrough({ connect, origin }: Needed, connector: OpenConnector, mail: Mail, sending: Sending) {
  const server = serverOf(connector.url, connector.fields);
  const { timeoutMs, signal } = sending;
  const connection = await connect({ host: server.host, port: server.port, timeoutMs, signal });
  const transport = createTransport({
    ...transportOptions(server, connection.isPublic, timeoutMs),
    name: new URL(origin()).hostname,
    ...(connector.secret === null ? {} : { auth: { user: server.user, pass: connector.secret } }),
    forceAuth: true,
    // A connected `net.Socket`, as nodemailer accepts it for proxies.
    getSocket: (_, done) => done(null, { connection: connection.socket as never }),
  });
  try {
    const info = await transport.sendMail({ ...messageOf(mail, sending), signal });
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

function messageOf(mail: Mail, { key }: Sending) {
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
    headers: { "Auto-Submitted": "auto-generated" },
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
  const failed = { ok: false, status: responseCode ?? null, data: null };
  if (error instanceof OutboundFault) return { ...failed, error: message };
  // The server's answer to a sign-in may repeat the credentials.
  if (code === "EAUTH" || code === "ENOAUTH")
    return { ...failed, error: `the mail server refused the sign-in${responseCode ? ` (${responseCode})` : ""}` };
  if (/TLS|CERT|SSL|SIGNATURE/.test(originalCode))
    return { ...failed, error: `no secure connection to the mail server: ${message}` };
  if (code === "EENVELOPE") return { ...failed, error: `the mail server refused sender or recipients: ${response}` };
  if (responseCode !== undefined) return { ...failed, error: `the mail server answered ${response}` };
  return { ...failed, error: `the mail server broke off before it took the mail (${originalCode || message})` };
}

function codeIn(response: string): number | null {
  const code = /^\d{3}/.exec(response)?.[0];
  return code === undefined ? null : Number(code);
}
