/** Through which server an account's mails go: its own, else that of the installation. No HTTP, no SQL. */
import { invalid, mistakes, mustMatch, setting, type BaseContext, type FieldErrors } from "platform";
import { checkServer, parseAddress, serverOf, type Address, type OpenServer, type TlsMode } from "../smtp/api.ts";
import type { ServerRow } from "./server-store.ts";
import * as serverStore from "./server-store.ts";
import type { MailContext, Standard } from "./context.ts";

/** Everything needed to send a mail. */
export interface Outgoing {
  readonly server: OpenServer;
  readonly from: Address;
  readonly replyTo: Address | undefined;
}

/** The fields of a request; each may be missing. */
export interface ServerPatch {
  readonly url?: string;
  readonly user?: string | null;
  readonly password?: string | null;
  readonly from?: string;
  readonly reply_to?: string | null;
  readonly tls?: TlsMode | null;
}

/** The servers of accounts, in memory. */
export function serverRows({ cache, sql }: Pick<BaseContext, "cache" | "sql">): MailContext["serverRows"] {
  return cache({
    name: "mail.servers",
    max: 1_000,
    load: async (accountId) => ({ row: await serverStore.find(sql, Number(accountId)) }),
  });
}

export async function rowOf(ctx: MailContext, accountId: number): Promise<ServerRow | undefined> {
  return (await ctx.serverRows.get(`${accountId}`))?.row;
}

export async function outgoingFor(ctx: MailContext, accountId: number): Promise<Outgoing | undefined> {
  const row = await rowOf(ctx, accountId);
  if (!row) return ctx.standard && outgoingOf(ctx.standard);
  const password = row.password === null ? null : ctx.secrets.open(row.password, place(accountId));
  return outgoingOf({ ...row, user: row.username, password, from: row.sender });
}

export async function isSetUp(ctx: MailContext, accountId: number): Promise<boolean> {
  return ctx.standard !== undefined || (await rowOf(ctx, accountId)) !== undefined;
}

/** Throws the 422 that names every mistake. `expected` is the version that the caller has seen; undefined = any. */
export async function save(
  ctx: MailContext,
  accountId: number,
  userId: number,
  patch: ServerPatch,
  expected: number | undefined,
): Promise<void> {
  await ctx.transaction(async (tx) => {
    const before = await serverStore.lock(tx, accountId);
    mustMatch({ version: before?.version ?? 0 }, expected);
    const { password, ...server } = merged(before, patch);
    const sealed = typeof password === "string" ? ctx.secrets.seal(password, place(accountId)) : null;
    const kept = password === undefined ? (before?.password ?? null) : sealed;
    await serverStore.put(tx, accountId, userId, { ...server, password: kept });
  });
  await ctx.serverRows.invalidate(`${accountId}`);
}

export async function remove(ctx: MailContext, accountId: number, expected: number | undefined): Promise<void> {
  await ctx.transaction(async (tx) => {
    mustMatch({ version: (await serverStore.lock(tx, accountId))?.version ?? 0 }, expected);
    await serverStore.remove(tx, accountId);
  });
  await ctx.serverRows.invalidate(`${accountId}`);
}

function place(accountId: number) {
  return `mail_server:${accountId}`;
}

/** The server after the change; `password` undefined = the stored one. */
function merged(before: ServerRow | undefined, patch: ServerPatch) {
  const wrong = mistakes();
  const url = (patch.url ?? before?.url ?? "").trim();
  const username = (patch.user === undefined ? before?.username : patch.user) || null;
  const sender = (patch.from ?? before?.sender ?? "").trim();
  const replyTo = (patch.reply_to === undefined ? before?.replyTo : patch.reply_to) || null;
  const tls = patch.tls === undefined ? (before?.tls ?? null) : patch.tls;
  // Without a user there is nobody whose password it could be.
  const password = username === null ? null : patch.password;
  const hasPassword = typeof password === "string" || (password === undefined && Boolean(before?.password));
  if (url === "") wrong.add("url", "is required");
  if (sender === "") wrong.add("from", "is required");
  if (username === null && patch.password) wrong.add("user", "is required with a password");
  if (username !== null && !hasPassword) wrong.add("password", "is required with a user");
  // Otherwise whoever may change the address could have the password sent to a server of their own.
  else if (username !== null && password === undefined && before && addressOf(before.url) !== addressOf(url))
    wrong.add("password", "must be given again, because the url has another scheme, host or port");
  if (!wrong.any) addMistakes(wrong.add, { url, user: username, from: sender, replyTo, tls });
  wrong.check();
  return { url, username, password, sender, replyTo, tls };
}

type MailServerPatch = Pick<Standard, "url" | "user" | "from" | "replyTo" | "tls">;

function addMistakes(add: (field: string, message: string) => void, given: MailServerPatch): void {
  const { url = [], fields = [] }: FieldErrors = checkServer({
    url: given.url,
    fields: fieldsOf(given),
    hasSecret: given.user !== null,
  });
  for (const message of url) add("url", message);
  for (const message of fields) {
    const [field = "base", ...words] = message.split(" ");
    add(field, words.join(" "));
  }
}

/** As the connector of mails calls them. */
function fieldsOf({ user, from, replyTo, tls }: MailServerPatch): Record<string, unknown> {
  return { ...(user && { user }), from, ...(replyTo && { reply_to: replyTo }), ...(tls && { tls }) };
}

function outgoingOf(given: Standard): Outgoing {
  const from = parseAddress(given.from);
  if (!from) throw new Error("the sender was checked when it was saved");
  const server = { ...serverOf(given.url, fieldsOf(given)), password: given.password };
  return { server, from, replyTo: given.replyTo === null ? undefined : parseAddress(given.replyTo) };
}

function addressOf(url: string): string {
  const { protocol, host } = URL.parse(url) ?? { protocol: "", host: "" };
  return `${protocol}//${host.toLowerCase()}`;
}

export interface FromEnvironment {
  readonly url: string;
  readonly from: string;
  readonly replyTo: string;
  readonly tls: TlsMode | "";
}

/** The installation's server, or undefined. Throws a ConfigError that names the variable. */
export function standardOf({ url: given, from, replyTo, tls }: FromEnvironment): Standard | undefined {
  if (given === "" && from === "") return undefined;
  if (given === "" || from === "")
    throw new setting.ConfigError([given === "" ? "MAIL_FROM needs SMTP_URL" : "SMTP_URL needs MAIL_FROM"]);
  const url = URL.parse(given);
  const names: Readonly<Record<string, string>> = {
    url: "SMTP_URL",
    user: "SMTP_URL",
    from: "MAIL_FROM",
    reply_to: "MAIL_REPLY_TO",
    tls: "SMTP_TLS",
  };
  const mistakesOfIt: string[] = [];
  const user = url?.username ? decoded(url.username) : null;
  const password = url?.password ? decoded(url.password) : null;
  if (user === undefined || password === undefined)
    throw new setting.ConfigError(["SMTP_URL must have the user and the password percent-encoded"]);
  if ((user === null) !== (password === null))
    mistakesOfIt.push("SMTP_URL must have a user and a password, or neither");
  if (url) [url.username, url.password] = ["", ""];
  const standard = { url: url?.href ?? given, user, password, from, replyTo: replyTo || null, tls: tls || null };
  addMistakes((field, message) => void mistakesOfIt.push(`${names[field] ?? "SMTP_URL"} ${message}`), standard);
  if (mistakesOfIt.length > 0) throw new setting.ConfigError(mistakesOfIt);
  return standard;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

export const notSetUp = () =>
  invalid({
    base: [
      "mail is not set up: an administrator enters a mail server at /core/mail_server, or the server's operator sets SMTP_URL and MAIL_FROM",
    ],
  });
