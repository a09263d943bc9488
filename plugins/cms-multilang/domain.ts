/** Making, changing and deleting domains. A site with domains has exactly one primary. */
import { mistakes, Type, type Static } from "platform";
import type { Accounts } from "../accounts/api.ts";
import { locked, type Change } from "./change.ts";
import type { Ref } from "./code.ts";
import type { DomainStore, DomainView } from "./domain-store.ts";
import { cleanHost } from "./host-name.ts";
import { flag, localeField, nameField, siteRef } from "./input.ts";
import type { SiteStore } from "./site-store.ts";
import { mustStay, orNull, siteOf, there, type Mistakes, type Writer } from "./write.ts";

export const DomainBody = Type.Object({ name: nameField(), locale: localeField(), primary: flag(), ...siteRef() });
export type DomainBody = Static<typeof DomainBody>;

/** Refuses a new account on a site's host, where nobody could reach it. */
export function keepHosts(accounts: Pick<Accounts, "onAccountCreated">, store: DomainStore): void {
  accounts.onAccountCreated(async ({ host }, tx) => {
    if (host === null) return [];
    const name = host.replace(/\.(?=:|$)/, "");
    await store.holdHost(tx, name);
    const domain = await store.meeting(tx, name);
    if (domain !== undefined) throw new Error(`${domain} is a domain of a site already`);
    return [];
  });
}

interface Needed {
  readonly store: DomainStore;
  readonly sites: SiteStore;
  readonly accounts: Pick<Accounts, "isAccountHost">;
  /** The server's own address. */
  readonly origin: () => string;
}

export function createDomains({ store, sites, accounts, origin }: Needed): Writer<DomainBody, DomainView> {
  const hostOf = async ({ tx, host: asked }: Change, wrong: Mistakes, given: string): Promise<string> => {
    const clean = cleanHost(given);
    if ("mistake" in clean) {
      wrong.add("name", clean.mistake);
      return "";
    }
    const { host } = clean;
    await store.holdHost(tx, host);
    const own = host === asked || host === new URL(origin()).host;
    if (own || (await accounts.isAccountHost(host, tx))) wrong.add("name", "is the address of an account");
    return host;
  };

  const finder =
    ({ tx, account }: Change) =>
    (ref: Ref) =>
      store.find(tx, account.id, ref);

  return {
    async create(change, body) {
      const { tx, account, userId } = change;
      const wrong = mistakes();
      const site = await siteOf(change, sites, wrong, body);
      if (body.name === undefined) wrong.add("name", "is required");
      const name = body.name === undefined ? "" : await hostOf(change, wrong, body.name);
      wrong.check();
      const { id: siteId } = there(site);
      await change.touch(siteId);
      const first = (await store.primaryOf(tx, account.id, siteId)) === undefined;
      if (body.primary && !first) await store.clearPrimary(tx, account.id, siteId);
      const isPrimary = first || body.primary === true;
      const id = await store.insert(tx, account.id, siteId, userId, { name, locale: body.locale || null, isPrimary });
      change.hostsChange();
      return there(await store.find(tx, account.id, { id }));
    },

    async update(change, ref, body, expected) {
      const { tx, account, userId } = change;
      const before = await locked(change, finder(change), ref, expected);
      const wrong = mistakes();
      mustStay(wrong, body, before);
      const name = body.name === undefined ? before.name : await hostOf(change, wrong, body.name);
      if (body.primary === false && before.isPrimary)
        wrong.add("primary", "a site has one primary domain: make another one the primary");
      wrong.check();
      const isPrimary = body.primary ?? before.isPrimary;
      if (isPrimary && !before.isPrimary) await store.clearPrimary(tx, account.id, before.siteId);
      const locale = orNull(body.locale, before.locale) || null;
      await store.update(tx, account.id, before.id, userId, { name, locale, isPrimary });
      change.hostsChange();
      return there(await store.find(tx, account.id, { id: before.id }));
    },

    /** The oldest of the others becomes the primary one. */
    async remove(change, ref, expected) {
      const { tx, account } = change;
      const { id, siteId, isPrimary } = await locked(change, finder(change), ref, expected);
      await store.delete(tx, account.id, id);
      if (isPrimary) await store.promoteOldest(tx, account.id, siteId);
      change.hostsChange();
    },
  };
}
