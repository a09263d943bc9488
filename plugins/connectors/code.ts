/** Codes of connectors and flows, which are found by id or code. Pure. */

export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text);
}

/** Whether it can be a code: the database is not asked for anything else. */
export function isCode(text: string): boolean {
  return /^[A-Za-z0-9._-]{1,100}$/.test(text);
}

/** The mistake of a code that is to be saved, or undefined. */
export function codeMistake(code: string): string | undefined {
  if (isUuid(code)) return "must not have the form of an id";
  // Routes cut `.json` off the end of a path.
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(code) || /\.(json)?$/.test(code)) return "must be letters, digits, - and _";
  return undefined;
}
