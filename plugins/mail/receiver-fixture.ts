/** A real mail server in this process, for tests. */
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { certificate } from "../../runtime/outbound/outbound-fixture.ts";

export interface ReceivedMail {
  readonly from: string;
  readonly to: string;
  readonly raw: string;
  readonly user: unknown;
  readonly headers: ReadonlyMap<string, string>;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface MailReceiver {
  readonly port: number;
  readonly mails: ReceivedMail[];
  /** What is answered instead of taking a mail: the code, and what it says of the mail. */
  refusal: ((raw: string) => { code: number; says: string } | undefined) | undefined;
  stop(): void;
}

export const receiverPassword = "pass word ŻÓŁĆ 0123456789";

/** Takes mails of `mailer` and of those who do not sign in. */
export async function startMailReceiver(options: SMTPServerOptions = {}): Promise<MailReceiver> {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    logger: false,
    allowInsecureAuth: true,
    authOptional: true,
    hideSTARTTLS: true,
    ...certificate,
    onAuth({ username, password }, _, done) {
      if (username === "mailer" && password === receiverPassword) return done(null, { user: username });
      done(new Error("no such user"));
    },
    onData(stream, { envelope, user }, done) {
      const parts: Buffer[] = [];
      stream
        .on("data", (part: Buffer) => parts.push(part))
        .on("end", () => {
          const raw = Buffer.concat(parts).toString();
          const refused = receiver.refusal?.(raw);
          if (refused) return done(Object.assign(new Error(refused.says), { responseCode: refused.code }));
          const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
          mails.push({ from, to: envelope.rcptTo.map(({ address }) => address).join(), raw, user, ...parsed(raw) });
          done(null, "taken as 42");
        });
    },
    ...options,
  });
  server.on("error", () => {});
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const receiver: MailReceiver = { port: address.port, mails, refusal: undefined, stop: () => server.close() };
  return receiver;
}

function parsed(raw: string) {
  const [head = ""] = raw.split("\r\n\r\n", 1);
  const headers = headersOf(head);
  const boundary = /boundary="([^"]+)"/.exec(head)?.[1] ?? "";
  const [, text = "", html = ""] = raw.split(`--${boundary}`).map(bodyOf);
  return { headers, subject: wordsOf(headers.get("subject") ?? ""), text, html };
}

/** Lower-case names to unfolded values. */
function headersOf(head: string): Map<string, string> {
  const lines = head.replaceAll(/\r\n[ \t]/g, " ").split("\r\n");
  return new Map(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
}

function bodyOf(part: string): string {
  const [head = "", ...rest] = part.split("\r\n\r\n");
  const body = rest.join("\r\n\r\n").trimEnd();
  if (/base64/i.test(head)) return Buffer.from(body, "base64").toString();
  return /quoted-printable/i.test(head) ? unquoted(body) : body;
}

function unquoted(text: string): string {
  const bytes = text
    .replaceAll(/=\r\n/g, "")
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString();
}

/** Encoded words, decoded. */
function wordsOf(text: string): string {
  return text
    .replaceAll(/\?=\s+=\?/g, "?==?")
    .replaceAll(/=\?UTF-8\?([BQ])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toUpperCase() === "B" ? Buffer.from(word, "base64").toString() : unquoted(word.replaceAll("_", " ")),
    );
}
