/**
 * Claims rows of a queue. One claim is under way at a time and asks for all lanes that may have something due, so the
 * busier this process is, the larger its batches.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../system/log.ts";

interface Options<Claim, Row> {
  /** What the rows are called in the log. */
  readonly what: string;
  readonly log: Log;
  /** What to ask for now, if anything. */
  readonly choose: () => readonly Claim[];
  readonly claim: (claims: readonly Claim[]) => PromiseLike<readonly Row[]>;
  readonly took: (rows: readonly Row[], claims: readonly Claim[]) => void;
  readonly failed: (claims: readonly Claim[]) => void;
}

const pauseAfterErrorMs = 500;

export function createClaims<Claim, Row>({ what, log, choose, claim, took, failed }: Options<Claim, Row>) {
  let underWay = false;
  let queued = false;

  const now = async (): Promise<void> => {
    queued = false;
    if (underWay) return;
    const claims = choose();
    if (claims.length === 0) return;
    underWay = true;
    try {
      took(await claim(claims), claims);
    } catch (error) {
      log.warn(`claiming ${what} failed, trying again`, { error });
      failed(claims);
      await sleep(pauseAfterErrorMs);
    }
    underWay = false;
    soon();
  };
  const soon = (): void => {
    if (queued || underWay) return;
    queued = true;
    setImmediate(() => void now());
  };

  return {
    now: (): void => void now(),
    /** What happens in the same tick causes one claim. */
    soon,
    underWay: () => underWay,
  };
}
