/** Answers that are sent while they are produced, a few at once. */
import { HttpError } from "platform";

/** Throws 503 while `most` answers are running. */
export type Stream = (texts: AsyncGenerator<string>) => Response;

export function createStreams(most: number, headers: Readonly<Record<string, string>>): Stream {
  let running = 0;
  return (texts) => {
    if (running >= most) throw new HttpError(503, { error: "try again" }, { "retry-after": "5" });
    running++;
    let isOver = false;
    const end = () => {
      if (!isOver) running--;
      isOver = true;
    };
    return new Response(streamOf(texts, end), { headers });
  };
}

/** Calls `end` when all has been read, when producing fails, and when the reader goes away. */
function streamOf(texts: AsyncGenerator<string>, end: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await texts.next();
        if (!done) return controller.enqueue(encoder.encode(value));
        end();
        controller.close();
      } catch (error) {
        end();
        controller.error(error);
      }
    },
    async cancel() {
      end();
      await texts.return(undefined);
    },
  });
}
