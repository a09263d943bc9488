/**
 * The writes of a request with an Idempotency-Key commit together with its answer. So such a request's transaction
 * stays open after `run` until the handler has made the answer, which is then stored in it.
 *
 *     const scope = createScope(begin, keep);
 *     const reply = await inScope(scope, handler); // its `transaction` goes through the scope
 *     await scope.finish(reply);
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { failpoint } from "../system/failpoints.ts";
import { savepoint, transaction, type Sql, type Tx } from "../db/db.ts";
import { sayActor } from "./actor.ts";

/** A handler's answer; the runtime adds the common headers and makes the Response. */
export interface Reply {
  readonly status: number;
  readonly body: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** Shows a secret: never stored for an Idempotency-Key. */
  readonly secret?: boolean;
}

export interface Scope {
  /** The request's first transaction commits with the answer; further ones become part of it. */
  transaction<T>(sql: Sql, run: (tx: Tx) => Promise<T>): Promise<T>;
  /** True if something written is not committed yet: `run` is then called after the commit. */
  defer(run: () => void | Promise<void>): boolean;
  /** Commits the writes together with this answer. False if nothing was written since the last call. */
  finish(reply: Reply): Promise<boolean>;
  /** Rolls back uncommitted writes. */
  undo(error: unknown): Promise<void>;
  /** Whether an answer has been committed. */
  readonly isKept: () => boolean;
}

interface OpenReply {
  readonly tx: Tx;
  readonly ending: PromiseWithResolvers<Reply>;
  readonly done: Promise<void>;
}

const scopes = new AsyncLocalStorage<Scope | undefined>();

/** Runs `run`, and everything that it starts, in this scope; undefined = without a scope. */
export function inScope<T>(scope: Scope | undefined, run: () => T): T {
  return scopes.run(scope, run);
}

/** The current request's scope, until it has an answer. */
export function currentScope(): Scope | undefined {
  const scope = scopes.getStore();
  return scope?.isKept() ? undefined : scope;
}

/** Runs a transaction; if the current request has an Idempotency-Key, the one that its answer is stored in. */
export function requestTransaction<T>(sql: Sql, run: (tx: Tx) => Promise<T>): Promise<T> {
  const scope = currentScope();
  return scope ? scope.transaction(sql, run) : transaction(sql, as(run));
}

/** `run` in a transaction that says who makes it. */
function as<T>(run: (tx: Tx) => Promise<T>): (tx: Tx) => Promise<T> {
  return async (tx) => {
    await sayActor(tx);
    return run(tx);
  };
}

/** Runs `run` once everything that the current request has written is committed: now, or before its answer is sent. */
export async function committed(run: () => void | Promise<void>): Promise<void> {
  if (!currentScope()?.defer(run)) await run();
}

/**
 * `begin` runs first in the transaction: an exception ends it and reaches the handler. `keep` runs last in it, and stores
 * the answer.
 */
export function createScope(begin: (tx: Tx) => Promise<void>, keep: (tx: Tx, reply: Reply) => Promise<void>): Scope {
  let held: OpenReply | undefined;
  let kept = false;
  let deferred: (() => void | Promise<void>)[] = [];
  let last: Promise<unknown> = Promise.resolve();

  const open = async <T>(sql: Sql, run: (tx: Tx) => Promise<T>): Promise<T> => {
    const opened = Promise.withResolvers<T>();
    const ending = Promise.withResolvers<Reply>();
    ending.promise.catch(() => {}); // the transaction may have ended before the handler fails
    const state: { tx?: Tx } = {};
    const done = transaction(sql, async (tx) => {
      await sayActor(tx);
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
      // In sequence: concurrent savepoints would undo each other.
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
        // After a lost connection nobody knows whether it committed, so caches must be read again either way.
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
