/** Paths of pages, articles and categories as they are kept: CONTRACT 11. */

export const maxPathBytes = 2000;

/** A path without slashes at its ends, or what is wrong with it. */
export type CleanPath = { readonly path: string } | { readonly mistake: string };

export function cleanPath(given: string): CleanPath {
  const path = given.normalize("NFC").replaceAll(/^[\s/]+|[\s/]+$/g, "");
  const mistake = mistakeOf(path);
  return mistake === undefined ? { path } : { mistake };
}

function mistakeOf(path: string): string | undefined {
  if (new TextEncoder().encode(path).length > maxPathBytes) return `may have at most ${maxPathBytes} bytes`;
  // oxlint-disable-next-line no-control-regex -- they are what is refused
  if (/[\u0000-\u001f\u007f-\u009f]/.test(path)) return "may hold no control characters";
  // Neither ever arrives as part of a path.
  const foreign = /[?#\\]/.exec(path)?.[0];
  if (foreign !== undefined) return `may not hold ${foreign}`;
  if (/%[0-9a-f]{2}/i.test(path)) return "is written as it reads, not percent-encoded";
  if (path === "") return undefined;
  const odd = path.split("/").find((segment) => segment === "" || segment === "." || segment === "..");
  if (odd !== undefined) return odd === "" ? "may not hold an empty segment (//)" : `may not hold the segment ${odd}`;
  return undefined;
}
