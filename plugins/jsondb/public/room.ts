/**
 * How much visitors may store: a number of bytes per day and address, and nothing in a database that is full.
 *
 * Measuring a database reads all its records, so each process measures it once and then adds up what it writes itself.
 * It measures again when its sum says that the database is full, and after every tenth of the limit that it has added:
 * with several processes a database exceeds its limit by at most a tenth for each of them.
 */
import { HttpError, limitKey, tooMany, type BaseContext } from "platform";
import type { Database } from "../databases/database.ts";
import { bytesOf } from "../databases/store.ts";

/** The room of visitors, as far as this process knows it. */
interface Room {
  readonly addresses: ReturnType<BaseContext["limiter"]>;
  readonly databases: Map<string, Known>;
}

export interface RoomContext extends Pick<BaseContext, "sql"> {
  readonly config: { readonly visitorBytesPerDatabase: number; readonly visitorBytesPerAddress: number };
  readonly visitors: Room;
}

interface Known {
  bytes: number;
  /** The bytes that this process has added since it measured. */
  added: number;
  /** When it was last measured. */
  at: number;
  measuring: Promise<void> | undefined;
}

const daySeconds = 86_400;
/** A full database is not measured more often than this: reading a gigabyte takes a second. */
const restMs = 10_000;
const maxKnown = 10_000;
const unknown: Known = { bytes: 0, added: 0, at: Number.NEGATIVE_INFINITY, measuring: undefined };

export function visitorsRoom(limiter: BaseContext["limiter"], bytesPerAddress: number): Room {
  const addresses = limiter("jsondb.stored", { limit: bytesPerAddress, windowSeconds: daySeconds });
  return { addresses, databases: new Map() };
}

/** Stores `bytes` of a visitor: 413 if the database is full, 429 as `storeOf`. */
export async function store<T>(
  ctx: RoomContext,
  db: Database,
  ip: string,
  bytes: number,
  write: () => Promise<T>,
): Promise<T> {
  const { visitorBytesPerDatabase: most } = ctx.config;
  const known = knownOf(ctx.visitors, db);
  const isFull = () => known.bytes + bytes > most;
  const isStale = known.at === Number.NEGATIVE_INFINITY || known.added > most / 10;
  if (isStale || (isFull() && performance.now() - known.at > restMs)) await measure(ctx, db, known);
  if (isFull()) throw full(`this database is full: visitors may store at most ${most} bytes in it`);
  return storeOf(ctx, ip, bytes, async () => {
    known.bytes += bytes;
    known.added += bytes;
    try {
      return await write();
    } catch (error) {
      known.bytes -= bytes;
      throw error;
    }
  });
}

/** 429 for an address that has stored its share of the day. What `write` refuses counts no longer. */
export async function storeOf<T>(
  { config, visitors: { addresses } }: RoomContext,
  ip: string,
  bytes: number,
  write: () => Promise<T>,
): Promise<T> {
  const { visitorBytesPerAddress: most } = config;
  if (bytes > most) throw full(`a visitor may store at most ${most} bytes a day`);
  const { allowed, retryAfterSeconds } = await addresses.take(limitKey(ip), bytes);
  if (!allowed) throw tooMany(retryAfterSeconds);
  try {
    return await write();
  } catch (error) {
    await addresses.take(limitKey(ip), -bytes);
    throw error;
  }
}

function knownOf({ databases }: Room, db: Database): Known {
  const known = databases.get(db.id) ?? { ...unknown };
  if (databases.size >= maxKnown && !databases.has(db.id)) databases.clear();
  databases.set(db.id, known);
  return known;
}

function measure({ sql }: RoomContext, db: Database, known: Known): Promise<void> {
  known.measuring ??= bytesOf(sql, db)
    .then((bytes) => {
      known.bytes = bytes;
      known.added = 0;
      known.at = performance.now();
    })
    .finally(() => (known.measuring = undefined));
  return known.measuring;
}

function full(error: string): HttpError {
  return new HttpError(413, { error });
}
