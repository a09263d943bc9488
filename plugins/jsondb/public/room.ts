/**
 * How much visitors may store: a number of bytes per day and address, and nothing in a database that is full.
 *
 * Measuring a database reads all its records, so each process measures it once and then adds up what it writes itself.
 * It measures again when its sum says that the database is full, and after every tenth of the limit that it has added:
 * with several processes a database exceeds its limit by at most a tenth for each of them.
 */
import { HttpError, limitKey, tooMany, type BaseContext } from "platform";
import type { Database } from "../databases/database.ts";
import { bytesOf } from "./room-store.ts";

export interface RoomSettings {
  readonly visitorBytesPerDatabase: number;
  readonly visitorBytesPerAddress: number;
}

type RoomContext = Pick<BaseContext, "limiter" | "sql"> & { readonly config: RoomSettings };

interface Known {
  bytes: number;
  /** What this process has added since it measured. */
  added: number;
  /** When it was last measured. */
  at: number;
  measuring: Promise<void> | undefined;
}

export type Room = ReturnType<typeof createRoom>;

const daySeconds = 86_400;
/** A full database is not measured more often than this: reading a gigabyte takes a second. */
const restMs = 10_000;
const maxKnown = 10_000;
const unknown: Known = { bytes: 0, added: 0, at: Number.NEGATIVE_INFINITY, measuring: undefined };

export function createRoom(ctx: RoomContext) {
  const { visitorBytesPerDatabase: perDatabase, visitorBytesPerAddress: perAddress } = ctx.config;
  const addresses = ctx.limiter("jsondb.stored", { limit: perAddress, windowSeconds: daySeconds });
  const databases = new Map<string, Known>();

  const knownOf = (db: Database): Known => {
    const known = databases.get(db.id) ?? { ...unknown };
    if (databases.size >= maxKnown && !databases.has(db.id)) databases.clear();
    databases.set(db.id, known);
    return known;
  };

  const measure = (db: Database, known: Known): Promise<void> =>
    (known.measuring ??= bytesOf(ctx.sql, db)
      .then((bytes) => {
        known.bytes = bytes;
        known.added = 0;
        known.at = performance.now();
      })
      .finally(() => (known.measuring = undefined)));

  /** 429 for an address that has stored its share of the day. What `store` refuses counts no longer. */
  const ofAddress = async <T>(ip: string, bytes: number, store: () => Promise<T>): Promise<T> => {
    if (bytes > perAddress) throw full(`a visitor may store at most ${perAddress} bytes a day`);
    const { allowed, retryAfterSeconds } = await addresses.take(limitKey(ip), bytes);
    if (!allowed) throw tooMany(retryAfterSeconds);
    try {
      return await store();
    } catch (error) {
      await addresses.take(limitKey(ip), -bytes);
      throw error;
    }
  };

  return {
    ofAddress,

    /** Stores `bytes` of a visitor: 413 if the database is full, 429 as above. */
    async store<T>(db: Database, ip: string, bytes: number, write: () => Promise<T>): Promise<T> {
      const known = knownOf(db);
      const isFull = () => known.bytes + bytes > perDatabase;
      const isStale = known.at === Number.NEGATIVE_INFINITY || known.added > perDatabase / 10;
      if (isStale || (isFull() && performance.now() - known.at > restMs)) await measure(db, known);
      if (isFull()) throw full(`this database is full: visitors may store at most ${perDatabase} bytes in it`);
      return ofAddress(ip, bytes, async () => {
        known.bytes += bytes;
        known.added += bytes;
        try {
          return await write();
        } catch (error) {
          known.bytes -= bytes;
          throw error;
        }
      });
    },
  };
}

function full(error: string): HttpError {
  return new HttpError(413, { error });
}
