/**
 * Where to go after sign-in: a path of the same origin, else `/`. Anything that a browser would read as another host
 * (`//evil`, `/\evil`, a tab inside, `/.//evil`) is not such a path. behaviour B.1.
 */
export function safePath(given: string | null | undefined): string {
  if (!given || given.length > 2000 || !given.startsWith("/")) return "/";
  // No control characters, blanks or backslashes: browsers drop the first and read the last as a slash.
  if (/[^\x21-\x5b\x5d-\x7e\x80-\uffff]/.test(given) || !URL.canParse(given, base)) return "/";
  const { origin, pathname, search, hash } = new URL(given, base);
  return origin === base && !pathname.startsWith("//") ? pathname + search + hash : "/";
}

const base = "http://same.invalid";
