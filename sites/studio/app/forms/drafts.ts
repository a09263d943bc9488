/**
 * What was typed and not saved, kept in this browser for its person, by the address of the page: `<time>.<sealed text>`.
 * The key comes with the page that the server answers to that person's session alone, and is kept nowhere: after a
 * sign-out nobody else reads a draft here, and whoever signs in again is offered theirs. Secrets are never kept.
 */
import { xchacha20poly1305 } from "@noble/ciphers/chacha.js";
import type { FormField, Input } from "../resources/forms.ts";

type Inputs = Readonly<Record<string, Input>>;

export interface Draft {
  readonly at: number;
  readonly inputs: Inputs;
  /** What the server had in these fields when they were typed. */
  readonly base?: Inputs;
}

const prefix = "corestead.draft";
const mostChars = 1_000_000;
const keptMs = 30 * 24 * 3_600_000;
const nonceBytes = 24;
const chunk = 8_192;

export function draftKey(personId: number, address: string): string {
  return `${prefix}.${personId}.${address}`;
}

export function keepDraft(key: string, fields: readonly FormField[], inputs: Inputs, base?: Inputs): void {
  const secrets = new Set(fields.filter(({ kind }) => kind === "secret").map(({ name }) => name));
  const kept = (all: Inputs) => Object.fromEntries(Object.entries(all).filter(([name]) => !secrets.has(name)));
  const draft = JSON.stringify({
    at: Date.now(),
    inputs: kept(inputs),
    ...(base && { base: kept(base) }),
  } satisfies Draft);
  if (draft.length > mostChars) return;
  waiting.set(key, draft);
  // Sealing a long text takes longer than a key press may.
  if (draft.length < atOnceChars) writeDrafts();
  else timer ??= setTimeout(writeDrafts, laterMs);
}

const atOnceChars = 20_000;
const laterMs = 500;
const waiting = new Map<string, string>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Keeps what waits: also called when the page goes away. */
export function writeDrafts(): void {
  clearTimeout(timer);
  timer = undefined;
  for (const [key, draft] of waiting) {
    waiting.delete(key);
    try {
      localStorage.setItem(key, `${Date.now()}.${sealed(key, draft)}`);
    } catch {
      dropOldDrafts(0); // the browser has no room: old ones go, and the next change tries again
    }
  }
}

/** Undefined also for what another key has sealed: it stays for its person. */
export function readDraft(key: string): Draft | undefined {
  writeDrafts();
  const kept = localStorage.getItem(key);
  if (kept === null) return undefined;
  try {
    const text = isPlain(kept) ? kept : opened(key, kept.slice(kept.indexOf(".") + 1));
    return JSON.parse(text) as Draft; // written by keepDraft
  } catch {
    return undefined;
  }
}

export function dropDraft(key: string): void {
  waiting.delete(key);
  localStorage.removeItem(key);
}

/** Removes those that are older than a month, or than `ms`. */
export function dropOldDrafts(ms = keptMs): void {
  for (const key of Object.keys(localStorage).filter((name) => name.startsWith(`${prefix}.`))) {
    const kept = localStorage.getItem(key) ?? "";
    // Earlier versions kept them readable.
    if (isPlain(kept) || !(Number.parseInt(kept, 10) >= Date.now() - ms)) dropDraft(key);
  }
}

/** Seals what an earlier version has kept of this person. */
export function sealDrafts(personId: number): void {
  for (const key of Object.keys(localStorage).filter((name) => name.startsWith(`${prefix}.${personId}.`))) {
    const draft = isPlain(localStorage.getItem(key) ?? "") ? readDraft(key) : undefined;
    if (draft) keepDraft(key, [], draft.inputs, draft.base);
  }
}

const isPlain = (kept: string) => kept.startsWith("{");

/** With the place as a part of what is checked, so that no text can be moved to another page or person. */
function cipher(place: string, nonce: Uint8Array) {
  const key = bytesOf(document.documentElement.dataset["drafts"] ?? "");
  return xchacha20poly1305(key, nonce, new TextEncoder().encode(place));
}

function sealed(place: string, text: string): string {
  const nonce = crypto.getRandomValues(new Uint8Array(nonceBytes));
  const bytes = cipher(place, nonce).encrypt(new TextEncoder().encode(text));
  let binary = "";
  for (const part of [nonce, bytes])
    for (let at = 0; at < part.length; at += chunk) binary += String.fromCharCode(...part.subarray(at, at + chunk));
  return btoa(binary);
}

function opened(place: string, text: string): string {
  const bytes = bytesOf(text);
  return new TextDecoder().decode(cipher(place, bytes.slice(0, nonceBytes)).decrypt(bytes.slice(nonceBytes)));
}

/** Of base64, or of base64 for addresses. */
function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
}
