/** `corestead site pull|push|migrate|plan`: a site as files, and its migration to several languages (behaviour A.8). */
import { readFolder, readTextFile, withActor, writeFolder } from "platform";
import type { Account, Command, CommandFacts, TextFiles, Tx } from "platform";
import { readConsistently, siteRecords } from "./store.ts";
import { refOf } from "../code.ts";
import { printDifference } from "./diff.ts";
import { migrated } from "./migrate.ts";
import { parsePlan, planFromSitemaps } from "./plan.ts";
import { normal, push, type Wanted } from "./push.ts";
import { fileOf, isSiteFile, printTree, readTree, same, type Tree } from "./tree.ts";
import type { SiteRecord } from "./kinds.ts";
import type { Value } from "./yaml.ts";
import type { CmsContext } from "../context.ts";
import { find } from "../kind-store.ts";
import { Site } from "../sites/site.ts";

const pullFacts: CommandFacts = {
  name: "site pull",
  usage: "site pull CODE DIR [--account HOST]",
  doc: "write a site as files",
  reads: true,
};
const pushFacts: CommandFacts = {
  name: "site push",
  usage: "site push CODE DIR [--dry-run] [--delete] [--account HOST]",
  doc: "change a site to match its files",
};
const migrateFacts: CommandFacts = {
  name: "site migrate",
  usage: "site migrate CODE --plan FILE [--dry-run] [--account HOST]",
  doc: "make a monolingual site multilingual",
};
const planFacts: CommandFacts = {
  name: "site plan",
  usage: "site plan CODE SITEMAP... [--account HOST]",
  doc: "print a migration plan from the hreflang of old sitemaps",
  reads: true,
};
export const siteCommandFacts: readonly CommandFacts[] = [pullFacts, pushFacts, migrateFacts, planFacts];

type Options = Readonly<Record<string, string>>;

export function siteCommands(ctx: CmsContext): Command[] {
  const accountOf = async ({ account: host }: Options): Promise<Account> => {
    const account = host ? await ctx.accounts.accountForHost(host) : await ctx.accounts.defaultAccount();
    if (!account) throw new Error(`no account has the host ${host}`);
    return account;
  };

  const recordsOf = (account: Account, code: string): Promise<SiteRecord[]> => {
    const read = async (tx: Tx): Promise<SiteRecord[]> => {
      await readConsistently(tx);
      const ref = refOf(code);
      const site = ref && (await find(Site, tx, account.id, ref));
      if (!site) throw new Error(`there is no site ${code}`);
      return siteRecords(tx, account.id, site.id);
    };
    // Without an actor, whose name would be said to PostgreSQL first: nothing may stand before the isolation level.
    return withActor(undefined, () => ctx.transaction(read));
  };

  const pull: Command = {
    ...pullFacts,
    async run(options, words = []) {
      const [code, folder] = required(words, 2, pull.usage);
      const account = await accountOf(options);
      const records = await recordsOf(account, code);
      const files = filesOf(records, await existing(folder), account.timezone);
      const { written, removed } = await writeFolder(folder, files, isSiteFile);
      const lines = [...written.map((file) => `wrote ${file}`), ...removed.map((file) => `removed ${file}`)];
      return [...lines, `${files.size} files in ${folder}, ${written.length} written, ${removed.length} removed`];
    },
  };

  const pushCommand: Command = {
    ...pushFacts,
    async run(options, words = []) {
      const [site, folder] = required(words, 2, pushCommand.usage);
      const account = await accountOf(options);
      const tree = readTree(await readFolder(folder));
      return pushed(account, site, tree, { ...flagsOf(options), deletes: options["delete"] === "true" });
    },
  };

  const migrate: Command = {
    ...migrateFacts,
    async run(options, words = []) {
      const [site] = required(words, 1, migrate.usage);
      const { plan: file } = options;
      if (!file) throw new Error(`name the plan: corestead ${migrate.usage}`);
      const account = await accountOf(options);
      const plan = parsePlan(await readTextFile(file));
      const notes: string[] = [];
      const wanted = (now: readonly SiteRecord[]) => {
        const result = migrated(now, plan);
        notes.push(...result.notes);
        return treeOf(result.records);
      };
      return pushed(account, site, wanted, { ...flagsOf(options), deletes: false, notes });
    },
  };

  const plan: Command = {
    ...planFacts,
    async run(options, words = []) {
      const [site, ...files] = required(words, 2, plan.usage);
      const records = await recordsOf(await accountOf(options), site);
      const sitemaps = await Promise.all(files.map((file) => readTextFile(file, 60_000_000)));
      return [JSON.stringify(planFromSitemaps(sitemaps, records), null, 2)];
    },
  };

  return [pull, pushCommand, migrate, plan];

  async function pushed(
    account: Account,
    site: string,
    wanted: Wanted,
    how: { readonly dryRun: boolean; readonly deletes: boolean; readonly notes?: readonly string[] },
  ): Promise<string[]> {
    const { dryRun, deletes, notes = [] } = how;
    const found = await push(ctx, wanted, { author: { account, userId: null }, site, dryRun, deletes });
    const difference = printDifference(found, deletes);
    const lines = [...difference.slice(0, -1), ...notes.map((note) => `! ${note}`), ...difference.slice(-1)];
    return how.dryRun ? [...lines, "a dry run: nothing was changed"] : lines;
  }
}

/** The text of each record's file. A file that already says the same keeps its author's wording. */
function filesOf(records: readonly SiteRecord[], there: TextFiles, timezone: string): Map<string, string> {
  const known = Map.groupBy(readTree(there).records, fileOf);
  const wanted = Map.groupBy(records, fileOf);
  const saidBy = (all: readonly SiteRecord[]): Value =>
    Object.fromEntries(all.map(({ code, values }) => [code, values]));
  return new Map(
    [...printTree(records)].map(([file, printed]) => {
      const found = (known.get(file) ?? []).map((record) => normal(record, timezone));
      const isSaid = found.length > 0 && same(saidBy(found), saidBy(wanted.get(file) ?? []));
      return [file, (isSaid ? there.get(file) : undefined) ?? printed];
    }),
  );
}

async function existing(folder: string): Promise<TextFiles> {
  try {
    return await readFolder(folder);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return new Map();
    throw error;
  }
}

function flagsOf(options: Options): { readonly dryRun: boolean } {
  return { dryRun: options["dry-run"] === "true" };
}

/** Records that do not come from files, as `push` takes them. Mistakes name the files that `pull` would write. */
export function treeOf(records: readonly SiteRecord[]): Tree {
  return readTree(printTree(records));
}

/** At least `count` words. The return type promises two, which saves a check at each use. */
function required(words: readonly string[], count: number, usage: string): [string, string, ...string[]] {
  const [first, second = "", ...rest] = words;
  if (first === undefined || words.length < count) throw new Error(`usage: corestead ${usage}`);
  return [first, second, ...rest];
}
