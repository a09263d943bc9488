/** Makes entries of what transactions have written of their changes: every second, and before somebody reads the log. */
import type { BaseContext } from "platform";
import type { InboxStore } from "./inbox-store.ts";

/** What is left then becomes entries a second later: a reader does not wait for the whole of a large import. */
const mostStatements = 50;

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction">;
  readonly inboxStore: InboxStore;
}

export type Inbox = ReturnType<typeof createInbox>;

export function createInbox({ ctx, inboxStore }: Needed) {
  const empty = async (accountId: number): Promise<void> => {
    for (let n = 0; n < mostStatements && (await inboxStore.hasAny(accountId)); n++)
      await ctx.transaction((tx) => inboxStore.take(tx, accountId));
  };
  return {
    empty,
    async emptyAll(): Promise<void> {
      for (const accountId of await inboxStore.accounts()) await empty(accountId);
    },
  };
}
