import type { Reply } from "../../scope/keyed.ts";
import type { ReadPage } from "../../db/page-store.ts";
import { readBounds } from "../../base/read-bounds.ts";
import { warned } from "../refusals/warning.ts";

export type { Reply };

type Headers = Readonly<Record<string, string>>;

export const jsonType = "application/json; charset=utf-8";

/** 200 with `value` as JSON. */
export function ok(value: unknown, headers?: Headers): Reply {
  return { status: 200, body: JSON.stringify(value), headers: { "content-type": jsonType, ...headers } };
}

/** 201 with `value` as JSON. */
export function created(value: unknown, headers?: Headers): Reply {
  return { status: 201, body: JSON.stringify(value), headers: { "content-type": jsonType, ...headers } };
}

/** JSON that is already text, e.g. from PostgreSQL: passed through without parsing. */
export function jsonText(status: number, body: string, headers?: Headers): Reply {
  return { status, body, headers: headers ? { "content-type": jsonType, ...headers } : { "content-type": jsonType } };
}

/** A bare array with `X-Total-Count`. behaviour B.3. */
export function list(rows: readonly unknown[], total: number, headers?: Headers): Reply {
  return ok(rows, { "x-total-count": `${total}`, ...headers });
}

/** 204. */
export function noContent(headers: Headers = {}): Reply {
  return { status: 204, body: null, headers };
}

export function text(status: number, body: string, type: string, headers?: Headers): Reply {
  return { status, body, headers: { "content-type": type, ...headers } };
}

export function redirect(status: 301 | 302 | 303, location: string, headers?: Headers): Reply {
  return { status, body: null, headers: { location, ...headers } };
}

/** The same reply, marked as showing a secret. */
export function secret(reply: Reply): Reply {
  return { ...reply, secret: true };
}

// Answers with a page of a list.

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
