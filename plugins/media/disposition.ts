/** Reads `Content-Disposition` of a part of a form, as browsers and curl write it: in UTF-8, quoted. Pure. */

export interface Disposition {
  /** Of the field; "" if the header names none. */
  readonly name: string;
  /** Undefined for a field that is no file. */
  readonly fileName: string | undefined;
}

/** `filename*` (RFC 8187) goes before `filename`. Throws a URIError if it is not encoded as it says. */
export function dispositionOf(header: string): Disposition {
  const parameters = new Map<string, string>();
  let at = header.indexOf(";");
  while (at >= 0) {
    const equals = header.indexOf("=", at);
    if (equals < 0) break;
    const { value, end } = valueAt(header, equals + 1);
    parameters.set(
      header
        .slice(at + 1, equals)
        .trim()
        .toLowerCase(),
      value,
    );
    at = header.indexOf(";", end);
  }
  const [charset, , encoded] = parameters.get("filename*")?.split("'") ?? [];
  const extended =
    charset?.toLowerCase() === "utf-8" && encoded !== undefined ? decodeURIComponent(encoded) : undefined;
  return { name: parameters.get("name") ?? "", fileName: extended ?? parameters.get("filename") };
}

/** A word, or a text in quotes, in which only a quote is escaped: old browsers send whole paths with their backslashes. */
function valueAt(header: string, start: number): { value: string; end: number } {
  let from = start;
  while (header[from] === " ") from++;
  if (header[from] !== '"') {
    const semicolon = header.indexOf(";", from);
    const end = semicolon < 0 ? header.length : semicolon;
    return { value: header.slice(from, end).trim(), end };
  }
  let value = "";
  for (let at = from + 1; at < header.length; at++) {
    const isEscaped = header[at] === "\\" && header[at + 1] === '"';
    if (header[at] === '"') return { value, end: at + 1 };
    value += isEscaped ? '"' : header[at];
    if (isEscaped) at++;
  }
  return { value, end: header.length };
}
