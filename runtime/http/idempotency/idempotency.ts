/**
 * For 24 hours, the same Idempotency-Key with the same request gives the first answer again. With another request, or
 * if the answer showed a secret, it gives 409.
 *
 * A handler that writes in `transaction` needs no claim: its answer commits together with its write (keyed.ts), and a
 * lock in that transaction blocks a second request. So whatever crashes, both are stored or neither, and the key is
 * free at once. Work that cannot be undone, such as a call to another server, claims the key before it begins.
 */
import type { Queryable, Tx } from "../../db/db.ts";
import { conflict } from "../../base/errors.ts";
import { releaseClaim, takeClaim, type ClaimContext } from "./idempotency-claims.ts";
import * as idempotencyStore from "./idempotency-store.ts";
import type { KeyRow, KeyOwner } from "./idempotency-store.ts";
import { createScope, inScope } from "../../scope/keyed.ts";
import type { Reply } from "../answers/reply.ts";

export interface Idempotency {
  once(request: KeyedRequest, run: () => Promise<Reply>): Promise<Reply>;
}

export interface KeyedRequest extends KeyOwner {
  /** Hash of method, path and body. For a stream, call it after `run`. */
  readonly content: string | (() => Promise<string>);
  /** Claim the key before `run`. Streams always do. */
  readonly claim?: boolean;
}

interface KeyContext extends ClaimContext {
  /** A keyed hash: a body may contain a password, and a plain hash of it could be searched for that. */
  readonly hash: (content: string) => string;
}

type Run = () => Promise<Reply>;

/** Replaces the fingerprint of a stream that has not been read yet. */
const unread = "";

export async function once(ctx: KeyContext, at: KeyedRequest, run: Run): Promise<Reply> {
  const { content } = at;
  const isStream = typeof content !== "string";
  const mark = isStream ? unread : ctx.hash(content);
  const fingerprint = async () => (isStream ? ctx.hash(await content()) : mark);
  const earlier = await idempotencyStore.find(ctx.sql, at);
  if (earlier?.status) return replay(earlier, mark, await fingerprint());
  if (!isStream && !at.claim && !earlier) return inOneTransaction(ctx, at, mark, run);
  const taken = await takeClaim(ctx, at, mark);
  if (typeof taken !== "string") return replay(taken, mark, await fingerprint());
  return claimed(ctx, at, taken, fingerprint, run);
}

/** The handler's transaction locks the key. Without a transaction, the answer is stored afterwards. */
async function inOneTransaction({ sql, log }: KeyContext, at: KeyedRequest, fingerprint: string, run: Run) {
  let earlier: KeyRow | undefined;
  const begin = async (tx: Tx) => {
    await idempotencyStore.lock(tx, at);
    earlier = await idempotencyStore.find(tx, at);
    if (earlier) throw new Error("this Idempotency-Key has an answer"); // the stored answer is sent instead
  };
  const keep = (on: Queryable, reply: Reply) => idempotencyStore.keep(on, at, fingerprint, reply);
  const scope = createScope(begin, keep);
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
    earlier ??= await idempotencyStore.find(sql, at).catch(() => undefined);
    if (earlier) return replay(earlier, fingerprint, fingerprint);
    throw error;
  }
}

async function claimed(
  ctx: KeyContext,
  at: KeyedRequest,
  claim: string,
  fingerprint: () => Promise<string>,
  run: Run,
): Promise<Reply> {
  const keep = async (on: Queryable, reply: Reply) => {
    if (!(await idempotencyStore.answer(on, at, claim, await fingerprint(), reply))) throw conflict(stillRunning);
  };
  const scope = createScope(async () => {}, keep);
  try {
    const reply = await inScope(scope, run);
    if (!(await scope.finish(reply))) await keep(ctx.sql, reply);
    ctx.running.delete(claim);
    return reply;
  } catch (error) {
    await scope.undo(error);
    await releaseClaim(ctx, at, claim); // a refused request changed nothing, so it may be corrected and sent again
    throw error;
  }
}

const stillRunning = "a request with this Idempotency-Key is still running";

/** The first answer. A claim of this request carries `mark`, its answer `fingerprint`. */
function replay(kept: KeyRow, mark: string, fingerprint: string): Reply {
  if (kept.status === null && kept.fingerprint === mark) throw conflict(stillRunning);
  if (kept.status === null || kept.fingerprint !== fingerprint)
    throw conflict("this Idempotency-Key was used with another request");
  if (kept.secret) throw conflict("the answer to this Idempotency-Key showed a secret and was not kept");
  return { status: kept.status, headers: { ...kept.headers, "idempotency-replayed": "true" }, body: kept.body };
}
