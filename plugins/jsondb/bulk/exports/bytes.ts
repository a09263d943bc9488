/** The bytes of an export as they are written: texts, parts of what PostgreSQL sent, ids and times. Pure. */

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
      const ms = timeMs(from, start);
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

// A page of an export in the bytes that PostgreSQL sends: a string or an object for each record would take several
// times as long. Each column of the page is one array in PostgreSQL's binary format: a head, which says whether it has
// nulls and how many elements, and then the elements, each with its length before it.

export interface ExportPage {
  readonly ids: Uint8Array;
  readonly createdAt: Uint8Array;
  readonly updatedAt: Uint8Array;
  readonly tableNames: Uint8Array;
  /** A record that is too large for a page of so many has none: the page is cut off before it. */
  readonly data: Uint8Array;
  readonly records: number;
  readonly bytes: number;
  readonly isCut: boolean;
}

/** Where the parts of a record are: in `ids`, in both times, and from where to where in `tableNames` and in `data`. */
export type RowVisitor = (
  id: number,
  time: number,
  tableName: number,
  endOfTableName: number,
  data: number,
  endOfData: number,
) => void;

const headBytes = 20;
const hasNullsAt = 4;
const countAt = 12;
const lengthBytes = 4;
const timeBytes = 8;
// Before the text of jsonb is the version of its format.
const versionBytes = 1;
const nullLength = -1;

/** Null if there are no records. */
export function pageOf(columns: readonly (Uint8Array | null)[]): ExportPage | null {
  const [ids, createdAt, updatedAt, tableNames, data] = columns.map(plainBytes);
  if (!ids || !createdAt || !updatedAt || !tableNames || !data) return null;
  const isCut = int32At(data, hasNullsAt) !== 0;
  const records = isCut ? beforeNull(data) : int32At(data, countAt);
  const bytes = ids.length + createdAt.length + updatedAt.length + tableNames.length + data.length;
  return { ids, createdAt, updatedAt, tableNames, data, records, bytes, isCut };
}

/** A driver gives bytes of a class of its own, whose views are slower to make. */
function plainBytes(bytes: Uint8Array | null): Uint8Array | null {
  return bytes && new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}

function beforeNull(array: Uint8Array): number {
  let count = 0;
  for (let at = headBytes; int32At(array, at) !== nullLength; count++) at += lengthBytes + int32At(array, at);
  return count;
}

export function lastId({ ids, records }: ExportPage): string {
  return idAt(ids, records - 1);
}

/** Many ids, as PostgreSQL sends an array of them: as texts they would take three times as much memory. */
export interface IdList {
  readonly length: number;
  slice(from: number, to: number): string[];
}

export function idList(array: Uint8Array | null): IdList {
  const ids = plainBytes(array);
  const length = ids ? int32At(ids, countAt) : 0;
  return {
    length,
    slice(from, to) {
      const end = Math.min(to, length);
      return ids ? Array.from({ length: Math.max(0, end - from) }, (_, at) => idAt(ids, from + at)) : [];
    },
  };
}

function idAt(ids: Uint8Array, n: number): string {
  return idText(ids, headBytes + n * (lengthBytes + idBytes) + lengthBytes);
}

export function idText(ids: Uint8Array, start: number): string {
  const hex = Array.from(ids.subarray(start, start + idBytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

export function forEachRow({ tableNames, data, records }: ExportPage, visit: RowVisitor): void {
  let tableName = headBytes + lengthBytes;
  let value = headBytes + lengthBytes;
  for (let row = 0; row < records; row++) {
    const endOfTableName = tableName + int32At(tableNames, tableName - lengthBytes);
    const endOfData = value + int32At(data, value - lengthBytes);
    const id = headBytes + row * (lengthBytes + idBytes) + lengthBytes;
    const time = headBytes + row * (lengthBytes + timeBytes) + lengthBytes;
    visit(id, time, tableName, endOfTableName, value + versionBytes, endOfData);
    tableName = endOfTableName + lengthBytes;
    value = endOfData + lengthBytes;
  }
}

/** 8 bytes of a time in milliseconds. */
export function timeMs(from: Uint8Array, start: number): number {
  const microseconds = int32At(from, start) * 2 ** 32 + (int32At(from, start + 4) >>> 0);
  return Math.floor(microseconds / 1000) + epoch;
}

/** With its sign, the highest byte first. */
export function int32At(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
}
