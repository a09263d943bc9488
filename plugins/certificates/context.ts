/**
 * What the functions of this plugin share: above all the hosts that this installation serves. Nothing is ordered for
 * any other.
 */
import type { BaseContext } from "platform";
import type { Authority } from "./acme.ts";
import type { Accounts } from "../accounts/api.ts";
import type { Cms } from "../cms-multilang/api.ts";
import { isOrderable } from "./renewal.ts";
import type { KnownHost } from "./store.ts";

export interface CertificatesContext extends BaseContext {
  readonly accounts: Pick<Accounts, "hosts">;
  readonly cms: Pick<Cms, "hosts" | "hostOwner">;
  /** Hosts of accounts with their account, as they were known a moment ago. */
  readonly ofAccounts: Map<string, number>;
  readonly authority: Authority;
}

/** Hosts of accounts, and domains of active sites, for which an authority can give a certificate. */
export async function knownHosts({ accounts, cms, ofAccounts, https }: CertificatesContext): Promise<KnownHost[]> {
  const found = (await accounts.hosts()).filter(({ host }) => isOrderable(host));
  ofAccounts.clear();
  for (const { host, accountId } of found) ofAccounts.set(host, accountId);
  const sites = cms.hosts().filter(({ host }) => isOrderable(host));
  // An account's own host is never a site's.
  const all = new Map([...sites, ...found].map(({ host, accountId }) => [host, accountId]));
  const known = [...all].map(([host, accountId]) => ({ host, accountId }));
  const owned = await Promise.all(known.map(({ host }) => https.hasOwn(host)));
  return known.filter((_, at) => !owned[at]);
}

/** The account of a host, as it was known a moment ago; asks no database. */
export function ownerOf({ ofAccounts, cms }: CertificatesContext, host: string): number | undefined {
  return ofAccounts.get(host) ?? (isOrderable(host) ? cms.hostOwner(host) : undefined);
}
