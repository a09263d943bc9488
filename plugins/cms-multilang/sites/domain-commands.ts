/** `corestead domain approve`: the operator vouches for a domain, so it needs no proof. */
import type { Command, CommandFacts } from "platform";
import { cleanHost } from "./host-name.ts";
import { there } from "../write.ts";
import * as domainStore from "./domain-store.ts";
import { approve as approveDomain } from "./domain.ts";
import type { CmsContext } from "../context.ts";
import { runEdit } from "../edit.ts";

export const domainApprove: CommandFacts = {
  name: "domain approve",
  usage: "domain approve NAME [--account HOST]",
  doc: "serve a site's domain that is pending",
};

export function domainCommands(ctx: CmsContext): Command[] {
  const approve: Command = {
    ...domainApprove,
    async run({ account: host }, [given] = []) {
      const clean = cleanHost(given ?? "");
      if (!given || "mistake" in clean) throw new Error(`name the domain: corestead ${approve.usage}`);
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
        approveDomain(edit, there(await domainStore.find(edit.tx, account.id, { id: domain.id }))),
      );
      return [`${clean.host} is approved for ${account.name}`];
    },
  };
  return [approve];
}
