/** The rows of an import, whatever its format. */
import { recordLimits, type Data } from "../../records/record.ts";

export interface Place {
  /** The number of the record, from 1; 0 is a header. */
  readonly row: number;
  /** The line of the body on which it begins, from 1. */
  readonly line?: number;
}

export interface RowFault extends Place {
  /** Of the record, where the row is one that was stored before. */
  readonly id?: string;
  readonly field: string | null;
  readonly message: string;
}

export type Row =
  | { readonly place: Place; readonly data: Data; readonly tableName: string | null | undefined }
  /** `last`: the rest of the body cannot be read. */
  | { readonly fault: RowFault; readonly last?: true };

/** Reads rows out of text that comes in pieces. */
export interface RowReader {
  push(text: string): Generator<Row>;
  end(): Generator<Row>;
  /** What was left out of the rows so far, because it describes the records that they once were. */
  readonly leftOut: ReadonlySet<string>;
}

/** Twice what a record may have: its JSON may be written with escapes and spaces. */
export const maxRowLength = 2 * recordLimits.dataBytes;

export function badRow(place: Place, message: string, field: string | null = null): Row {
  return { fault: { ...place, field, message } };
}

/** A fault after which the rest of the body cannot be read. */
export function lastRow(place: Place, message: string): Row {
  return { fault: { ...place, field: null, message }, last: true };
}
