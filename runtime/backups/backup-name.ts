/** Names of scheduled backups: when they were begun, and whether they are sealed. */
const ours = /^corestead-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup(\.sealed)?$/;

export function nameOf(at: Date, isSealed: boolean): string {
  const time = `${at.toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
  return `corestead-${time}.backup${isSealed ? ".sealed" : ""}`;
}

/** Undefined if it is not the name of a backup. */
export function timeOf(name: string): Date | undefined {
  const [, year, month, day, hour, minute, second] = ours.exec(name) ?? [];
  const at = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at.getTime()) ? undefined : at;
}
