/** Creates accounts: the first one on an empty database, further ones by command; and the other commands. behaviour B.1 and B.2. */
import { hashPassword, type Command, type CommandFacts, type Tx } from "platform";
import * as accountStore from "./account-store.ts";
import type { PeopleContext } from "./context.ts";
import { unbound, update } from "./people.ts";
import { idByLogin, insertFirst } from "./user-store.ts";

interface AccountWithAdmin {
  readonly account: accountStore.AccountInput;
  readonly login: string;
  /** "" = generated and shown. */
  readonly password: string;
  readonly first: boolean;
}

/** Creates an account and its administrator; returns the lines to show once. */
export async function foundAccount({ founders }: Pick<PeopleContext, "founders">, tx: Tx, founding: AccountWithAdmin) {
  const { account, login, first } = founding;
  const password = founding.password || generatePassword();
  const accountId = await accountStore.insert(tx, account);
  const userId = await insertFirst(tx, accountId, login, await hashPassword(password));
  const lines = [founding.password ? `Administrator: ${login}` : `Administrator: ${login}, password: ${password}`];
  for (const run of founders) lines.push(...(await run({ accountId, userId, host: account.host, first }, tx)));
  return lines;
}

/** 100 bits, in groups that can be read out. */
export function generatePassword(): string {
  const letters = "abcdefghijkmnpqrstuvwxyz23456789";
  const picked = [...crypto.getRandomValues(new Uint8Array(20))].map((byte) => letters[byte % letters.length]);
  return picked.join("").replace(/.{5}(?=.)/g, "$&-");
}

/** `two.example.com` or `https://two.example.com` -> its host and its address. Throws if it is neither. */
export function addressOf(host: string, protocol: string): { host: string; baseUrl: string } {
  const text = host.includes("://") ? host : `${protocol}//${host}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url?.host || !/^https?:$/.test(url.protocol) || url.pathname !== "/" || url.search || url.hash || url.username)
    throw new Error(`"${host}" is not a host: give a name such as two.example.com, or its address`);
  return { host: url.host, baseUrl: url.origin };
}

/** `pl`, `pl-PL` or `pl_PL`. Throws if the system does not know the language. */
export function localeOf(name: string): string {
  // The usual one, which a start need not load the tables of languages for.
  if (name === "en") return name;
  const [known] = supported(name.replaceAll("_", "-"));
  if (known === undefined) throw new Error("must be a locale such as en or pl-PL");
  return known;
}

function supported(tag: string): readonly string[] {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(tag);
  } catch {
    return [];
  }
}

/** Throws if the system does not know the time zone. */
export function timezoneOf(name: string): string {
  // The usual one, which a start need not load the tables of time zones for: they take 7 MB.
  if (name === "UTC") return name;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    throw new Error(`must be a time zone such as UTC or Europe/Warsaw`);
  }
}

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
      await update(unbound(ctx, account.id), { id }, { password });
      return [options["password"] ? `${login} has the new password` : `The new password of ${login}: ${password}`];
    },
  };

  const releaseHost: Command = {
    ...hostRelease,
    async run(_options, [host = ""] = []) {
      if (!host) throw new Error(`which host? corestead ${releaseHost.usage}`);
      if (!(await accountStore.releaseSignInHost(ctx.sql, host.toLowerCase())))
        throw new Error(`nobody has signed in at ${host}`);
      return [`A site may have ${host} from now on, until somebody signs in there again`];
    },
  };
  return [createAccount, setPassword, releaseHost];
}
