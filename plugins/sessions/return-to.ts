/**
 * Where to go after sign-in: a path of the same origin, else `/`. What a browser would read as another host
 * (`//evil`, `/\evil`, a tab inside, `/.//evil`) is none. CONTRACT 1.
 */
export function safePath(given: string | null | undefined): string {
  if (!given || given.length > 2000 || !given.startsWith("/")) return "/";
  // Browsers drop control characters and read a backslash as a slash.
  if (/[\x00-\x20\x7f\\]/.test(given) || !URL.canParse(given, base)) return "/";
  const { origin, pathname, search, hash } = new URL(given, base);
  return origin === base && !pathname.startsWith("//") ? pathname + search + hash : "/";
}

const base = "http://same.invalid";
