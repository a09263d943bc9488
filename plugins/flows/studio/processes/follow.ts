/** Follows the account's processes: the server's stream ends after a minute, so the next one begins before. */
import type { Row } from "./process.ts";

const address = "/connect/flow_processes/events";
const renewMs = 45_000;
const retryMs = 5000;

/** Gives back what ends it. */
export function followProcesses(told: (row: Row) => void): () => void {
  let current: EventSource | undefined;
  let next: EventSource | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  const open = () => {
    next?.close();
    const source = new EventSource(address);
    next = source;
    source.addEventListener("process", (event: MessageEvent<string>) => told(JSON.parse(event.data)));
    source.addEventListener("open", () => {
      if (current !== source) current?.close();
      current = source;
      next = undefined;
    });
    // The browser tries again by itself, but not after a refusal.
    source.addEventListener("error", () => {
      clearTimeout(again);
      if (source.readyState === EventSource.CLOSED) again = setTimeout(open, retryMs);
    });
  };
  open();
  const renewing = setInterval(open, renewMs);
  return () => {
    clearInterval(renewing);
    clearTimeout(again);
    current?.close();
    next?.close();
  };
}
