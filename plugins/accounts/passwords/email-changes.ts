/** Addresses that people give for themselves: each counts once a link in a mail to it was opened. No HTTP, no SQL. */
import { invalid, randomToken, sha256, tooMany, type Account, type BaseContext } from "platform";
import type { Accounts, EmailConfirmation } from "../api.ts";
import { timeIn, type Mail } from "../../mail/api.ts";
import { parseAddress } from "../../smtp/api.ts";
import type { EmailStore } from "./email-store.ts";
import { isToken, LinkEnded } from "./links.ts";

export const confirmHours = 24;
const hourMs = 3_600_000;
/** Nobody sends strangers mails by it. */
const perPerson = { limit: 10, windowSeconds: 3600, exact: true };

interface Needed {
  readonly ctx: Pick<BaseContext, "limiter">;
  readonly accounts: Pick<Accounts, "accountById" | "person" | "setEmail">;
  readonly mail: Pick<Mail, "isSetUp" | "send" | "tell">;
  readonly emailStore: EmailStore;
}

export type EmailChanges = ReturnType<typeof createEmailChanges>;

export function createEmailChanges({ ctx, accounts, mail, emailStore }: Needed) {
  const requests = ctx.limiter("passwords.emails", perPerson);

  /** Those whose link works; somebody whose address is another one since must ask again. */
  const found = async ({ id: accountId }: Account, token: string) => {
    const change = isToken(token) ? await emailStore.byToken(accountId, sha256(token)) : undefined;
    const person = change && (await accounts.person(accountId, change.userId));
    return person?.active && person.email === change?.emailBefore ? { person, change } : undefined;
  };

  const confirmation: EmailConfirmation = {
    pendingOf: emailStore.pendingOf,
    cancel: (accountId, userId, tx) => emailStore.delete(tx, accountId, userId),

    async check({ account, user }, email) {
      if (!(await mail.isSetUp(account.id))) throw invalid({ email: [notConfirmable] });
      if (parseAddress(email)?.address !== email) throw invalid({ email: ["must be an e-mail address"] });
      const turn = await requests.take(`${user.id}`);
      if (!turn.allowed) throw tooMany(turn.retryAfterSeconds);
    },

    async begin({ account }, { id: userId, name, login, email: emailBefore }, email, tx) {
      const accountId = account.id;
      const token = randomToken();
      const expiresAt = new Date(Date.now() + confirmHours * hourMs);
      await emailStore.put(tx, { accountId, userId, email, emailBefore, tokenHash: sha256(token), expiresAt });
      const link = `${account.baseUrl}/confirm_email?token=${token}`;
      const values = { name, login, link, hours: `${confirmHours}` };
      await mail.send({ accountId, to: email, template: "email_confirmation", values, expiresAt }, tx);
      if (emailBefore === null) return;
      const notice = { name, login, email, time: timeIn(account) };
      await mail.tell({ accountId, to: emailBefore, template: "email_change_asked", values: notice }, tx);
    },

    async tell({ accountId, person: { name, login, email }, before }, tx) {
      const account = await accounts.accountById(accountId);
      const values = { name, login, email: email ?? "–", time: account ? timeIn(account) : "" };
      await mail.tell({ accountId, to: before, template: "email_changed", values }, tx);
    },
  };

  return {
    confirmation,
    found,

    /** Throws LinkEnded, or the 422 of an address that is another person's meanwhile. */
    async confirm(account: Account, token: string): Promise<void> {
      const { change } = (await found(account, token)) ?? {};
      if (!change) throw new LinkEnded();
      const { id: accountId } = account;
      await accounts.setEmail({ accountId, userId: change.userId }, change.email, async ({ id, active, email }, tx) => {
        const isSame = active && email === change.emailBefore;
        if (!isSame || !(await emailStore.use(tx, accountId, id, sha256(token)))) throw new LinkEnded();
      });
    },
  };
}

const notConfirmable =
  "cannot be confirmed, because this server sends no mails: the present one stays. An administrator can set it, or a mail server";
