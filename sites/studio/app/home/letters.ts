/** What waits for a person: questions, comments that mention them, and what fails or ends soon, as one list. Pure. */
import { base } from "../address.ts";
import type { HomeNotice, InboxAsk, InboxItem, InboxNotice } from "./home.ts";
import { doneIn, failingFlow, keyOf } from "./attention.ts";

interface Common {
  /** By this it is chosen, and remembered as done. */
  readonly key: string;
  readonly at: string | null;
  readonly isDone: boolean;
}
export interface Mention extends Common {
  readonly kind: "mention";
  readonly notice: InboxNotice;
  readonly address: string;
}
export interface Warning extends Common {
  readonly kind: "warning";
  readonly notice: HomeNotice;
}
export interface Ask extends Common {
  readonly kind: "ask";
  readonly notice: InboxAsk;
}
export type Letter = Mention | Warning | Ask;

export const shows = ["mine", "asks", "mentions", "warnings", "done"] as const;
export type Show = (typeof shows)[number];

export function letterOf(notice: InboxItem, done: ReadonlySet<string> = new Set()): Letter {
  if (notice.kind === "failure") return warningOf(failingFlow({ ...notice }), done);
  if (notice.kind === "ask")
    return { kind: "ask", key: notice.id, at: notice.created_at, isDone: notice.status !== "open", notice };
  const address = `${base}/tables/${encodeURIComponent(notice.db_code)}?open=${encodeURIComponent(notice.record_id)}`;
  return { kind: "mention", key: notice.id, at: notice.created_at, isDone: notice.read_at !== null, notice, address };
}

export function warningOf(notice: HomeNotice, done: ReadonlySet<string>): Warning {
  const key = keyOf(notice);
  return { kind: "warning", key, at: notice.at, isDone: done.has(key), notice };
}

/** The newest first; what has no time is now, and so is what will be. */
export function sorted(letters: readonly Letter[], now: number): Letter[] {
  const timeOf = ({ at }: Letter) => Math.min(now, at === null ? now : Date.parse(at));
  return letters.toSorted((a, b) => timeOf(b) - timeOf(a));
}

export function shown(letters: readonly Letter[], show: Show): Letter[] {
  return letters.filter(({ kind, isDone }) => {
    if (show === "done") return isDone;
    return !isDone && (show === "mine" || `${kind}s` === show);
  });
}

/** The warnings that a person is done with, as they are kept with the account. */
export const donePreference = "studio.inbox";
const mostDone = 100;

/** With or without one; the oldest are forgotten. */
export function withDone(kept: unknown, key: string, isDone: boolean): { readonly done: readonly string[] } {
  const others = doneIn(kept).filter((one) => one !== key);
  return { done: (isDone ? [...others, key] : others).slice(-mostDone) };
}

/** The letter after or before this one; at the ends it stays. */
export function beside(letters: readonly Letter[], key: string | null, by: 1 | -1): Letter | undefined {
  const at = letters.findIndex((one) => one.key === key);
  if (at < 0) return letters[0];
  return letters[Math.max(0, Math.min(letters.length - 1, at + by))];
}
