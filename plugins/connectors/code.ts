/** Codes of connectors and flows, by which they are found beside their ids. Pure. */

export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text);
}

/** What can be a code: nothing else is asked of the database. */
export function isCode(text: string): boolean {
  return /^[A-Za-z0-9._-]{1,100}$/.test(text);
}

/** What is wrong with a code that is to be saved, or undefined. */
export function codeMistake(code: string): string | undefined {
  if (isUuid(code)) return "must not have the form of an id";
  // `.json` at the end of a path is no part of a code.
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(code) || /\.(json)?$/.test(code)) return "must be letters, digits, - and _";
  return undefined;
}
