/**
 * While a new version is put beside the old one, the old one's statements run on the new schema (docs/scaling.md). Those
 * of the last release are kept (scripts/statements.ts): PostgreSQL must still take each of them.
 */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { plugins } from "../plugins/index.ts";
import { openPool, type Sql } from "../runtime/db/db.ts";
import { createLog } from "../runtime/system/log.ts";
import { migrate } from "../runtime/db/migrate.ts";
import { migrationSets } from "../runtime/db/runtime-migrations.ts";
import { createDatabase } from "./harness.ts";
import type { Statement } from "./recorder.ts";

const file = join(import.meta.dir, "release/statements.json.gz");
const last: { version: string; statements: Statement[] } = JSON.parse(gunzipSync(readFileSync(file)).toString());

/** What PostgreSQL says against it; undefined if it takes it. */
async function refusal(sql: Sql, { text, types }: Statement): Promise<string | undefined> {
  const names = await Promise.all(
    types.map(async (id) => {
      if (id === 0) return "unknown";
      const [row] = await sql`select ${id}::oid::regtype::text as name`;
      return String(row?.["name"]);
    }),
  );
  try {
    await sql.unsafe(`prepare statement_of_last${names.length > 0 ? ` (${names.join(", ")})` : ""} as ${text}`);
    // Only a plan finds out that the index of an ON CONFLICT is gone.
    const values = types.length > 0 ? `(${types.map(() => "null").join(", ")})` : "";
    await sql.unsafe(`explain execute statement_of_last${values}`);
    return undefined;
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}: ${text}`;
  } finally {
    await sql.unsafe("deallocate all");
  }
}

test("the new schema takes every statement of the last release", async () => {
  const sql = openPool(await createDatabase(), { max: 1, prepare: false });
  try {
    await migrate(sql, migrationSets(plugins), createLog("error"));
    await sql.unsafe("set plan_cache_mode = force_generic_plan");
    const refused: string[] = [];
    for (const statement of last.statements) {
      const said = await refusal(sql, statement);
      if (said) refused.push(said);
    }
    expect(refused).toEqual([]);
    expect(last.statements.length).toBeGreaterThan(300);
    // So that it would be seen:
    await sql.unsafe("alter table records rename column data to content");
    const reading = last.statements.find(({ text }) => /\bdata\b[^]*\bfrom records\b/.test(text));
    expect(reading && (await refusal(sql, reading))).toContain("data does not exist");
    await sql.unsafe("alter table mail_servers drop constraint mail_servers_pkey");
    const putting = last.statements.find(({ text }) => /insert into mail_servers\b[^]*on conflict/.test(text));
    expect(putting && (await refusal(sql, putting))).toContain("matching the ON CONFLICT specification");
  } finally {
    await sql.end();
  }
});
