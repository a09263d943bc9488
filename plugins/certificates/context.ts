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
  readonly hosts: KnownHosts;
  readonly authority: Authority;
  /** Whether a port of this installation answers HTTP-01. */
  readonly answersHttp: boolean;
}

interface HostSources {
  readonly accounts: Pick<Accounts, "hosts">;
  readonly cms: Pick<Cms, "hosts" | "hostOwner">;
  /** Whether a host has a certificate of the operator's own. */
  readonly hasOwn: (host: string) => Promise<boolean>;
}

interface KnownHosts {
  /** Hosts of accounts, and domains of active sites, for which an authority can give a certificate. */
  all(): Promise<KnownHost[]>;
  /** Of these, the accounts' own, as they were known a moment ago. */
  ofAccounts(): string[];
  /** The account of a host, as it was known a moment ago; asks no database. */
  ownerOf(host: string): number | undefined;
}

export function createKnownHosts({ accounts, cms, hasOwn }: HostSources): KnownHosts {
  let ofAccounts = new Map<string, number>();
  return {
    async all() {
      const found = (await accounts.hosts()).filter(({ host }) => isOrderable(host));
      ofAccounts = new Map(found.map(({ host, accountId }) => [host, accountId]));
      const all = new Map(
        cms
          .hosts()
          .filter(({ host }) => isOrderable(host))
          .map(({ host, accountId }) => [host, accountId]),
      );
      // An account's own host is never a site's.
      for (const [host, accountId] of ofAccounts) all.set(host, accountId);
      const known = [...all].map(([host, accountId]) => ({ host, accountId }));
      const owned = await Promise.all(known.map(({ host }) => hasOwn(host)));
      return known.filter((_, at) => !owned[at]);
    },
    ofAccounts: () => [...ofAccounts.keys()],
    ownerOf: (host) => ofAccounts.get(host) ?? (isOrderable(host) ? cms.hostOwner(host) : undefined),
  };
}
