/**
 * Writes to the standard streams. A pipe takes only so much at once and the rest waits in memory, so it must be drained
 * before the process exits, or it is lost.
 */
import { codeOf, orLate } from "../base/values.ts";

const pending = new Set<Promise<void>>();
const lastWordsMs = 2_000;

export function writeOutput(text: string): void {
  write(process.stdout, text);
}

export function writeErrors(text: string): void {
  write(process.stderr, text);
}

/** Resolves when everything has been written, or when the reader has gone. */
export async function written(): Promise<void> {
  await orLate(Promise.all(pending), lastWordsMs, undefined);
}

/** Whoever reads along may leave, as `head` does: what is left to say is for nobody. Their leaving is no failure of ours. */
const watched = new WeakSet<NodeJS.WriteStream>();
function watch(stream: NodeJS.WriteStream): void {
  if (watched.has(stream)) return;
  watched.add(stream);
  stream.on("error", (error: unknown) => {
    if (codeOf(error) !== "EPIPE") throw error;
  });
}

function write(stream: NodeJS.WriteStream, text: string): void {
  if (text === "") return;
  watch(stream);
  const done = new Promise<void>((resolve) => void stream.write(text, () => resolve()));
  pending.add(done);
  void done.then(() => pending.delete(done));
}
