/**
 * A copy is not the original. Whatever acts on the outside (jobs, crons, mails, webhooks, backups, orders of certificates)
 * belongs to a lineage, which a database has with the place where it lives. One that is restored, or found elsewhere,
 * rehearses: it does none of that until somebody adopts it, which begins a new lineage.
 *
 *     const { lineage, rehearses } = await standingOf(sql, { config, target });
 *     if (rehearses) log.warn(rehearses);
 */
import type { Config } from "../settings/config.ts";
import type { DatabaseTarget, Queryable, Sql } from "../db/db.ts";
import { folderFacts, isSameHome, type Home } from "./home.ts";
import { databaseIdentity, readLineage, replaceLineage, type Lineage } from "./lineage-store.ts";

export type { Lineage };

export interface Where {
  readonly config: Pick<Config, "dataDir" | "rehearsal">;
  readonly target: DatabaseTarget;
}

export interface LineageStatus {
  readonly lineage: Lineage;
  /** Why nothing may act on the outside, and what to do about it; undefined if it may. */
  readonly rehearses?: string;
}

/** Makes the lineage of a database that has none, unless this is a rehearsal. */
export async function standingOf(sql: Sql, where: Where): Promise<LineageStatus> {
  const { known, lineage, rehearses } = await lookAt(sql, where);
  if (rehearses !== undefined) return { lineage, rehearses };
  if (known && JSON.stringify(known) === JSON.stringify(lineage)) return { lineage };
  return (await replaceLineage(sql, known, lineage)) ? { lineage } : standingOf(sql, where);
}

/** The same, and changes nothing. `known` is what the database says. */
export async function lookAt(sql: Sql, where: Where): Promise<LineageStatus & { readonly known: Lineage | undefined }> {
  const home = await homeOf(sql, where);
  const known = await readLineage(sql);
  const rehearses = whyNot(where, known, home);
  if (rehearses !== undefined && known) return { known, lineage: known, rehearses };
  // A moved folder, or a volume that is mounted elsewhere, is where it is from now on.
  const lineage = known ? { ...known, home } : { id: newId(), isFirst: true, home };
  return { known, lineage, ...(rehearses !== undefined && { rehearses }) };
}

function whyNot({ config }: Where, known: Lineage | undefined, home: Home): string | undefined {
  if (config.rehearsal === "on") return `this is a rehearsal: ${nothing}`;
  if (!known) return undefined;
  if (known.home === null) return quiet("this database was restored");
  if (isSameHome(known.home, home)) return undefined;
  return quiet(`this database is a copy${known.home.path === "" ? "" : ` of the one in ${known.home.path}`}`);
}

/** Like `standingOf`, for work that a rehearsal must not do. */
export async function mustAct(sql: Sql, where: Where): Promise<Lineage> {
  const { lineage, rehearses } = await standingOf(sql, where);
  if (rehearses !== undefined) throw new Error(rehearses);
  return lineage;
}

/** What `adopt` would make of this database; not yet. */
export async function adopted(sql: Sql, where: Where): Promise<{ known: Lineage | undefined; next: Lineage }> {
  const home = await homeOf(sql, where);
  const known = await readLineage(sql);
  if (!known) return { known, next: { id: newId(), isFirst: true, home } };
  const isOwn = known.home !== null && isSameHome(known.home, home);
  return { known, next: isOwn ? { ...known, home } : { id: newId(), isFirst: false, home } };
}

/** Notes that what is in this database now came from elsewhere. */
export async function noteRestored(sql: Queryable): Promise<void> {
  const known = await readLineage(sql);
  await replaceLineage(sql, known, { id: known?.id ?? newId(), isFirst: false, home: null });
}

async function homeOf(sql: Sql, { config, target }: Where): Promise<Home> {
  const folder = "url" in target ? { file: "", path: "", mount: "", machine: "" } : await folderFacts(config.dataDir);
  return { database: await databaseIdentity(sql), ...folder };
}

function newId(): string {
  return crypto.randomUUID().slice(0, 8);
}

const nothing = "it runs no jobs, crons, backups or orders of certificates, and sends no mails and webhooks";

function quiet(what: string): string {
  return `${what}, so ${nothing}: start it with \`corestead serve --adopt\` if it takes the original's place, or with \`corestead serve --rehearsal\` only to look at it`;
}
