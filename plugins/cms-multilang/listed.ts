/**
 * Lists of records that may be large. A thousand pages of a megabyte each are answered completely, but are never in
 * memory together: their ids and sizes are read first, then the records part by part.
 */

export interface Listed<Row> {
  readonly total: number;
  /** The number of parts that `rows` yields; most lists have one. */
  readonly parts: number;
  /** Leaves out records that were deleted after the list was requested. */
  readonly rows: () => AsyncGenerator<readonly Row[]>;
}

/** Measured after sorting and cutting; otherwise PostgreSQL would measure rows that are not on this page. */
export interface Sized {
  readonly id: number;
  readonly bytes: number;
}

/** The limit of one part; a single larger record is a part of its own. */
export const maxPartBytes = 8_000_000;

/** The records of these ids, in this order; `read` may return them in any. */
export function inParts<Row extends { readonly id: number }>(
  sized: readonly Sized[],
  total: number,
  read: (ids: readonly number[]) => Promise<readonly Row[]>,
): Listed<Row> {
  const parts = partsOf(sized);
  return {
    total,
    parts: parts.length,
    async *rows() {
      for (const ids of parts) {
        const found = new Map((await read(ids)).map((row) => [row.id, row]));
        yield ids.map((id) => found.get(id)).filter((row) => row !== undefined);
      }
    },
  };
}

/** For kinds whose records are never large. */
export function inOnePart<Row>(rows: readonly Row[], total: number): Listed<Row> {
  return {
    total,
    parts: 1,
    async *rows() {
      yield rows;
    },
  };
}

export async function allRows<Row>({ rows }: Listed<Row>): Promise<Row[]> {
  const all: Row[] = [];
  for await (const part of rows()) all.push(...part);
  return all;
}

/** Splits ids, in their order, into parts that fit. An empty list is one empty part. */
export function partsOf(sized: readonly Sized[], maxBytes = maxPartBytes): number[][] {
  const parts: number[][] = [];
  let current: number[] = [];
  let size = 0;
  for (const { id, bytes } of sized) {
    if (current.length > 0 && size + bytes > maxBytes) {
      parts.push(current);
      current = [];
      size = 0;
    }
    current.push(id);
    size += bytes;
  }
  return [...parts, current];
}
