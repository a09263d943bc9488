/**
 * The same Idempotency-Key with the same request gives the first answer again for 24 hours; with another request, or
 * where the answer showed a secret, it is 409.
 *
 * A handler that writes in `transaction` needs no claim: its answer commits with its write (keyed.ts), and a lock of
 * that transaction keeps a second request out. So whatever dies, either both are stored or neither, and the key is free
 * at once. What cannot be undone, such as a call of another server, is claimed before it begins.
 */
import type { Queryable, Sql, Tx } from "../db.ts";
import { conflict } from "../errors.ts";
import { createClaims } from "./idempotency-claims.ts";
import { createIdempotencyStore, type Kept, type KeyOwner } from "./idempotency-store.ts";
import { createScope, inScope, type Scope } from "./keyed.ts";
import type { Log } from "../log.ts";
import type { Reply } from "./reply.ts";

export interface Idempotency {
  once(request: KeyedRequest, run: () => Promise<Reply>): Promise<Reply>;
  prune(): Promise<void>;
}

export interface KeyedRequest extends KeyOwner {
  /** Method, path and body; to be asked for after `run` where the body is a stream. */
  readonly content: string | (() => Promise<string>);
  /** Claim the key before `run`. A stream does so always. */
  readonly claim?: boolean;
}

interface Needed {
  readonly sql: Sql;
  readonly log: Log;
  readonly processId: string;
  /** A keyed hash: a body may contain a password, and a plain hash of it could be searched for that. */
  readonly hash: (content: string) => string;
  /** No other process works on this database: what another one has claimed was left by one that died. */
  readonly alone: boolean;
}

/** Stands for the fingerprint of a stream that is not read yet. */
const unread = "";

export function createIdempotency({ sql, log, processId, hash, alone }: Needed): Idempotency {
  const store = createIdempotencyStore(sql);
  const claims = createClaims({ store, log, processId, alone });

  /** The handler's transaction claims the key by a lock. Without a transaction the answer is kept afterwards. */
  const inOneTransaction = async (at: KeyedRequest, fingerprint: string, run: () => Promise<Reply>) => {
    let earlier: Kept | undefined;
    const begin = async (tx: Tx) => {
      await store.lock(tx, at);
      earlier = await store.find(at, tx);
      if (earlier) throw new Error("this Idempotency-Key has an answer"); // which is given instead of this error
    };
    const keep = (on: Queryable, reply: Reply) => store.keep(on, at, fingerprint, reply);
    const scope = createScope({ begin, keep });
    try {
      const reply = await inScope(scope, run);
      if (await scope.finish(reply)) return reply;
      if (!scope.isKept()) await keep(sql, reply);
      // What was kept early is complete only now; where this fails, that first answer stands.
      else await keep(sql, reply).catch((error: unknown) => log.warn("an answer was not completed", { error }));
      return reply;
    } catch (error) {
      await scope.undo(error);
      // Another request was quicker, or only the news of our own commit got lost: then the first answer is there.
      earlier ??= await store.find(at).catch(() => undefined);
      if (earlier) return replay(earlier, fingerprint, fingerprint);
      throw error;
    }
  };

  const claimed = async (
    at: KeyedRequest,
    claim: string,
    fingerprint: () => Promise<string>,
    run: () => Promise<Reply>,
  ) => {
    const keep = async (on: Queryable, reply: Reply) => {
      if (!(await store.answer(on, at, claim, await fingerprint(), reply))) throw conflict(stillRunning);
    };
    const scope: Scope = createScope({ begin: async () => {}, keep });
    try {
      const reply = await inScope(scope, run);
      if (!(await scope.finish(reply))) await keep(sql, reply);
      claims.end(claim);
      return reply;
    } catch (error) {
      await scope.undo(error);
      await claims.release(at, claim); // a refused request changed nothing: it may be mended and sent again
      throw error;
    }
  };

  const once = async (at: KeyedRequest, run: () => Promise<Reply>): Promise<Reply> => {
    const { content } = at;
    const isStream = typeof content !== "string";
    const mark = isStream ? unread : hash(content);
    const fingerprint = async () => (isStream ? hash(await content()) : mark);
    const earlier = await store.find(at);
    if (earlier?.status) return replay(earlier, mark, await fingerprint());
    if (!isStream && !at.claim && !earlier) return inOneTransaction(at, mark, run);
    const taken = await claims.take(at, mark);
    return typeof taken === "string" ? claimed(at, taken, fingerprint, run) : replay(taken, mark, await fingerprint());
  };
  return { once, prune: store.prune };
}

const stillRunning = "a request with this Idempotency-Key is still running";

/** The first answer. `mark` is what a claim of this request would bear, `fingerprint` what its answer does. */
function replay(kept: Kept, mark: string, fingerprint: string): Reply {
  if (kept.status === null && kept.fingerprint === mark) throw conflict(stillRunning);
  if (kept.status === null || kept.fingerprint !== fingerprint)
    throw conflict("this Idempotency-Key was used with another request");
  if (kept.secret) throw conflict("the answer to this Idempotency-Key showed a secret and was not kept");
  return { status: kept.status, headers: { ...kept.headers, "idempotency-replayed": "true" }, body: kept.body };
}
