/** Makes tokens that the server itself issues: sessions, temporary tokens for prompts, and those of the command line. */
import { announce, find, invalid, sha256 } from "platform";
import type { Caller, Command, CommandFacts, Sql, Tx } from "platform";
import type { IssuedToken, NewToken, Tokens } from "./api.ts";
import { deleteChildren, deleteUnopened, endOf } from "./end-store.ts";
import { parseExpiry } from "./expiry.ts";
import { derivedRawToken, newRawToken, tokenInfo } from "./raw-token.ts";
import { insert, open, switchOff as switchOffRows, type NewTokenRow } from "./store.ts";
import { mustEndWithin, Token, type TokensContext } from "./token.ts";

type Special = Partial<Pick<NewTokenRow, "parentId" | "purpose" | "given" | "address" | "browser" | "idleSeconds">>;

const hourMs = 3_600_000;

/** A token for a person; `db` if it is made with other things. Undefined if the person is gone. */
export async function issue(
  { sql }: TokensContext,
  token: NewToken,
  db: Sql | Tx = sql,
): Promise<IssuedToken | undefined> {
  return insertToken(db, token, newRawToken());
}

/** Stores a token whose text was given from outside, in any form. */
export async function issueGiven(token: NewToken, raw: string, db: Sql | Tx): Promise<void> {
  await insertToken(db, token, raw, { given: true });
}

export async function startSession(
  ctx: TokensContext,
  {
    accountId,
    userId,
    openedBy,
    seconds,
    idleSeconds = null,
    from,
    also = nothing,
  }: Parameters<Tokens["startSession"]>[0],
): Promise<IssuedToken | undefined> {
  const session = { accountId, userId, name: "session", kind: "web_token" } as const;
  const end = new Date(Date.now() + seconds * 1000);
  const made = async (tx: Tx) => {
    if (openedBy === undefined)
      return insertToken(tx, { ...session, expiresAt: end }, newRawToken(), {
        purpose: "session",
        idleSeconds,
        ...from,
      });
    const opener = await find(Token, tx, accountId, { id: openedBy });
    if (!opener || !(await open(tx, accountId, openedBy))) return undefined;
    const { privileges, expiresAt } = opener;
    const narrowed = { ...session, privileges, expiresAt: earlier(end, expiresAt) };
    return insertToken(tx, narrowed, newRawToken(), { purpose: "session", parentId: openedBy, idleSeconds, ...from });
  };
  return ctx.transaction(async (tx) => {
    const issued = await made(tx);
    if (issued) await also(issued.id, tx);
    return issued;
  });
}

/** An invitation takes the place of those that the person has not used. */
export async function invite(
  ctx: TokensContext,
  caller: Caller,
  userId: number,
  expiresAt: Date,
): Promise<IssuedToken> {
  const accountId = caller.account.id;
  mustEndWithin(await endOf(ctx.sql, accountId, caller.tokenId), { expiresAt });
  const made = await ctx.transaction(async (tx) => {
    const ended = await deleteUnopened(tx, accountId, userId);
    const token = { accountId, userId, name: "invitation", kind: "web_token", expiresAt } as const;
    const issued = await insertToken(tx, token, newRawToken(), { purpose: "invitation" });
    if (!issued) throw invalid({ base: ["this person was deleted meanwhile"] });
    return { issued, ended };
  });
  await ctx.forget(made.ended);
  return made.issued;
}

/** The same token in every process for half an hour and session, so that nothing has to keep it and few rows are made. */
export async function temporaryToken(ctx: TokensContext, caller: Caller): Promise<string> {
  const now = Date.now();
  const raw = derivedRawToken(ctx.secrets, `${caller.user.id}:${caller.tokenId}:${Math.floor(now / (hourMs / 2))}`);
  if (await ctx.knows(raw)) return raw;
  const session = await find(Token, ctx.sql, caller.account.id, { id: caller.tokenId });
  const expiresAt = earlier(new Date(now + hourMs), session?.expiresAt);
  const owner = { accountId: caller.account.id, userId: caller.user.id, name: "prompt" };
  const special = { purpose: "temporary", parentId: caller.tokenId } as const;
  await insertToken(ctx.sql, { ...owner, privileges: caller.narrowedTo, expiresAt }, raw, special);
  return raw;
}

/** See `Tokens.switchOff`: whoever made them may have been somebody else, and their person can switch them on again. */
export async function switchOff(
  ctx: TokensContext,
  accountId: number,
  userId: number,
  tx: Tx,
): Promise<() => Promise<void>> {
  const rows = await switchOffRows(tx, accountId, userId);
  const children = await Promise.all(rows.map(({ id }) => deleteChildren(tx, id)));
  for (const row of rows) await announce(Token, ctx, "update", row, tx);
  return () => ctx.forget([...rows.map(({ tokenHash }) => tokenHash), ...children.flat()]);
}

async function insertToken(db: Sql | Tx, token: NewToken, raw: string, special: Special = {}) {
  const { accountId, userId, name = null, kind = null, privileges = [], expiresAt = null } = token;
  const row = await insert(db, {
    ...blank,
    accountId,
    userId,
    name,
    kind,
    privileges,
    expiresAt,
    tokenHash: sha256(raw),
    tokenInfo: tokenInfo(raw),
    ...special,
  });
  return row && { id: row.id, token: raw, expiresAt: row.expiresAt };
}

const blank = { parentId: null, purpose: null, given: false, address: null, browser: null, idleSeconds: null };

const nothing = async (): Promise<void> => {};

function earlier(one: Date, other: Date | null | undefined): Date {
  return other && other < one ? other : one;
}

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
