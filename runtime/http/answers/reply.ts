import type { Reply } from "../../scope/keyed.ts";

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
