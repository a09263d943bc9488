/** What a server does for BACKUP_DIR: the schedule, the metrics, and the word to others how each backup ended. */
import type { Config } from "../../settings/config.ts";
import type { DatabaseTarget, Sql } from "../../db/db.ts";
import { backupEnded, type BackupEnd } from "../../events/models.ts";
import type { Events } from "../../events/events.ts";
import type { Schedules } from "../../jobs/schedule.ts";
import { openFiles } from "../s3/open-files.ts";
import { nextDueTimes } from "../../times/due-times.ts";
import type { Log } from "../../system/log.ts";
import type { Lineage } from "../../lineage/lineage.ts";
import type { Metrics } from "../../system/metrics.ts";
import type { PluginFacts } from "../../plugin/plugin.ts";
import { migrationSets } from "../../db/runtime-migrations.ts";
import { configuredPlaces, reasonOf, type BackupPlaces } from "./backup-store.ts";
import { mustOwn } from "./backup-owner.ts";
import { runCounts, type BackupRun } from "./run-store.ts";
import { createWalArchive, type WalArchive } from "./wal-archive.ts";
import { archiveFacts } from "./wal-store.ts";

/** So many that a week's gaps are among them, if backups are made a few times a day. */
const dueLooked = 25;

interface ScheduleContext {
  readonly config: Config;
  readonly lineage: Lineage;
  readonly target: DatabaseTarget;
  readonly pooled?: boolean;
  readonly log: Log;
  readonly sql: Sql;
  readonly plugins: readonly PluginFacts[];
  readonly metrics: Metrics;
  readonly schedules: Schedules;
  readonly events: Events;
}

/** What must be stopped once nothing is written any more, if there is anything. */
export function scheduleBackups(ctx: ScheduleContext): { stop(): Promise<void> } | undefined {
  const { config, log, sql, plugins, metrics, schedules, events } = ctx;
  const places = configuredPlaces(config, log);
  log.info(lossWithDisk(config, new Date()));
  if (!places) return undefined;
  if (config.backupKey === "") log.warn("backups are not encrypted: set BACKUP_KEY");
  metrics.gauge(
    "corestead_backup_last_success_timestamp_seconds",
    "When the last backup ended well; 0 = never",
    async () => (await runCounts(sql)).lastSuccessSeconds,
  );
  metrics.counter(
    "corestead_backup_failures_total",
    "Backups of the last year that failed",
    async () => (await runCounts(sql)).failures,
  );
  const files = { open: openFiles(config, log), folders: plugins.flatMap(({ files: own = [] }) => own) };
  // Said at once, and not only by the backup of the next night.
  mustOwn(places, sql, ctx.lineage).catch((error: unknown) =>
    log.error("BACKUP_DIR cannot be used", { reason: reasonOf(error) }),
  );
  const archive = archiveWal(ctx, places);
  const run = async () => {
    // Read only when it is used.
    const { makeBackup } = await import("./backups.ts");
    const ended = await makeBackup({ ...ctx, places, sets: migrationSets(plugins), files });
    if (ended.length === 0) log.warn("no backup is made: another one is going on");
    for (const made of ended) await events.emit(backupEnded, newsOf(made));
    await archive?.makeBase();
  };
  schedules.register({ id: "runtime.backup", cron: config.backupCron, missed: "latest", run });
  return archive;
}

type Stakes = Pick<Config, "backupDir" | "backupCron" | "backupWal" | "databaseUrl" | "filesBucket">;

/** How much of the newest data a lost disk takes with it, and what makes that less. Pure. */
export function lossWithDisk(config: Stakes, now: Date): string {
  const { backupDir, backupCron, backupWal, databaseUrl, filesBucket } = config;
  if (backupDir === "") return "no backups are scheduled: set BACKUP_DIR, or a lost disk takes all data with it";
  const times = nextDueTimes(backupCron, dueLooked, "UTC", now).map((at) => at.getTime());
  const minutes = Math.max(...times.slice(1).map((at, index) => (at - (times[index] ?? at)) / 60_000));
  const between = minutes >= 120 ? `${Math.round(minutes / 60)} hours` : `${minutes} minutes`;
  if (backupWal === "off") {
    const less = databaseUrl === "" ? "; with BACKUP_WAL=on, of about a minute" : "";
    return `backups are scheduled: a lost disk takes the changes of up to ${between} with it${less}`;
  }
  const files = filesBucket === "" ? `, and media files of up to ${between}` : "";
  return `changes are archived: a lost disk takes those of about a minute with it${files}`;
}

/** Undefined unless BACKUP_WAL is on. */
function archiveWal(ctx: ScheduleContext, places: BackupPlaces): WalArchive | undefined {
  const { config, lineage, log, sql, target, metrics, events } = ctx;
  if (config.backupWal !== "on") return undefined;
  const ended = (run: BackupRun) => events.emit(backupEnded, newsOf(run));
  const archive = createWalArchive({ config, log, target, places, lineage, ended });
  metrics.gauge(
    "corestead_wal_archived_timestamp_seconds",
    "Up to when all changes are archived for point-in-time recovery; 0 = never",
    async () => (await archiveFacts(sql)).seconds,
  );
  metrics.gauge(
    "corestead_wal_waiting_bytes",
    "WAL that is kept until it is archived",
    async () => (await archiveFacts(sql)).bytes,
  );
  archive.start();
  return archive;
}

function newsOf({ id, kind, startedAt, endedAt, file, bytes, verified, error }: BackupRun): BackupEnd {
  const at = { startedAt: startedAt.toISOString(), endedAt: (endedAt ?? startedAt).toISOString() };
  return { id, kind, ...at, file, bytes, verified, error };
}
