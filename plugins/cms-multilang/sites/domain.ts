/** Creating, changing and deleting domains. A site with domains has exactly one primary. */
import { mistakes, randomToken, Type, type Command, type CommandFacts, type Static } from "platform";
import type { Accounts } from "../../accounts/api.ts";
import type { CmsContext } from "../context.ts";
import { locked, mustStay, orNull, reread, runEdit, siteOf, there, whichever } from "../edit.ts";
import type { Mistakes, SiteEdit, Writer } from "../edit.ts";
import * as kindStore from "../kind-store.ts";
import { cleanHost } from "./host.ts";
import { flag, localeField, nameField, siteRef } from "../input.ts";
import type { DomainRow } from "../rows.ts";
import { domains, type DomainView } from "./store.ts";
import * as domainStore from "./store.ts";

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

export const domainWriter: Writer<DomainBody, DomainView> = {
  async create(edit, body) {
    const wrong = mistakes();
    const site = await siteOf(edit, wrong, body);
    if (body.name === undefined) wrong.add("name", "is required");
    const name = body.name === undefined ? "" : await hostOf(edit, wrong, body.name);
    wrong.check();
    const { id: siteId } = there(site);
    await edit.touch(siteId);
    const first = (await domainStore.primaryOf(edit, siteId)) === undefined;
    if (body.primary && !first) await domainStore.clearPrimary(edit, siteId);
    const isPrimary = first || body.primary === true;
    const locale = body.locale || null;
    const input = { name, locale, isPrimary, ...(await unproved(edit)) };
    const id = await kindStore.insert(domains, edit, input, siteId);
    edit.hostsChange();
    return reread(edit, domains, id);
  },

  async update(edit, ref, body, expected) {
    const before = await locked(edit, domains, ref, expected);
    const wrong = mistakes();
    mustStay(wrong, body, before);
    const name = body.name === undefined ? before.name : await hostOf(edit, wrong, body.name);
    if (body.primary === false && before.isPrimary)
      wrong.add("primary", "cannot be false: make another domain of the site the primary instead");
    wrong.check();
    const isPrimary = body.primary ?? before.isPrimary;
    if (isPrimary && !before.isPrimary) await domainStore.clearPrimary(edit, before.siteId);
    const locale = orNull(body.locale, before.locale) || null;
    const { status, proof } = name === before.name ? before : await unproved(edit);
    await kindStore.update(domains, edit, before.id, { name, locale, isPrimary, status, proof });
    edit.hostsChange();
    return reread(edit, domains, before.id);
  },

  /** The oldest of the others becomes the primary. */
  async remove(edit, ref, expected) {
    const { id, siteId, isPrimary } = await locked(edit, domains, ref, expected);
    await kindStore.remove(domains, edit, id);
    if (isPrimary) await domainStore.promoteOldest(edit, siteId);
    edit.hostsChange();
  },
};

export async function approve(edit: SiteEdit, seen: DomainView): Promise<DomainView> {
  const before = await locked(edit, domains, { id: seen.id }, whichever);
  if (before.status === "approved") return before;
  const wrong = mistakes();
  if (before.name !== seen.name) wrong.add("name", "has changed in the meantime");
  await checkHost(edit, wrong, before.name);
  wrong.check();
  await kindStore.update(domains, edit, before.id, { ...before, status: "approved" });
  edit.hostsChange();
  return reread(edit, domains, before.id);
}

/** Adds a mistake if the host is reserved or taken. */
async function checkHost(edit: SiteEdit, wrong: Mistakes, host: string) {
  const { cms, tx, host: asked } = edit;
  await cms.accounts.holdHost(host, tx);
  if (withoutPort(host) === withoutPort(asked ?? "") || (await cms.accounts.isReservedHost(host, tx)))
    wrong.add("name", "is the address of an account");
  else if (await domainStore.isTaken(edit, host)) wrong.add("name", "is already taken");
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

/** `corestead domain approve`: the operator vouches for a domain, so it needs no proof. */
export const domainApprove: CommandFacts = {
  name: "domain approve",
  usage: "domain approve NAME [--account HOST]",
  doc: "serve a site's domain that is pending",
};

export function domainCommands(ctx: CmsContext): Command[] {
  const command: Command = {
    ...domainApprove,
    async run({ account: host }, [given] = []) {
      const clean = cleanHost(given ?? "");
      if (!given || "mistake" in clean) throw new Error(`name the domain: corestead ${command.usage}`);
      const only = host === undefined ? undefined : await ctx.accounts.accountForHost(host);
      if (host !== undefined && !only) throw new Error(`no account has the host ${host}`);
      const waiting = (await domainStore.waiting(ctx.sql, clean.host)).filter(
        ({ accountId }) => !only || accountId === only.id,
      );
      const [domain, another] = waiting;
      if (!domain) throw new Error(`no domain ${clean.host} is pending`);
      if (another)
        throw new Error(`several accounts have the pending domain ${clean.host}: name one with --account HOST`);
      const account = there(await ctx.accounts.accountById(domain.accountId));
      await runEdit(ctx, { account, userId: null, host: "" }, async (edit) =>
        approve(edit, await reread(edit, domains, domain.id)),
      );
      return [`${clean.host} is approved for ${account.name}`];
    },
  };
  return [command];
}
