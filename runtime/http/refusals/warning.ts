/**
 * Hints beside an otherwise unchanged answer: the header `Warning` in the form of RFC 7234, `299 - "text"`. RFC 9110
 * dropped the header, but clients know this form.
 */
import type { Reply } from "../../scope/keyed.ts";

/** Proxies refuse answers with long headers. */
export const warningLimits = { texts: 8, characters: 200 } as const;

/** Adds these hints to those that the reply already has. */
export function warned(reply: Reply, texts: readonly string[]): Reply {
  const warning = withWarnings(reply.headers["warning"], texts);
  return warning === undefined ? reply : { ...reply, headers: { ...reply.headers, warning } };
}

/** The header with further hints; undefined if there are none at all. */
export function withWarnings(header: string | undefined, texts: readonly string[]): string | undefined {
  if (texts.length === 0) return header;
  const shown = texts.slice(0, warningLimits.texts);
  const more = texts.length > shown.length ? [`and ${texts.length - shown.length} more`] : [];
  const values = [...shown, ...more].map((text) => `299 - "${quoted(text)}"`);
  return [...(header === undefined ? [] : [header]), ...values].join(", ");
}

/** The text as a quoted ASCII string of limited length; other characters are percent-encoded. */
function quoted(text: string): string {
  let ascii = "";
  for (const character of text.toWellFormed()) {
    const next = /[ -~]/.test(character) ? character.replace(/["\\]/, String.raw`\$&`) : encodeURIComponent(character);
    if (ascii.length + next.length > warningLimits.characters) return `${ascii}...`;
    ascii += next;
  }
  return ascii;
}
