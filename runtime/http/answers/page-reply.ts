/** Answers with a page of a list. */
import type { ReadPage } from "../../db/page-store.ts";
import { readBounds } from "../../base/read-bounds.ts";
import { warned } from "../refusals/warning.ts";
import { list, type Reply } from "./reply.ts";

/** `X-Total-Count`, and the hint how to go on where the rows were too large to be all in one answer. */
export function pageReply<Row>({ rows, total, next }: ReadPage<Row>, toApi: (row: Row) => unknown): Reply {
  const reply = list(
    rows.map((row) => toApi(row)),
    total,
  );
  return warned(reply, next === undefined ? [] : [endsEarly(rows.length, `\`offset=${next}\``)]);
}

/** A page that is shorter than its limit is not the last one: `next` begins the next one. */
export const endsEarly = (rows: number, next: string, of = "rows") =>
  `the page ends after ${rows} ${of}, which reach ${readBounds.answerBytes} bytes: the next one begins at ${next}`;
