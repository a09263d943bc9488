/**
 * Indexes of the string columns for each language that an account has, so that a list by a string reads its page alone.
 * Answers are the same with and without: they are built one after the other while everything goes on.
 */
import { job, on, type BaseContext, type Handler } from "platform";
import type { Accounts } from "../../accounts/api.ts";
import type { SortedStore } from "./sorted-store.ts";

/** Builds what is missing and drops what no account needs any more. */
export const buildSorted = job<Record<string, never>>("jsondb.sorted");

/** Every write of a record with strings writes each of them. */
const mostLanguages = 8;

interface Needed {
  readonly ctx: Pick<BaseContext, "enqueue" | "log">;
  readonly accounts: Pick<Accounts, "onAccountCreated">;
  readonly sortedStore: SortedStore;
}

export function sortedIndexes({ ctx, accounts, sortedStore }: Needed) {
  const wanted = async () => (await sortedStore.collations(mostLanguages)).filter((name) => name !== "C");

  const handler: Handler = on(
    buildSorted,
    async (_, { signal }) => {
      const collations = await wanted();
      for (const index of await sortedStore.missing(collations)) {
        if (signal.aborted) return;
        await sortedStore.build(index);
      }
      for (const name of await sortedStore.unused(collations)) await sortedStore.drop(name);
    },
    { concurrency: 1 },
  );

  accounts.onAccountCreated(async (_, tx) => {
    await ctx.enqueue(buildSorted, {}, { key: "all", tx });
    return [];
  });

  /** Before anything is served, and every ten minutes: the version of ICU may have changed with PostgreSQL's machine. */
  const look = async (): Promise<void> => {
    const dropped = await sortedStore.dropOutdated();
    if (dropped.length > 0)
      ctx.log.warn("the order of letters has changed with ICU: indexes are built anew", {
        indexes: dropped.join(", "),
      });
    const collations = await wanted();
    // Before the first account there is no language, and the indexes of the migration are not to go.
    if (collations.length === 0) return;
    const isDone =
      (await sortedStore.missing(collations)).length === 0 && (await sortedStore.unused(collations)).length === 0;
    if (!isDone) await ctx.enqueue(buildSorted, {}, { key: "all" });
  };

  return {
    handler,
    look,
    async prepare(): Promise<void> {
      if ((await sortedStore.collations(1)).includes("C"))
        ctx.log.warn("PostgreSQL has no ICU, or its database is not UTF-8: strings are sorted by code point");
      await look();
    },
  };
}
