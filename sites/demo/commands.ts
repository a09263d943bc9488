import type { Account, Command, CommandFacts, BaseContext } from "platform";
import type { Accounts } from "../../plugins/accounts/api.ts";
import type { Cms, CmsAuthor } from "../../plugins/cms-multilang/api.ts";
import type { Media } from "../../plugins/media/api.ts";
import { siteFiles, appFiles } from "./files.js";
import { counted, putPictures, type Done } from "./pictures.ts";
import type { Apps, NewApp } from "../../plugins/apps/api.ts";
import type { Connectors, NewConnector } from "../../plugins/connectors/api.ts";
import type { Flows, NewFlow } from "../../plugins/flows/api.ts";
import type { JsonDatabases, NewDatabase } from "../../plugins/jsondb/api.ts";

interface DemoContext {
  readonly accounts: Pick<Accounts, "accountForHost" | "defaultAccount">;
  readonly apps: Apps;
  readonly cms: Pick<Cms, "change" | "list" | "pushFiles">;
  readonly connectors: Pick<Connectors, "put">;
  readonly databases: JsonDatabases;
  readonly flows: Pick<Flows, "putFlow">;
  readonly media: Media;
  readonly transaction: BaseContext["transaction"];
}

/** One part of the demonstration: it makes what is missing and says what there is to see. */
type Part = (ctx: DemoContext, account: Account) => Promise<readonly string[]>;

const siteCode = "kobalt";

const parts: readonly Part[] = [putPictures, site, putApps];

export const demoFacts: CommandFacts = {
  name: "demo",
  usage: "demo [--account HOST]",
  doc: "put a sample site and apps into an account",
};

export function demoCommand(ctx: DemoContext): Command {
  return {
    ...demoFacts,
    async run({ account: host }) {
      const { accounts } = ctx;
      const account = host ? await accounts.accountForHost(host) : await accounts.defaultAccount();
      if (!account) throw new Error(`no account has the host ${host}`);
      const lines: string[] = [];
      for (const part of parts) lines.push(...(await part(ctx, account)));
      return lines;
    },
  };
}

/** The site of an invented pottery, in three languages over two domains. */
async function site({ cms }: DemoContext, account: Account): Promise<readonly string[]> {
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
async function removeOtherPorts(cms: DemoContext["cms"], author: CmsAuthor, hosts: readonly string[]): Promise<void> {
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

/** An app.json: the app but for its source, and what must stand before it. */
interface DemoApp {
  readonly db?: NewDatabase;
  /** Of an empty database. */
  readonly records?: readonly Readonly<Record<string, unknown>>[];
  readonly connectors?: readonly NewConnector[];
  readonly flows?: readonly NewFlow[];
  readonly app: Omit<NewApp, "source_code"> & { readonly url_code: string };
}

/** Puts every app of apps/ into the account. What stands there as it should is left alone. */
async function putApps(ctx: DemoContext, account: Account): Promise<readonly string[]> {
  const all = demoApps();
  const done: Done[] = [];
  for (const app of all) done.push(await putApp(ctx, account.id, app));
  const lines = all.map(({ app }) => {
    const address = `${account.baseUrl}/a/${app.url_code}`;
    return `  ${address}  ${app.name}${app.public ? "" : " (for who has signed in)"}`;
  });
  return [`the apps: ${counted(done)}`, ...lines];
}

function demoApps(): (DemoApp & { readonly app: NewApp })[] {
  return [...appFiles].flatMap(([path, text]) => {
    const [folder = "", file] = path.split("/");
    if (file !== "app.json") return [];
    const source = [...appFiles].find(([other]) => other.startsWith(`${folder}/`) && other !== path)?.[1];
    if (source === undefined) throw new Error(`the demo app ${folder} has no source`);
    const described = JSON.parse(text) as DemoApp; // ours; the services check it as they do a request
    return [{ ...described, app: { ...described.app, source_code: source } }];
  });
}

async function putApp(ctx: DemoContext, accountId: number, described: ReturnType<typeof demoApps>[0]): Promise<Done> {
  const { apps, databases, connectors, flows } = ctx;
  const by = { accountId, userId: null };
  const done: Done[] = [];
  if (described.db) {
    done.push((await databases.put(by, described.db)).done);
    await fill(ctx, accountId, described.db.code, described.records ?? []);
  }
  for (const connector of described.connectors ?? []) done.push((await connectors.put(by, connector)).done);
  for (const flow of described.flows ?? []) done.push((await flows.putFlow(by, flow)).done);
  const app = (await apps.put(by, described.app)).done;
  return app === "unchanged" && done.some((one) => one !== "unchanged") ? "changed" : app;
}

/** All of the records or none: what a person has added, changed or taken away since is theirs. */
async function fill(
  { databases, transaction }: DemoContext,
  accountId: number,
  db: string,
  records: NonNullable<DemoApp["records"]>,
): Promise<void> {
  if ((await databases.search(accountId, db, { limit: 1 })).length > 0) return;
  await transaction(async (tx) => {
    const { create } = databases.within(tx);
    for (const data of records) await create(accountId, db, { data });
  });
}
