/** The block between two `---` lines at the beginning of a built-in file (behaviour 2.1). */
export interface FrontMatter {
  readonly name: string | null;
  readonly placeholder: string | null;
  /** The file without that block: the text for the model. */
  readonly text: string;
}

/**
 * Separates the front matter from a file. A block that is not closed, has a line other than `key: value` or lacks `name:`
 * is not front matter: the whole file is text then, since Markdown may well begin with a rule of dashes.
 */
export function parseFrontMatter(source: string): FrontMatter {
  const file = source.replace(/^\uFEFF/, "");
  const lines = file.split(/\r?\n/);
  const plain: FrontMatter = { name: null, placeholder: null, text: file };
  if (lines[0]?.trimEnd() !== "---") return plain;
  const end = lines.findIndex((line, at) => at > 0 && line.trimEnd() === "---");
  if (end < 0) return plain;
  const values = keyValues(lines.slice(1, end));
  const name = values?.get("name");
  if (!values || !name) return plain;
  const text = lines.slice(end + 1).join("\n");
  return { name, placeholder: values.get("placeholder") || null, text: text.replace(/^(?:[ \t]*\n)+/, "") };
}

function keyValues(lines: readonly string[]): Map<string, string> | undefined {
  const values = new Map<string, string>();
  for (const line of lines) {
    if (line.trim() === "") continue;
    const match = /^([A-Za-z]\w*):(.*)$/.exec(line);
    if (!match) return undefined;
    const [, key = "", value = ""] = match;
    if (!values.has(key)) values.set(key, unquoted(value.trim()));
  }
  return values;
}

function unquoted(value: string): string {
  const quote = value[0];
  const quoted = value.length >= 2 && (quote === '"' || quote === "'") && value.endsWith(quote);
  return quoted ? value.slice(1, -1) : value;
}
