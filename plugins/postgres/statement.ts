/** Reads just enough of a statement: its first word, that it is a single one, and its `{name}`s. Pure. */

export interface Statement {
  /** With `$1`, `$2`, … instead of `{name}`s. */
  readonly text: string;
  /** The name of each `$n`, in order. */
  readonly names: readonly string[];
  /** Its first word, in lower case. */
  readonly verb: string;
}

const reading = ["select", "with", "values", "table", "show", "explain"];
const writing = ["insert", "update", "delete", "merge"];

/** Strings, quoted names and comments, whose content does not count. Only `E'…'` has backslash escapes. */
const quoted = /[eE]'(?:[^'\\]|\\[^]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*/uy;
const dollars = /\$(?:[\p{L}_][\p{L}\p{N}_]*)?\$/uy;
const word = /[\p{L}_][\p{L}\p{N}_$]*/uy;
const placeholder = /\{([A-Za-z_][\w-]*(?:\.[\w-]+)*)\}/y;

/** The statement, or its mistake. */
export function parseStatement(sql: string, mayWrite: boolean): Statement | { readonly mistake: string } {
  const names = new Map<string, number>();
  let text = "";
  let verb = "";
  let ended = false;
  for (let at = 0; at < sql.length;) {
    const skipped = skip(sql, at);
    if (skipped !== undefined) {
      // A comment after the end is not a second statement.
      const isComment = sql.startsWith("--", at) || sql.startsWith("/*", at);
      if (ended && !isComment) return { mistake: "must be one statement" };
      text += sql.slice(at, skipped);
      at = skipped;
      continue;
    }
    const character = sql.charAt(at);
    if (ended && !/\s/.test(character)) return { mistake: "must be one statement" };
    const name = matchAt(placeholder, sql, at);
    const found = name ?? matchAt(word, sql, at);
    if (name) {
      const parameter = name[1] ?? "";
      const number = names.get(parameter) ?? names.size + 1;
      names.set(parameter, number);
      text += `$${number}`;
    } else {
      if (found && verb === "") verb = found[0].toLowerCase();
      if (character === ";") ended = true;
      else text += found?.[0] ?? character;
    }
    at += found?.[0].length ?? 1;
  }
  const verbs = mayWrite ? [...reading, ...writing] : reading;
  if (!verbs.includes(verb))
    return {
      mistake: writing.includes(verb)
        ? `may not begin with ${verb}: the connector has no allow_writes`
        : `must begin with ${verbs.join(", ")}`,
    };
  return { text, names: [...names.keys()], verb };
}

/** The end of the string, quoted name or comment that begins here. */
function skip(sql: string, at: number): number | undefined {
  const match = matchAt(quoted, sql, at);
  if (match) return match[0] === "/*" ? endOfComment(sql, at) : at + match[0].length;
  const tag = matchAt(dollars, sql, at)?.[0];
  if (tag === undefined) return undefined;
  // The database refuses one without an end. Searching on after each of many would take quadratic time.
  const end = sql.indexOf(tag, at + tag.length);
  return end < 0 ? sql.length : end + tag.length;
}

/** Comments nest. */
function endOfComment(sql: string, from: number): number {
  let depth = 0;
  for (let at = from; at < sql.length; at++) {
    const two = sql.slice(at, at + 2);
    if (two === "/*") depth += 1;
    else if (two === "*/") depth -= 1;
    else continue;
    at += 1;
    if (depth === 0) return at + 1;
  }
  return sql.length;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
