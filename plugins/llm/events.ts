/** Reads Server-Sent Events as their bytes arrive. Pure. */
import { AnswerFault } from "./draft.ts";

/** Calls `onData` with the JSON of each event, until `[DONE]`, for which it calls `onDone`. */
export function createEventReader(onData: (data: unknown) => void, onDone: () => void) {
  const decoder = new TextDecoder();
  let rest = "";
  const line = (text: string) => {
    if (!text.startsWith("data:")) return;
    const data = text.slice(5).trim();
    if (data === "") return;
    if (data === "[DONE]") return onDone();
    onData(jsonOf(data));
  };
  return {
    add(part: Uint8Array): void {
      const lines = decoder.decode(part, { stream: true }).split("\n");
      lines[0] = rest + (lines[0] ?? "");
      rest = lines.pop() ?? "";
      for (const one of lines) line(one);
    },
    end(): void {
      line(rest);
      rest = "";
    },
  };
}

/** Every protocol here has one line of JSON in an event. */
function jsonOf(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw new AnswerFault("the model's server sent an event that is not JSON");
  }
}
