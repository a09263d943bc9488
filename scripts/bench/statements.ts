/** Statements as PostgreSQL logs them with `log_min_duration_statement = 0`, and as pgbench runs them. Pure. */

export interface Statement {
  readonly text: string;
  /** As text; undefined is null. */
  readonly parameters: readonly (string | undefined)[];
}

/** The executions in a log; what is logged of preparing and binding them is left out. */
export function statementsIn(log: string): Statement[] {
  const entries = log.split(/^(?=\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} )/m);
  const found: Statement[] = [];
  for (const [at, entry] of entries.entries()) {
    const begin = / LOG:  duration: [\d.]{1,20} ms  execute \w{1,63}: /.exec(entry);
    if (!begin) continue;
    const [, detail = ""] = (entries[at + 1] ?? "").split(" DETAIL:  Parameters: ");
    found.push({ text: entry.slice(begin.index + begin[0].length).trim(), parameters: parametersIn(detail) });
  }
  return found;
}

/** `$1 = 'it''s', $2 = NULL` */
function parametersIn(detail: string): (string | undefined)[] {
  const parameters: (string | undefined)[] = [];
  for (let rest = detail; ;) {
    const begin = /^(?:, )?\$\d{1,5} = (NULL|')/.exec(rest);
    if (!begin) return parameters;
    rest = rest.slice(begin[0].length);
    if (begin[1] === "NULL") {
      parameters.push(undefined);
      continue;
    }
    let end = rest.indexOf("'");
    while (rest.charAt(end + 1) === "'") end = rest.indexOf("'", end + 2);
    parameters.push(rest.slice(0, end).replaceAll("''", "'"));
    rest = rest.slice(end + 1);
  }
}

/**
 * The most frequent statement about records, a script for each execution. With `newId` its first parameter is the id of
 * a new row, which is another one each time. Run them with `-M simple -D prepared=0`: each connection prepares the
 * statement with its first script.
 */
export function pgbenchScripts(statements: readonly Statement[], { newId }: { readonly newId: boolean }): string[] {
  const records = statements.filter(
    ({ text }) => /\brecord(s|_candidates)\b/.test(text) && !text.includes("gin_clean"),
  );
  const counts = new Map<string, number>();
  for (const { text } of records) counts.set(text, (counts.get(text) ?? 0) + 1);
  const [most] = [...counts].toSorted(([, a], [, b]) => b - a)[0] ?? [];
  return records
    .filter(({ text }) => text === most)
    .map(({ text, parameters }) => {
      const values = parameters.map((value, at) => (newId && at === 0 ? "uuidv7()" : literal(value)));
      const prepare = ["\\if :prepared = 0", `prepare work as ${text};`, "\\set prepared 1", "\\endif"];
      return [...prepare, `execute work (${values.join(", ")});`, ""].join("\n");
    });
}

function literal(value: string | undefined): string {
  return value === undefined ? "null" : `'${value.replaceAll("'", "''")}'`;
}
