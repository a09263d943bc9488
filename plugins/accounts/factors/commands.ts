import type { Command, CommandFacts } from "platform";
import type { Owner } from "./api.ts";
import { removeApp } from "./authenticator.ts";
import type { FactorsContext } from "./context.ts";
import { removePasskeys } from "./passkeys.ts";

export const resetFactors: CommandFacts = {
  name: "user factors",
  usage: "user factors --login LOGIN [--account HOST]",
  doc: "remove a person's second factors, e.g. of the only administrator",
};

export function factorCommands(ctx: FactorsContext): Command[] {
  const { accounts } = ctx;
  return [
    {
      ...resetFactors,
      async run({ login, account: host }) {
        if (!login) throw new Error(`whose? corestead ${resetFactors.usage}`);
        const account = host ? await accounts.accountForHost(host) : await accounts.defaultAccount();
        if (!account) throw new Error(`no account has the host ${host}`);
        const userId = await accounts.userIdOf(account.id, login);
        if (userId === undefined) throw new Error(`there is no person with the login ${login}`);
        await removeFactors(ctx, { accountId: account.id, userId });
        return [`${login} signs in by password alone now, and is signed out everywhere`];
      },
    },
  ];
}

/** The person signs in by password alone from then on, and is signed out everywhere. */
export async function removeFactors(ctx: FactorsContext, owner: Owner): Promise<void> {
  await ctx.transaction((tx) => removePasskeys(owner, tx));
  await removeApp(ctx, owner);
  await ctx.tokens.endSessionsOf(owner.accountId, owner.userId);
}
