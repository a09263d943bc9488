/**
 * What a request with an Idempotency-Key writes commits together with its answer. So the transaction of such a request
 * stays open from the end of `run` until the handler has made the answer, which is then kept in it.
 *
 *     const scope = createScope({ begin, keep });
 *     const reply = await inScope(scope, handler); // its `transaction` goes through the scope
 *     await scope.finish(reply);
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { failpoint } from "../failpoints.ts";
import { savepoint, transaction, type Sql, type Tx } from "../db.ts";
import type { Reply } from "./reply.ts";

export interface Scope {
  /** The request's first transaction commits with the answer; further ones are a part of it. */
  transaction<T>(sql: Sql, run: (tx: Tx) => Promise<T>): Promise<T>;
  /** True where something is written that has not been committed: `run` is then called after the commit. */
  defer(run: () => void | Promise<void>): boolean;
  /** Commits what was written, with this answer. False where nothing was written since the last time. */
  finish(reply: Reply): Promise<boolean>;
  /** Takes back what was written and not committed. */
  undo(error: unknown): Promise<void>;
  /** Whether an answer has been committed. */
  readonly isKept: () => boolean;
}

interface Needed {
  /** First in the transaction. What it throws ends it, and goes to the handler. */
  readonly begin: (tx: Tx) => Promise<void>;
  /** Last in the transaction. */
  readonly keep: (tx: Tx, reply: Reply) => Promise<void>;
}

interface Held {
  readonly tx: Tx;
  readonly ending: PromiseWithResolvers<Reply>;
  readonly done: Promise<void>;
}

const scopes = new AsyncLocalStorage<Scope | undefined>();

/** Runs `run`, and all that it starts, in this scope; `undefined` is none. */
export function inScope<T>(scope: Scope | undefined, run: () => T): T {
  return scopes.run(scope, run);
}

/** The scope of the request under way, as long as it has no answer. */
export function currentScope(): Scope | undefined {
  const scope = scopes.getStore();
  return scope?.isKept() ? undefined : scope;
}

/** A transaction; where the request under way has an Idempotency-Key, the one that its answer is kept in. */
export function requestTransaction<T>(sql: Sql, run: (tx: Tx) => Promise<T>): Promise<T> {
  const scope = currentScope();
  return scope ? scope.transaction(sql, run) : transaction(sql, run);
}

/** Runs `run` once all that the request under way has written is committed: now, or before its answer is sent. */
export async function committed(run: () => void | Promise<void>): Promise<void> {
  if (!currentScope()?.defer(run)) await run();
}

export function createScope({ begin, keep }: Needed): Scope {
  let held: Held | undefined;
  let kept = false;
  let deferred: (() => void | Promise<void>)[] = [];
  let last: Promise<unknown> = Promise.resolve();

  const open = async <T>(sql: Sql, run: (tx: Tx) => Promise<T>): Promise<T> => {
    const opened = Promise.withResolvers<T>();
    const ending = Promise.withResolvers<Reply>();
    ending.promise.catch(() => {}); // the transaction may have ended before the handler fails
    const state: { tx?: Tx } = {};
    const done = transaction(sql, async (tx) => {
      await begin(tx);
      const result = await run(tx);
      state.tx = tx;
      opened.resolve(result);
      await keep(tx, await ending.promise);
      failpoint("idempotency.committing");
    });
    done.catch(opened.reject);
    const result = await opened.promise;
    if (state.tx) held = { tx: state.tx, ending, done };
    return result;
  };
  const runDeferred = async () => {
    const runs = deferred;
    deferred = [];
    await Promise.all(runs.map(async (run) => run()));
  };

  return {
    isKept: () => kept,
    transaction<T>(sql: Sql, run: (tx: Tx) => Promise<T>): Promise<T> {
      // One after another: savepoints side by side would undo each other.
      const mine = last.then(() => (held ? savepoint(held.tx, run) : open(sql, run)));
      last = mine.catch(() => {});
      return mine;
    },
    defer(run) {
      if (held) deferred.push(run);
      return held !== undefined;
    },
    async finish(reply) {
      if (!held) return false;
      const { ending, done } = held;
      held = undefined;
      ending.resolve(reply);
      try {
        await done;
        kept = true;
        failpoint("idempotency.committed");
      } finally {
        // Where the connection was lost nobody knows whether it committed: caches are to be read again either way.
        await runDeferred();
      }
      return true;
    },
    async undo(error) {
      deferred = [];
      held?.ending.reject(error);
      await held?.done.catch(() => {});
      held = undefined;
    },
  };
}
