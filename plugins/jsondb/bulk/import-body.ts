/** The body of an import as text, piece by piece, within bounds of size and time. */
import { badRequest, HttpError, tooLarge, unavailable } from "platform";

export interface BodyLimits {
  readonly maxBytes: number;
  /** The client may be silent for this long, and send for this long in all. */
  readonly idleMs: number;
  readonly totalMs: number;
  /** What the client sends must come at this rate, but for so long as it may be waited for in all beside. */
  readonly minBytesPerSecond: number;
  readonly graceMs: number;
  readonly stopping: AbortSignal;
}

/** 400 invalid UTF-8 or a client that went away, 408 too slow, 413 too large, 503 the server stops. */
export async function* textOf(body: ReadableStream<Uint8Array> | null, limits: BodyLimits): AsyncGenerator<string> {
  if (!body) return;
  // Strips the byte order mark.
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const reader = body.getReader();
  const end = performance.now() + limits.totalMs;
  let bytes = 0;
  // Only what is waited for the client counts, not what its rows take.
  let waitedMs = 0;
  try {
    for (;;) {
      const asked = performance.now();
      const restMs = limits.graceMs + (bytes / limits.minBytesPerSecond) * 1000 - waitedMs;
      const { value, done } = await timely(reader, Math.min(limits.idleMs, restMs, end - asked), limits.stopping);
      waitedMs += performance.now() - asked;
      bytes += value?.byteLength ?? 0;
      if (bytes > limits.maxBytes) throw tooLarge(limits.maxBytes);
      // The pieces of a fast client are large: their rows are handled before the next is asked for.
      const text = decoded(decoder, value, !done);
      if (text !== "") yield text;
      if (done) return;
    }
  } finally {
    // The rest of a refused body is not waited for.
    void reader.cancel().catch(() => {});
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;
type Piece = Awaited<ReturnType<Reader["read"]>>;

async function timely(reader: Reader, ms: number, stopping: AbortSignal): Promise<Piece> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stop: (() => void) | undefined;
  const given = new Promise<never>((_, reject) => {
    // What is in time by now would win every race against a timer.
    if (ms <= 0) reject(tooSlow());
    else timer = setTimeout(() => reject(tooSlow()), ms);
    stop = () => reject(unavailable("the server is stopping, send the import again"));
    stopping.addEventListener("abort", stop);
    if (stopping.aborted) stop();
  });
  const read = reader.read().catch((cause: unknown) => {
    throw Object.assign(badRequest("the body ended before it was complete"), { cause });
  });
  // Whoever loses the race may fail later, when nobody listens any more.
  read.catch(() => {});
  try {
    return await Promise.race([given, read]);
  } finally {
    clearTimeout(timer);
    if (stop) stopping.removeEventListener("abort", stop);
  }
}

const tooSlow = () => new HttpError(408, { error: "the rows arrive too slowly" });

function decoded(decoder: TextDecoder, value: Uint8Array | undefined, more: boolean): string {
  try {
    return decoder.decode(value, { stream: more });
  } catch (cause) {
    throw Object.assign(badRequest("the body is not valid UTF-8"), { cause });
  }
}
