/** Creating, changing and deleting domains. A site with domains has exactly one primary. */
import { mistakes, randomToken, Type, type Static } from "platform";
import type { Accounts } from "../../accounts/api.ts";
import { whichever, type SiteEdit, type Expected } from "../edit.ts";
import type { DomainView } from "./domain-store.ts";
import { cleanHost } from "./host-name.ts";
import { flag, localeField, nameField, siteRef } from "../input.ts";
import type { DomainRow } from "../rows.ts";
import { mustStay, orNull, siteOf, there, type Mistakes, lockedIn, reread } from "../write.ts";
import * as domainStore from "./domain-store.ts";
import type { Ref } from "../code.ts";

export const DomainBody = Type.Object({ name: nameField(), locale: localeField(), primary: flag(), ...siteRef() });
export type DomainBody = Static<typeof DomainBody>;

/** Refuses a new account on a site's host, where nobody could reach it. Pending domains give way. */
export function keepHosts(accounts: Pick<Accounts, "onAccountCreated" | "holdHost">): void {
  accounts.onAccountCreated(async ({ host }, tx) => {
    if (host === null) return [];
    const name = host.replace(/\.(?=:|$)/, "");
    await accounts.holdHost(name, tx);
    const domain = await domainStore.meeting(tx, name);
    if (domain !== undefined) throw new Error(`${domain} is already a site's domain`);
    return [];
  });
}

export async function create(edit: SiteEdit, body: DomainBody): Promise<DomainView> {
  const { tx, account, userId } = edit;
  const wrong = mistakes();
  const site = await siteOf(edit, wrong, body);
  if (body.name === undefined) wrong.add("name", "is required");
  const name = body.name === undefined ? "" : await hostOf(edit, wrong, body.name);
  wrong.check();
  const { id: siteId } = there(site);
  await edit.touch(siteId);
  const first = (await domainStore.primaryOf(tx, account.id, siteId)) === undefined;
  if (body.primary && !first) await domainStore.clearPrimary(tx, account.id, siteId);
  const isPrimary = first || body.primary === true;
  const locale = body.locale || null;
  const input = { name, locale, isPrimary, ...(await unproved(edit)) };
  const id = await domainStore.insert(tx, account.id, siteId, userId, input);
  edit.hostsChange();
  return reread(edit, domainStore.find, id);
}

export async function update(edit: SiteEdit, ref: Ref, body: DomainBody, expected: Expected): Promise<DomainView> {
  const { tx, account, userId } = edit;
  const before = await lockedIn(edit, domainStore.find, ref, expected);
  const wrong = mistakes();
  mustStay(wrong, body, before);
  const name = body.name === undefined ? before.name : await hostOf(edit, wrong, body.name);
  if (body.primary === false && before.isPrimary)
    wrong.add("primary", "cannot be false: make another domain of the site the primary instead");
  wrong.check();
  const isPrimary = body.primary ?? before.isPrimary;
  if (isPrimary && !before.isPrimary) await domainStore.clearPrimary(tx, account.id, before.siteId);
  const locale = orNull(body.locale, before.locale) || null;
  const { status, proof } = name === before.name ? before : await unproved(edit);
  await domainStore.update(tx, account.id, before.id, userId, { name, locale, isPrimary, status, proof });
  edit.hostsChange();
  return reread(edit, domainStore.find, before.id);
}

/** The oldest of the others becomes the primary. */
export async function remove(edit: SiteEdit, ref: Ref, expected: Expected): Promise<void> {
  const { tx, account } = edit;
  const { id, siteId, isPrimary } = await lockedIn(edit, domainStore.find, ref, expected);
  await domainStore.remove(tx, account.id, id);
  if (isPrimary) await domainStore.promoteOldest(tx, account.id, siteId);
  edit.hostsChange();
}

export async function approve(edit: SiteEdit, seen: DomainView): Promise<DomainView> {
  const { tx, account, userId } = edit;
  const before = await lockedIn(edit, domainStore.find, { id: seen.id }, whichever);
  if (before.status === "approved") return before;
  const wrong = mistakes();
  if (before.name !== seen.name) wrong.add("name", "has changed in the meantime");
  await checkHost(edit, wrong, before.name);
  wrong.check();
  await domainStore.update(tx, account.id, before.id, userId, { ...before, status: "approved" });
  edit.hostsChange();
  return reread(edit, domainStore.find, before.id);
}

/** Adds a mistake if the host is reserved or taken. */
async function checkHost({ cms, tx, account, host: asked }: SiteEdit, wrong: Mistakes, host: string) {
  await cms.accounts.holdHost(host, tx);
  if (withoutPort(host) === withoutPort(asked ?? "") || (await cms.accounts.isReservedHost(host, tx)))
    wrong.add("name", "is the address of an account");
  else if (await domainStore.isTaken(tx, account.id, host)) wrong.add("name", "is already taken");
}

async function hostOf(edit: SiteEdit, wrong: Mistakes, given: string): Promise<string> {
  const clean = cleanHost(given);
  if ("mistake" in clean) {
    wrong.add("name", clean.mistake);
    return "";
  }
  await checkHost(edit, wrong, clean.host);
  return clean.host;
}

/** With several accounts, one could claim a domain that belongs to another, so a new domain needs proof. */
async function unproved({ cms, tx }: SiteEdit): Promise<Pick<DomainRow, "status" | "proof">> {
  return { status: (await cms.accounts.hasSeveral(tx)) ? "pending" : "approved", proof: randomToken(16) };
}

function withoutPort(host: string): string {
  return host.replace(/:\d+$/, "");
}
