/** Mail addresses as people write them. Pure. */

export interface Address {
  readonly name: string;
  readonly address: string;
}

const maxAddressChars = 254;
const maxNameChars = 200;
/** Includes blanks and backslashes. The patterns below take quadratic time. */
const maxWrittenChars = 1_000;
const local = String.raw`[^\s<>()[\],;:\\"@]{1,64}`;
const domain = String.raw`[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?`;
const bare = new RegExp(String.raw`^${local}@${domain}$`, "u");
const named = /^(?:"((?:[^"\\]|\\.)*)"|([^"<>]*?))\s*<([^<>]*)>$/;

/**
 * `ewa@example.com`, `Ewa <ewa@example.com>` or `"Nowak, Ewa" <ewa@example.com>`; undefined if it is not an address.
 */
export function parseAddress(text: string): Address | undefined {
  const trimmed = text.trim();
  if (trimmed.length > maxWrittenChars || hasControl(text)) return undefined;
  const match = named.exec(trimmed);
  const [, quoted, plain = "", inner = trimmed] = match ?? [];
  const name = quoted?.replaceAll(/\\(.)/g, "$1") ?? plain.trim();
  if (inner.length > maxAddressChars || name.length > maxNameChars || !bare.test(inner)) return undefined;
  return inner.includes("..") ? undefined : { name, address: inner };
}

/** Splits at commas outside of quotes. */
export function splitList(text: string): string[] {
  const parts: string[] = [];
  let from = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    if (quoted && text[at] === "\\") at++;
    else if (text[at] === '"') quoted = !quoted;
    else if (text[at] === "," && !quoted) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return [...parts, text.slice(from)].map((part) => part.trim()).filter((part) => part !== "");
}

/** Line breaks and similar characters: with them a value could add a header. */
export function hasControl(text: string): boolean {
  // oxlint-disable-next-line eslint/no-control-regex -- control characters are what is looked for
  return /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text);
}
