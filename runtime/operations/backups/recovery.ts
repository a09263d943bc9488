/**
 * `restore --at`: brings back the embedded PostgreSQL as it was at a moment, by a base backup and the WAL archived since,
 * into a data folder without a cluster. It is complete, or not there.
 */
import { mkdtemp, mkdir, open, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { openPool, type SocketTarget, type Sql } from "../../db/db.ts";
import { failpoint } from "../../system/failpoints.ts";
import type { Log } from "../../system/log.ts";
import { database, user } from "../postgres/embedded-postgres.ts";
import { launch, port } from "../postgres/launch.ts";
import { postgresHome } from "../postgres/postgres-binaries.ts";
import { exists, syncInto } from "../../system/whole-folder.ts";
import { giveTo, lockFolder, mayRun, prepareFolder, socketFolder, type RunAs } from "../postgres/postgres-folder.ts";
import { forgetRestore, noteRestore } from "../postgres/unfinished-restore.ts";
import { clearUnfinished } from "../postgres/postgres-leftovers.ts";
import type { BackupStore } from "./backup-store.ts";
import { recoveryPlans, type Plan } from "./recovery-plan.ts";
import { parseBaseEnd, parseEntry, openWalFile } from "./wal-file.ts";
import { parseWalName, segmentBytes, segmentName, segmentStart, type Base, type Piece } from "./wal-names.ts";
import { lastReplayed } from "./wal-store.ts";

export interface Recovery {
  readonly store: BackupStore;
  /** BACKUP_KEY. */
  readonly key: string;
  readonly dataDir: string;
  /** The newest moment, if it is undefined. */
  readonly until: Date | undefined;
  readonly log: Log;
  /** Runs in the recovered database before it is accepted. */
  readonly finish: (sql: Sql) => Promise<void>;
}

/** It may have to read days of WAL. */
const recoveredWithinMs = 7 * 86_400_000;

/** When the last change was made that is there. */
export async function recover(needed: Recovery): Promise<Date | undefined> {
  const { dataDir, cluster, runAs } = await prepareFolder(needed.dataDir);
  const unlock = lockFolder(dataDir);
  let made: string | undefined;
  try {
    if (await exists(cluster))
      throw new Error(`there is a database in ${dataDir} already: move ${cluster} away, or set another DATA_DIR`);
    const files = (await needed.store.list()).flatMap(({ name }) => parseWalName(name) ?? []);
    const plans = recoveryPlans(files, needed.until, needed.store.place);
    await clearUnfinished(dataDir);
    await noteRestore(dataDir, `restore --at ${needed.until?.toISOString() ?? ""}`.trim());
    made = await mkdtemp(`${cluster}.tmp-`);
    await fetchFirst(needed, plans, made);
    await giveTo(made, runAs);
    const at = await replay(needed, { dataDir, cluster: made, runAs });
    failpoint("recovered");
    await syncInto(made, cluster);
    await forgetRestore(dataDir);
    return at;
  } finally {
    if (made) await rm(made, { recursive: true, force: true });
    unlock();
  }
}

/** By the first plan whose base was complete at the moment. */
async function fetchFirst(needed: Recovery, plans: readonly Plan[], folder: string): Promise<void> {
  const { until, log } = needed;
  for (const { base, pieces, to } of plans) {
    log.info("fetching a base backup", { file: base.name });
    await rm(folder, { recursive: true });
    await mkdir(folder, { mode: 0o700 });
    const { timeline, end } = await fetchBase(needed, base, folder);
    if (to < end.to || (until && until < end.at)) continue;
    log.info("fetching archived WAL", { files: pieces.length });
    for (const piece of pieces) await fetchPiece(needed, piece, join(folder, "pg_wal"), timeline);
    return;
  }
  throw new Error(
    `the oldest base backup was not complete at that moment: the first one that can be restored is a little later`,
  );
}

async function fetchBase({ store, key }: Recovery, base: Base, folder: string) {
  const { timeline, frames } = await openWalFile(base, store, key);
  let end: ReturnType<typeof parseBaseEnd> | undefined;
  let file: Awaited<ReturnType<typeof open>> | undefined;
  try {
    for await (const frame of frames) {
      if (frame.letter === "D") await file?.writeFile(frame.bytes);
      else if (frame.letter === "E") end = parseBaseEnd(frame.bytes);
      else if (frame.letter === "F") {
        await file?.close();
        file = await create(folder, parseEntry(frame.bytes));
      }
    }
  } finally {
    await file?.close();
  }
  if (!end) throw new Error(`${base.name} does not say where it ends`);
  return { timeline, end };
}

async function create(folder: string, { path, isFolder }: ReturnType<typeof parseEntry>) {
  const target = join(folder, path);
  await mkdir(isFolder ? target : dirname(target), { recursive: true, mode: 0o700 });
  return isFolder ? undefined : open(target, "w", 0o600);
}

/** Into files of WAL, as PostgreSQL has them. */
async function fetchPiece({ store, key }: Recovery, piece: Piece, folder: string, timeline: number): Promise<void> {
  let at = piece.from;
  const { frames } = await openWalFile(piece, store, key);
  for await (const frame of frames) {
    if (frame.letter !== "D") continue;
    for (let bytes = frame.bytes; bytes.length > 0;) {
      const within = at - segmentStart(at);
      const part = bytes.subarray(0, Number(segmentBytes - within));
      await writeAt(join(folder, segmentName(timeline, at)), part, Number(within));
      bytes = bytes.subarray(part.length);
      at += BigInt(part.length);
    }
  }
  if (at !== piece.to) throw new Error(`${piece.name} has not all bytes of its name`);
}

async function writeAt(path: string, bytes: Uint8Array, position: number): Promise<void> {
  const file = await open(path, (await exists(path)) ? "r+" : "w+", 0o600);
  try {
    await file.write(bytes, 0, bytes.length, position);
    await file.truncate(Number(segmentBytes));
  } finally {
    await file.close();
  }
}

interface Where {
  readonly dataDir: string;
  readonly cluster: string;
  readonly runAs: RunAs;
}

async function replay({ until, finish }: Recovery, { dataDir, cluster, runAs }: Where): Promise<Date | undefined> {
  await writeFile(join(cluster, "recovery.signal"), "");
  const { home } = await postgresHome(dataDir, (program) => mayRun(program, runAs));
  const socketDir = socketFolder(dataDir, runAs);
  const settings = [
    // All of it lies in pg_wal already.
    "restore_command=exit 1",
    "recovery_target_timeline=current",
    "recovery_target_action=promote",
    "hot_standby=off",
    ...(until ? [`recovery_target_time=${until.toISOString().replace("Z", "+00")}`] : []),
  ];
  const logFile = join(dataDir, "postgres.log");
  const place = { home, cluster, socketDir, logFile, runAs, connections: 0, archived: false, settings };
  try {
    const server = await launch({ ...place, readyWithinMs: recoveredWithinMs });
    try {
      return await inDatabase({ socketDir, port, database, user }, finish);
    } finally {
      await server.end();
    }
  } finally {
    if (!socketDir.startsWith(dataDir)) await rm(socketDir, { recursive: true, force: true });
  }
}

async function inDatabase(target: SocketTarget, finish: Recovery["finish"]): Promise<Date | undefined> {
  const sql = openPool(target, { max: 1, applicationName: "corestead restore" });
  try {
    const at = await lastReplayed(sql);
    await finish(sql);
    return at;
  } finally {
    await sql.end({ timeout: 2 });
  }
}
