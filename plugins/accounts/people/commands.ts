import type { Command, CommandFacts } from "platform";
import { releaseSignInHost } from "./account-store.ts";
import type { PeopleContext } from "./context.ts";
import { addressOf, foundAccount, generatePassword, localeOf, timezoneOf } from "./founding.ts";
import { changeProved } from "./people.ts";
import { idByLogin } from "./user-store.ts";

export const accountCreate: CommandFacts = {
  name: "account create",
  usage: "account create --name NAME --host HOST [--login L] [--password P] [--timezone Z] [--locale L]",
  doc: "create another account with its own administrator",
};

export const userPassword: CommandFacts = {
  name: "user password",
  usage: "user password --login LOGIN [--account HOST] [--password P]",
  doc: "set a person's password",
};

export const hostRelease: CommandFacts = {
  name: "host release",
  usage: "host release HOST",
  doc: "let a site use a host at which people have signed in",
};

export function accountCommands(ctx: PeopleContext): Command[] {
  const { access } = ctx;
  const createAccount: Command = {
    ...accountCreate,
    async run(options) {
      const { name, host, login = "admin", password = "", timezone = "UTC", locale = "en" } = options;
      if (!name || !host) throw new Error(`which account? corestead ${createAccount.usage}`);
      const address = addressOf(host, new URL(ctx.origin()).protocol);
      // The first account's own host is in BASE_URL, not in the table.
      if (await access.accountForHost(address.host)) throw new Error(`an account has the host ${address.host} already`);
      const account = { name, ...address, timezone: timezoneOf(timezone), locale: localeOf(locale) };
      const lines = await ctx.transaction((tx) => foundAccount(ctx, tx, { account, login, password, first: false }));
      await access.forgetHosts();
      return [`Account ${name}: ${address.baseUrl}`, ...lines];
    },
  };

  const setPassword: Command = {
    ...userPassword,
    async run(options) {
      const { login, account: host, password = generatePassword() } = options;
      if (!login) throw new Error(`whose password? corestead ${setPassword.usage}`);
      if (password.length < 8) throw new Error("the password must have at least 8 characters");
      const account = host ? await access.accountForHost(host) : await access.defaultAccount();
      if (!account) throw new Error(`no account has the host ${host}`);
      const id = await idByLogin(ctx.sql, account.id, login);
      if (id === undefined) throw new Error(`nobody in the account ${account.name} has the login ${login}`);
      await changeProved(ctx, { accountId: account.id, id }, { password });
      return [options["password"] ? `${login} has the new password` : `The new password of ${login}: ${password}`];
    },
  };

  const releaseHost: Command = {
    ...hostRelease,
    async run(_options, [host = ""] = []) {
      if (!host) throw new Error(`which host? corestead ${releaseHost.usage}`);
      if (!(await releaseSignInHost(ctx.sql, host.toLowerCase()))) throw new Error(`nobody has signed in at ${host}`);
      return [`A site may have ${host} from now on, until somebody signs in there again`];
    },
  };
  return [createAccount, setPassword, releaseHost];
}
