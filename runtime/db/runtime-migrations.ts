import jobs from "../migrations/001_jobs.sql" with { type: "text" };
import idempotency from "../migrations/002_idempotency.sql" with { type: "text" };
import claims from "../migrations/003_idempotency_claims.sql" with { type: "text" };
import waits from "../migrations/004_waits.sql" with { type: "text" };
import backupRuns from "../migrations/005_backup_runs.sql" with { type: "text" };
import rateLimits from "../migrations/006_rate_limits.sql" with { type: "text" };
import backupKinds from "../migrations/007_backup_kinds.sql" with { type: "text" };
import shares from "../migrations/008_shares.sql" with { type: "text" };
import turns from "../migrations/009_turns.sql" with { type: "text" };
import type { Migration, MigrationSet } from "./migrate.ts";

/** The kernel's own tables. */
export const runtimeMigrations: readonly Migration[] = [
  { name: "001_jobs", sql: jobs },
  { name: "002_idempotency", sql: idempotency },
  { name: "003_idempotency_claims", sql: claims },
  { name: "004_waits", sql: waits },
  { name: "005_backup_runs", sql: backupRuns },
  { name: "006_rate_limits", sql: rateLimits },
  { name: "007_backup_kinds", sql: backupKinds },
  { name: "008_shares", sql: shares },
  { name: "009_turns", sql: turns },
];

/** The kernel's migrations, then each plugin's. */
export function migrationSets(
  plugins: readonly { readonly name: string; readonly migrations: readonly Migration[] }[],
): MigrationSet[] {
  const sets = plugins.map(({ name, migrations }) => ({ plugin: name, migrations }));
  return [{ plugin: "runtime", migrations: runtimeMigrations }, ...sets];
}
