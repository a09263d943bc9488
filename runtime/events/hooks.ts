/**
 * What plugins say to a change before it is committed: they may refuse it by field, and write with it.
 *
 *     hooks: [before("Core::Record", "create", async ({ data }, tx) => {
 *       if (data.table_name === "orders" && !(await inStock(tx, data))) throw invalid({ item: ["is out of stock"] });
 *     })]
 */
import type { Tx } from "../db/db.ts";
import type { ModelEvent } from "./models.ts";

type HookRun = (event: ModelEvent, tx: Tx) => Promise<void> | void;

export interface Hook {
  /** A model such as `Core::Record`. */
  readonly model: string;
  readonly kinds: readonly string[];
  readonly run: HookRun;
}

/**
 * Calls `run` with every change of this model and kind, whoever makes it, in the transaction of the change: `data` is the
 * record as it will be (of a `destroy`: as it was), its row is written, and nothing is committed yet. What it throws undoes the change: `invalid({ field: ["why"] })` is the answer's 422. It runs while the
 * client waits and the row is locked, so it calls nothing outside of the database.
 */
export function before(model: `${string}::${string}`, kind: string | readonly string[], run: HookRun): Hook {
  return { model, kinds: typeof kind === "string" ? [kind] : kind, run };
}

export function createHooks() {
  const byChange = new Map<string, HookRun[]>();
  const keyOf = (model: string, kind: string) => `${model} ${kind}`;
  return {
    add({ model, kinds, run }: Hook): void {
      for (const kind of kinds) {
        const key = keyOf(model, kind);
        byChange.set(key, [...(byChange.get(key) ?? []), run]);
      }
    },
    has: ({ sourceType, kind }: Pick<ModelEvent, "sourceType" | "kind">): boolean =>
      byChange.has(keyOf(sourceType, kind)),
    /** Throws what a hook throws. A change that has hooks must have a transaction. */
    async run(event: ModelEvent, tx: Tx | undefined): Promise<void> {
      const runs = byChange.get(keyOf(event.sourceType, event.kind));
      if (!runs) return;
      if (!tx) throw new Error(`a ${event.kind} of ${event.sourceType} has hooks and no transaction`);
      for (const run of runs) await run(event, tx);
    },
  };
}
