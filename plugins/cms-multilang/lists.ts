/**
 * Lists of records that may be large. A thousand pages of a megabyte each are answered completely, and sent while they
 * are read (behaviour B.3), but are never in memory together: their ids and sizes are read first, then the records part
 * by part.
 */
import { list, type Log, type Reply } from "platform";

export interface Listed<Row> {
  readonly total: number;
  /** The number of parts that `rows` yields; most lists have one. */
  readonly parts: number;
  /** Leaves out records that were deleted after the list was requested. */
  readonly rows: () => AsyncGenerator<readonly Row[]>;
}

/** Measured after sorting and cutting; otherwise PostgreSQL would measure rows that are not on this page. */
export interface Sized {
  readonly id: number;
  readonly bytes: number;
}

/** The limit of one part; a single larger record is a part of its own. */
export const maxPartBytes = 8_000_000;

/** The records of these ids, in this order; `read` may return them in any. */
export function inParts<Row extends { readonly id: number }>(
  sized: readonly Sized[],
  total: number,
  read: (ids: readonly number[]) => Promise<readonly Row[]>,
): Listed<Row> {
  const parts = partsOf(sized);
  return {
    total,
    parts: parts.length,
    async *rows() {
      for (const ids of parts) {
        const found = new Map((await read(ids)).map((row) => [row.id, row]));
        yield ids.map((id) => found.get(id)).filter((row) => row !== undefined);
      }
    },
  };
}

export async function allRows<Row>({ rows }: Listed<Row>): Promise<Row[]> {
  const all: Row[] = [];
  for await (const part of rows()) all.push(...part);
  return all;
}

/** Splits ids, in their order, into parts that fit. An empty list is one empty part. */
export function partsOf(sized: readonly Sized[], maxBytes = maxPartBytes): number[][] {
  const parts: number[][] = [];
  let current: number[] = [];
  let size = 0;
  for (const { id, bytes } of sized) {
    if (current.length > 0 && size + bytes > maxBytes) {
      parts.push(current);
      current = [];
      size = 0;
    }
    current.push(id);
    size += bytes;
  }
  return [...parts, current];
}

interface Options<Row> {
  readonly toApi: (row: Row) => unknown;
  readonly log: Log;
  readonly headOnly: boolean;
}

export async function listReply<Row>(
  listed: Listed<Row>,
  { toApi, log, headOnly }: Options<Row>,
): Promise<Reply | Response> {
  if (listed.parts === 1) return list((await allRows(listed)).map(toApi), listed.total);
  if (headOnly) return { ...list([], listed.total), body: null };
  const { headers } = list([], listed.total);
  return new Response(await streamOf(arrayText(listed, toApi), log), { headers });
}

async function* arrayText<Row>({ rows }: Listed<Row>, toApi: (row: Row) => unknown): AsyncGenerator<string> {
  let before = "[";
  for await (const part of rows()) {
    if (part.length === 0) continue;
    yield `${before}${part.map((row) => JSON.stringify(toApi(row))).join(",")}`;
    before = ",";
  }
  yield before === "[" ? "[]" : "]";
}

/** Produces the first piece before answering, so that an early failure still gets its status. */
async function streamOf(texts: AsyncGenerator<string>, log: Log): Promise<ReadableStream<Uint8Array>> {
  const encoder = new TextEncoder();
  let first: IteratorResult<string> | undefined = await texts.next();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = first ?? (await texts.next());
        first = undefined;
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      } catch (error) {
        // The answer has begun, so all that can be done is to abort it.
        log.warn("a list broke off", { error });
        controller.error();
      }
    },
    async cancel() {
      await texts.return(undefined);
    },
  });
}
