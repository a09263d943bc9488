/** DNS lookups with a time limit. Tests supply their own answers. */
import { Resolver } from "node:dns/promises";

export interface NameLookup {
  /** All addresses of a host name; default: the machine's own resolver. */
  readonly addresses?: (host: string) => Promise<string[]>;
  /** The TXT records of a name, each joined; [] if there are none or DNS does not answer. */
  readonly txt?: (name: string) => Promise<string[]>;
}

const maxRecords = 100;

export async function lookupTxt(name: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  // A missing record and a failed lookup are the same to the caller.
  const records = await resolver.resolveTxt(name).catch((): string[][] => []);
  return records.slice(0, maxRecords).map((parts) => parts.join(""));
}
