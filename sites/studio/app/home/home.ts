/** What the first page shows, as `/studio/-/home` answers, and its words that depend on the time of the day. */
import type { TileApp } from "../state/dashboard.svelte.ts";
import type { Notice } from "./attention.ts";

export interface HomeNotice extends Omit<Notice, "at" | "of"> {
  readonly at: string | null;
  readonly of: string | null;
}

export interface HomeAnswer {
  readonly notices: readonly HomeNotice[];
  readonly steps: Readonly<Record<"brand" | "people" | "mail", boolean | null>>;
  readonly tiles: readonly TileApp[];
  readonly inbox: readonly InboxItem[];
}

/** A question of a flow. */
export interface InboxAsk {
  readonly id: string;
  readonly kind: "ask";
  readonly title: string;
  readonly text: string;
  readonly choices: readonly { readonly value: string; readonly label?: unknown; readonly color?: string }[];
  /** By name: a type, or a field in full, as a table's. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly status: "open" | "answered" | "expired" | "cancelled";
  readonly flow_code: string;
  readonly flow_process_id: string;
  readonly choice: string | null;
  readonly comment: string | null;
  readonly answered_by: string | null;
  readonly expires_at: string;
  readonly created_at: string;
  readonly read_at: string | null;
}

/** A flow that fails again and again. */
export interface InboxFailure extends Pick<InboxAsk, "id" | "title" | "flow_code" | "created_at" | "read_at"> {
  readonly kind: "failure";
  readonly count: number;
}

export type InboxItem = InboxNotice | InboxAsk | InboxFailure;

/** A comment that mentions the person. */
export interface InboxNotice {
  readonly id: string;
  readonly kind: "mention";
  readonly db_code: string;
  readonly record_id: string;
  readonly text: string;
  readonly from_user_id: number | null;
  readonly from_user_name: string | null;
  readonly created_at: string;
  readonly read_at: string | null;
}

export const homePath = "/studio/-/home.json";

/** The part of the day in a time zone; the small hours are no evening. */
export function dayPart(now: Date, timeZone: string): "morning" | "day" | "evening" {
  const hour = Number(new Intl.DateTimeFormat("en-GB", { hour: "2-digit", hourCycle: "h23", timeZone }).format(now));
  if (hour >= 4 && hour < 12) return "morning";
  return hour >= 18 ? "evening" : "day";
}

/** What to call a person: the first name; of an address what stands before the @, with a capital letter. */
export function firstName(name: string): string {
  const first = name.split(/[ @]/)[0] ?? "";
  return name.includes("@") ? first.charAt(0).toUpperCase() + first.slice(1) : first;
}
