/** Creating, changing and deleting domains. A site with domains has exactly one primary. */
import { column, field, mistakes, randomToken, resource } from "platform";
import type { Change, Command, CommandFacts, DraftOf, Mistakes, RowOf } from "platform";
import type { Accounts } from "../../accounts/api.ts";
import type { CmsContext } from "../context.ts";
import { hold, placeOf, runEdit, there, type SiteEdit } from "../edit.ts";
import * as shared from "../fields.ts";
import { kindOf } from "../kind.ts";
import { byLocale, bySite, find, searching } from "../kind-store.ts";
import { refOf } from "../code.ts";
import { cleanHost, DomainVerification, verificationOf } from "./host.ts";
import * as domainStore from "./store.ts";

const { choice, flag, text } = column;

const domainFields = {
  /** A host in lower case and in ASCII, with a port only if one was given. */
  name: text({
    label: ["Address", "Adres", "Adresse"],
    body: field.name(),
    by: "check",
    leftOut: "refused",
    example: "www.acme.example",
  }),
  ...shared.siteOf("cms_domains"),
  locale: shared.locale("en"),
  primary: flag({
    label: ["Primary", "Główny", "Hauptadresse"],
    help: [
      "Pages without a language have their address here.",
      "Strony bez języka mają tu swój adres.",
      "Seiten ohne Sprache haben hier ihre Adresse.",
    ],
    stored: "is_primary",
    body: field.flag(),
    by: "check",
    leftOut: "`true` of a site's first",
    example: true,
  }),
  /** Only approved domains are served. */
  status: choice(["pending", "approved"], {
    label: ["State", "Stan", "Status"],
    choices: {
      pending: ["Waits for its proof", "Czeka na potwierdzenie", "Wartet auf den Nachweis"],
      approved: ["Approved", "Potwierdzony", "Bestätigt"],
    },
    by: "check",
    example: "approved",
  }),
  /** The text that a TXT record or a file must hold to prove that the account owns the domain. */
  proof: text({ by: "check", hidden: true }),
  ...shared.authors,
};

export type DomainRow = RowOf<typeof domainFields, "integer">;

export const Domain = kindOf(
  resource("domain", {
    table: "cms_domains",
    path: "/cms/domains",
    id: "integer",
    privilege: "cms",
    model: "Cms::Domain",
    fields: domainFields,
    derived: {
      verification: {
        label: ["Proof", "Potwierdzenie", "Nachweis"],
        schema: field.nullable(DomainVerification),
      },
    },
    check,
    changed,
    example: { id: 4, verification: null },
    request: ["name", "site_code", "locale"],
    change: { locale: "en", primary: true },
    docs: {
      create: {
        description:
          "`name` is a host, with a port only if the site's addresses carry one; it is unique in the whole installation. " +
          "Numeric addresses, names without a dot, every account's host and hosts where people sign in are refused. " +
          "If the installation has several accounts, it is `pending`, and serves nothing, until it is proved " +
          "(`POST /cms/domains/:id/verify`) or the operator approves it. " +
          "The first domain of a site is its primary one, until another one is made the primary.",
        refusals: { 422: { name: ["is already taken"] } },
      },
      delete: { description: "Deleting the primary domain promotes the oldest remaining one." },
    },
  }),
  {
    inSites: false,
    needs: [["name"], shared.needsSite],
    filters: {
      q: searching(["name"]),
      name: domainStore.byName,
      site_code: bySite,
      locale: byLocale,
    },
    refOf(given) {
      const clean = cleanHost(given);
      return /^\d+$/.test(given) ? refOf(given) : "host" in clean ? { code: clean.host } : undefined;
    },
    byCode: domainStore.named,
    derive: (row) => ({ verification: row.status === "pending" ? verificationOf(row) : null }),
    async remove(edit, erased) {
      const { siteId, primary } = await erased();
      if (primary) await domainStore.promoteOldest(edit, siteId);
    },
  },
);

/** A site with domains has exactly one primary. */
async function check(
  edit: SiteEdit,
  { given, before, after }: Change<typeof domainFields, "integer">,
  wrong: Mistakes,
): Promise<DraftOf<typeof domainFields>> {
  const siteId = (await placeOf(edit, wrong, given, before)) ?? 0;
  if (!before && given.name === undefined) wrong.add("name", "is required");
  const name = given.name === undefined ? (before?.name ?? "") : await hostOf(edit, wrong, given.name);
  if (given.primary === false && before?.primary)
    wrong.add("primary", "cannot be false: make another domain of the site the primary instead");
  wrong.check();
  const primary = given.primary || (before?.primary ?? (await domainStore.primaryOf(edit, siteId)) === undefined);
  if (primary && !before?.primary) await domainStore.clearPrimary(edit, siteId);
  const { status, proof } = before && name === before.name ? before : await unproved(edit);
  return { siteId, name, locale: after.locale || null, primary, status, proof };
}

async function changed(edit: SiteEdit): Promise<void> {
  edit.hostsChange();
}

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

/** Serves a domain that has been proved, or for which the operator vouches. */
export async function approve(edit: SiteEdit, seen: Pick<DomainRow, "id" | "siteId" | "name">): Promise<DomainRow> {
  await hold(edit, seen.siteId);
  const read = async () => there(await find(Domain, edit.tx, edit.account.id, { id: seen.id }));
  const before = await read();
  if (before.status === "approved") return before;
  const wrong = mistakes();
  if (before.name !== seen.name) wrong.add("name", "has changed in the meantime");
  await checkHost(edit, wrong, before.name);
  wrong.check();
  await domainStore.approve(edit, before.id, edit.userId);
  edit.hostsChange();
  return read();
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
        approve(edit, there(await find(Domain, edit.tx, account.id, { id: domain.id }))),
      );
      return [`${clean.host} is approved for ${account.name}`];
    },
  };
  return [command];
}
