/** Reads the output of a child process. */

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** The lines of a stream. A line longer than `maxBytes` gives undefined and ends the iteration. */
export async function* linesOf(stream: Bytes, maxBytes: number): AsyncGenerator<string | undefined> {
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    let rest = chunk;
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      if (length + at > maxBytes) {
        yield undefined;
        return;
      }
      yield Buffer.concat([...parts, rest.subarray(0, at)]).toString("utf8");
      parts = [];
      length = 0;
      rest = rest.subarray(at + 1);
    }
    length += rest.length;
    if (length > maxBytes) {
      yield undefined;
      return;
    }
    if (rest.length > 0) parts.push(rest);
  }
}

/** The end of a process's standard error, once it has exited. */
export async function lastWords(stream: Bytes): Promise<string> {
  const decoder = new TextDecoder();
  let last = "";
  try {
    for await (const chunk of stream) last = (last + decoder.decode(chunk, { stream: true })).slice(-1000);
  } catch {
    // The stream of a killed process may end with an error.
  }
  return last;
}
