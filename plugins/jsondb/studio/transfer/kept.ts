/**
 * The file of an import and what was said of it, until it is over: they outlast a closed tab. Sealed as drafts are, with
 * the key that comes with the page of the session: after a sign-out nobody else reads them here.
 */
import { xchacha20poly1305 } from "@noble/ciphers/chacha.js";

const name = "corestead.imports";
const nonceBytes = 24;
/** Larger files are chosen again. */
const mostBytes = 20_000_000;
const keptMs = 7 * 24 * 3_600_000;

interface Entry {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** Undefined also where the browser keeps nothing. */
export async function readKept(place: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    const entry = await asked<Entry | undefined>("readonly", (store) => store.get(place));
    if (!entry || entry.at < Date.now() - keptMs) return undefined;
    const bytes = new Uint8Array(entry.bytes);
    return new Uint8Array(cipher(place, bytes.slice(0, nonceBytes)).decrypt(bytes.slice(nonceBytes)));
  } catch {
    return undefined;
  }
}

/** Nothing removes it. */
export async function keep(place: string, bytes: Uint8Array | undefined): Promise<void> {
  try {
    if (!bytes || bytes.length > mostBytes) await asked("readwrite", (store) => store.delete(place));
    else {
      const nonce = crypto.getRandomValues(new Uint8Array(nonceBytes));
      const sealed = cipher(place, nonce).encrypt(bytes);
      const whole = new Uint8Array(nonceBytes + sealed.length);
      whole.set(nonce);
      whole.set(sealed, nonceBytes);
      await asked("readwrite", (store) => store.put({ at: Date.now(), bytes: whole } satisfies Entry, place));
    }
  } catch {
    // The import goes on without it.
  }
}

function cipher(place: string, nonce: Uint8Array) {
  const text = (document.documentElement.dataset["drafts"] ?? "").replaceAll("-", "+").replaceAll("_", "/");
  const key = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  return xchacha20poly1305(key, nonce, new TextEncoder().encode(place));
}

async function asked<T>(mode: IDBTransactionMode, ask: (store: IDBObjectStore) => IDBRequest): Promise<T> {
  try {
    const transaction = (await (opened ??= open())).transaction("kept", mode);
    const request = ask(transaction.objectStore("kept"));
    // What was typed just before the page is loaded again is kept too.
    transaction.commit();
    return await settled<T>(request);
  } catch (error) {
    opened = undefined;
    throw error;
  }
}

let opened: Promise<IDBDatabase> | undefined;

function open(): Promise<IDBDatabase> {
  const opening = indexedDB.open(name, 1);
  opening.addEventListener("upgradeneeded", () => opening.result.createObjectStore("kept"));
  return settled<IDBDatabase>(opening);
}

function settled<T>(request: IDBRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result as T)); // as it was stored
    request.addEventListener("error", () => reject(request.error ?? new Error("no storage")));
  });
}
