/** Reads the Server-Sent Events of a conversation as they arrive. Pure. */
import { isMap } from "../resources/values.ts";

export interface StreamEvent {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Gives the events that are complete with this part; the rest waits for the next one. */
export function createEventParser(): (part: string) => StreamEvent[] {
  let rest = "";
  return (part) => {
    const blocks = (rest + part).split("\n\n");
    rest = blocks.pop() ?? "";
    return blocks.flatMap((block) => {
      const lines = block.split("\n");
      const valueOf = (key: string) =>
        lines
          .find((line) => line.startsWith(key))
          ?.slice(key.length)
          .trim();
      const data = dataOf(valueOf("data:"));
      return data ? [{ name: valueOf("event:") ?? "message", data }] : [];
    });
  };
}

function dataOf(text: string | undefined): StreamEvent["data"] | undefined {
  if (text === undefined) return undefined;
  try {
    const data: unknown = JSON.parse(text);
    return isMap(data) ? data : undefined;
  } catch {
    return undefined;
  }
}
