/** Scheduled backups: that there are any, how old the last good one is, and where they go. */
import { access, constants, stat } from "node:fs/promises";
import type { Config } from "../../settings/config.ts";
import type { DatabaseTarget, Sql } from "../../db/db.ts";
import { ownerOf } from "../backups/backup-owner.ts";
import { configuredStore } from "../backups/backup-store.ts";
import { archiveFacts, type ArchiveFacts } from "../backups/wal-store.ts";
import { nextDueTimes } from "../../times/due-times.ts";
import { lookAt, type Lineage } from "../../lineage/lineage.ts";
import { createLog } from "../../system/log.ts";
import { configuredBucket } from "../s3/configured-bucket.ts";
import { parseBucketPlace, type BucketPlace } from "../../settings/bucket.ts";
import { findingsOf, reasonOf, split, type Finding } from "../../plugin/finding.ts";

const backup = findingsOf("backup");
const quiet = createLog("error", () => {});
const hourMs = 3_600_000;
const lateSeconds = 600;
const dueLooked = 25;

interface LastRuns {
  readonly lastGood: Date | null;
  readonly lastError: string | null;
}

export async function checkBackups(sql: Sql, config: Config, target: DatabaseTarget): Promise<Finding[]> {
  const { lineage, rehearses } = await lookAt(sql, { config, target });
  if (rehearses !== undefined) return [findingsOf("lineage").warn(...split(rehearses))];
  if (config.backupDir === "")
    return [
      backup.warn(
        "none are scheduled",
        "set BACKUP_DIR, on another disk, and BACKUP_KEY, or call `corestead backup FILE`",
      ),
    ];
  const [row] = await sql<LastRuns[]>`
    with last as (
      select distinct on (kind) kind, id, error from backup_runs
      where ended_at is not null and (kind = 'backup' or ${config.backupWal === "on"}) order by kind, id desc
    )
    select (select max(started_at) from backup_runs
        where error is null and ended_at is not null and kind = 'backup') as last_good,
      (select error from last where error is not null
        and (kind <> 'wal' or id > coalesce((select id from last where kind = 'base' and error is null), 0))
        order by kind limit 1) as last_error`;
  const findings = [
    ...judgeRuns(row, config, new Date()),
    ...judgeKeep(config, new Date()),
    ...(await checkPlace(config)),
    ...(await checkOwner(config, lineage)),
  ];
  if (config.backupWal === "on") findings.push(judgeArchive(await archiveFacts(sql), new Date()));
  if (config.backupKey === "") {
    const remedy = "set BACKUP_KEY, and keep a copy of it elsewhere";
    findings.push(backup.warn("they are not encrypted: whoever reads the files has all data", remedy));
  }
  return findings;
}

/** Pure. One that is missing twice in a row is no delay any more. */
export function judgeRuns(row: LastRuns | undefined, { backupCron }: Pick<Config, "backupCron">, now: Date): Finding[] {
  const remedy = "see the log, or make one now with `corestead backup`";
  const { lastGood, lastError } = row ?? { lastGood: null, lastError: null };
  if (lastError !== null) return [backup.fail(`the last one failed: ${lastError}`, remedy)];
  if (lastGood === null) return [backup.warn("none has been made yet", remedy)];
  const [first = now, second = now] = nextDueTimes(backupCron, 2, "UTC", now);
  const hours = Math.round((now.getTime() - lastGood.getTime()) / hourMs);
  const told = `the last one was made ${hours} hours ago`;
  const isLate = now.getTime() - lastGood.getTime() > 2 * (second.getTime() - first.getTime());
  return [isLate ? backup.fail(`${told}, and they are due at "${backupCron}"`, remedy) : backup.ok(told)];
}

/** Pure. Of a day, or of an hour, only the newest stays, whatever else was made in it. */
export function judgeKeep(config: Pick<Config, "backupCron" | "backupKeep" | "backupWal">, now: Date): Finding[] {
  const { backupCron, backupKeep, backupWal } = config;
  if (backupWal === "on") return [];
  const [unit, length] = backupKeep.hours > 0 ? ["hour", 13] : ["day", 10];
  const times = nextDueTimes(backupCron, dueLooked, "UTC", now).map((at) => at.toISOString().slice(0, length));
  if (new Set(times).size === times.length) return [];
  const message = `"${backupCron}" makes several in one ${unit}, and BACKUP_KEEP keeps the newest of each ${unit} alone`;
  const hourly = unit === "day" ? "give BACKUP_KEEP hours (24h 7d 4w 6m), or " : "";
  return [backup.warn(message, `${hourly}set BACKUP_WAL=on for any moment (the embedded PostgreSQL only)`)];
}

/** Pure. A server that has just been started may have had no time yet. */
export function judgeArchive({ seconds, upSeconds }: Pick<ArchiveFacts, "seconds" | "upSeconds">, now: Date): Finding {
  const told =
    seconds === 0
      ? "no change is archived yet"
      : `changes are archived up to ${new Date(seconds * 1000).toISOString()}`;
  const isLate = upSeconds > lateSeconds && now.getTime() / 1000 - seconds > lateSeconds;
  if (!isLate) return backup.ok(told);
  return backup.fail(`${told}, and later ones are not`, "see the log: BACKUP_DIR must be within reach and have room");
}

/** Another installation may have taken it over. */
async function checkOwner(config: Config, { id }: Lineage): Promise<Finding[]> {
  const store = configuredStore(config, quiet);
  const owner = store && (await ownerOf(store).catch(() => undefined)); // said by the check of the place
  if (owner === undefined || owner === id) return [];
  return [
    backup.fail(
      `${config.backupDir} belongs to another installation`,
      "set another BACKUP_DIR, or take it over with `corestead adopt`",
    ),
  ];
}

async function checkPlace(config: Config): Promise<Finding[]> {
  const { backupDir, dataDir } = config;
  const inBucket = parseBucketPlace(backupDir);
  if (inBucket) return checkBucket(config, inBucket);
  const place = await stat(backupDir).catch(() => undefined);
  if (!place)
    return [backup.warn(`${backupDir} is not there yet`, "the first backup makes it, unless BACKUP_DIR is wrong")];
  const mayWrite = await access(backupDir, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!mayWrite) return [backup.fail(`this user may not write into ${backupDir}`, "give it to the server's user")];
  const data = await stat(dataDir).catch(() => undefined);
  if (data?.dev !== place.dev) return [];
  const remedy = "copy them to another machine, or mount another disk at BACKUP_DIR";
  return [backup.warn("they are on the same disk as the data", remedy)];
}

/** Whether its list can be read. That it can be written shows only with a backup. */
async function checkBucket(config: Config, place: BucketPlace): Promise<Finding[]> {
  const bucket = configuredBucket(config, place.bucket, quiet, { waits: [] });
  try {
    for await (const _ of bucket.list(place.prefix)) break;
    return [];
  } catch (error) {
    return [backup.fail(`${config.backupDir} cannot be read: ${reasonOf(error)}`, "look at the settings S3_*")];
  }
}
