import type { Command, CommandFacts } from "platform";
import { parseExpiry } from "./expiry.ts";
import { issue } from "./issue.ts";
import type { TokensContext } from "./token.ts";

export const tokenCreate: CommandFacts = {
  name: "token create",
  usage: "token create --user LOGIN [--account HOST] [--name N] [--privileges a,b] [--expires-at DATE]",
  doc: "create an API token and print it once",
};

export function tokenCommands(ctx: TokensContext): Command[] {
  const { accounts } = ctx;
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
      const made = await issue(ctx, {
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
