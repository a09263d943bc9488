/** Requests as an outside client sends them: shared by "platform/test" and by the repository's own tests. */
import { setTimeout as sleep } from "node:timers/promises";

/** An answer, read to its end. `json` is undefined if the body is not JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // Tests read answers as an outside client does: the assertion is the check.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any;
}

export interface RequestOptions {
  /** A bearer token, or null for none. Default: the administrator's. */
  readonly token?: string | null;
  readonly headers?: Record<string, string>;
  /** Sent unchanged, in place of a JSON body. */
  readonly raw?: BodyInit;
}

/** `app.post("/items", { item: { … } })`. */
export interface Client {
  request(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<Answer>;
  get(path: string, options?: RequestOptions): Promise<Answer>;
  post(path: string, body?: unknown, options?: RequestOptions): Promise<Answer>;
  patch(path: string, body?: unknown, options?: RequestOptions): Promise<Answer>;
  delete(path: string, options?: RequestOptions): Promise<Answer>;
}

/** Sends requests to one address; `bearer` is the token of requests that name none. */
export function requester(origin: string, bearer: string): Client["request"] {
  return async (method, path, body, { token = bearer, headers = {}, raw } = {}) => {
    const response = await fetch(`${origin}${path}`, {
      method,
      redirect: "manual",
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json; charset=utf-8" }),
        ...headers,
      },
      ...(raw !== undefined ? { body: raw } : body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: parsed(text) };
  };
}

export function clientOf(request: Client["request"]): Client {
  return {
    request,
    get: (path, options) => request("GET", path, undefined, options),
    post: (path, body, options) => request("POST", path, body, options),
    patch: (path, body, options) => request("PATCH", path, body, options),
    delete: (path, options) => request("DELETE", path, undefined, options),
  };
}

/** Waits until `check` returns something truthy; fails after `withinMs`. */
export async function eventually<T>(
  check: () => Promise<T> | T,
  what = "the condition",
  withinMs = 10_000,
): Promise<NonNullable<T>> {
  const end = Date.now() + withinMs;
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 1.5, 50)) {
    const value = await check();
    if (value) return value;
    if (Date.now() > end) throw new Error(`${what} did not come true`);
    await sleep(pauseMs);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
