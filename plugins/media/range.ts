/** A request for a part of a file. RFC 9110, section 14. */

/** From the first byte to before the last; `unsatisfiable` is 416; undefined sends the whole. */
export type Range = { readonly from: number; readonly to: number } | "unsatisfiable" | undefined;

/**
 * Of several ranges, or of a header that cannot be read, the whole is sent, as the standard allows. `tag` is the file's:
 * with an `If-Range` of another one it is a part of something else that is wanted.
 */
export function rangeOf(headers: Headers, size: number, tag: string): Range {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.get("range")?.trim() ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  const condition = headers.get("if-range");
  if (condition !== null && condition.trim() !== tag) return undefined;
  if (first === "") {
    const bytes = Math.min(Number(last), size);
    return bytes === 0 ? "unsatisfiable" : { from: size - bytes, to: size };
  }
  const from = Number(first);
  if (last !== "" && Number(last) < from) return undefined;
  if (from >= size) return "unsatisfiable";
  return { from, to: last === "" ? size : Math.min(Number(last) + 1, size) };
}
