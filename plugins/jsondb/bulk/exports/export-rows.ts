/**
 * A page of an export in the bytes that PostgreSQL sends: a string or an object for each record would take several
 * times as long. Pure.
 *
 * Each column of the page is one array in PostgreSQL's binary format: a head, which says whether it has nulls and how
 * many elements, and then the elements, each with its length before it.
 */

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
const idBytes = 16;
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

/** The id of the last record. */
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
  const start = headBytes + n * (lengthBytes + idBytes) + lengthBytes;
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

/** With its sign, the highest byte first. */
export function int32At(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
}
