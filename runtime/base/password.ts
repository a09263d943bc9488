/**
 * Hashes passwords with argon2id at the cost that OWASP recommends. At most two are computed at a time: each takes 19
 * MB, and many sign-ins at once must leave processor time for other requests.
 */
import { host } from "#host";
import { unavailable } from "./errors.ts";

const cost = { memoryCost: 19_456, timeCost: 2 };
const atOnce = 2;
const mostWaiting = 200;

let running = 0;
const waiting: (() => void)[] = [];
let nobodys: Promise<string> | undefined;

export function hashPassword(password: string): Promise<string> {
  return inTurn(() => host.hashPassword(password, cost));
}

/** Whether `hash` is that of `password`. Without a hash (unknown login) the answer is false and takes the same time. */
export async function verifyPassword(password: string, hash: string | null | undefined): Promise<boolean> {
  const against = hash ?? (await (nobodys ??= hashPassword(crypto.randomUUID())));
  const matches = await inTurn(() => host.verifyPassword(password, against));
  return matches && hash !== null && hash !== undefined;
}

/** Throws a 503 if too many are waiting already. */
async function inTurn<T>(run: () => Promise<T>): Promise<T> {
  if (running >= atOnce) {
    if (waiting.length >= mostWaiting) throw unavailable("too many people sign in at once, try again");
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else running++;
  try {
    return await run();
  } finally {
    // Hands the turn to the next caller, or returns it.
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}
