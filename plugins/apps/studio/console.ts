/** Reads the reports of an app in a preview. They are untrusted texts: checked, cut and counted. Pure. */
import { isMap } from "studio/exact";

export interface Entry {
  readonly level: "error" | "warn" | "log";
  readonly text: string;
  readonly count: number;
  /** In the source, from 1; undefined where it is unknown. */
  readonly line?: number;
}

const mostEntries = 200;
const mostChars = 4000;
const levels = ["error", "warn", "log"] as const;

/**
 * The entries of a message of the error panel; undefined for any other message. `lines` are the source's lines by those
 * of the compiled code; null where the source runs as it is.
 */
export function entriesOf(message: unknown, lines: readonly number[] | null): Entry[] | undefined {
  if (!isMap(message) || message["type"] !== "core:report" || !Array.isArray(message["entries"])) return undefined;
  const given: readonly unknown[] = message["entries"].slice(-mostEntries);
  return given.flatMap((entry) => {
    if (!isMap(entry) || typeof entry["text"] !== "string") return [];
    const level = levels.find((one) => one === entry["level"]) ?? "log";
    const text = entry["text"].slice(0, mostChars);
    const count = typeof entry["count"] === "number" && entry["count"] > 1 ? Math.floor(entry["count"]) : 1;
    const line = lineOf(typeof entry["place"] === "string" ? entry["place"].slice(0, 300) : "", text, lines);
    return [{ level, text, count, ...(line !== undefined && { line }) }];
  });
}

/** The place of an error is `app:3:14`; of a page in HTML it is named like the preview. A stack names it in its text. */
function lineOf(place: string, text: string, lines: readonly number[] | null): number | undefined {
  const [, found] =
    /^(?:app|[\w-]{20,100}):(\d{1,7}):\d{1,7}$/.exec(place) ??
    /(?:\bapp|\/a\/preview\/[\w-]{1,100}):(\d{1,7}):\d{1,7}/.exec(text) ??
    [];
  if (found === undefined) return undefined;
  const line = lines ? lines[Number(found) - 1] : Number(found);
  return line === undefined || line < 1 ? undefined : line;
}
