/** The position up to which a follower of changes has read. Pure. */

/**
 * Changes are given in windows: all that PostgreSQL's snapshot `to` sees and `from` does not, in the order of their
 * numbers. So no change is missed or given twice, whatever the order in which transactions end.
 */
export interface Position {
  /** A `pg_snapshot` as text: every change that it sees was given. */
  readonly from: string;
  /** Inside a window: its end, and the last change that was given. */
  readonly within?: { readonly to: string; readonly id: number };
}

/** The id of an event, which a client sends back as `Last-Event-ID`. `epoch` names one time of following. */
export function eventId(epoch: string, { from, within }: Position): string {
  return [epoch, from, ...(within ? [within.to, within.id] : [])].join(".");
}

/** Undefined if the text is not an id of this epoch. */
export function positionOf(epoch: string, text: string): Position | undefined {
  if (text.length > maxLength) return undefined;
  const [given, from = "", to, id, ...more] = text.split(".");
  if (given !== epoch || !isSnapshot(from) || more.length > 0) return undefined;
  if (to === undefined) return { from };
  return isSnapshot(to) && /^\d{1,15}$/.test(id ?? "") ? { from, within: { to, id: Number(id) } } : undefined;
}

const maxLength = 4000;

/** `xmin:xmax:running,…` as PostgreSQL reads it. */
function isSnapshot(text: string): boolean {
  const match = /^(\d{1,18}):(\d{1,18}):((?:\d{1,18},)*\d{1,18})?$/.exec(text);
  if (!match) return false;
  const [least, end] = [BigInt(match[1] ?? 0), BigInt(match[2] ?? 0)];
  const running = match[3] ? match[3].split(",").map(BigInt) : [];
  return least > 0n && least <= end && running.every((id, at) => id >= (running[at - 1] ?? least) && id < end);
}
