/**
 * Lists of records that may be large: a thousand pages of a megabyte each are answered whole, but are never in memory
 * at once. First their ids and sizes are read, then the records part by part.
 */

export interface Listed<Row> {
  readonly total: number;
  /** How many parts `rows` gives; most lists have one. */
  readonly parts: number;
  /** A record that was deleted after the list was asked for is left out. */
  readonly rows: () => AsyncGenerator<readonly Row[]>;
}

/** Measured behind the query that sorts and cuts: else PostgreSQL would measure what is not on this page too. */
export interface Sized {
  readonly id: number;
  readonly bytes: number;
}

/** Of one part, but for a single record that is larger. */
export const maxPartBytes = 8_000_000;

/** The records of these ids in this order; `read` may give them in any. */
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

/** Records of a kind that is never large. */
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

/** Ids in their order, as many together as fit. An empty list is one empty part. */
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
