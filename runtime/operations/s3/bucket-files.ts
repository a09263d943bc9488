/**
 * Files of plugins in a bucket (FILES_BUCKET). Drafts are on this machine until they are kept. Contents that were stored
 * here before are still found, so a server can be switched over at any time.
 */
import { unavailable } from "../../base/errors.ts";
import type { Log } from "../../system/log.ts";
import { OutboundFault } from "../../outbound/outbound.ts";
import { S3Fault } from "./retry.ts";
import type { Bucket } from "./s3.ts";
import { isHash, type Content, type Draft, type Files } from "../../files/files.ts";

/** Parts up to this size are read at once, so that their answer has a `Content-Length`. */
const wholeBytes = 1_000_000;

/** `prefix` ends with a slash; `local` has drafts, and contents from before. */
export function filesInBucket(bucket: Bucket, prefix: string, local: Files, log: Log): Files {
  const keyOf = (hash: string): string => {
    if (!isHash(hash)) throw new Error("not a SHA-256");
    return `${prefix}${hash.slice(0, 2)}/${hash}`;
  };
  const logged = createFailureLog(log);
  const sent = (draft: Draft) => uploading(draft, (hash, whole) => logged(() => upload(bucket, keyOf(hash), whole)));
  return {
    begin: async () => sent(await local.begin()),
    async resume(name) {
      const part = await local.resume(name);
      return { ...part, finish: async () => sent(await part.finish()) };
    },
    async find(hash) {
      const here = await local.find(hash);
      if (here) return here;
      const key = keyOf(hash);
      const found = await logged(() => bucket.head(key));
      return found && contentOf(bucket, key, found.bytes, logged);
    },
    async remove(hash) {
      await local.remove(hash);
      await logged(() => bucket.remove(keyOf(hash)));
    },
    async *list() {
      yield* local.list();
      for await (const { key } of bucket.list(prefix)) {
        const hash = key.slice(key.lastIndexOf("/") + 1);
        if (isHash(hash) && key === keyOf(hash) && !(await local.find(hash))) yield hash;
      }
    },
    sweep: local.sweep,
    isShort: async () => false,
  };
}

/** `keep` uploads it, and then it is not on this machine any more. */
function uploading(draft: Draft, send: (hash: string, draft: Draft) => Promise<void>): Draft {
  let hash = "";
  return {
    ...draft,
    async end() {
      const ended = await draft.end();
      hash = ended.hash;
      return ended;
    },
    async keep() {
      await send(hash, draft);
      await draft.drop();
    },
  };
}

/** The same content is not sent again. */
async function upload(bucket: Bucket, key: string, { content }: Draft): Promise<void> {
  if ((await bucket.head(key))?.bytes !== content.size) await bucket.write(key, content.stream());
}

type LogFailure = <T>(run: () => Promise<T>) => Promise<T>;

function contentOf(bucket: Bucket, key: string, size: number, logged: LogFailure): Content {
  const read = async (from: number, to: number) => {
    const parts = await logged(() => Array.fromAsync(bucket.read(key, { from, to })));
    return Buffer.concat(parts);
  };
  return {
    size,
    bytes: () => read(0, size),
    stream: () => streamOf(bucket.read(key), logged, (error) => error),
    async part(from, to, type) {
      if (to - from <= wholeBytes) return new Blob([await read(from, to)], { type });
      // Bun would print an error, which is in the log already; without one it cuts the answer off all the same.
      return streamOf(bucket.read(key, { from, to }), logged, () => undefined);
    },
  };
}

/** Reads on as fast as the reader takes it. */
function streamOf(
  chunks: AsyncGenerator<Uint8Array>,
  logged: LogFailure,
  faultOf: (error: unknown) => unknown,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      try {
        const next = await logged(() => chunks.next());
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      } catch (error) {
        controller.error(faultOf(error));
      }
    },
    async cancel() {
      await chunks.return(undefined);
    },
  });
}

/** 503 for whoever asked; the reason is for the log. */
function createFailureLog(log: Log): LogFailure {
  return async (run) => {
    try {
      return await run();
    } catch (cause) {
      if (!(cause instanceof S3Fault) && !(cause instanceof OutboundFault)) throw cause;
      log.error("the store of files failed", { reason: cause.message });
      throw Object.assign(unavailable("the store of files cannot be reached, try again"), { cause });
    }
  };
}
