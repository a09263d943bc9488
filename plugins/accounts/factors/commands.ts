import type { Command, CommandFacts } from "platform";
import type { Accounts } from "../api.ts";
import type { Tokens } from "../../tokens/api.ts";
import type { Authenticator } from "./authenticator.ts";
import type { Passkeys } from "./passkeys.ts";

export const resetFactors: CommandFacts = {
  name: "user factors",
  usage: "user factors --login LOGIN [--account HOST]",
  doc: "remove a person's second factors, e.g. of the only administrator",
};

interface Needed {
  readonly accounts: Pick<Accounts, "accountForHost" | "defaultAccount" | "userIdOf">;
  readonly tokens: Pick<Tokens, "endSessionsOf">;
  readonly authenticator: Pick<Authenticator, "remove">;
  readonly passkeys: Pick<Passkeys, "removeAll">;
}

export function factorCommands({ accounts, tokens, authenticator, passkeys }: Needed): Command[] {
  return [
    {
      ...resetFactors,
      async run({ login, account: host }) {
        if (!login) throw new Error(`whose? corestead ${resetFactors.usage}`);
        const account = host ? await accounts.accountForHost(host) : await accounts.defaultAccount();
        if (!account) throw new Error(`no account has the host ${host}`);
        const userId = await accounts.userIdOf(account.id, login);
        if (userId === undefined) throw new Error(`there is no person with the login ${login}`);
        const owner = { accountId: account.id, userId };
        await passkeys.removeAll(owner);
        await authenticator.remove(owner);
        await tokens.endSessionsOf(account.id, userId);
        return [`${login} signs in by password alone now, and is signed out everywhere`];
      },
    },
  ];
}
