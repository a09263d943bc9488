/** Makes, changes, deletes and tries out providers. No HTTP, no SQL. */
import {
  forbidden,
  freeCode,
  invalid,
  mustMatch,
  notFound,
  slugOf,
  uuidv7,
  type BaseContext,
  type Caller,
} from "platform";
import type { Accounts } from "../accounts/api.ts";
import type { IdentityStore } from "./identity-store.ts";
import type { OriginStore } from "./origin-store.ts";
import { checkedProvider, type ProviderPatch } from "./input.ts";
import { PeerFault, type Peers } from "./peer.ts";
import type { ProviderRow, ProviderStore } from "./provider-store.ts";
import { peerFacts, secretPlace } from "./sign-in.ts";

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "secrets">;
  readonly accounts: Pick<Accounts, "unitExists">;
  readonly providerStore: ProviderStore;
  readonly identityStore: IdentityStore;
  readonly originStore: Pick<OriginStore, "deleteAll">;
  readonly peers: Peers;
}

export type Providers = ReturnType<typeof createProviders>;

export function createProviders({ ctx, accounts, providerStore, identityStore, originStore, peers }: Needed) {
  const sealed = (id: string, secret: string | null | undefined, before?: ProviderRow): string | null => {
    if (secret === undefined) return before?.clientSecret ?? null;
    return secret === null ? null : ctx.secrets.seal(secret, secretPlace(id));
  };

  const find = async (accountId: number, id: string): Promise<ProviderRow> => {
    const row = await providerStore.byId(accountId, id);
    if (!row) throw notFound();
    return row;
  };

  return {
    find,

    async create(caller: Caller, patch: ProviderPatch): Promise<ProviderRow> {
      mustBeAdmin(caller);
      const { account, user } = caller;
      const input = await checkedProvider(accounts, account.id, patch);
      const id = uuidv7();
      return ctx.transaction(async (tx) => {
        const base = slugOf(input.name) || "provider";
        const code = input.code || (await freeCode(tx, { table: "sign_in_providers", accountId: account.id }, base));
        const clientSecret = sealed(id, input.clientSecret);
        return providerStore.insert(tx, id, account.id, user.id, { ...input, code, clientSecret });
      });
    },

    /** `expected` is the version that the caller has seen; undefined = any. */
    async update(caller: Caller, id: string, patch: ProviderPatch, expected: number | undefined): Promise<ProviderRow> {
      mustBeAdmin(caller);
      const { account, user } = caller;
      return ctx.transaction(async (tx) => {
        const before = await providerStore.lock(tx, account.id, id);
        if (!before) throw notFound();
        mustMatch(before, expected);
        const input = await checkedProvider(accounts, account.id, patch, before);
        // Subjects are an issuer's: another one may give them to other people.
        if (input.issuer !== before.issuer) {
          const place = { accountId: account.id, providerId: id };
          await identityStore.deleteAll(tx, place);
          await originStore.deleteAll(tx, place);
        }
        const clientSecret = sealed(id, input.clientSecret, before);
        return providerStore.update(tx, account.id, id, user.id, { ...input, clientSecret });
      });
    },

    async delete(caller: Caller, id: string, expected: number | undefined): Promise<void> {
      mustBeAdmin(caller);
      await ctx.transaction(async (tx) => {
        const before = await providerStore.lock(tx, caller.account.id, id);
        if (!before) throw notFound();
        mustMatch(before, expected);
        await providerStore.delete(tx, caller.account.id, id);
      });
    },

    /** Throws a 422 that says what is wrong. */
    async test(accountId: number, id: string) {
      const row = await find(accountId, id);
      try {
        return await peers.test(peerFacts(ctx, row), row.scopes.split(" "));
      } catch (error) {
        if (!(error instanceof PeerFault)) throw error;
        const start = error.kind === "unreachable" ? "does not answer" : "does not answer as a provider does";
        throw invalid({ issuer: [`${start}: ${error.message}`] });
      }
    },

    async unlink(caller: Caller, id: string, identityId: number): Promise<void> {
      mustBeAdmin(caller);
      const { id: providerId } = await find(caller.account.id, id);
      const place = { accountId: caller.account.id, providerId };
      const deleted = await ctx.transaction((tx) => identityStore.delete(tx, place, identityId));
      if (!deleted) throw notFound();
    },
  };
}

/** Whoever decides who somebody is could sign in as anybody. */
function mustBeAdmin({ user, narrowedTo }: Caller): void {
  if (user.role !== "admin" || narrowedTo.length > 0) throw forbidden("only administrators change how people sign in");
}
