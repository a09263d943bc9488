/**
 * What the files of the archive hold: frames as in a backup (dump/backup-file.ts). The header tells what the name
 * does, so that a file under another name is refused.
 *
 * - a piece: `D` bytes of WAL
 * - a base: `F` a file or folder begins, JSON: its path; `D` bytes of it; at last `E`, JSON: where the base ends
 */
import { codeOf } from "../../base/values.ts";
import { open, readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { jsonFrame, parseJson, readFrames, type Frame } from "../dump/backup-file.ts";
import { postgresMajor } from "../postgres/postgres-binaries.ts";
import type { BackupStore } from "./backup-store.ts";
import { segmentBytes, segmentName, segmentStart, walNameOf, type Base, type Piece } from "./wal-names.ts";

const Header = Type.Object({
  format: Type.Literal("wal 1"),
  file: Type.String(),
  postgres: Type.String(),
  timeline: Type.Integer({ minimum: 1 }),
});
type Header = Static<typeof Header>;
const Entry = Type.Object({ path: Type.String({ maxLength: 500 }), isFolder: Type.Boolean() });
export type Entry = Static<typeof Entry>;
const BaseEnd = Type.Object({ to: Type.String({ maxLength: 20 }), at: Type.String({ maxLength: 40 }) });
export type BaseEnd = Static<typeof BaseEnd>;

const chunkBytes = 1024 * 1024;
type WalHeader = Omit<Base | Piece, "name">;

function headerFrame(of: WalHeader, timeline: number): Frame {
  const header: Header = { format: "wal 1", file: walNameOf(of, false), postgres: postgresMajor, timeline };
  return jsonFrame("H", header);
}

/** Of WAL that PostgreSQL keeps for us. */
export async function* pieceFrames(cluster: string, piece: Omit<Piece, "name">, timeline: number) {
  yield headerFrame(piece, timeline);
  yield* walFrames(cluster, timeline, piece);
}

async function* walFrames(
  cluster: string,
  timeline: number,
  { from, to }: { readonly from: bigint; readonly to: bigint },
): AsyncGenerator<Frame> {
  for (let at = from; at < to;) {
    const begin = segmentStart(at);
    const end = to < begin + segmentBytes ? to : begin + segmentBytes;
    const range = { from: Number(at - begin), to: Number(end - begin) };
    yield* fileFrames(join(cluster, "pg_wal", segmentName(timeline, at)), range);
    at = end;
  }
}

/** Up to its end, or to `to`, before which it must not end. */
async function* fileFrames(path: string, range?: { readonly from: number; readonly to: number }) {
  const file = await open(path);
  try {
    const { from, to } = range ?? { from: 0, to: Number.POSITIVE_INFINITY };
    for (let at = from; at < to;) {
      const wanted = Math.min(chunkBytes, to - at);
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(wanted), 0, wanted, at);
      if (bytesRead === 0 && range) throw new Error(`${path} ends too early`);
      if (bytesRead === 0) return;
      yield { letter: "D", bytes: buffer.subarray(0, bytesRead) } as const;
      at += bytesRead;
    }
  } finally {
    await file.close();
  }
}

/** `end` ends the base in PostgreSQL, once all files have been read. */
export async function* baseFrames(
  cluster: string,
  base: Omit<Base, "name">,
  timeline: number,
  end: () => Promise<{ readonly label: string; readonly to: bigint; readonly at: Date }>,
): AsyncGenerator<Frame> {
  yield headerFrame(base, timeline);
  for await (const { path, isFolder } of entriesIn(cluster, cluster)) {
    const begun = jsonFrame("F", { path, isFolder } satisfies Entry);
    if (isFolder) yield begun;
    else yield* whileThere(begun, join(cluster, path));
  }
  // The pieces begin somewhere within a file of WAL.
  const begin = segmentStart(base.from);
  yield jsonFrame("F", { path: `pg_wal/${segmentName(timeline, base.from)}`, isFolder: false } satisfies Entry);
  yield* walFrames(cluster, timeline, { from: begin, to: base.from });
  const { label, to, at } = await end();
  yield jsonFrame("F", { path: "backup_label", isFolder: false } satisfies Entry);
  yield { letter: "D", bytes: Buffer.from(label) };
  yield jsonFrame("E", { to: `0x${to.toString(16)}`, at: at.toISOString() } satisfies BaseEnd);
}

/** A table may be dropped meanwhile: WAL drops it as well. */
async function* whileThere(begun: Frame, path: string): AsyncGenerator<Frame> {
  yield begun;
  try {
    yield* fileFrames(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

/** Folders whose contents are of a running server only. */
const emptied = new Set(
  ["wal", "replslot", "dynshmem", "notify", "serial", "snapshots", "stat_tmp", "subtrans"].map((name) => `pg_${name}`),
);
const left = new Set(["postmaster.pid", "postmaster.opts", "backup_label", "tablespace_map", "recovery.signal"]);

/** `pg_control` comes last: it says from where on to recover. */
async function* entriesIn(cluster: string, folder: string): AsyncGenerator<Entry> {
  const entries = await readdir(folder, { withFileTypes: true });
  const isLast = (name: string) => Number(name === "pg_control" || name === "global");
  for (const entry of entries.toSorted((a, b) => isLast(a.name) - isLast(b.name))) {
    const path = relative(cluster, join(folder, entry.name));
    if (left.has(path) || entry.name.startsWith("pgsql_tmp") || entry.name.startsWith("pg_internal.init")) continue;
    if (path.startsWith("pg_tblspc/")) throw new Error("there are tablespaces, which BACKUP_WAL does not copy");
    yield { path, isFolder: entry.isDirectory() };
    if (entry.isDirectory() && !emptied.has(path)) yield* entriesIn(cluster, join(folder, entry.name));
  }
}

interface WalReader {
  readonly timeline: number;
  readonly frames: AsyncGenerator<Frame>;
}

/** Reads a file of the archive. Throws, at its end at the latest, unless it is whole and what its name says. */
export async function openWalFile(of: Base | Piece, store: Pick<BackupStore, "read">, key: string): Promise<WalReader> {
  const frames = readFrames({ name: of.name, read: () => store.read(of.name) }, key);
  const first = await frames.next();
  const header = first.done || first.value.letter !== "H" ? undefined : parseJson(first.value.bytes);
  const fault =
    !Value.Check(Header, header) || header.file !== walNameOf(of, false)
      ? "is not what its name says"
      : header.postgres !== postgresMajor
        ? `was made by PostgreSQL ${header.postgres}, and this version has ${postgresMajor}: restore it with the version that made it`
        : undefined;
  if (Value.Check(Header, header) && fault === undefined) return { timeline: header.timeline, frames };
  await frames.return(undefined);
  throw new Error(`${of.name} ${fault}`);
}

export function parseEntry(bytes: Uint8Array): Entry {
  const entry = parseJson(bytes);
  const isPlain = (part: string) => part !== "" && part !== "." && part !== "..";
  if (Value.Check(Entry, entry) && entry.path.split("/").every(isPlain)) return entry;
  throw new Error("it names a file outside of the cluster");
}

export function parseBaseEnd(bytes: Uint8Array): { to: bigint; at: Date } {
  const end = parseJson(bytes);
  if (!Value.Check(BaseEnd, end)) throw new Error("it does not say where it ends");
  return { to: BigInt(end.to), at: new Date(end.at) };
}
