/** Creates accounts: the first one on an empty database, further ones by command. behaviour B.1 and B.2. */
import { hashPassword, type Tx } from "platform";
import * as accountStore from "./account-store.ts";
import type { PeopleContext } from "./context.ts";
import { insert } from "./user-store.ts";

interface Founding {
  readonly account: accountStore.AccountInput;
  readonly login: string;
  /** "" = generated and shown. */
  readonly password: string;
  readonly first: boolean;
}

/** Creates an account and its administrator; returns the lines to show once. */
export async function foundAccount({ founders }: Pick<PeopleContext, "founders">, tx: Tx, founding: Founding) {
  const { account, login, first } = founding;
  const password = founding.password || generatePassword();
  const accountId = await accountStore.insert(tx, account);
  const userId = await insert(tx, accountId, {
    login,
    email: null,
    name: login,
    role: "admin",
    active: true,
    privileges: [],
    passwordHash: await hashPassword(password),
  });
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
