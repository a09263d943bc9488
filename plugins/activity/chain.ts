/** The chain of an account's entries: what a seal signs, and what is wrong with a chain. Pure. */

export interface Seal {
  readonly number: number;
  /** All entries after the seal before, up to this id. */
  readonly upTo: number;
  readonly ids: readonly number[];
  /** SHA-256 of each entry, in the order of `ids`, in hexadecimal. */
  readonly digests: string;
  readonly signature: string;
}

/** A seal that a chain must have. */
export interface SealAnchor {
  readonly number: number;
  readonly signature: string;
}

export interface Head {
  /** The last seal that was deleted because of its age. */
  readonly firstNumber: number;
  readonly firstSignature: string;
  readonly number: number;
  readonly lastSignature: string;
  readonly upTo: number;
  readonly signature: string;
}

/** An entry as it is now. */
export interface Entry {
  readonly id: number;
  readonly digest: string;
}

/** A keyed hash that only this server makes. */
export type Sign = (text: string) => string;

const hexPerDigest = 64;

export function signSeal(sign: Sign, accountId: number, previous: string, seal: Omit<Seal, "signature">): string {
  return sign(["seal", accountId, previous, seal.number, seal.upTo, seal.ids.join(","), seal.digests].join("\n"));
}

export function signHead(sign: Sign, accountId: number, head: Omit<Head, "signature">): string {
  const { firstNumber, firstSignature, number, lastSignature, upTo } = head;
  return sign(["head", accountId, firstNumber, firstSignature, number, lastSignature, upTo].join("\n"));
}

/** The fault of this seal or of an entry in it, if there is one. */
export function faultOf(
  sign: Sign,
  accountId: number,
  before: Pick<Seal, "number" | "signature">,
  seal: Seal,
  entries: readonly Entry[],
): string | undefined {
  if (seal.number !== before.number + 1) return `seal ${before.number + 1} is missing`;
  if (signSeal(sign, accountId, before.signature, seal) !== seal.signature)
    return `seal ${seal.number} (entries ${seal.ids[0]} to ${seal.ids.at(-1)}) was changed`;
  const now = new Map(entries.map(({ id, digest }) => [id, digest]));
  for (const [place, id] of seal.ids.entries()) {
    const digest = now.get(id);
    if (digest === undefined) return `entry ${id} was removed`;
    if (digest !== seal.digests.slice(place * hexPerDigest, (place + 1) * hexPerDigest))
      return `entry ${id} was changed`;
    now.delete(id);
  }
  const [added] = now.keys();
  return added === undefined ? undefined : `entry ${added} was added later`;
}

/** The fault at the end of a chain, if there is one. */
export function headFault(
  sign: Sign,
  accountId: number,
  head: Head,
  last: Pick<Seal, "number" | "signature">,
): string | undefined {
  if (signHead(sign, accountId, head) !== head.signature) return "the head of the chain was changed";
  if (last.number !== head.number || last.signature !== head.lastSignature)
    return `the chain ends at seal ${last.number} instead of ${head.number}: its end was removed`;
  return undefined;
}
