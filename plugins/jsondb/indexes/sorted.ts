/**
 * Indexes of the string columns for each language that an account has, so that a list by a string reads its page alone.
 * Answers are the same with and without: they are built one after the other while everything goes on.
 */
import { job, on, type Handler } from "platform";
import * as sortedStore from "./sorted-store.ts";
import type { JsondbContext } from "../context.ts";

/** Builds what is missing and drops what no account needs any more. */
export const buildSorted = job<Record<string, never>>("jsondb.sorted");

/** Every write of a record with strings writes each of them. */
const mostLanguages = 8;

export function sortedHandler(ctx: JsondbContext): Handler {
  return on(
    buildSorted,
    async (_, { signal }) => {
      const collations = await wanted(ctx);
      for (const index of await sortedStore.missing(ctx.sql, collations)) {
        if (signal.aborted) return;
        await sortedStore.build(ctx.sql, index);
      }
      for (const name of await sortedStore.unused(ctx.sql, collations)) await sortedStore.drop(ctx.sql, name);
    },
    { concurrency: 1 },
  );
}

/** A new account may have another language. */
export function followAccounts(ctx: JsondbContext): void {
  return ctx.accounts.onAccountCreated(async (_, tx) => {
    await ctx.enqueue(buildSorted, {}, { key: "all", tx });
    return [];
  });
}

/** Before anything is served, and every ten minutes: the version of ICU may have changed with PostgreSQL's machine. */
export async function tendSorted(ctx: JsondbContext): Promise<void> {
  const dropped = await sortedStore.dropOutdated(ctx.sql);
  if (dropped.length > 0)
    ctx.log.warn("the order of letters has changed with ICU: indexes are built anew", {
      indexes: dropped.join(", "),
    });
  const collations = await wanted(ctx);
  // Before the first account there is no language, and the indexes of the migration are not to go.
  if (collations.length === 0) return;
  const isDone =
    (await sortedStore.missing(ctx.sql, collations)).length === 0 &&
    (await sortedStore.unused(ctx.sql, collations)).length === 0;
  if (!isDone) await ctx.enqueue(buildSorted, {}, { key: "all" });
}

export async function prepareSorted(ctx: JsondbContext): Promise<void> {
  if ((await sortedStore.wantedCollations(ctx.sql, 1)).includes("C"))
    ctx.log.warn("PostgreSQL has no ICU, or its database is not UTF-8: strings are sorted by code point");
  await tendSorted(ctx);
}

async function wanted(ctx: JsondbContext) {
  return (await sortedStore.wantedCollations(ctx.sql, mostLanguages)).filter((name) => name !== "C");
}
