/** The bytes of an export as they are written: texts, parts of what PostgreSQL sent, ids and times. Pure. */

import { int32At } from "./export-rows.ts";

const firstBytes = 64_000;
/** So few are copied one by one: a view of them takes longer. */
const fewBytes = 16;
const lastDigit = 0x0f;
const zero = 0x30;
const [dash, dot, colon, letterZ] = [0x2d, 0x2e, 0x3a, 0x5a];
const encoder = new TextEncoder();
const hexDigits = encoder.encode("0123456789abcdef");
const idBytes = 16;
/** PostgreSQL counts microseconds from the beginning of 2000. */
const epoch = Date.UTC(2000, 0, 1);
const dayMs = 86_400_000;

export function byteWriter() {
  let bytes = new Uint8Array(firstBytes);
  let end = 0;
  let day = NaN;
  /** "2026-01-31T" */
  let date = new Uint8Array();

  const byte = (value: number) => {
    bytes[end++] = value;
  };
  /** Makes room: the others only write. */
  const reserve = (more: number) => {
    if (end + more <= bytes.length) return;
    const larger = new Uint8Array(2 * bytes.length + more);
    larger.set(bytes.subarray(0, end));
    bytes = larger;
  };
  const copy = (from: Uint8Array, start = 0, to = from.length) => {
    if (to - start > fewBytes) {
      bytes.set(from.subarray(start, to), end);
      end += to - start;
      return;
    }
    const into = bytes;
    let place = end;
    for (let at = start; at < to; at++) into[place++] = from[at] ?? 0;
    end = place;
  };
  const text = (more: string) => {
    end += encoder.encodeInto(more, bytes.subarray(end)).written;
  };
  return {
    byte,
    reserve,
    copy,
    text,
    /** 16 bytes as a UUID is written. */
    id(from: Uint8Array, start: number) {
      const into = bytes;
      let to = end;
      for (let at = 0; at < idBytes; at++) {
        const value = from[start + at] ?? 0;
        if (at === 4 || at === 6 || at === 8 || at === 10) into[to++] = dash;
        into[to++] = hexDigits[value >> 4] ?? 0;
        into[to++] = hexDigits[value & lastDigit] ?? 0;
      }
      end = to;
    },
    /** 8 bytes of a time as `Date.toJSON` writes it. */
    time(from: Uint8Array, start: number) {
      const microseconds = int32At(from, start) * 2 ** 32 + (int32At(from, start + 4) >>> 0);
      const ms = Math.floor(microseconds / 1000) + epoch;
      const thisDay = Math.floor(ms / dayMs);
      if (thisDay !== day) {
        day = thisDay;
        date = encoder.encode(new Date(ms).toJSON().replace(/T.*/, "T"));
      }
      copy(date);
      end = writeTimeOfDay(bytes, end, ms - day * dayMs);
    },
    /** All that was written since the last time. */
    taken(): Uint8Array<ArrayBuffer> {
      const taken = bytes.subarray(0, end);
      bytes = new Uint8Array(Math.max(end, firstBytes));
      end = 0;
      return taken;
    },
  };
}

/** "10:00:00.500Z"; gives back where it ends. */
function writeTimeOfDay(into: Uint8Array, at: number, ms: number): number {
  const seconds = Math.floor(ms / 1000);
  const fraction = ms - seconds * 1000;
  writeTwoDigits(into, at, Math.floor(seconds / 3600));
  into[at + 2] = colon;
  writeTwoDigits(into, at + 3, Math.floor(seconds / 60) % 60);
  into[at + 5] = colon;
  writeTwoDigits(into, at + 6, seconds % 60);
  into[at + 8] = dot;
  into[at + 9] = zero + Math.floor(fraction / 100);
  writeTwoDigits(into, at + 10, fraction % 100);
  into[at + 12] = letterZ;
  return at + 13;
}

function writeTwoDigits(into: Uint8Array, at: number, value: number): void {
  const tens = Math.floor(value / 10);
  into[at] = zero + tens;
  into[at + 1] = zero + value - tens * 10;
}
