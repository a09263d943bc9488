/** Follows the account's processes. */
import { followEvents } from "studio";
import type { Row } from "./process.ts";

/** `missed`: something may have happened while nobody listened. Gives back what ends it. */
export function followProcesses(told: (row: Row) => void, missed: () => void): () => void {
  const process = ({ data }: MessageEvent<string>) => told(JSON.parse(data));
  return followEvents("/connect/flow_processes/events", { process }, missed);
}
