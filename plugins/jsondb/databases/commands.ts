/** `corestead client --dbs`: the types of records for the typed client. */
import type { Command, CommandFacts } from "platform";
import type { JsondbContext } from "../context.ts";
import { allOpen } from "./cache.ts";
import { rowTypes } from "./row-types.ts";

export const clientFacts: CommandFacts = {
  name: "client",
  usage: "client --dbs [FILE] [--account HOST]",
  doc: "print the types of the records of all databases, for the typed client",
  reads: true,
};

export function clientCommand(ctx: JsondbContext): Command {
  return {
    ...clientFacts,
    async run({ account: host }) {
      const account = host ? await ctx.accounts.accountForHost(host) : await ctx.accounts.defaultAccount();
      if (!account) throw new Error(`no account has the host ${host}`);
      return [rowTypes(await allOpen(ctx, account.id)).trimEnd()];
    },
  };
}
