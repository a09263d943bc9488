/** A file as a Blob that is read when its bytes are asked for, as `Bun.file` is. Deno has only Blobs in memory. */
import { createReadStream, statSync } from "node:fs";
import { open } from "node:fs/promises";

/** Bodies up to this size are read at once, so that their answer has a `Content-Length`. */
const wholeBytes = 1_000_000;

export class DiskFile extends Blob {
  readonly #path: string;
  readonly #from: number;
  readonly #to: number;

  constructor(path: string, from = 0, to = Infinity, type = "") {
    super([], { type });
    this.#path = path;
    this.#from = from;
    this.#to = to;
  }

  override get size(): number {
    const { size = 0 } = statSync(this.#path, { throwIfNoEntry: false }) ?? {};
    return Math.max(0, Math.min(this.#to, size) - this.#from);
  }

  override slice(from = 0, to = this.size, type = ""): DiskFile {
    return new DiskFile(this.#path, this.#from + from, Math.min(this.#to, this.#from + to), type);
  }

  override async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    const file = await open(this.#path);
    try {
      const bytes = new Uint8Array(this.size);
      for (let at = 0; at < bytes.length;) {
        const { bytesRead } = await file.read(bytes, at, bytes.length - at, this.#from + at);
        if (bytesRead === 0) return bytes.slice(0, at); // it has become shorter
        at += bytesRead;
      }
      return bytes;
    } finally {
      await file.close();
    }
  }

  override async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.bytes()).buffer;
  }

  override async text(): Promise<string> {
    return new TextDecoder().decode(await this.bytes());
  }

  override stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return streamOf(this.#path, this.#from, this.#to);
  }
}

/** Deno sends what a Blob holds itself, and a DiskFile holds nothing. */
export async function bodyOf(file: Blob): Promise<Blob | ReadableStream<Uint8Array>> {
  return file.size > wholeBytes ? file.stream() : new Blob([await file.bytes()], { type: file.type });
}

function streamOf(path: string, start: number, end: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunks: AsyncIterator<Uint8Array<ArrayBuffer>> =
    end <= start ? empty() : createReadStream(path, { start, end: end - 1 })[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const next = await chunks.next();
      if (next.done) controller.close();
      else controller.enqueue(new Uint8Array(next.value));
    },
    async cancel() {
      await chunks.return?.();
    },
  });
}

async function* empty(): AsyncGenerator<Uint8Array<ArrayBuffer>> {}
