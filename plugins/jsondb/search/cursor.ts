/** The end of a page as an opaque text: `after=<cursor>` continues from there. behaviour B.7. */
import { badRequest, type BaseContext } from "platform";
import type { Sort } from "./query.ts";

export interface Cursor {
  readonly id: string;
  /** The sort key of the last record as text; null if it has none. Left out if it must be looked up by `id`. */
  readonly value?: string | null;
}

type Signer = Pick<BaseContext["secrets"], "sign" | "verify">;

const purpose = "jsondb.cursor";
// A longer value does not fit into a header, so it is read from the record again.
const maxValueLength = 1000;

/** Signed, and bound to the database and the order that it was made for. */
export function encodeCursor(signer: Signer, dbId: string, sort: Sort, cursor: Required<Cursor>): string {
  const { id, value } = cursor;
  const parts =
    value === null || value.length <= maxValueLength ? [dbId, orderOf(sort), id, value] : [dbId, orderOf(sort), id];
  return signer.sign(purpose, toBase64Url(JSON.stringify(parts)));
}

/** 400 if it was not made for this database and order. */
export function decodeCursor(signer: Signer, dbId: string, sort: Sort, text: string): Cursor {
  const payload = text.length <= 20_000 ? signer.verify(purpose, text) : undefined;
  if (payload === undefined) throw badRequest("`after` is not a cursor of X-Next-Cursor");
  // The signature proves that it has the form we made.
  const [db, order, id, value] = JSON.parse(fromBase64Url(payload)) as [string, string, string, (string | null)?];
  if (db !== dbId || order !== orderOf(sort)) throw badRequest("`after` belongs to another database or another `sort`");
  return value === undefined ? { id } : { id, value };
}

function orderOf({ field, descending }: Sort): string {
  return `${descending ? "-" : "+"}${field}`;
}

function toBase64Url(text: string): string {
  return new TextEncoder().encode(text).toBase64({ alphabet: "base64url", omitPadding: true });
}

function fromBase64Url(text: string): string {
  return new TextDecoder().decode(Uint8Array.fromBase64(text, { alphabet: "base64url" }));
}
