/** `corestead domain approve`: the operator vouches for a domain, so it needs no proof. */
import type { Command, CommandFacts } from "platform";
import type { Accounts } from "../../accounts/api.ts";
import type { RunEdit } from "../edit.ts";
import type { DomainStore } from "./domain-store.ts";
import { cleanHost } from "./host-name.ts";
import type { Resources } from "../resources.ts";
import { there } from "../write.ts";

export const domainApprove: CommandFacts = {
  name: "domain approve",
  usage: "domain approve NAME [--account HOST]",
  doc: "serve a site's domain that is pending",
};

interface Needed {
  readonly accounts: Pick<Accounts, "accountForHost" | "accountById">;
  readonly resources: Pick<Resources, "domain">;
  readonly run: RunEdit;
  readonly domainStore: Pick<DomainStore, "waiting">;
}

export function domainCommands({ accounts, resources, run, domainStore }: Needed): Command[] {
  const approve: Command = {
    ...domainApprove,
    async run({ account: host }, [given] = []) {
      const clean = cleanHost(given ?? "");
      if (!given || "mistake" in clean) throw new Error(`name the domain: corestead ${approve.usage}`);
      const only = host === undefined ? undefined : await accounts.accountForHost(host);
      if (host !== undefined && !only) throw new Error(`no account has the host ${host}`);
      const waiting = (await domainStore.waiting(clean.host)).filter(({ accountId }) => !only || accountId === only.id);
      const [domain, another] = waiting;
      if (!domain) throw new Error(`no domain ${clean.host} is pending`);
      if (another)
        throw new Error(`several accounts have the pending domain ${clean.host}: name one with --account HOST`);
      const account = there(await accounts.accountById(domain.accountId));
      const { approve: approved, find } = resources.domain;
      await run({ account, userId: null, host: "" }, async (edit) =>
        approved(edit, there(await find(edit.tx, account.id, { id: domain.id }))),
      );
      return [`${clean.host} is approved for ${account.name}`];
    },
  };
  return [approve];
}
