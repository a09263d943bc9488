/** Finds out who sends a request. Every request passes through here. behaviour B.1. */
import { networkTest, RefusedCredential, sha256, unauthorized } from "platform";
import type { Account, BaseContext, Caller, ClientAddress, Credential, Identify, Identity, Quota } from "platform";
import type { Access, Accounts } from "../accounts/api.ts";
import type { ForeignCredential, Tokens } from "./api.ts";
import type { IdentityStore, OtherText } from "./store.ts";
import { isWellFormed } from "./raw-token.ts";
import { ofDatabases, type TokenCaches, type TokenRow } from "./token.ts";
import type { Usage } from "./usage.ts";

interface Parts {
  readonly ctx: Pick<BaseContext, "cache" | "limiter">;
  readonly identityStore: IdentityStore;
  readonly accounts: Accounts;
  readonly usage: Usage;
}

export interface Identifier extends TokenCaches {
  readonly identify: Identify;
  readonly opener: Tokens["opener"];
  readonly acceptCredential: Tokens["acceptCredential"];
}

// Longer than any token: anything longer is not a token.
const maxChars = 512;

export function createIdentifier({ ctx, identityStore, accounts, usage }: Parts): Identifier {
  // Keyed by hash, so that memory holds no token. The absence of a token is not cached.
  const cache = ctx.cache<TokenRow>({ name: "tokens.tokens", max: 20_000, load: identityStore.byHash });
  const hashesById = ctx.cache<string>({
    name: "tokens.hashes",
    max: 20_000,
    load: (id) => identityStore.hashOf(Number(id)),
  });
  // Apps have no others (plugins/oauth). Whatever ends a text changes or ends the hash that it leads to.
  const texts = ctx.cache<OtherText>({ name: "tokens.texts", max: 20_000, load: identityStore.otherText });
  const foreign: { prefix: string; verify: Parameters<Tokens["acceptCredential"]>[1] }[] = [];
  const callers = new WeakMap<TokenRow, { access: Access; quota: Quota | undefined; bearer: Caller; cookie: Caller }>();
  const networkTests = new WeakMap<TokenRow, (address: string) => boolean>();
  const limiters = new Map<number, ReturnType<BaseContext["limiter"]>>();
  let given: Promise<Set<string>> | undefined;

  /** Only a token that was given from outside can have another form than ours. Nothing else needs to be looked up. */
  const mayExist = async (token: string, hash: string): Promise<boolean> => {
    if (isWellFormed(token)) return true;
    given ??= identityStore.givenHashes();
    given.catch(() => (given = undefined));
    return (await given).has(hash);
  };

  /** No promise where it is kept, as at nearly every request. */
  const tokenOf = (raw: string): TokenRow | undefined | Promise<TokenRow | undefined> => {
    if (raw === "" || raw.length > maxChars) return undefined;
    const hash = sha256(raw);
    return cache.peek(hash) ?? keptBy(texts.peek(hash)) ?? lookedUp(raw, hash);
  };

  const lookedUp = async (raw: string, hash: string): Promise<TokenRow | undefined> => {
    if (!(await mayExist(raw, hash))) return undefined;
    const found = await cache.get(hash);
    const text = found ? undefined : await texts.get(hash);
    return text && works(text) ? cache.get(text.tokenHash) : found;
  };

  const keptBy = (text: OtherText | undefined) => (text && works(text) ? cache.peek(text.tokenHash) : undefined);
  const works = ({ endsAt }: OtherText) => endsAt.getTime() > Date.now();

  /** Before it says yes it asks the database: another process may have seen the session since. */
  const isIdle = async (token: TokenRow, seconds: number, now: number): Promise<boolean> => {
    const most = seconds * 1000;
    if (usage.idleFor(token, now) <= most) return false;
    const last = (await identityStore.byHash(token.tokenHash))?.lastUsedAt?.getTime();
    if (last === undefined || now - last > most) return true;
    usage.usedElsewhere(token, last);
    return false;
  };

  /** The callers of a valid token: as a bearer token and as a cookie. */
  const callersBy = async (token: TokenRow | undefined, client: ClientAddress | undefined) => {
    const now = Date.now();
    if (!token?.active || (token.expiresAt && token.expiresAt.getTime() <= now)) return undefined;
    const access = await accounts.access(token.userId);
    if (!access?.active || (token.idleSeconds !== null && (await isIdle(token, token.idleSeconds, now))))
      return undefined;
    let made = callers.get(token);
    if (made?.access !== access)
      callers.set(token, (made = { access, quota: quotaOf(token), ...callersOf(token, access) }));
    if (client && token.networks.length > 0) mustBeFrom(token, made.bearer, client);
    usage.seen(token, now, client);
    return made;
  };

  const mustBeFrom = (token: TokenRow, caller: Caller, { ip }: ClientAddress): void => {
    const test = networkTests.get(token) ?? networkTest(token.networks.join(","));
    networkTests.set(token, test);
    const by = { account: caller.account, caller };
    if (!test(ip)) throw new RefusedCredential(by, `this token does not work from ${ip}`);
  };

  const quotaOf = ({ id, rateLimit: limit }: TokenRow): Quota | undefined => {
    if (limit === null) return undefined;
    const limiter = limiters.get(limit) ?? ctx.limiter(`tokens.${limit}`, { limit, windowSeconds: 60 });
    limiters.set(limit, limiter);
    return { limit, take: () => limiter.take(`${id}`) };
  };

  const callerOf = async ({ token: raw, viaCookie }: Credential, opens: boolean, client?: ClientAddress) => {
    const token = await tokenOf(raw);
    // An invitation is for one sign-in: whoever finds its address later must not get in with it some other way.
    if (token?.purpose === "invitation" && !opens) return null;
    // A session is a `web_token`. An ordinary token in a cookie is not a session.
    if (viaCookie && token?.kind !== "web_token") return null;
    const made = await callersBy(token, client);
    return made ? { caller: viaCookie ? made.cookie : made.bearer, quota: made.quota } : null;
  };

  /** The viewer of an app's page, with the page's rights; undefined if the viewer's own token has ended. */
  const viewerOf = async (
    { accountId, viewer, privileges }: ForeignCredential,
    client: ClientAddress | undefined,
  ): Promise<Caller | undefined> => {
    if (!viewer) return undefined;
    const hash = hashesById.peek(`${viewer.tokenId}`) ?? (await hashesById.get(`${viewer.tokenId}`));
    const token = hash === undefined ? undefined : (cache.peek(hash) ?? (await cache.get(hash)));
    const caller = token?.userId === viewer.userId ? (await callersBy(token, client))?.bearer : undefined;
    if (caller?.account.id !== accountId) return undefined;
    const kept = privileges.filter((name) => caller.privileges.has(name));
    return { ...caller, narrowedTo: privileges, privileges: new Set(kept) };
  };

  const pageOf = async (
    atHost: Account | undefined,
    stated: ForeignCredential | undefined,
    client: ClientAddress | undefined,
  ): Promise<Identity> => {
    const account = stated && (await accounts.accountById(stated.accountId));
    const caller = stated?.viewer ? await viewerOf(stated, client) : null;
    if (!account || (atHost && atHost.id !== account.id) || caller === undefined)
      throw unauthorized("this app's token has expired: load its page again");
    return { account, caller, app: stated.app };
  };

  const found = async (
    host: string,
    credential: Credential | null,
    at: Account | undefined,
    client: ClientAddress | undefined,
    opens = false,
  ): Promise<Identity> => {
    const atHost = at ?? (await accounts.accountForHost(host));
    const other =
      credential && !credential.viaCookie && foreign.find(({ prefix }) => credential.token.startsWith(prefix));
    if (other)
      return pageOf(
        atHost,
        credential.token.length > maxChars ? undefined : await other.verify(credential.token),
        client,
      );
    const by = credential && (await callerOf(credential, opens, client));
    if (by && (!atHost || atHost.id === by.caller.account.id)) {
      const identity = { account: by.caller.account, caller: by.caller };
      return by.quota ? { ...identity, quota: by.quota } : identity;
    }
    const account: Account = atHost ?? (await accounts.defaultAccount());
    return { account, caller: null };
  };

  return {
    identify: (host, credential, at, client) => found(host, credential, at, client),
    opener: async (host, raw) =>
      (await found(host, { token: raw, viaCookie: true }, undefined, undefined, true)).caller,
    acceptCredential: (prefix, verify) => void foreign.push({ prefix, verify }),
    knows: async (raw) => (await tokenOf(raw)) !== undefined,
    forget: async (hashes) => {
      await Promise.all(hashes.map((hash) => cache.invalidate(hash)));
    },
    forgetText: async (id, hash) => {
      await Promise.all([cache.invalidate(hash), hashesById.invalidate(`${id}`)]);
    },
  };
}

/** What gives credentials of other people, or everything at once: no token that is for some databases has it. */
const beyondDatabases: ReadonlySet<string> = new Set(["users", "mails", "backups"]);

/** The owner's set, narrowed to the token's list, and to what does not lead out of its databases (behaviour B.4). */
function callersOf(token: TokenRow, { account, user, privileges }: Access): { bearer: Caller; cookie: Caller } {
  const { id: tokenId, privileges: narrowedTo } = token;
  const listed = narrowedTo.length === 0 ? privileges : new Set(narrowedTo.filter((name) => privileges.has(name)));
  const effective = token.databases ? listed.difference(beyondDatabases) : listed;
  const readOnly = token.readOnly && { readOnly: true };
  const within = token.databases && { within: { [ofDatabases]: token.databases } };
  const bearer = {
    account,
    user,
    tokenId,
    narrowedTo,
    privileges: effective,
    viaCookie: false,
    ...readOnly,
    ...within,
  };
  return { bearer, cookie: { ...bearer, viaCookie: true } };
}
