/** Input of the code editor: languages, faults and completions. Loads no editor. */

/** `markdown` and `liquid` (HTML) have Liquid in them. */
export type CodeLanguage =
  | "text"
  | "markdown"
  | "liquid"
  | "json"
  | "html"
  | "css"
  | "javascript"
  | "jsx"
  | "typescript"
  | "tsx"
  | "svelte"
  | "vue";

/** Both are counted from 1. */
export interface Fault {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** A word that the editor offers. `filter`, `tag` and `variable` are of Liquid; a variable may have dots: `account.name`. */
export interface CodeWord {
  readonly label: string;
  readonly type: "variable" | "filter" | "tag" | "function" | "keyword";
  /** One line about it. */
  readonly detail?: string;
}

const languages: Readonly<Record<string, CodeLanguage>> = {
  "text/html": "html",
  "text/markdown": "markdown",
  "text/x-liquid": "liquid",
};

/** The language of a field that is known by its name only; undefined for one that holds no code. */
export function languageOf(
  { name, kind, media }: { readonly name: string; readonly kind: string; readonly media?: string },
  value: string,
): CodeLanguage | undefined {
  if (kind === "json") return "json";
  if (media !== undefined) return languages[media];
  if (kind !== "text") return undefined;
  if (name === "content") return "markdown";
  if (name !== "source_code") return undefined;
  return value.trimStart().startsWith("<") ? "html" : "tsx";
}

/** The server writes `line 3, column 5: message` or `3:5 message`; what names no place stays a message. */
export function faultsOf(messages: readonly string[]): { faults: Fault[]; others: string[] } {
  const faults: Fault[] = [];
  const others: string[] = [];
  for (const message of messages) {
    const [place, a, b, c, d] = /^(?:line (\d{1,9}), column (\d{1,9}): |(\d{1,9}):(\d{1,9}) )/.exec(message) ?? [];
    if (place === undefined) others.push(message);
    else faults.push({ line: Number(a ?? c), column: Number(b ?? d), message: message.slice(place.length) });
  }
  return { faults, others };
}

/** Where a text stops being JSON; undefined if it is, or if the browser does not say where. */
export function jsonFault(text: string, message: string): Fault | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const said = error instanceof Error ? error.message : "";
    const offset = /at position (\d{1,9})/.exec(said)?.[1];
    if (offset !== undefined) return { ...placeOf(text, Number(offset)), message };
    const [, line, column] = /line (\d{1,9}) column (\d{1,9})/.exec(said) ?? [];
    if (line !== undefined) return { line: Number(line), column: Number(column), message };
    return { ...placeOf(text, text.length), message };
  }
}

/** The line and column of an offset. */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** The offset of a line and column; past the end of a line it is that end, past the last line the end of the text. */
export function offsetOf(text: string, { line, column }: Pick<Fault, "line" | "column">): number {
  let start = 0;
  for (let at = 1; at < line; at++) {
    const end = text.indexOf("\n", start);
    if (end === -1) return text.length;
    start = end + 1;
  }
  const end = text.indexOf("\n", start);
  return Math.max(start, Math.min(start + column - 1, end === -1 ? text.length : end));
}
