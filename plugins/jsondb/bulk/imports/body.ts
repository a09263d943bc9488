/** The body of an import, piece by piece, within bounds of size and time. */
import { badRequest, HttpError, tooLarge, unavailable, tooMany, type BaseContext } from "platform";

export interface BodyLimits {
  readonly maxBytes: number;
  /** How long the client may be silent at a time, and how long it may send in all. */
  readonly idleMs: number;
  readonly totalMs: number;
  /** Asked for even if no other import waits. */
  readonly pace: Pace;
  readonly stopping: AbortSignal;
}

export function bodyLimits({ maxImportBytes, stopping }: Pick<BaseContext, "maxImportBytes" | "stopping">): BodyLimits {
  return {
    maxBytes: maxImportBytes,
    idleMs: 60_000,
    totalMs: 3_600_000,
    pace: { minBytesPerSecond: 16_000, graceMs: 20_000 },
    stopping,
  };
}

/** 400 a client that went away, 408 too slow, 413 too large, 503 the server stops. */
export async function* bytesOf(
  body: ReadableStream<Uint8Array> | null,
  place: ImportPlace,
  { maxBytes, idleMs, totalMs, pace, stopping }: BodyLimits,
): AsyncGenerator<Uint8Array> {
  if (!body) return;
  const reader = body.getReader();
  const end = performance.now() + totalMs;
  try {
    for (;;) {
      place.waits();
      const ms = Math.min(idleMs, place.restMs(pace), end - performance.now());
      const { value, done } = await timely(reader, ms, [stopping, place.lost]);
      if (place.receives(value?.byteLength ?? 0) > maxBytes) throw tooLarge(maxBytes);
      if (done) place.isComplete();
      // The pieces of a fast client are large: their rows are handled before the next is asked for.
      if (value) yield value;
      if (done) return;
    }
  } finally {
    // Nobody waits for the rest of a refused body.
    void reader.cancel().catch(() => {});
  }
}

/** The body as text in UTF-8; 400 if it is none. */
export function textOf(...body: Parameters<typeof bytesOf>): AsyncGenerator<string> {
  return decodedAs("utf-8", bytesOf(...body));
}

/** Strips the byte order mark; 400 if the bytes are not in this encoding. */
export async function* decodedAs(encoding: string, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  for await (const piece of pieces) {
    const text = decoded(decoder, piece, true);
    if (text !== "") yield text;
  }
  const end = decoded(decoder, undefined, false);
  if (end !== "") yield end;
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;
type Piece = Awaited<ReturnType<Reader["read"]>>;

/** The next piece, unless the client takes longer than `ms` or one of the signals, each with its error, comes first. */
async function timely(reader: Reader, ms: number, signals: readonly AbortSignal[]): Promise<Piece> {
  const given = Promise.withResolvers<never>();
  // A piece that is there already would win every race against a timer.
  const timer = ms > 0 ? setTimeout(() => given.reject(tooSlow()), ms) : given.reject(tooSlow());
  const stop = () => given.reject(refusalOf(signals.find(({ aborted }) => aborted)));
  for (const signal of signals) signal.addEventListener("abort", stop);
  if (signals.some(({ aborted }) => aborted)) stop();
  const read = reader.read().catch((cause: unknown) => {
    throw Object.assign(badRequest("the body ended before it was complete"), { cause });
  });
  // The one that loses the race may fail later, when nobody listens any more.
  read.catch(() => {});
  given.promise.catch(() => {});
  try {
    return await Promise.race([given.promise, read]);
  } finally {
    if (timer) clearTimeout(timer);
    for (const signal of signals) signal.removeEventListener("abort", stop);
  }
}

/** A place that is lost says why. */
function refusalOf(signal: AbortSignal | undefined): HttpError {
  return signal?.reason instanceof HttpError
    ? signal.reason
    : unavailable("the server is stopping, send the import again");
}

const tooSlow = () => new HttpError(408, { error: "the rows arrive too slowly" });

function decoded(decoder: TextDecoder, value: Uint8Array | undefined, more: boolean): string {
  try {
    return decoder.decode(value, { stream: more });
  } catch (cause) {
    const name = decoder.encoding === "utf-8" ? "UTF-8" : decoder.encoding;
    throw Object.assign(badRequest(`the body is not valid ${name}`), { cause });
  }
}

// Few imports run at once. While a place is free, a slow client may take its time. When all are taken, a new import
// gets the place of the one that is furthest behind the pace that is asked for then: sending slowly must not keep
// others out. The bound follows from the pace: nobody keeps a place from others for longer than the grace and the time
// that the largest import takes at that pace.

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

export type ImportPlaces = ReturnType<typeof createImportPlaces>;

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
