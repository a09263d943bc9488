/** The ETag of a row's version, e.g. `"3-7"`. */
export function etag(id: string | number, version: number): string {
  return `"${id}-${version}"`;
}

/**
 * The version that an `If-Match` header asks for, to be compared in the update's `where`: undefined without the header
 * (or for `*`), 0 (which no row has) if no tag belongs to this object. Check first that the object exists: an unknown
 * one is 404, another version 412. behaviour B.3.
 */
export function expectedVersion(request: Request, id: string | number): number | undefined {
  const given = request.headers.get("if-match")?.trim();
  if (!given || given === "*") return undefined;
  const versions = tagsIn(given).map((tag) => {
    const [, tagged, version] = /^"(.+)-(\d{1,9})"$/.exec(tag) ?? [];
    return tagged === `${id}` ? Number(version) : 0;
  });
  // Versions only grow, so of several only the highest can be the present one.
  return Math.max(0, ...versions);
}

/**
 * Whether an `If-None-Match` header contains this tag by weak comparison: the client's copy is current (RFC 9110
 * 13.1.2).
 */
export function isKnownTag(ifNoneMatch: string | null, tag: string): boolean {
  if (ifNoneMatch === null) return false;
  return ifNoneMatch.trim() === "*" || tagsIn(ifNoneMatch).includes(tag.replace(/^W\//, ""));
}

/** `W/"a", "b"` -> `"a"`, `"b"` */
function tagsIn(header: string): string[] {
  return header.match(/"[^"]*"/g) ?? [];
}
