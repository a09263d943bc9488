/** What DNS says of a name, asked with bounds. Tests bring their own answers. */
import { Resolver } from "node:dns/promises";

export interface NameLookup {
  /** All addresses of a host name; the machine's own way when left out. */
  readonly addresses?: (host: string) => Promise<string[]>;
  /** The TXT records of a name, each whole; [] where there are none, or nobody answers. */
  readonly txt?: (name: string) => Promise<string[]>;
}

const maxRecords = 100;

export async function lookupTxt(name: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  // Whether it is not there or not to be had: nothing is said.
  const records = await resolver.resolveTxt(name).catch((): string[][] => []);
  return records.slice(0, maxRecords).map((parts) => parts.join(""));
}
