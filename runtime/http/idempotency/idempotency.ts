/**
 * For 24 hours, the same Idempotency-Key with the same request gives the first answer again. With another request, or
 * if the answer showed a secret, it gives 409.
 *
 * A handler that writes in `transaction` needs no claim: its answer commits together with its write (keyed.ts), and a
 * lock in that transaction blocks a second request. So whatever crashes, both are stored or neither, and the key is
 * free at once. Work that cannot be undone, such as a call to another server, claims the key before it begins.
 */
import type { Queryable, Sql, Tx } from "../../db/db.ts";
import { conflict } from "../../base/errors.ts";
import { createClaims } from "./idempotency-claims.ts";
import { createIdempotencyStore, type Kept, type KeyOwner } from "./idempotency-store.ts";
import { createScope, inScope, type Scope } from "../../scope/keyed.ts";
import type { Log } from "../../system/log.ts";
import type { Peers } from "../../db/peers-store.ts";
import type { Reply } from "../answers/reply.ts";

export interface Idempotency {
  once(request: KeyedRequest, run: () => Promise<Reply>): Promise<Reply>;
  prune(): Promise<void>;
}

export interface KeyedRequest extends KeyOwner {
  /** Hash of method, path and body. For a stream, call it after `run`. */
  readonly content: string | (() => Promise<string>);
  /** Claim the key before `run`. Streams always do. */
  readonly claim?: boolean;
}

interface Needed {
  readonly sql: Sql;
  readonly log: Log;
  readonly peers: Peers;
  /** A keyed hash: a body may contain a password, and a plain hash of it could be searched for that. */
  readonly hash: (content: string) => string;
}

/** Replaces the fingerprint of a stream that has not been read yet. */
const unread = "";

export function createIdempotency({ sql, log, peers, hash }: Needed): Idempotency {
  const store = createIdempotencyStore(sql);
  const claims = createClaims({ store, log, peers });

  /** The handler's transaction locks the key. Without a transaction, the answer is stored afterwards. */
  const inOneTransaction = async (at: KeyedRequest, fingerprint: string, run: () => Promise<Reply>) => {
    let earlier: Kept | undefined;
    const begin = async (tx: Tx) => {
      await store.lock(tx, at);
      earlier = await store.find(at, tx);
      if (earlier) throw new Error("this Idempotency-Key has an answer"); // the stored answer is sent instead
    };
    const keep = (on: Queryable, reply: Reply) => store.keep(on, at, fingerprint, reply);
    const scope = createScope({ begin, keep });
    try {
      const reply = await inScope(scope, run);
      if (await scope.finish(reply)) return reply;
      if (!scope.isKept()) await keep(sql, reply);
      // The answer stored early is complete only now; if this fails, the early one stands.
      else await keep(sql, reply).catch((error: unknown) => log.warn("an answer was not completed", { error }));
      return reply;
    } catch (error) {
      await scope.undo(error);
      // Another request was faster, or the confirmation of our own commit was lost: the first answer is stored.
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
      await claims.release(at, claim); // a refused request changed nothing, so it may be corrected and sent again
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

/** The first answer. A claim of this request carries `mark`, its answer `fingerprint`. */
function replay(kept: Kept, mark: string, fingerprint: string): Reply {
  if (kept.status === null && kept.fingerprint === mark) throw conflict(stillRunning);
  if (kept.status === null || kept.fingerprint !== fingerprint)
    throw conflict("this Idempotency-Key was used with another request");
  if (kept.secret) throw conflict("the answer to this Idempotency-Key showed a secret and was not kept");
  return { status: kept.status, headers: { ...kept.headers, "idempotency-replayed": "true" }, body: kept.body };
}
