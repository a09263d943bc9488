/** Follows the account's processes. A browser opens six connections to a server at most, so a page has one stream. */
import { followEvents } from "studio";
import type { Row } from "./process.ts";

interface Follower {
  readonly told: (row: Row) => void;
  readonly missed: () => void;
}

const followers = new Set<Follower>();
let close: (() => void) | undefined;

/** `missed`: something may have happened while nobody listened. Gives back what ends it. */
export function followProcesses(told: (row: Row) => void, missed: () => void): () => void {
  const follower = { told, missed };
  followers.add(follower);
  close ??= followEvents(
    "/connect/flow_processes/events",
    { process: ({ data }) => followers.forEach((one) => one.told(JSON.parse(data))) },
    () => followers.forEach((one) => one.missed()),
  );
  return () => {
    followers.delete(follower);
    if (followers.size > 0) return;
    close?.();
    close = undefined;
  };
}
