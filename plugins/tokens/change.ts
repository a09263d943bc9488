/**
 * Changes tokens for the people who make them: each change is one transaction, and caches are right before the answer.
 */
import {
  forbidden,
  invalid,
  mustMatch,
  notFound,
  sha256,
  unauthorized,
  type BaseContext,
  type Caller,
  type Tx,
} from "platform";
import type { Access, Accounts } from "../accounts/api.ts";
import type { TokenEndStore } from "./end-store.ts";
import type { Identifier } from "./identify.ts";
import { newRawToken, tokenInfo } from "./raw-token.ts";
import {
  blankToken,
  endsChildren,
  maySee,
  merged,
  mustBeOwners,
  mustEndWithin,
  mustManage,
  mustStayWithin,
} from "./rules.ts";
import type { TokenPatch } from "./rules.ts";
import { toApi, type TokenInput, type TokenRow, type TokenStore } from "./store.ts";

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "changed" | "sql">;
  readonly tokenStore: TokenStore;
  readonly tokenEndStore: TokenEndStore;
  readonly accounts: Accounts;
  readonly forget: Identifier["forget"];
}

export function createTokenWriter({ ctx, tokenStore, tokenEndStore, accounts, forget }: Needed) {
  const announce = (kind: string, row: TokenRow, tx: Tx) => {
    const { accountId, id } = row;
    return ctx.changed({ accountId, sourceType: "Account::ApiToken", kind, id, data: toApi(row) }, tx);
  };

  const ownerOf = async (userId: number): Promise<Access> => {
    const owner = await accounts.access(userId);
    if (!owner) throw notFound();
    return owner;
  };

  const locked = async (tx: Tx, caller: Caller, id: number): Promise<TokenRow> => {
    const row = await tokenStore.lockById(tx, caller.account.id, id);
    if (!row || !maySee(caller, row)) throw notFound();
    return row;
  };

  return {
    async create(caller: Caller, patch: TokenPatch): Promise<{ row: TokenRow; raw: string }> {
      const input = merged(blankToken, patch, caller.account.timezone);
      mustManage(caller, input);
      mustBeOwners(input.privileges, await ownerOf(caller.user.id), accounts.isPrivilege);
      mustStayWithin(caller, input.privileges);
      if (isPast(input)) throw invalid({ expires_at: ["is in the past"] });
      mustEndWithin(await tokenStore.endOf(ctx.sql, caller.account.id, caller.tokenId), input);
      const raw = newRawToken();
      const text = { tokenHash: sha256(raw), tokenInfo: tokenInfo(raw) };
      const made = {
        ...text,
        parentId: null,
        purpose: null,
        given: false,
        madeBy: caller.tokenId,
        address: null,
        browser: null,
        idleSeconds: null,
      };
      const row = await ctx.transaction(async (tx) => {
        const owner = { accountId: caller.account.id, userId: caller.user.id };
        const inserted = await tokenStore.insert(tx, { ...input, ...owner, ...made });
        if (!inserted) throw unauthorized(); // the caller was deleted meanwhile
        await announce("create", inserted, tx);
        return inserted;
      });
      return { row, raw };
    },

    /** `expected` is the version that the caller has seen; undefined = any. */
    async update(caller: Caller, id: number, patch: TokenPatch, expected?: number): Promise<TokenRow> {
      const { row, stale } = await ctx.transaction(async (tx) => {
        const before = await locked(tx, caller, id);
        if (before.purpose !== null) throw invalid({ base: ["a session can only be ended"] });
        mustMatch(before, expected);
        const after = merged(before, patch, caller.account.timezone);
        mustManage(caller, before);
        mustManage(caller, after);
        if (patch.privileges !== undefined)
          mustBeOwners(after.privileges, await ownerOf(before.userId), accounts.isPrivilege);
        mustStayWithin(caller, before.privileges);
        mustStayWithin(caller, after.privileges);
        if (patch.expires_at !== undefined || (after.active && !before.active))
          mustEndWithin(await tokenStore.endOf(tx, caller.account.id, caller.tokenId), after);
        const updated = await tokenStore.update(tx, caller.account.id, id, after);
        if (!updated) throw notFound();
        const children = endsChildren(patch) ? await tokenEndStore.deleteChildren(tx, id) : [];
        await announce("update", updated, tx);
        return { row: updated, stale: [updated.tokenHash, ...children] };
      });
      await forget(stale);
      return row;
    },

    async delete(caller: Caller, id: number, expected?: number): Promise<void> {
      const stale = await ctx.transaction(async (tx) => {
        const before = await locked(tx, caller, id);
        // behaviour 2.2 rule 5: running integrations depend on it.
        if (before.forAccount) throw invalid({ base: ["a token of the whole account cannot be deleted"] });
        if (!within(caller, before)) throw forbidden("this token can do more than the one you use");
        mustMatch(before, expected);
        const hashes = await tokenEndStore.delete(tx, caller.account.id, [id]);
        if (before.purpose === null) await announce("destroy", before, tx);
        return hashes;
      });
      await forget(stale);
    },

    /** See `Tokens.switchOff`: whoever made them may have been somebody else, and their person can switch them on again. */
    async switchOff(accountId: number, userId: number, tx: Tx): Promise<() => Promise<void>> {
      const rows = await tokenStore.switchOff(tx, accountId, userId);
      const children = await Promise.all(rows.map(({ id }) => tokenEndStore.deleteChildren(tx, id)));
      for (const row of rows) await announce("update", row, tx);
      return () => forget([...rows.map(({ tokenHash }) => tokenHash), ...children.flat()]);
    },

    async find(caller: Caller, id: number): Promise<TokenRow> {
      const row = await tokenStore.byId(ctx.sql, caller.account.id, id);
      if (!row || !maySee(caller, row)) throw notFound();
      return row;
    },
  };
}

export type TokenWriter = ReturnType<typeof createTokenWriter>;

function isPast({ expiresAt }: TokenInput): boolean {
  return expiresAt !== null && expiresAt.getTime() <= Date.now();
}

/** A narrowed token may delete itself and tokens within its own set. */
function within(caller: Caller, { id, privileges }: TokenRow): boolean {
  if (caller.narrowedTo.length === 0 || id === caller.tokenId) return true;
  return privileges.length > 0 && privileges.every((name) => caller.narrowedTo.includes(name));
}
