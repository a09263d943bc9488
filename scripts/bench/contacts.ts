/**
 * The benchmark's data: the same contacts in Corestead and in the ceiling. Contact `n` is a function of `n`, so that
 * the load generator knows the right answer to each request.
 */
export interface Contact {
  readonly name: string;
  readonly email: string;
  readonly city: string;
  readonly age: number;
  readonly visits: number;
  readonly joined_at: string;
  readonly phone: string;
  readonly note: string;
  readonly active: boolean;
}

/** The schema of Corestead's database: three strings, two integers and one time are indexed. */
export const schema = {
  fields: {
    name: { type: "string", required: true },
    email: { type: "string", required: true },
    city: "string",
    age: "integer",
    visits: "integer",
    joined_at: "datetime",
    phone: "string",
    note: "text",
    active: "boolean",
  },
  indexed_fields: ["name", "email", "city", "age", "visits", "joined_at"],
};

/** The schema beside the narrow ceiling: what its list, its search and its patch are about. */
export const narrowSchema = { ...schema, indexed_fields: ["name", "city", "visits"] };

export const contactsPerCity = 200;

const firstNames = words(0x51, 300, 2);
const lastNames = words(0x52, 6000, 3);
const noteWords = words(0x53, 400, 2);
const firstDay = Date.UTC(2019, 0, 1);

/** Numbers from 0 to 1, the same sequence for the same seed (mulberry32). */
export function randomSequence(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A whole number from 0 to `below` - 1. */
export function pick(random: () => number, below: number): number {
  return Math.floor(random() * below);
}

/** A UUID of version 7 as the application would make it, `n` milliseconds after the first. */
export function idOf(n: number): string {
  const random = randomSequence(n * 7919 + 3);
  const hex = (digits: number) =>
    pick(random, 16 ** digits)
      .toString(16)
      .padStart(digits, "0");
  const time = (0x0196_0000_0000 + n).toString(16).padStart(12, "0");
  const variant = "89ab"[pick(random, 4)];
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(3)}-${variant}${hex(3)}-${hex(6)}${hex(6)}`;
}

/** The city of contact `n` of `total`: about `contactsPerCity` live in each. */
export function cityOf(n: number, total: number): string {
  const cities = Math.max(1, Math.round(total / contactsPerCity));
  const number = pick(randomSequence(n * 104_729 + 11), cities);
  const random = randomSequence(number + 0x54_0000);
  return `${capital(word(random, 3))} ${number}`;
}

export function contactOf(n: number, total: number): Contact {
  const random = randomSequence(n * 31 + 7);
  const first = firstNames[pick(random, firstNames.length)] ?? "";
  const last = lastNames[pick(random, lastNames.length)] ?? "";
  const note = Array.from({ length: 6 + pick(random, 12) }, () => noteWords[pick(random, noteWords.length)]);
  return {
    name: `${capital(first)} ${capital(last)}`,
    email: `${first}.${last}.${n}@example.com`,
    city: cityOf(n, total),
    age: 18 + pick(random, 70),
    visits: pick(random, 100_000),
    joined_at: new Date(firstDay + pick(random, 2_000 * 86_400) * 1000).toISOString(),
    phone: `+48 ${100_000_000 + pick(random, 900_000_000)}`,
    note: note.join(" "),
    active: random() < 0.8,
  };
}

/** Five to eight letters of the last name of contact `n`, as somebody would type into a search box. */
export function fragmentOf(n: number, random: () => number): string {
  const last = contactOf(n, contactsPerCity).name.split(" ")[1]?.toLowerCase() ?? "";
  const length = Math.min(last.length, 5 + pick(random, 4));
  const start = pick(random, last.length - length + 1);
  return last.slice(start, start + length);
}

function words(seed: number, count: number, syllables: number): string[] {
  const random = randomSequence(seed);
  return Array.from({ length: count }, () => word(random, syllables));
}

function word(random: () => number, syllables: number): string {
  let text = "";
  for (let i = 0; i < syllables; i++) {
    text += "bcdfghjklmnprstwz"[pick(random, 17)];
    text += "aeiouy"[pick(random, 6)];
    if (random() < 0.4) text += "lmnrskt"[pick(random, 7)];
  }
  return text;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
