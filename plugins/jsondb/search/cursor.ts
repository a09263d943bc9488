/** The end of a page as an opaque text: `after=<cursor>` continues from there. behaviour B.7. */
import { badRequest, type BaseContext } from "platform";
import { columnKindOf, ownFields } from "../databases/columns.ts";
import type { Database } from "../databases/database.ts";
import type { Query } from "./query.ts";

export interface Cursor {
  readonly id: string;
  /** The sort key of the last record as text; null if it has none. Left out if it must be looked up by `id`. */
  readonly value?: string | null;
}

type Ordered = Pick<Query, "sort" | "table">;
type Signer = Pick<BaseContext["secrets"], "sign" | "verify">;

const purpose = "jsondb.cursor";
// A longer value does not fit into a header, so it is read from the record again.
const maxValueLength = 1000;

/** Signed, and bound to the database and the order that it was made for. */
export function encodeCursor(signer: Signer, db: Database, query: Ordered, cursor: Required<Cursor>): string {
  const { id, value } = cursor;
  const place = [db.id, orderOf(db, query), id];
  const parts = value === null || value.length <= maxValueLength ? [...place, value] : place;
  return signer.sign(purpose, toBase64Url(JSON.stringify(parts)));
}

/** 400 if it was not made for this database and order. */
export function decodeCursor(signer: Signer, db: Database, query: Ordered, text: string): Cursor {
  const payload = text.length <= 20_000 ? signer.verify(purpose, text) : undefined;
  if (payload === undefined) throw badRequest("`after` is not a cursor of X-Next-Cursor");
  // The signature proves that it has the form we made.
  const [dbId, order, id, value] = JSON.parse(fromBase64Url(payload)) as [string, string, string, (string | null)?];
  if (dbId !== db.id || order !== orderOf(db, query))
    throw badRequest("`after` belongs to another database or another `sort`, or to another order of letters");
  return value === undefined ? { id } : { id, value };
}

/** With the collation, where strings are sorted: in another one the records before and after it are others. */
function orderOf({ collation }: Database, { sort: { field, descending }, table }: Ordered): string {
  const type = table.fields.get(field)?.type;
  const isText = !ownFields.has(field) && (type === undefined || columnKindOf(type) === "str");
  return `${descending ? "-" : "+"}${field}${isText ? ` ${collation}` : ""}`;
}

function toBase64Url(text: string): string {
  return new TextEncoder().encode(text).toBase64({ alphabet: "base64url", omitPadding: true });
}

function fromBase64Url(text: string): string {
  return new TextDecoder().decode(Uint8Array.fromBase64(text, { alphabet: "base64url" }));
}
