/**
 * A request that a handler makes of this server itself, in this process: with the same identification, privileges,
 * checks, log and error words as any other, from the client's address of the request that the handler answers. A
 * token's limit of requests counts both as one, if they have the same token.
 */
import { causationHeader } from "../scope/causation.ts";
import { arriveWith } from "./arrival.ts";
import { credentialOf } from "./auth.ts";
import type { Method } from "./route.ts";

export interface SubrequestOptions {
  readonly method: Method;
  /** With its query: `/core/apps.json?limit=5`. */
  readonly path: `/${string}`;
  /** Whose rights it has. */
  readonly token: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, in place of `body`; `headers` name its type. */
  readonly text?: string;
}

/** The response to a subrequest, without headers that only a browser or a proxy reads. */
export interface InnerAnswer {
  readonly status: number;
  readonly body: string;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

export type Subrequest = (of: Request, asking: SubrequestOptions) => Promise<InnerAnswer>;

const passedOn = ["user-agent", causationHeader];

/** `of` is the request that the handler answers. */
export function subrequestOf(
  of: Request,
  { method, path, token, headers: own = {}, body, text: asIs }: SubrequestOptions,
): Request {
  const headers: Record<string, string> = { accept: "application/json", authorization: `Bearer ${token}` };
  for (const name of passedOn) {
    const value = of.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  const text = asIs ?? (body === undefined ? undefined : JSON.stringify(body));
  if (text !== undefined) headers["content-type"] = "application/json";
  // The host is that of `of`: it was found out when that arrived.
  const request = new Request(`http://in.process${path}`, {
    method,
    headers: { ...headers, ...own },
    ...(text !== undefined && { body: text }),
  });
  arriveWith(request, of, credentialOf(of.headers)?.token === token);
  return request;
}
