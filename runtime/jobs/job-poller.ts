/** Asks the database what is due: at intervals, and when a job is known to become due sooner. */
import type { Log } from "../system/log.ts";
import type { Claimer } from "./job-claimer.ts";
import type { JobStore } from "./job-store.ts";
import type { Timers } from "./job-timers.ts";
import { lookingFrom, markedDue, type Lane } from "./lane.ts";

interface Needed {
  readonly jobStore: Pick<JobStore, "next">;
  readonly log: Log;
  readonly lanes: ReadonlyMap<string, Lane>;
  readonly timers: Pick<Timers, "arm">;
  readonly claimer: Pick<Claimer, "claim">;
  readonly active: () => boolean;
}

export function createPoller({ jobStore, log, lanes, timers, claimer, active }: Needed) {
  let underWay = false;
  let again = false;

  const look = async () => {
    for (const { name, dueAt, seconds } of await jobStore.next([...lanes.keys()])) {
      const lane = lanes.get(name);
      if (seconds > 0) timers.arm(seconds);
      else if (lane) lane.cursor = markedDue(lookingFrom(lane.cursor, dueAt));
    }
  };
  /** One poll at a time; a request during a poll causes another one afterwards. */
  const poll = async () => {
    if (!active()) return;
    again = underWay;
    if (underWay) return;
    underWay = true;
    try {
      await look();
    } catch (error) {
      log.warn("looking for due jobs failed, trying again", { error });
    }
    underWay = false;
    claimer.claim();
    if (again) void poll();
  };

  return { poll: () => void poll() };
}
