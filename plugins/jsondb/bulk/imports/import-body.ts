/** The body of an import as text, piece by piece, within bounds of size and time. */
import { badRequest, HttpError, tooLarge, unavailable } from "platform";
import type { ImportPlace, Pace } from "./import-places.ts";

export interface BodyLimits {
  readonly maxBytes: number;
  /** How long the client may be silent at a time, and how long it may send in all. */
  readonly idleMs: number;
  readonly totalMs: number;
  /** Asked for even if no other import waits. */
  readonly pace: Pace;
  readonly stopping: AbortSignal;
}

/** 400 invalid UTF-8 or a client that went away, 408 too slow, 413 too large, 503 the server stops. */
export async function* textOf(
  body: ReadableStream<Uint8Array> | null,
  place: ImportPlace,
  { maxBytes, idleMs, totalMs, pace, stopping }: BodyLimits,
): AsyncGenerator<string> {
  if (!body) return;
  // Strips the byte order mark.
  const decoder = new TextDecoder("utf-8", { fatal: true });
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
      const text = decoded(decoder, value, !done);
      if (text !== "") yield text;
      if (done) return;
    }
  } finally {
    // Nobody waits for the rest of a refused body.
    void reader.cancel().catch(() => {});
  }
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
    throw Object.assign(badRequest("the body is not valid UTF-8"), { cause });
  }
}
