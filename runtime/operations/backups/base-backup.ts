/** A base: a copy of the cluster's files, to which archived WAL is applied. Afterwards, old bases go with their WAL. */
import { join } from "node:path";
import type { Config } from "../../settings/config.ts";
import type { Lineage } from "../../lineage/lineage.ts";
import type { Log } from "../../system/log.ts";
import { withoutTimeouts, type Sql, type Tx } from "../../db/db.ts";
import { packed, readFrames } from "../dump/backup-file.ts";
import { isOwnBackup, mustOwn } from "./backup-owner.ts";
import { stateOf } from "./backups.ts";
import { toPrune, type Candidate, type KeepRule } from "../../settings/prune-rule.ts";
import { reasonOf, type BackupPlaces } from "./backup-store.ts";
import { beginRun, endInterrupted, endRun, noteRemoved, runsByFile, type BackupRun } from "./run-store.ts";
import { baseFrames } from "./wal-file.ts";
import { parseWalName, walNameOf, type Base, type Piece } from "./wal-names.ts";
import { beginBase, endBase, lockFor, walPlace } from "./wal-store.ts";

/** Like the archive's context, without a connection of its own. */
export interface BaseContext {
  readonly config: Pick<Config, "dataDir" | "backupKey" | "backupKeep" | "backupVerify">;
  readonly places: BackupPlaces;
  readonly lineage: Lineage;
  readonly log: Log;
  readonly sql: Sql;
}

/** Undefined if one is being made, or if there is no chain yet. Rejects only if the database cannot be asked. */
export async function makeBase(ctx: BaseContext): Promise<BackupRun | undefined> {
  const { sql, log } = ctx;
  return sql.begin(async (tx) => {
    await withoutTimeouts(tx);
    if (!(await lockFor(tx, "base"))) return undefined;
    await endInterrupted(sql, new Date(), "base");
    const { chain, timeline } = await walPlace(sql);
    if (!chain || chain.isLost) return undefined;
    const startedAt = new Date();
    const id = await beginRun(sql, startedAt, null, "base");
    const base = { chain: chain.name, at: startedAt, timeline };
    const end = await copy(ctx, tx, base).then(
      async (made) => ({ ...made, error: await failureOf(prune(ctx, made.file)) }),
      (error: unknown) => ({ file: null, bytes: null, verified: false, error: reasonOf(error) }),
    );
    const { file, error } = end;
    if (error === null) log.info("a base backup is made", { file });
    else log.error("a base backup has failed", { file, reason: error });
    return endRun(sql, id, { ...end, endedAt: new Date() });
  });
}

async function copy(
  { config, places, lineage, sql }: BaseContext,
  tx: Tx,
  { timeline, ...of }: Omit<Base, "name" | "from"> & { timeline: number },
) {
  await mustOwn(places, sql, lineage);
  const { wal: store } = places;
  const { backupKey: key, dataDir } = config;
  const base = { ...of, from: await beginBase(tx) };
  const file = walNameOf(base, key !== "");
  let bytes = 0;
  const counted = async function* (chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      yield chunk;
    }
  };
  const frames = baseFrames(join(dataDir, "postgres"), base, timeline, () => endBase(tx));
  await store.write(file, counted(packed(frames, key)));
  const verified = config.backupVerify === "on";
  if (verified) for await (const _ of readFrames({ name: file, read: () => store.read(file) }, key));
  return { file, bytes, verified };
}

async function failureOf(pruning: Promise<void>): Promise<string | null> {
  return pruning.then(
    () => null,
    (error: unknown) => `the base is made, but old ones could not be removed: ${reasonOf(error)}`,
  );
}

/** `newest`: what was just made, whose run has not ended yet. */
async function prune({ config, sql, places, lineage, log }: BaseContext, newest: string): Promise<void> {
  const { wal: store } = places;
  const runs = await runsByFile(sql);
  const stored = (await store.list()).filter(({ name }) => isOwnBackup(name, lineage));
  const states = new Map([...runs].map(([name, run]) => [name, stateOf(run)]));
  states.set(newest, "good");
  const files = stored.flatMap(({ name }) => parseWalName(name) ?? []);
  const gone = toPruneOfWal(files, states, config.backupKeep);
  for (const name of gone) await store.remove(name);
  const at = new Date();
  for (const name of gone) if (runs.has(name)) await noteRemoved(sql, name, at);
  if (gone.length > 0) log.info("archived WAL is removed that no kept base needs", { files: gone.length });
}

/**
 * Bases by the days of the rule, or its hours: weeks and months would take all WAL between them, and the backups of the
 * schedule are kept for those. The one before all those days stays too, for the moments until the first base in them.
 * Pieces that no kept base needs. Pure.
 */
export function toPruneOfWal(
  files: readonly (Base | Piece)[],
  states: ReadonlyMap<string, Candidate["state"]>,
  { hours, days }: KeepRule,
): string[] {
  const bases = files.filter((file) => file.to === undefined);
  const candidates = bases.map(({ name, at }) => ({ name, at, state: states.get(name) ?? "unknown" }));
  const rule = days > 0 ? { hours: 0, days: days + 1 } : { hours: hours + 1, days: 1 };
  const spanMs = days > 0 ? days * 86_400_000 : hours * 3_600_000;
  const gone = new Set(toPrune(candidates, { ...rule, weeks: 0, months: 0 }));
  gone.delete(lastBefore(candidates, spanMs) ?? "");
  const kept = bases.filter(({ name }) => !gone.has(name));
  const isNeeded = ({ chain, to }: Piece) => kept.some((base) => base.chain === chain && base.from < to);
  const pieces = files.filter((file): file is Piece => file.to !== undefined && !isNeeded(file));
  return [...gone, ...pieces.map(({ name }) => name)];
}

/** The newest base that is so much older than the newest of all, else the oldest; a good one if there is one. */
function lastBefore(candidates: readonly Candidate[], spanMs: number): string | undefined {
  const newest = Math.max(...candidates.filter(({ state }) => state === "good").map(({ at }) => at.getTime()));
  const usable = candidates
    .filter(({ state }) => state !== "bad")
    .toSorted((a, b) => a.state.localeCompare(b.state) || b.at.getTime() - a.at.getTime()); // "good" before "unknown"
  return (usable.find(({ at }) => at.getTime() <= newest - spanMs) ?? usable.findLast(({ state }) => state === "good"))
    ?.name;
}
