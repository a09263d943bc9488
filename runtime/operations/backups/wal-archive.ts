/**
 * BACKUP_WAL: stores every change of the embedded PostgreSQL in BACKUP_DIR within a minute, so that `restore --at`
 * (recovery.ts) can bring back any moment. PostgreSQL keeps WAL for a replication slot until we have stored it; nothing
 * waits for us, and if too much is waiting, it lets go of it: then a new chain begins with a new base.
 *
 *     const archive = createWalArchive({ config, target, places, lineage, log, ended });
 *     archive.start();
 *     await archive.makeBase(); // each night
 */
import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import type { Config } from "../../settings/config.ts";
import { openPool, withoutTimeouts, type DatabaseTarget, type Sql, type Tx } from "../../db/db.ts";
import { archivePool } from "../../db/connections.ts";
import { freeIn } from "../../system/room.ts";
import { packed } from "../dump/backup-file.ts";
import { mustOwn } from "./backup-owner.ts";
import { makeBase, type BaseContext } from "./base-backup.ts";
import { reasonOf } from "./backup-store.ts";
import { beginRun, endRun, lastFailed, type BackupRun } from "./run-store.ts";
import { sealedOfSeries } from "../dump/sealing.ts";
import { pieceFrames } from "./wal-file.ts";
import { chainOf, parseWalName, walNameOf } from "./wal-names.ts";
import { archivedTo, beginChain, endChains, lockFor, markTime, noteArchived, walPlace } from "./wal-store.ts";
import type { WalPlace } from "./wal-store.ts";

export interface ArchiveContext extends Omit<BaseContext, "sql"> {
  readonly config: BaseContext["config"] & Pick<Config, "diskReserveBytes">;
  readonly target: DatabaseTarget;
  /** Called for each base that ended, and when archiving fails or works again. */
  readonly ended: (run: BackupRun) => Promise<void>;
  /** For tests; default: that of DATA_DIR. */
  readonly freeBytes?: () => Promise<number>;
  readonly alarmAfterMs?: number;
}

export type WalArchive = ReturnType<typeof createWalArchive>;

const lookEveryMs = 5_000;
const storeEverySeconds = 60;
/** So much at once, however little time has passed: bulk loads write faster than a minute's WAL may grow. */
const storeAtBytes = 64n * 1024n * 1024n;
const alarmAfterMs = 300_000;
const baseAgainAfterMs = 3_600_000;
const stopsWithinMs = 3_000;
/** WAL becomes no smaller by the usual level, which takes twice as long. */
const packing = { seal: sealedOfSeries, level: 1 };

export function createWalArchive(ctx: ArchiveContext) {
  const { places, lineage, log, target } = ctx;
  const { wal: store } = places;
  const sql = openPool(target, { max: archivePool, applicationName: "corestead archive" });
  const outage = createOutage(ctx, sql);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let working: Promise<void> = Promise.resolve();
  let isTidy = false;
  let isCompared = false;
  /** A base that is known to be there. */
  let knownBase = "";
  let base: Promise<void> | undefined;
  let baseNotBefore = 0;
  let isStopped = false;

  const newBase = async () => {
    const run = await makeBase({ ...ctx, sql });
    if (run) await ctx.ended(run);
    if (run && run.error !== null) baseNotBefore = Date.now() + baseAgainAfterMs;
  };
  const beginBase = () =>
    (base ??= newBase()
      .catch((error: unknown) => void (isStopped || log.error("a base backup has failed", { error })))
      .finally(() => (base = undefined)));
  const tidyOnce = async (tx: Tx) => {
    if (isTidy || base || !(await lockFor(tx, "base"))) return;
    await store.tidy();
    isTidy = true;
  };
  /** Whether the data folder was put back to an earlier state: what it does now is not what is archived. */
  const isOlderThanArchive = async ({ chain, flushed }: WalPlace) => {
    if (isCompared) return false;
    const files = (await store.list()).flatMap(({ name }) => parseWalName(name) ?? []);
    isCompared = true;
    const isOlder = files.some((file) => file.chain === chain?.name && (file.to ?? file.from) > flushed);
    if (isOlder) log.warn("the data folder is older than its archive, which begins again with a new base");
    return isOlder;
  };
  const ensureBase = async (chain: string) => {
    if (isBaseOf(knownBase, chain) && (await store.has(knownBase))) return;
    knownBase = (await store.list()).find(({ name }) => isBaseOf(name, chain))?.name ?? "";
    if (knownBase === "" && Date.now() >= baseNotBefore && !isStopped) void beginBase();
  };
  /** The chain, if there was something to do, and nobody else was at it. */
  const work = (isLast: boolean) =>
    sql.begin(async (tx) => {
      await withoutTimeouts(tx);
      if (!(await lockFor(tx, "wal"))) return undefined;
      let place = await walPlace(tx);
      if (!(await hasRoom(ctx))) throw new Error(await giveUp(tx, place));
      if (!isDue(place) && !isLast) return undefined;
      await mustOwn(places, tx, lineage);
      await tidyOnce(tx);
      const broken = place.chain?.isLost ? brokenChain : undefined;
      if (!place.chain || place.chain.isLost || (await isOlderThanArchive(place)))
        place = await startChain(ctx, sql, place);
      await storePiece(ctx, sql, place);
      await outage.over(broken);
      return place.chain?.name;
    });
  const once = async (isLast: boolean): Promise<void> => {
    try {
      const chain = await work(isLast);
      // The transaction must have ended: it may hold the lock of bases.
      if (chain !== undefined && !isLast) await ensureBase(chain);
    } catch (error) {
      isTidy = false;
      await outage.goesOn(error);
    }
  };
  const look = (isLast = false) => (working = working.then(() => once(isLast)));
  const arm = () => {
    if (!isStopped) timer = setTimeout(() => void look().then(arm), lookEveryMs);
  };

  return {
    start: arm,
    /** Stores what there is, now. */
    look,
    makeBase: beginBase,
    /** Stores the last changes, if that takes no time. */
    async stop(): Promise<void> {
      isStopped = true;
      clearTimeout(timer);
      await Promise.race([look(true), sleep(stopsWithinMs)]);
      await sql.end({ timeout: 0 });
    },
  };
}

const brokenChain =
  "more changes were waiting to be archived than are kept, and some are gone: moments from then until the next base cannot be restored";

function isDue({ chain, flushed, archivedSecondsAgo }: WalPlace): boolean {
  if (!chain || chain.isLost || archivedSecondsAgo === undefined) return true;
  // Also if the clock was set back.
  const isTime = archivedSecondsAgo >= storeEverySeconds || archivedSecondsAgo < 0;
  return isTime || flushed - chain.from >= storeAtBytes;
}

function isBaseOf(name: string, chain: string): boolean {
  const parsed = parseWalName(name);
  return parsed?.chain === chain && parsed.to === undefined;
}

async function startChain({ lineage }: ArchiveContext, sql: Sql, { chain }: WalPlace): Promise<WalPlace> {
  if (chain) await endChains(sql);
  await beginChain(sql, chainOf(new Date(), lineage.id));
  return walPlace(sql);
}

async function storePiece({ config, places }: ArchiveContext, sql: Sql, { chain, timeline }: WalPlace): Promise<void> {
  if (!chain) throw new Error("PostgreSQL has no slot for the archive");
  const at = await markTime(sql);
  const { flushed } = await walPlace(sql);
  const piece = { chain: chain.name, from: chain.from, to: flushed, at };
  const frames = pieceFrames(join(config.dataDir, "postgres"), piece, timeline);
  const name = walNameOf(piece, config.backupKey !== "");
  await places.wal.write(name, packed(frames, config.backupKey, packing));
  await archivedTo(sql, chain.name, flushed);
  await noteArchived(sql, at);
}

async function hasRoom({ config, freeBytes }: ArchiveContext): Promise<boolean> {
  const free = freeBytes ? await freeBytes() : await freeIn(config.dataDir);
  return free >= config.diskReserveBytes;
}

/** The server must go on. */
async function giveUp(sql: Tx, { chain }: WalPlace): Promise<string> {
  if (chain) await endChains(sql);
  return "the disk of DATA_DIR is nearly full, so no WAL is kept for the archive; it begins again with a new base once there is room";
}

/** Tells once that archiving fails, if that goes on, and once that it works again. */
function createOutage({ log, ended, alarmAfterMs: patienceMs = alarmAfterMs }: ArchiveContext, sql: Sql) {
  let since: Date | undefined;
  /** Another process may have told it: at first it is not known. */
  let told: boolean | undefined;
  const tell = async (startedAt: Date, error: string | null) => {
    const id = await beginRun(sql, startedAt, null, "wal");
    await ended(await endRun(sql, id, { endedAt: new Date(), file: null, bytes: null, verified: false, error }));
  };
  return {
    async goesOn(error: unknown): Promise<void> {
      const reason = `changes are not archived: ${reasonOf(error)}`;
      if (!since) log.warn("changes could not be archived, trying again", { reason });
      since ??= new Date();
      if (told || Date.now() - since.getTime() < patienceMs) return;
      log.error("changes are not archived", { since: since.toISOString(), reason });
      // The database may be what is down.
      await tell(since, reason).then(
        () => (told = true),
        (cause: unknown) => log.warn("nobody is told yet that changes are not archived", { error: cause }),
      );
    },
    /** `broken`: archiving works, but something is missing. */
    async over(broken: string | undefined): Promise<void> {
      const began = since ?? new Date();
      if (told ?? (await lastFailed(sql, "wal"))) {
        log.info("changes are archived again", { since: began.toISOString() });
        await tell(began, null);
      }
      if (broken !== undefined) {
        log.error("archived changes are incomplete", { reason: broken });
        await tell(began, broken);
      }
      since = undefined;
      told = false;
    },
  };
}
