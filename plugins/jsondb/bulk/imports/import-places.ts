/**
 * Few imports run at once. While a place is free, a slow client may take its time. When all are taken, a new import
 * gets the place of the one that is furthest behind the pace that is asked for then: sending slowly must not keep
 * others out. The bound follows from the pace: nobody keeps a place from others for longer than the grace and the time
 * that the largest import takes at that pace.
 */
import { HttpError, tooMany } from "platform";

/** The client must send at this rate, after a grace for all of its pauses together. */
export interface Pace {
  readonly minBytesPerSecond: number;
  readonly graceMs: number;
}

export interface ImportPlace {
  /** From here on the client is being waited for. */
  waits(): void;
  /** It has sent so many bytes; gives back how many those are in all. */
  receives(bytes: number): number;
  /** All has arrived: what remains is the server's own work, and counts against nobody. */
  isComplete(): void;
  /** How long the client may be waited for at this pace; negative if it has taken longer. */
  restMs(pace: Pace): number;
  /** Aborted, with the error to answer, when the place goes to another import. */
  readonly lost: AbortSignal;
  leave(): void;
}

const retryAfterSeconds = 10;

export function createImportPlaces({
  most = 10,
  paceWhenFull = { minBytesPerSecond: 500_000, graceMs: 20_000 },
  now = () => performance.now(),
} = {}) {
  const taken = new Set<ImportPlace & { lose(): void }>();

  const makeRoom = () => {
    const late = [...taken].map((place) => ({ place, restMs: place.restMs(paceWhenFull) }));
    const [slowest] = late.toSorted((a, b) => a.restMs - b.restMs);
    if (!slowest || slowest.restMs >= 0) throw tooMany(retryAfterSeconds);
    slowest.place.lose();
  };

  return {
    /** 429 if every place is taken, and each import there keeps the pace. */
    take(): ImportPlace {
      if (taken.size >= most) makeRoom();
      const lost = new AbortController();
      const leave = () => void taken.delete(place);
      const lose = () => {
        leave();
        lost.abort(gaveWay());
      };
      const place = { ...createMeter(now), lost: lost.signal, leave, lose };
      taken.add(place);
      return place;
    },
  };
}

const gaveWay = () =>
  new HttpError(408, { error: "the rows arrive too slowly while other imports wait: send them again later" });

/** Only waiting for the client counts, not what the server does with its rows. */
function createMeter(now: () => number) {
  let bytes = 0;
  let waitedMs = 0;
  let since: number | undefined;
  let complete = false;
  const waited = () => waitedMs + (since === undefined ? 0 : now() - since);
  return {
    waits() {
      since = now();
    },
    receives(more: number) {
      waitedMs = waited();
      since = undefined;
      return (bytes += more);
    },
    isComplete() {
      complete = true;
    },
    restMs({ minBytesPerSecond, graceMs }: Pace) {
      return complete ? Infinity : graceMs + (bytes / minBytesPerSecond) * 1000 - waited();
    },
  };
}
