import type { Command, CommandFacts } from "platform";
import type { Accounts } from "../accounts/api.ts";
import { parseExpiry } from "./expiry.ts";
import type { TokenIssuer } from "./issue.ts";

export const tokenCreate: CommandFacts = {
  name: "token create",
  usage: "token create --user LOGIN [--account HOST] [--name N] [--privileges a,b] [--expires-at DATE]",
  doc: "create an API token and print it once",
};

interface Needed {
  readonly accounts: Accounts;
  readonly tokenIssuer: TokenIssuer;
}

export function tokenCommands({ accounts, tokenIssuer }: Needed): Command[] {
  const create: Command = {
    ...tokenCreate,
    async run(options) {
      const { user: login, account: host, name, privileges: list = "", "expires-at": expires } = options;
      if (!login) throw new Error(`whose token? corestead ${create.usage}`);
      const account = host ? await accounts.accountForHost(host) : await accounts.defaultAccount();
      if (!account) throw new Error(`no account has the host ${host}`);
      const userId = await accounts.userIdOf(account.id, login);
      const owner = userId === undefined ? undefined : await accounts.access(userId);
      if (!owner) throw new Error(`nobody in the account ${account.name} has the login ${login}`);
      const privileges = list.split(",").filter((part) => part !== "");
      const lacked = privileges.find((privilege) => !owner.privileges.has(privilege));
      if (lacked !== undefined) throw new Error(`${login} has no privilege ${lacked}`);
      const expiresAt = expires ? parseExpiry(expires, account.timezone) : undefined;
      if (expires && (!expiresAt || expiresAt.getTime() <= Date.now()))
        throw new Error("--expires-at must be a date in the future, e.g. 2030-12-31");
      const made = await tokenIssuer.issue({
        accountId: account.id,
        userId: owner.user.id,
        privileges,
        ...(name && { name }),
        ...(expiresAt && { expiresAt }),
      });
      if (!made) throw new Error(`${login} was deleted meanwhile`);
      return [made.token];
    },
  };
  return [create];
}
