import { findingsOf, type Finding } from "../../plugin/finding.ts";

const clock = findingsOf("clock");
/** A one-time code is good for half a minute; the header Date has whole seconds. */
const closeMs = 5_000;
const farMs = 30_000;

/** Compares this machine's clock with another one. */
export function checkClock(whose: string, its: Date, own = new Date()): Finding {
  const ms = own.getTime() - its.getTime();
  const seconds = Math.round(Math.abs(ms) / 1000);
  if (Math.abs(ms) <= closeMs) return clock.ok(`it agrees with that of ${whose}`);
  const message = `it is ${seconds} s ${ms > 0 ? "ahead of" : "behind"} that of ${whose}`;
  const remedy = "switch on time synchronisation (timedatectl set-ntp true) on both machines";
  if (Math.abs(ms) <= farMs) return clock.warn(message, remedy);
  return clock.fail(`${message}: one-time codes, links in mails and certificates fail`, remedy);
}
