/** Makes entries of what transactions have written of their changes: every second, and before somebody reads the log. */
import { databaseFault, type BaseContext } from "platform";
import type { InboxStore } from "./inbox-store.ts";

/** What is left then becomes entries a second later: a reader does not wait for the whole of a large import. */
const mostStatements = 200;

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction">;
  readonly inboxStore: InboxStore;
}

export type Inbox = ReturnType<typeof createInbox>;

export function createInbox({ ctx, inboxStore }: Needed) {
  const take = (accountId: number) =>
    ctx
      .transaction((tx) => inboxStore.take(tx, accountId))
      .catch((error: unknown) => {
        const fault = databaseFault(error);
        if (fault !== "bad-input" && fault !== "out-of-range") throw error;
        return ctx.transaction((tx) => inboxStore.take(tx, accountId, true));
      });
  const empty = async (accountId: number): Promise<void> => {
    for (let n = 0; n < mostStatements && (await inboxStore.hasAny(accountId)); n++) await take(accountId);
  };
  return {
    empty,
    async emptyAll(): Promise<void> {
      for (const accountId of await inboxStore.accounts()) await empty(accountId);
    },
  };
}
