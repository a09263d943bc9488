/** The statements that a database has really run, those inside its functions and triggers too. */
import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { openPool, type DatabaseTarget } from "../../runtime/db/db.ts";

/**
 * PostgreSQL's own auto_explain writes each statement to the server's log. Call it before the first connection to the
 * database is made; the function that it gives back reads what was written since it was last called.
 */
export async function capture(target: DatabaseTarget): Promise<() => Set<string>> {
  if ("url" in target) throw new Error("tests run on the embedded PostgreSQL");
  const sql = openPool(target, { max: 1 });
  const settings = [
    "session_preload_libraries = 'auto_explain'",
    "auto_explain.log_min_duration = 0",
    "auto_explain.log_nested_statements = on",
    "auto_explain.log_format = 'json'",
  ];
  for (const setting of settings) await sql.unsafe(`alter database ${target.database} set ${setting}`);
  const [row] = await sql<{ folder: string }[]>`select current_setting('data_directory') as folder`;
  await sql.end();
  if (!row) throw new Error("the server has no folder");
  const file = join(dirname(row.folder), "postgres.log");
  let start = statSync(file).size;
  return () => {
    const written = readFileSync(file).subarray(start);
    start += written.length;
    return statementsOf(written.toString());
  };
}

function statementsOf(log: string): Set<string> {
  const found = new Set<string>();
  for (const line of log.split("\n")) {
    const at = line.indexOf('"Query Text": ');
    if (at !== -1)
      found.add(
        String(
          JSON.parse(
            line
              .slice(at + 14)
              .trimEnd()
              .replace(/,$/, ""),
          ),
        ),
      );
  }
  return found;
}
