/**
 * Divides the places of a lane. Each account leaves as many free as it has, and so does each share of it (a flow, say)
 * within what its account may have: whatever hangs, who comes next finds a place. One share alone has a quarter of all,
 * as many as the handler's `concurrency`. When all are taken, as many again are for accounts that have none. Nothing here
 * waits or reads a clock.
 */

/** The places that are taken. */
export interface SlotUsage {
  places: number;
  readonly accounts: Map<number, { places: number; readonly shares: Map<string, number> }>;
}

/** Who may take no more; without `share` the whole account. */
export interface Full {
  readonly accountId: number;
  readonly share: string | null;
}

/** Whose turn it was last: of the accounts, and of each account's shares. */
export interface Turns {
  last: number;
  readonly shares: Map<number, string>;
  /** The accounts of the last claim in order. */
  recent: ReadonlySet<number>;
}

/** A job, for the places that it takes. */
interface Holder {
  readonly accountId: number | null;
  readonly share: string | null;
  readonly bytes: number;
}

/** Large payloads take several places: so many bytes each. */
const bytesOfPlace = 250_000;
const placesOfShare = 4;
const mostTurnsKept = 1000;

export function nothingHeld(): SlotUsage {
  return { places: 0, accounts: new Map() };
}

export function noTurns(): Turns {
  return { last: 0, shares: new Map(), recent: new Set() };
}

/** The jobs of a claim by turns, in any order. */
export function tookTurns(turns: Turns, jobs: readonly Omit<Holder, "bytes">[]): void {
  // After the last ones first, as the claim goes round.
  const round = jobs.map(({ accountId, share }) => {
    const id = accountId ?? 0;
    return { id, share: share ?? "", round: id > turns.last ? 0 : 1 };
  });
  const after = (one: { id: number; share: string }) => (one.share > (turns.shares.get(one.id) ?? "") ? 0 : 1);
  for (const { id, share } of round.toSorted((a, b) => a.round - b.round || a.id - b.id || after(a) - after(b))) {
    turns.shares.delete(id);
    turns.shares.set(id, share);
    turns.last = id;
  }
  for (const id of turns.shares.keys()) if (turns.shares.size > mostTurnsKept) turns.shares.delete(id);
}

export function take(held: SlotUsage, job: Holder): void {
  change(held, job, placesOf(job));
}

export function leave(held: SlotUsage, job: Holder): void {
  change(held, job, -placesOf(job));
}

/** Whether this account may take one more of so many places; when all are taken, as many again are for those without one. */
export function hasPlace(held: SlotUsage, accountId: number, places: number): boolean {
  return held.places < places || (!held.accounts.has(accountId) && held.places < 2 * places);
}

/** How many jobs may be taken whosever they are or, if some holders are full, at most of others. */
export function roomOf(
  held: SlotUsage,
  concurrency: number,
): { readonly most: number; readonly full: readonly Full[] } {
  const places = concurrency * placesOfShare;
  const free = places - held.places;
  if (free <= 0) {
    const full = [...held.accounts.keys()].map((accountId) => ({ accountId, share: null }));
    return { most: held.places < 2 * places ? 1 : 0, full };
  }
  let most = room(room(free, 0), 0);
  const full: Full[] = [];
  for (const [accountId, { places: taken, shares }] of held.accounts) {
    const ofAccount = room(free, taken);
    // Shares without a place begin all the same, unless the account has so many.
    if (ofAccount === 0 && shares.size >= room(free, 0)) full.push({ accountId, share: null });
    else
      for (const [share, ofThis] of shares) {
        const ofShare = room(ofAccount, ofThis);
        most = Math.min(most, ofShare);
        if (ofShare === 0) full.push({ accountId, share });
      }
  }
  return { most: full.length > 0 ? free : most, full };
}

/** How many more may be taken one after another, each while no more are taken than are free. */
function room(free: number, taken: number): number {
  return Math.max(0, Math.ceil((free - taken) / 2));
}

function placesOf({ bytes }: Holder): number {
  return 1 + Math.floor(bytes / bytesOfPlace);
}

function change(held: SlotUsage, { accountId, share }: Holder, by: number): void {
  const id = accountId ?? 0;
  const account = held.accounts.get(id) ?? { places: 0, shares: new Map<string, number>() };
  const name = share ?? "";
  const taken = (account.shares.get(name) ?? 0) + by;
  held.places += by;
  account.places += by;
  if (taken > 0) account.shares.set(name, taken);
  else account.shares.delete(name);
  if (account.places > 0) held.accounts.set(id, account);
  else held.accounts.delete(id);
}
