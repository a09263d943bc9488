/** Names of scheduled backups: when they were begun, their lineage, and whether they are sealed. */
const ours = /^corestead-(\d{8}T\d{6}Z)(?:-([\da-f]{8}))?\.backup(\.sealed)?$/;

export function nameOf(at: Date, lineage: string, isSealed: boolean): string {
  return `corestead-${timeText(at)}-${lineage}.backup${isSealed ? ".sealed" : ""}`;
}

/** Undefined in the names of earlier versions. */
export function lineageIn(name: string): string | undefined {
  return ours.exec(name)?.[2];
}

/** Undefined if it is not the name of a backup. */
export function timeOf(name: string): Date | undefined {
  return timeIn(ours.exec(name)?.[1] ?? "");
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
