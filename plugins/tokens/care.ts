/** Protects tokens: limits, networks, rotation, and a warning before the end. Each change is one transaction. */
import {
  forbidden,
  invalid,
  mustMatch,
  networkTest,
  notFound,
  sha256,
  type BaseContext,
  type Caller,
  type Tx,
} from "platform";
import type { CareStore } from "./care-store.ts";
import type { TokenEndStore } from "./end-store.ts";
import type { Identifier } from "./identify.ts";
import { newRawToken, tokenInfo } from "./raw-token.ts";
import { maySee, mustManage, mustStayWithin } from "./rules.ts";
import { toApi, type TokenRow, type TokenStore } from "./store.ts";

const warnedAtOnce = 500;

export interface CarePatch {
  readonly rate_limit?: number | null;
  readonly networks?: readonly string[] | null;
  readonly read_only?: boolean;
  readonly mcp_delete?: boolean;
}

interface Asked {
  readonly caller: Caller;
  readonly id: number;
  /** The client's address. */
  readonly ip: string;
  readonly expected: number | undefined;
}

interface Needed {
  readonly ctx: Pick<BaseContext, "sql" | "transaction" | "changed">;
  readonly tokenStore: TokenStore;
  readonly careStore: CareStore;
  readonly tokenEndStore: Pick<TokenEndStore, "deleteChildren">;
  /** Days before its end. */
  readonly warnDays: number;
  readonly identifier: Pick<Identifier, "forget" | "forgetText">;
}

export type TokenCare = ReturnType<typeof createTokenCare>;

export function createTokenCare({ ctx, tokenStore, careStore, tokenEndStore, warnDays, identifier }: Needed) {
  const announce = ({ accountId, id, ...row }: TokenRow, kind: string, tx: Tx) =>
    ctx.changed({ accountId, sourceType: "Account::ApiToken", kind, id, data: toApi({ accountId, id, ...row }) }, tx);

  /** The token, held, if the caller may change it. */
  const held = async (tx: Tx, { caller, id, expected }: Asked): Promise<TokenRow> => {
    const row = await tokenStore.lockById(tx, caller.account.id, id);
    if (!row || !maySee(caller, row)) throw notFound();
    if (row.purpose !== null) throw invalid({ base: ["a session can only be ended"] });
    mustMatch(row, expected);
    mustManage(caller, row);
    mustStayWithin(caller, row.privileges);
    return row;
  };

  return {
    async find(caller: Caller, id: number) {
      const row = await tokenStore.byId(ctx.sql, caller.account.id, id);
      if (!row || !maySee(caller, row)) throw notFound();
      return { row, lastAddress: await careStore.lastAddress(ctx.sql, caller.account.id, id) };
    },

    async change(asked: Asked, patch: CarePatch): Promise<TokenRow> {
      const { caller, id, ip } = asked;
      const networks = patch.networks === undefined ? undefined : checkedNetworks(patch.networks ?? []);
      const { row, ended } = await ctx.transaction(async (tx) => {
        const before = await held(tx, asked);
        const own = await tokenStore.byId(tx, caller.account.id, caller.tokenId);
        if (own && (own.networks.length > 0 || own.rateLimit !== null))
          throw forbidden("a token that is limited itself changes no limits");
        const after = networks ?? before.networks;
        if (id === caller.tokenId && after.length > 0 && !networkTest(after.join(","))(ip))
          throw invalid({ networks: [`must contain ${ip}, from where you use this token`] });
        const rateLimit = patch.rate_limit === undefined ? before.rateLimit : patch.rate_limit;
        const { read_only: readOnly = before.readOnly, mcp_delete: mcpDelete = before.mcpDelete } = patch;
        const saved = await careStore.save(tx, caller.account.id, id, {
          rateLimit,
          networks: after,
          readOnly,
          mcpDelete,
        });
        if (!saved) throw notFound();
        // What was made from it could still write.
        const children = readOnly && !before.readOnly ? await tokenEndStore.deleteChildren(tx, id) : [];
        await announce(saved, "update", tx);
        return { row: saved, ended: children };
      });
      await identifier.forget([row.tokenHash, ...ended]);
      return row;
    },

    async rotate(asked: Asked, overlapMinutes: number): Promise<{ row: TokenRow; raw: string }> {
      const raw = newRawToken();
      const endsAt = new Date(Date.now() + overlapMinutes * 60_000);
      const { row, old } = await ctx.transaction(async (tx) => {
        const before = await held(tx, asked);
        const rotated = await careStore.rotate(tx, before, {
          tokenHash: sha256(raw),
          tokenInfo: tokenInfo(raw),
          endsAt,
        });
        if (!rotated) throw notFound();
        await announce(rotated, "update", tx);
        return { row: rotated, old: before.tokenHash };
      });
      await identifier.forgetText(row.id, old);
      return { row, raw };
    },

    /** Tells those who follow tokens of those that end soon. */
    async warn(): Promise<void> {
      for (;;) {
        const rows = await ctx.transaction(async (tx) => {
          const found = await careStore.toWarn(tx, warnDays, warnedAtOnce);
          for (const row of found) await announce(row, "expiring", tx);
          return found;
        });
        if (rows.length < warnedAtOnce) return;
      }
    },
  };
}

function checkedNetworks(networks: readonly string[]): readonly string[] {
  const wrong = networks.flatMap((network) => {
    try {
      networkTest(network);
      return network.includes(",") || network.trim() === "" ? `"${network}" is no network` : [];
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  });
  if (wrong.length > 0) throw invalid({ networks: wrong });
  return [...new Set(networks)];
}
