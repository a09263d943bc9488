/** New passwords for those who have forgotten theirs. No HTTP, no SQL. */
import { job, limitKey, tooMany, ValidationError, type Account, type BaseContext, type Language } from "platform";
import type { Accounts } from "../api.ts";
import type { Mail } from "../../mail/api.ts";
import { resetMinutes, type Links } from "./links.ts";
import type { LinkStore } from "./store.ts";

interface Asked {
  readonly accountId: number;
  /** Sealed: people type passwords there by mistake. */
  readonly login: string;
  readonly language: Language;
}

export const resetAsked = job<Asked>("passwords.reset");

interface Needed {
  readonly ctx: Pick<BaseContext, "enqueue" | "limiter" | "secrets" | "transaction">;
  readonly accounts: Pick<Accounts, "accountById" | "personByLogin">;
  readonly mail: Pick<Mail, "mustBeSetUp">;
  readonly linkStore: LinkStore;
  readonly links: Pick<Links, "sendReset">;
}

const place = "passwords.reset";
const minuteMs = 60_000;
/** Mails that a person may get in the time that a link works. */
const perPerson = 3;
const perAddress = { limit: 20, windowSeconds: 3600, exact: true };

export type Resets = ReturnType<typeof createResets>;

export function createResets({ ctx, accounts, mail, linkStore, links }: Needed) {
  const requests = ctx.limiter("passwords.resets", perAddress);

  return {
    /**
     * Does the same, in the same time, whoever is asked for: only a job looks whether there is such a person. Throws 429
     * after too many from one address.
     */
    async ask(account: Account, ip: string, login: string, language: Language): Promise<void> {
      await mail.mustBeSetUp(account.id);
      const turn = await requests.take(`${account.id} ${limitKey(ip)}`);
      if (!turn.allowed) throw tooMany(turn.retryAfterSeconds);
      const asked = { accountId: account.id, login: ctx.secrets.seal(login, place), language };
      // In sequence, so that many requests at once are counted.
      await ctx.enqueue(resetAsked, asked, { accountId: account.id, orderKey: `${account.id}` });
    },

    /** The job. */
    async send({ accountId, login, language }: Asked): Promise<void> {
      const account = await accounts.accountById(accountId);
      const person = account && (await accounts.personByLogin(accountId, ctx.secrets.open(login, place).trim()));
      if (!account || !person?.active || person.email === null) return;
      const { email } = person;
      const expiresAt = new Date(Date.now() + resetMinutes * minuteMs);
      const since = new Date(Date.now() - resetMinutes * minuteMs);
      try {
        await ctx.transaction(async (tx) => {
          if ((await linkStore.resetsSince(tx, accountId, person.id, since)) >= perPerson) return;
          await links.sendReset(tx, { account, person, email, language, expiresAt });
        });
      } catch (error) {
        // Mail is no longer set up, or the person's address is none that mail can reach.
        if (!(error instanceof ValidationError)) throw error;
      }
    },
  };
}
