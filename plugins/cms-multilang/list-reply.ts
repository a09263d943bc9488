/** Answers with a list: a bare array with `X-Total-Count` (behaviour B.3). A long list is sent while it is read. */
import { list, type Log, type Reply } from "platform";
import { allRows, type Listed } from "./listed.ts";

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
