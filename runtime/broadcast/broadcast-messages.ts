/** Messages between processes as text: what PostgreSQL's NOTIFY carries. Pure. */

// A notification holds less than 8000 bytes, and some of them name the sender.
export const maxMessageBytes = 7700;

type Pair = readonly [topic: string, payload: string];

export interface Message {
  readonly from: string;
  /** Of its last pair. */
  readonly number: number;
  readonly pairs: readonly Pair[];
}

export interface Entry {
  readonly topic: string;
  readonly payload: string;
  readonly number: number;
}

/** Throws if no message can carry it. */
export function mustFit(topic: string, payload: string): void {
  if (sizeOf(topic, payload) >= maxMessageBytes)
    throw new Error(`a broadcast message of topic ${topic} is larger than ${maxMessageBytes} bytes`);
}

/** Packs entries into as few messages as fit, in their order. */
export function packMessages(from: string, entries: readonly Entry[]): string[] {
  const texts: string[] = [];
  let part: Entry[] = [];
  let bytes = 0;
  const close = () => {
    const last = part.at(-1);
    if (last)
      texts.push(JSON.stringify({ from, number: last.number, pairs: part.map((e): Pair => [e.topic, e.payload]) }));
    part = [];
    bytes = 0;
  };
  for (const entry of entries) {
    const size = sizeOf(entry.topic, entry.payload) + 1;
    if (bytes + size > maxMessageBytes) close();
    part.push(entry);
    bytes += size;
  }
  close();
  return texts;
}

/** Undefined for text that is not a message of ours. */
export function parseMessage(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return undefined;
    if (!("from" in value && "number" in value && "pairs" in value)) return undefined;
    const { from, number, pairs } = value;
    if (typeof from !== "string" || typeof number !== "number" || !Array.isArray(pairs)) return undefined;
    return { from, number, pairs: pairs.filter(isPair) };
  } catch {
    return undefined;
  }
}

function sizeOf(topic: string, payload: string): number {
  return Buffer.byteLength(JSON.stringify([topic, payload]));
}

function isPair(value: unknown): value is Pair {
  return Array.isArray(value) && typeof value[0] === "string" && typeof value[1] === "string";
}
