/** Taking up an invitation without a password. No HTTP, no SQL. */
import { sha256, type Account } from "platform";
import type { Accounts } from "../api.ts";
import type { Invited, Passwords } from "./api.ts";
import { LinkEnded, mayUse, type Links } from "./links.ts";
import type { LinkStore } from "./store.ts";

interface Needed {
  readonly accounts: Pick<Accounts, "activate">;
  readonly linkStore: Pick<LinkStore, "use">;
  readonly links: Pick<Links, "found" | "foundByHash">;
}

export function createTakingUp({ accounts, linkStore, links }: Needed) {
  const byHash = (account: Account, tokenHash: string) => links.foundByHash(account, tokenHash);

  /** Whoever is in the account already is not taken over: a link for a new password, or to a known person, is for a password. */
  const invitedBy = (found: Awaited<ReturnType<Links["found"]>>, tokenHash: string): Invited | undefined => {
    if (!found?.link.isNew || found.person.active) return undefined;
    return { tokenHash, userId: found.person.id, email: found.link.email };
  };

  return {
    byToken: async (account: Account, token: string) => invitedBy(await links.found(account, token), sha256(token)),
    byHash: async (account: Account, tokenHash: string) => invitedBy(await byHash(account, tokenHash), tokenHash),

    takeUp: (async (account, { tokenHash, userId }, also) => {
      const found = await byHash(account, tokenHash);
      if (!found || invitedBy(found, tokenHash)?.userId !== userId) return false;
      const { id: accountId } = account;
      try {
        await accounts.activate({ accountId, userId }, async (person, tx) => {
          if (
            person.active ||
            !mayUse(found.link, person) ||
            !(await linkStore.use(tx, accountId, found.link.id, tokenHash))
          )
            throw new LinkEnded();
          await also(person, tx);
        });
        return true;
      } catch (error) {
        if (error instanceof LinkEnded) return false;
        throw error;
      }
    }) satisfies Passwords["takeUp"],
  };
}

export type TakingUp = ReturnType<typeof createTakingUp>;
