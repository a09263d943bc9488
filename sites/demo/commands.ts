import type { Account, Command, CommandFacts } from "platform";
import type { Accounts } from "../../plugins/accounts/api.ts";
import type { Cms } from "../../plugins/cms-multilang/api.ts";
import { putApps, type AppsNeeded } from "./apps.ts";
import { siteFiles } from "./files.js";

interface Needed extends AppsNeeded {
  readonly accounts: Pick<Accounts, "accountForHost" | "defaultAccount">;
  readonly cms: Pick<Cms, "pushFiles">;
  /** Where the server is reached. */
  readonly origin: () => string;
}

/** One part of the demonstration: it makes what is missing and says what there is to see. */
type Part = (needed: Needed, account: Account) => Promise<readonly string[]>;

const parts: readonly Part[] = [site, putApps];

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
async function site({ cms, origin }: Needed, account: Account): Promise<readonly string[]> {
  const { port, protocol } = new URL(origin());
  const files = withPort(siteFiles, port);
  const difference = await cms.pushFiles({ account, userId: null }, "kobalt", files);
  const hosts = [...files.keys()].flatMap((file) => /^domains\/(.*)\.yaml$/.exec(file)?.[1]?.replace("%3A", ":") ?? []);
  return [`the site kobalt: ${difference.at(-1)}`, ...hosts.map((name) => `  ${protocol}//${name}/`)];
}

/** A domain's name carries the port where the server is reached by one: so that its links work here. */
function withPort(files: ReadonlyMap<string, string>, port: string): Map<string, string> {
  if (port === "") return new Map(files);
  return new Map([...files].map(([file, text]) => [file.replace(/^(domains\/.*)(\.yaml)$/, `$1%3A${port}$2`), text]));
}
