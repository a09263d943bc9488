/**
 * How much visitors may store: so many bytes a day from one address, and none where a database is full. What is written
 * is added up here; the database itself is measured at first, and again where the sum says that it is full.
 */
import { HttpError, limitKey, tooMany, type BaseContext } from "platform";
import type { Database } from "../databases/database.ts";
import type { RoomStore } from "./room-store.ts";

export interface RoomSettings {
  readonly visitorBytesPerDatabase: number;
  readonly visitorBytesPerAddress: number;
}

interface Needed {
  readonly ctx: Pick<BaseContext, "limiter"> & { readonly config: RoomSettings };
  readonly roomStore: RoomStore;
}

interface Known {
  bytes: number;
  /** When it was last measured. */
  at: number;
  measuring: Promise<void> | undefined;
}

export type Room = ReturnType<typeof createRoom>;

const daySeconds = 86_400;
/** A full database is measured no more often: to look at a gigabyte takes a second. */
const restMs = 10_000;
const maxKnown = 10_000;

export function createRoom({ ctx, roomStore }: Needed) {
  const { visitorBytesPerDatabase: perDatabase, visitorBytesPerAddress: perAddress } = ctx.config;
  const addresses = ctx.limiter("jsondb.stored", { limit: perAddress, windowSeconds: daySeconds });
  const databases = new Map<string, Known>();

  const knownOf = (db: Database): Known => {
    const known = databases.get(db.id) ?? { bytes: 0, at: Number.NEGATIVE_INFINITY, measuring: undefined };
    if (databases.size >= maxKnown && !databases.has(db.id)) databases.clear();
    databases.set(db.id, known);
    return known;
  };

  const measure = (db: Database, known: Known): Promise<void> =>
    (known.measuring ??= roomStore
      .bytesOf(db)
      .then((bytes) => {
        known.bytes = bytes;
        known.at = performance.now();
      })
      .finally(() => (known.measuring = undefined)));

  /** 429 for an address that has stored its share of today. */
  const takeAddress = async (ip: string, bytes: number): Promise<void> => {
    if (bytes > perAddress) throw full(`a visitor may store at most ${perAddress} bytes a day`);
    const { allowed, retryAfterSeconds } = await addresses.take(limitKey(ip), bytes);
    if (!allowed) throw tooMany(retryAfterSeconds);
  };

  return {
    takeAddress,

    /** Before a visitor stores so many bytes: 413 where the database is full, 429 as above. */
    async take(db: Database, ip: string, bytes: number): Promise<void> {
      const known = knownOf(db);
      const isFull = () => known.bytes + bytes > perDatabase;
      const isNew = known.at === Number.NEGATIVE_INFINITY;
      if (isNew || (isFull() && performance.now() - known.at > restMs)) await measure(db, known);
      if (isFull()) throw full(`this database takes at most ${perDatabase} bytes from visitors, and is full`);
      await takeAddress(ip, bytes);
      known.bytes += bytes;
    },
  };
}

function full(error: string): HttpError {
  return new HttpError(413, { error });
}
