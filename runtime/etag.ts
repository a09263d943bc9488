import { preconditionFailed } from "./errors.ts";

/** The ETag of a row's version, e.g. `"3-7"`. */
export function etag(id: string | number, version: number): string {
  return `"${id}-${version}"`;
}

/**
 * The version that an `If-Match` header asks for: undefined where there is none (or `*`), else a number to compare in
 * the update's `where`. Throws 412 where the tag is not one of this object's. CONTRACT 3.
 */
export function expectedVersion(request: Request, id: string | number): number | undefined {
  const given = request.headers.get("if-match")?.trim();
  if (!given || given === "*") return undefined;
  const match = /^(?:W\/)?"(.+)-(\d{1,9})"$/.exec(given);
  if (!match || match[1] !== `${id}`) throw preconditionFailed();
  return Number(match[2]);
}
