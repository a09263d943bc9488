/** Addresses that people give for themselves: each counts once a link in a mail to it was opened. No HTTP, no SQL. */
import { invalid, randomToken, sha256, tooMany, type Caller, type Tx } from "platform";
import type { Person } from "../api.ts";
import { timeIn } from "../../mail/api.ts";
import { parseAddress } from "../../smtp/api.ts";
import type { PeopleContext } from "./context.ts";
import { put } from "./email-store.ts";
import type { UserRow } from "./fields.ts";

const confirmHours = 24;
const hourMs = 3_600_000;

/** Throws the 422 if this address cannot be confirmed, 429 after too many. */
export async function mayConfirm(ctx: PeopleContext, { account, user }: Caller, email: string): Promise<void> {
  if (!(await ctx.later.mail.isSetUp(account.id))) throw invalid({ email: [notConfirmable] });
  if (parseAddress(email)?.address !== email) throw invalid({ email: ["must be an e-mail address"] });
  const turn = await ctx.addresses.take(`${user.id}`);
  if (!turn.allowed) throw tooMany(turn.retryAfterSeconds);
}

/** Sends the link to the new address, and tells the present one. Takes the place of what was requested before. */
export async function beginChange(
  { later: { mail } }: PeopleContext,
  { account }: Caller,
  { id: userId, name, login, email: emailBefore }: Person,
  email: string,
  tx: Tx,
): Promise<void> {
  const accountId = account.id;
  const token = randomToken();
  const expiresAt = new Date(Date.now() + confirmHours * hourMs);
  await put(tx, { accountId, userId, email, emailBefore, tokenHash: sha256(token), expiresAt });
  const link = `${account.baseUrl}/confirm_email?token=${token}`;
  const values = { name, login, link, hours: `${confirmHours}` };
  await mail.send({ accountId, to: email, template: "email_confirmation", values, expiresAt }, tx);
  if (emailBefore === null) return;
  const notice = { name, login, email, time: timeIn(account) };
  await mail.tell({ accountId, to: emailBefore, template: "email_change_asked", values: notice }, tx);
}

/** Tells the address that somebody has had until now where it went. */
export async function tellBefore(
  ctx: PeopleContext,
  to: string,
  { accountId, name, login, email }: UserRow,
  tx: Tx,
): Promise<void> {
  const account = await ctx.access.accountById(accountId, tx);
  const values = { name, login, email: email ?? "–", time: account ? timeIn(account) : "" };
  await ctx.later.mail.tell({ accountId, to, template: "email_changed", values }, tx);
}

const notConfirmable =
  "cannot be confirmed, because this server sends no mails: the present one stays. An administrator can set it, or a mail server";
