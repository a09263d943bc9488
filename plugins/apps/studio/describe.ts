/** What a model is told of an app that it is to change, and what is read of its answer. Pure. */
export interface AnsweredCode {
  /** What the model says beside the source. */
  readonly prose: string;
  /** The whole source; undefined if the answer has none. */
  readonly source: string | undefined;
}

/** An answer, also while it comes in: what stands in its fenced block is the source, which may hold fences itself. */
export function answerOf(text: string): AnsweredCode {
  const opening = /^ {0,3}```[^\n`]*\n/m.exec(text);
  if (!opening) return { prose: text.trim(), source: undefined };
  const rest = text.slice(opening.index + opening[0].length);
  const closing = rest.lastIndexOf("\n```");
  const source = closing === -1 ? rest : rest.slice(0, closing + 1);
  const after = closing === -1 ? "" : rest.slice(closing + 4);
  return { prose: `${text.slice(0, opening.index).trim()}\n${after.trim()}`.trim(), source };
}

/** The lines of `after` that `before` does not have, and the other way round. */
export function changedLines(before: string, after: string): { readonly added: number; readonly removed: number } {
  const count = (text: string) => {
    const lines = new Map<string, number>();
    for (const line of text.split("\n")) lines.set(line, (lines.get(line) ?? 0) + 1);
    return lines;
  };
  const [old, now] = [count(before), count(after)];
  const more = (a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>) =>
    [...a].reduce((sum, [line, times]) => sum + Math.max(0, times - (b.get(line) ?? 0)), 0);
  return { added: more(now, old), removed: more(old, now) };
}

/** What the compiler says, as the model is asked to mend it. */
export function complaintOf(mistakes: readonly string[]): string {
  return `The compiler says (line:column message):\n${mistakes.join("\n")}\nSend the whole source again, mended.`;
}

/** An instruction prompt as it is built in: without its head, and with plain names where it names others. */
export function guideOf(text: string): string {
  return text.replace(/^---\n[^]*?\n---\n/, "").replaceAll(/\{\{ "(\w+)" \| prompt_url \}\}/g, "`$1`");
}

/** `fields.dbs`, as the form holds it: the codes of the further tables that an app may use. */
export function tablesOfApp(own: string, fieldsJson: string): string[] {
  const dbs = jsonOf(fieldsJson)["dbs"];
  const further = Array.isArray(dbs) ? dbs.filter((code) => typeof code === "string") : [];
  return [...new Set([own, ...further])].filter((code) => code !== "");
}

/** The inputs `db_code` and `fields` for these tables: the first is the app's own. */
export function inputsOfTables(codes: readonly string[], fieldsJson: string): { db_code: string; fields: string } {
  const [own = "", ...further] = codes;
  const { dbs: _, ...others } = jsonOf(fieldsJson);
  const fields = further.length > 0 ? { ...others, dbs: further } : others;
  return { db_code: own, fields: JSON.stringify(fields, null, 2) };
}

function jsonOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const given: unknown = JSON.parse(text);
    return typeof given === "object" && given !== null && !Array.isArray(given) ? { ...given } : {};
  } catch {
    return {};
  }
}
