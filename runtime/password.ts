/**
 * Passwords at rest: argon2id, with the cost that OWASP recommends. At most two are computed at a time: each takes
 * 19 MB, and a crowd of sign-ins must leave the processor to the other requests.
 */
import { unavailable } from "./errors.ts";

const cost = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;
const atOnce = 2;
const mostWaiting = 200;

let running = 0;
const waiting: (() => void)[] = [];
let nobodys: Promise<string> | undefined;

export function hashPassword(password: string): Promise<string> {
  return inTurn(() => Bun.password.hash(password, cost));
}

/** Whether `hash` is of `password`. Without a hash (nobody has this login) it costs the same time and is false. */
export async function verifyPassword(password: string, hash: string | null | undefined): Promise<boolean> {
  const against = hash ?? (await (nobodys ??= hashPassword(crypto.randomUUID())));
  const matches = await inTurn(() => Bun.password.verify(password, against));
  return matches && hash !== null && hash !== undefined;
}

/** Throws the 503 where too many wait already. */
async function inTurn<T>(run: () => Promise<T>): Promise<T> {
  if (running >= atOnce) {
    if (waiting.length >= mostWaiting) throw unavailable("too many people sign in at once, try again");
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else running++;
  try {
    return await run();
  } finally {
    // The turn is handed over, or given back.
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}
