/**
 * The same text in slices, with rests between: a fast client's text comes in one piece, and until its rows are read no
 * other request would be answered. Pure but for the clock.
 */
export async function* inSlices(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let since = performance.now();
  for await (const text of texts) {
    for (let at = 0; at < text.length; at += sliceLength) {
      yield text.slice(at, at + sliceLength);
      if (performance.now() - since < restAfterMs) continue;
      await new Promise((resolve) => setTimeout(resolve, 0));
      since = performance.now();
    }
  }
}

const sliceLength = 65_536;
const restAfterMs = 10;
