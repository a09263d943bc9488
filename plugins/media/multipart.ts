/** An upload as a browser's form sends it (RFC 7578): the file goes piece by piece to a draft, fields are kept. */
import { badRequest, HttpError, invalid, tooLarge, unavailable, unsupportedType, type Draft } from "platform";

interface Uploaded {
  /** As the client names it. */
  readonly fileName: string;
  /** Field to value; one that is sent twice has its last value. */
  readonly fields: Readonly<Record<string, string>>;
  /** The first bytes of the file, at most as many as were wanted. */
  readonly head: Uint8Array;
  readonly size: number;
}

interface UploadLimits {
  /** Of the file. */
  readonly maxBytes: number;
  readonly headBytes: number;
  readonly stopping: AbortSignal;
}

const maxFieldBytes = 20_000;
const maxParts = 20;

/** 400 a body that is broken or ends too early, 413 too large, 415 no form, 422 no file or several, 503 the server stops. */
export async function readUpload(request: Request, draft: Draft, limits: UploadLimits): Promise<Uploaded> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^multipart\/form-data\s?;/i.test(type) || !request.body)
    throw unsupportedType("send multipart/form-data with a field `file`");
  const parts = await createParts(type, limits);
  for await (const chunk of pieces(request.body, limits.stopping)) {
    for (const bytes of parts.take(chunk)) await draft.write(bytes);
  }
  for (const bytes of parts.end()) await draft.write(bytes);
  return parts.result();
}

/** What the client sends. A connection that breaks is a bad request of a client that no longer hears of it. */
async function* pieces(body: ReadableStream<Uint8Array>, stopping: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      if (stopping.aborted) throw unavailable("the server is stopping, send the file again");
      const { value, done } = await reader.read().catch((cause: unknown) => {
        throw Object.assign(badRequest("the body ended before it was complete"), { cause });
      });
      if (done) return;
      yield value;
    }
  } finally {
    // Nobody waits for the rest of a refused body.
    void reader.cancel().catch(() => {});
  }
}

async function createParts(contentType: string, { maxBytes, headBytes }: UploadLimits) {
  const { decodeField, make } = await import("multipasta");
  const fields: Record<string, string> = {};
  let fault: HttpError | undefined;
  let waiting: Uint8Array[] = [];
  let head = new Uint8Array();
  let size = 0;
  let fileName: string | undefined;

  const receive = (chunk: Uint8Array | null): void => {
    if (!chunk) return;
    size += chunk.length;
    if (size > maxBytes) fault ??= tooLarge(maxBytes);
    if (head.length < headBytes) head = joined(head, chunk.subarray(0, headBytes - head.length));
    // The parser goes on with its buffer.
    waiting.push(chunk);
  };
  const parser = make({
    headers: { "content-type": contentType },
    maxParts,
    maxFieldSize: maxFieldBytes,
    isFile: ({ headers }) => {
      const { name, fileName: given } = partOf(headers);
      return given !== undefined || name === "file";
    },
    onFile: ({ headers }) => {
      const { name, fileName: given = "" } = partOf(headers);
      if (name !== "file") fault ??= invalid({ [name || "file"]: ["send the file as the field `file`"] });
      else if (fileName !== undefined) fault ??= invalid({ file: ["send one file at a time"] });
      fileName ??= given;
      return receive;
    },
    onField: (info, value) => {
      fields[partOf(info.headers).name] = decodeField(info, value);
    },
    onError: ({ _tag: tag }) => {
      fault ??= tag === "ReachedLimit" ? tooLarge(maxFieldBytes) : badRequest(`the form cannot be read (${tag})`);
    },
    onDone: () => {},
  });
  const given = (): Uint8Array[] => {
    if (fault) throw fault;
    const ready = waiting;
    waiting = [];
    return ready;
  };
  return {
    take(chunk: Uint8Array): Uint8Array[] {
      try {
        parser.write(chunk);
      } catch (cause) {
        if (!(cause instanceof URIError)) throw cause;
        throw Object.assign(badRequest("the form cannot be read (filename*)"), { cause });
      }
      return given();
    },
    end(): Uint8Array[] {
      parser.end();
      return given();
    },
    result(): Uploaded {
      if (fileName === undefined) throw invalid({ file: ["is required"] });
      return { fileName, fields, head, size };
    },
  };
}

/** The package reads names of Latin 1 only. */
function partOf(headers: Readonly<Record<string, string | readonly string[]>>): Disposition {
  return dispositionOf(String(headers["content-disposition"] ?? ""));
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return whole;
}

interface Disposition {
  /** Of the field; "" if the header names none. */
  readonly name: string;
  /** Undefined for a field that is no file. */
  readonly fileName: string | undefined;
}

/** `filename*` (RFC 8187) goes before `filename`. Throws a URIError if it is not encoded as it says. */
export function dispositionOf(header: string): Disposition {
  const parameters = new Map<string, string>();
  let at = header.indexOf(";");
  while (at >= 0) {
    const equals = header.indexOf("=", at);
    if (equals < 0) break;
    const { value, end } = valueAt(header, equals + 1);
    parameters.set(
      header
        .slice(at + 1, equals)
        .trim()
        .toLowerCase(),
      value,
    );
    at = header.indexOf(";", end);
  }
  const [charset, , encoded] = parameters.get("filename*")?.split("'") ?? [];
  const extended =
    charset?.toLowerCase() === "utf-8" && encoded !== undefined ? decodeURIComponent(encoded) : undefined;
  return { name: parameters.get("name") ?? "", fileName: extended ?? parameters.get("filename") };
}

/** A word, or a text in quotes, in which only a quote is escaped: old browsers send whole paths with their backslashes. */
function valueAt(header: string, start: number): { value: string; end: number } {
  let from = start;
  while (header[from] === " ") from++;
  if (header[from] !== '"') {
    const semicolon = header.indexOf(";", from);
    const end = semicolon < 0 ? header.length : semicolon;
    return { value: header.slice(from, end).trim(), end };
  }
  let value = "";
  for (let at = from + 1; at < header.length; at++) {
    const isEscaped = header[at] === "\\" && header[at + 1] === '"';
    if (header[at] === '"') return { value, end: at + 1 };
    value += isEscaped ? '"' : header[at];
    if (isEscaped) at++;
  }
  return { value, end: header.length };
}
