/**
 * Rate limits over all machines of one database. Each machine lets through what its own counts allow, and tells the
 * others what it has let through: several times a second in one NOTIFY, and of a key only once it is a twentieth of its
 * limit. So no request waits for the database, and a key gets at most its limit, and for each further machine a
 * twentieth of it and what that machine lets through in one such interval. Exact limits are counted in the database.
 */
import type { Broadcast } from "../../broadcast/broadcast.ts";
import { sha256 } from "../../base/hash.ts";
import type { LimitResult } from "./rate-limit.ts";
import type { LimitCounting, Limits, LimitUse, UsageMessage } from "./shared-limits.ts";

interface UnsentUse {
  n: number;
  readonly since: number;
}

const topic = "runtime.limits";
const publishMs = 200;
const publishedShare = 1 / 20;
/** Maximum number of keys for one limit; beyond it the oldest is dropped. */
const maxUnsent = 10_000;
/** A message holds less than 8 kB, and a key up to 200 bytes. */
const mostInMessage = 16;

/** `takeExact` counts in the database. */
export function spreadLimits(
  counting: LimitCounting,
  broadcast: Pick<Broadcast, "publish" | "on">,
  processId: string,
  takeExact: (taken: LimitUse) => Promise<LimitResult>,
) {
  let ripe: LimitUse[] = [];
  let number = 0;
  const publishUses = () => {
    const taken = ripe;
    ripe = [];
    for (let at = 0; at < taken.length; at += mostInMessage) {
      const message: UsageMessage = { from: processId, number: ++number, taken: taken.slice(at, at + mostInMessage) };
      broadcast.publish(topic, JSON.stringify({ machine: counting.machine, told: message }));
    }
  };
  broadcast.on(topic, (payload, fromOtherProcess) => {
    const { machine, told }: { machine: string; told: UsageMessage } = JSON.parse(payload);
    if (fromOtherProcess && machine !== counting.machine) counting.hear(told);
  });
  // Begun here and not by a request, whose transaction would keep the message. A command that only describes the server
  // does not wait for it.
  const timer = setInterval(publishUses, publishMs);
  timer.unref();

  const spread: Limits = (name, options) => {
    const { limit, windowSeconds } = options;
    const limiter = counting.limits(name, options);
    const unsent = new Map<string, UnsentUse>();
    const enough = Math.max(1, limit * publishedShare);
    const note = (key: string, n: number) => {
      const now = performance.now();
      const known = unsent.get(key);
      const one = known && now - known.since < windowSeconds * 1000 ? known : { n: 0, since: now };
      one.n += n;
      unsent.delete(key);
      if (Math.abs(one.n) >= enough) ripe.push({ name, limit, windowSeconds, key, n: one.n });
      else unsent.set(key, one);
      if (unsent.size > maxUnsent) unsent.delete(unsent.keys().next().value ?? "");
    };
    return {
      async take(given, n = 1) {
        const key = plain(given);
        const take = await limiter.take(key, n);
        if (take.allowed) note(key, n);
        return take;
      },
    };
  };

  const limits: Limits = (name, options) => {
    if (!options.exact) return spread(name, options);
    return { take: (key, n = 1) => takeExact({ ...options, name, key: plain(key), n }) };
  };
  return { limits, publishUses, stop: () => clearInterval(timer) };
}

/** As it is, or its hash if it would take more room in a message than its length. */
function plain(key: string): string {
  return key.length <= 200 && /^[ !#-[\]-~]*$/.test(key) ? key : sha256(key);
}
