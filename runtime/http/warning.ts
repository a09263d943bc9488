/**
 * Hints beside an answer that is otherwise as it would be without them: the header `Warning` in the form of RFC 7234,
 * `299 - "text"`. RFC 9110 dropped the header, but this is the form that clients know.
 */
import type { Reply } from "./reply.ts";

/** Proxies refuse answers whose headers are long. */
export const warningLimits = { texts: 8, characters: 200 } as const;

/** The reply with these hints beside those that it has. */
export function warned(reply: Reply, texts: readonly string[]): Reply {
  const warning = withWarnings(reply.headers["warning"], texts);
  return warning === undefined ? reply : { ...reply, headers: { ...reply.headers, warning } };
}

/** The header with further hints; undefined where there are none at all. */
export function withWarnings(header: string | undefined, texts: readonly string[]): string | undefined {
  if (texts.length === 0) return header;
  const shown = texts.slice(0, warningLimits.texts);
  const more = texts.length > shown.length ? [`and ${texts.length - shown.length} more`] : [];
  const values = [...shown, ...more].map((text) => `299 - "${quoted(text)}"`);
  return [...(header === undefined ? [] : [header]), ...values].join(", ");
}

/** The text as a quoted string of ASCII, bounded; other characters as they stand in addresses. */
function quoted(text: string): string {
  let ascii = "";
  for (const character of text.toWellFormed()) {
    const next = /[ -~]/.test(character) ? character.replace(/["\\]/, String.raw`\$&`) : encodeURIComponent(character);
    if (ascii.length + next.length > warningLimits.characters) return `${ascii}...`;
    ascii += next;
  }
  return ascii;
}
