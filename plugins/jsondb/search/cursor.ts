/** Where a page ended, as an opaque text: `after=<cursor>` goes on from there. behaviour B.7. */
import { badRequest, type BaseContext } from "platform";
import type { Sort } from "./query.ts";

export interface Cursor {
  readonly id: string;
  /** The sort key of the last record as text; null where it has none. Left out where it is to be looked up by `id`. */
  readonly value?: string | null;
}

type Signer = Pick<BaseContext["secrets"], "sign" | "verify">;

const purpose = "jsondb.cursor";
// A longer value does not fit a header: the record itself is asked for it.
const maxValueLength = 1000;

/** Signed, and bound to the database and the order that it was made for. */
export function encodeCursor(signer: Signer, dbId: string, sort: Sort, cursor: Required<Cursor>): string {
  const { id, value } = cursor;
  const parts =
    value === null || value.length <= maxValueLength ? [dbId, orderOf(sort), id, value] : [dbId, orderOf(sort), id];
  return signer.sign(purpose, toBase64Url(JSON.stringify(parts)));
}

/** 400 where it is not one of this database's and order's. */
export function decodeCursor(signer: Signer, dbId: string, sort: Sort, text: string): Cursor {
  const payload = text.length <= 20_000 ? signer.verify(purpose, text) : undefined;
  if (payload === undefined) throw badRequest("`after` is not a cursor of X-Next-Cursor");
  // What we signed is what we made.
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
