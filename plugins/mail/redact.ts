/** A mail server's answer for the log: some quote the mail that they refuse, and a link in it is a key. Pure. */

const maxChars = 500;
const hidden = "[hidden]";
const shortest = 8;

export function redacted(answer: string, values: Readonly<Record<string, string>>): string {
  let text = answer.slice(0, 10_000);
  for (const value of Object.values(values)) if (value.length >= shortest) text = text.replaceAll(value, hidden);
  const words = text.split(/\s/).map((word) => (isTelling(word) ? hidden : word));
  return words.join(" ").slice(0, maxChars).toWellFormed();
}

/** An address of a page, or what may be a token; a line of quoted-printable may have cut it. */
function isTelling(word: string): boolean {
  return word.includes("://") || word.includes("token=") || /[A-Za-z0-9_-]{24}/.test(word);
}
