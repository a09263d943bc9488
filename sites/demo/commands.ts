import type { Account, Command, CommandFacts } from "platform";
import type { Accounts } from "../../plugins/accounts/api.ts";
import type { Cms, CmsAuthor } from "../../plugins/cms-multilang/api.ts";
import type { Media } from "../../plugins/media/api.ts";
import { putApps, type AppsNeeded } from "./apps.ts";
import { siteFiles } from "./files.js";
import { putPictures } from "./pictures.ts";

interface Needed extends AppsNeeded {
  readonly accounts: Pick<Accounts, "accountForHost" | "defaultAccount">;
  readonly cms: Pick<Cms, "change" | "list" | "pushFiles">;
  readonly media: Media;
}

/** One part of the demonstration: it makes what is missing and says what there is to see. */
type Part = (needed: Needed, account: Account) => Promise<readonly string[]>;

const siteCode = "kobalt";

const parts: readonly Part[] = [putPictures, site, putApps];

export const demoFacts: CommandFacts = {
  name: "demo",
  usage: "demo [--account HOST]",
  doc: "put a sample site and apps into an account",
};

export function demoCommand(needed: Needed): Command {
  return {
    ...demoFacts,
    async run({ account: host }) {
      const { accounts } = needed;
      const account = host ? await accounts.accountForHost(host) : await accounts.defaultAccount();
      if (!account) throw new Error(`no account has the host ${host}`);
      const lines: string[] = [];
      for (const part of parts) lines.push(...(await part(needed, account)));
      return lines;
    },
  };
}

/** The site of an invented pottery, in three languages over two domains. */
async function site({ cms }: Needed, account: Account): Promise<readonly string[]> {
  const { protocol, port, hostname } = new URL(account.baseUrl);
  // A browser knows all that is below localhost as its own machine.
  const files = under(isAddress(hostname) ? "localhost" : hostname, port);
  const author = { account, userId: null };
  const difference = await cms.pushFiles(author, siteCode, files);
  const hosts = [...files.keys()].flatMap((file) => /^domains\/(.*)\.yaml$/.exec(file)?.[1]?.replace("%3A", ":") ?? []);
  await removeOtherPorts(cms, author, hosts);
  return [`the site kobalt: ${difference.at(-1)}`, ...hosts.map((name) => `  ${protocol}//${name}/`)];
}

/** Domains of an earlier run whose server was reached by another port: the pages would still link there. */
async function removeOtherPorts(cms: Needed["cms"], author: CmsAuthor, hosts: readonly string[]): Promise<void> {
  const withoutPort = (host: string) => host.replace(/:\d+$/, "");
  const ours = new Set(hosts.map(withoutPort));
  const { records } = await cms.list(author.account.id, "domain", new URLSearchParams({ site_code: siteCode }));
  const names = records.map(({ name }) => String(name));
  const stale = names.filter((name) => ours.has(withoutPort(name)) && !hosts.includes(name));
  if (stale.length === 0) return;
  await cms.change(author, async ({ remove }) => {
    for (const name of stale) await remove("domain", name);
  });
}

/** The files with the site's domains below this host. A name carries a port where the server is reached by one. */
function under(host: string, port: string): Map<string, string> {
  const ending = `${host}${Number(port) === 0 ? "" : `%3A${port}`}.yaml`;
  const domain = (file: string) => file.replace(/^(domains\/.*)localhost\.yaml$/, (_, before) => before + ending);
  return new Map([...siteFiles].map(([file, text]) => [domain(file), text]));
}

function isAddress(hostname: string): boolean {
  return /^[\d.]+$|^\[/.test(hostname);
}
