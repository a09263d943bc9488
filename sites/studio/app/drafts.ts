/** What was typed and not saved, kept in this browser for its person, by the address of the page. Secrets are never kept. */
import type { FormField, Input } from "./resources/forms.ts";

export interface Draft {
  readonly at: number;
  readonly inputs: Readonly<Record<string, Input>>;
}

const prefix = "corestead.draft";
const mostChars = 1_000_000;
const keptMs = 30 * 24 * 3_600_000;

export function draftKey(personId: number, address: string): string {
  return `${prefix}.${personId}.${address}`;
}

export function keepDraft(key: string, fields: readonly FormField[], inputs: Readonly<Record<string, Input>>): void {
  const secrets = new Set(fields.filter(({ kind }) => kind === "secret").map(({ name }) => name));
  const kept = Object.fromEntries(Object.entries(inputs).filter(([name]) => !secrets.has(name)));
  const draft = JSON.stringify({ at: Date.now(), inputs: kept } satisfies Draft);
  if (draft.length > mostChars) return;
  try {
    localStorage.setItem(key, draft);
  } catch {
    dropOldDrafts(0); // the browser has no room: old ones go, and the next change tries again
  }
}

export function readDraft(key: string): Draft | undefined {
  const kept = localStorage.getItem(key);
  if (kept === null) return undefined;
  try {
    return JSON.parse(kept) as Draft; // written by keepDraft
  } catch {
    dropDraft(key);
    return undefined;
  }
}

export function dropDraft(key: string): void {
  localStorage.removeItem(key);
}

/** Removes those that are older than a month, or than `ms`. */
export function dropOldDrafts(ms = keptMs): void {
  for (const key of Object.keys(localStorage).filter((name) => name.startsWith(`${prefix}.`)))
    if ((readDraft(key)?.at ?? 0) < Date.now() - ms) dropDraft(key);
}
