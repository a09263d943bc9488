/**
 * What the archive of WAL is made of, by names. A chain begins with a base: a copy of the cluster's files. Pieces are the
 * WAL since, each from where the one before it ended; a base that is made later is another place to begin.
 *
 *     corestead-20260131T033000000Z_1F2E3D4C-0000000003000028-base-20260131T033000250Z.wal
 *     corestead-20260131T033000000Z_1F2E3D4C-0000000003000000-0000000003A4F2D0-20260131T033100000Z.wal.sealed
 *
 * The first time and the lineage name the chain; then come the positions in the WAL (a piece's end is not in it). The last time is when
 * a base was begun; and what was committed before it is in the pieces up to this one. Pure.
 */
interface InChain {
  readonly name: string;
  readonly chain: string;
  readonly from: bigint;
  readonly at: Date;
}
export interface Base extends InChain {
  readonly to?: undefined;
}
export interface Piece extends InChain {
  readonly to: bigint;
}

const ours =
  /^corestead-(\d{8}T\d{9}Z(?:_[\dA-F]{8})?)-([\dA-F]{16})-([\dA-F]{16}|base)-(\d{8}T\d{9}Z)\.wal(\.sealed)?$/;
/** The size that initdb gives to the files of WAL. */
export const segmentBytes = 16n * 1024n * 1024n;

/** Of a chain that begins now. PostgreSQL's slot has the same name in small letters. */
export function chainOf(at: Date, lineage: string): string {
  return `${timeText(at, "ms")}_${lineage.toUpperCase()}`;
}

/** Undefined in the names of earlier versions. */
export function lineageOf({ chain }: Pick<InChain, "chain">): string | undefined {
  return chain.split("_")[1]?.toLowerCase();
}

export function walNameOf({ chain, from, to, at }: Omit<Base | Piece, "name">, isSealed: boolean): string {
  return `corestead-${chain}-${hex(from)}-${to === undefined ? "base" : hex(to)}-${timeText(at, "ms")}.wal${isSealed ? ".sealed" : ""}`;
}

/** Undefined if it is not the name of such a file. */
export function parseWalName(name: string): Base | Piece | undefined {
  const [, chain = "", from = "", to = "", time = ""] = ours.exec(name) ?? [];
  const at = timeIn(time);
  if (!at || !timeIn(chain.slice(0, 19))) return undefined;
  const begun = { name, chain, from: BigInt(`0x${from}`), at };
  return to === "base" ? begun : { ...begun, to: BigInt(`0x${to}`) };
}

/** `0/3A4F2D0` */
export function parseLsn(text: string): bigint {
  const [high = "0", low = "0"] = text.split("/");
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

export function lsnText(lsn: bigint): string {
  return `${(lsn >> 32n).toString(16)}/${(lsn & 0xffff_ffffn).toString(16)}`.toUpperCase();
}

/** PostgreSQL reads files of WAL from their first page. */
export function segmentStart(lsn: bigint): bigint {
  return lsn - (lsn % segmentBytes);
}

/** The file of WAL that has this position. */
export function segmentName(timeline: number, lsn: bigint): string {
  const part = (value: bigint) => value.toString(16).toUpperCase().padStart(8, "0");
  return `${part(BigInt(timeline))}${part(lsn >> 32n)}${part((lsn & 0xffff_ffffn) / segmentBytes)}`;
}

function hex(lsn: bigint): string {
  return lsn.toString(16).toUpperCase().padStart(16, "0");
}

/** `20260131T033000Z`, or `20260131T033000123Z` with milliseconds. */
export function timeText(at: Date, unit: "s" | "ms" = "s"): string {
  return `${at
    .toISOString()
    .replaceAll(/[-:.Z]/g, "")
    .slice(0, unit === "s" ? 15 : 18)}Z`;
}

/** Undefined if it is no such time. */
export function timeIn(text: string): Date | undefined {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})?Z$/.exec(text);
  if (!parts) return undefined;
  const [, year, month, day, hour, minute, second, ms = "000"] = parts;
  const at = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
  return Number.isNaN(at.getTime()) ? undefined : at;
}
