/** The stored form of paths of pages, articles and categories. behaviour B.11. */

export const maxPathBytes = 2000;

/** A path without slashes at its ends and otherwise as sent, or the reason why it is refused. */
export type CleanPath = { readonly path: string } | { readonly mistake: string };

export function cleanPath(given: string): CleanPath {
  const path = withoutSlashes(given.normalize("NFC"));
  const mistake = mistakeOf(path);
  return mistake === undefined ? { path } : { mistake };
}

function withoutSlashes(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && text[start] === "/") start++;
  while (end > start && text[end - 1] === "/") end--;
  return text.slice(start, end);
}

/** Refuses only paths that no address can lead to: browsers resolve dot segments and send no control characters. */
function mistakeOf(path: string): string | undefined {
  if (new TextEncoder().encode(path).length > maxPathBytes) return `may have at most ${maxPathBytes} bytes`;
  // oxlint-disable-next-line no-control-regex -- they are what is refused
  if (/[\u0000-\u001f\u007f-\u009f]/.test(path)) return "must not contain control characters";
  if (path === "") return undefined;
  const odd = path.split("/").find((segment) => segment === "" || segment === "." || segment === "..");
  if (odd !== undefined)
    return odd === "" ? "must not contain an empty segment (//)" : `must not contain the segment ${odd}`;
  return undefined;
}
