/** Makes, changes and deletes connectors. No HTTP, no SQL. */
import { freeCode, mustMatch, notFound, slugOf, uuidv7, type BaseContext } from "platform";
import type { ConnectorKind } from "./api.ts";
import { checkConnector, customKind, secretInfo, type ConnectorPatch } from "./check.ts";
import { isCode, isUuid } from "./code.ts";
import type { ConnectorInput, ConnectorRow, ConnectorStore } from "./store.ts";

/** Who changes it: a caller, or no person. */
interface Author {
  readonly account: { readonly id: number };
  readonly user: { readonly id: number | null };
}

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "secrets">;
  readonly connectorStore: ConnectorStore;
  readonly kinds: ReadonlyMap<string, ConnectorKind>;
  /** After the commit, before the answer. */
  readonly forget: (accountId: number, codes: readonly string[]) => Promise<void>;
}

export type ConnectorWriter = ReturnType<typeof createConnectorWriter>;

export function createConnectorWriter({ ctx, connectorStore, kinds, forget }: Needed) {
  const secretColumns = (id: string, given: string | null | undefined, before?: ConnectorRow) => {
    if (given === undefined)
      return { secretToken: before?.secretToken ?? null, secretTokenInfo: before?.secretTokenInfo ?? null };
    if (given === null || given === "") return { secretToken: null, secretTokenInfo: null };
    return { secretToken: ctx.secrets.seal(given, secretPlace(id)), secretTokenInfo: secretInfo(given) };
  };

  return {
    async create({ account, user }: Author, patch: ConnectorPatch & { name: string }): Promise<ConnectorRow> {
      const id = uuidv7();
      const row = await ctx.transaction(async (tx) => {
        const free = () =>
          freeCode(tx, { table: "connectors", accountId: account.id }, slugOf(patch.name) || "connector");
        const input: ConnectorInput = {
          name: patch.name,
          code: patch.code || (await free()),
          kind: patch.kind ?? customKind,
          url: patch.url?.trim() ?? "",
          fields: patch.fields ?? {},
          active: patch.active ?? true,
          ...secretColumns(id, patch.secret_token),
        };
        checkConnector(kinds, input, patch);
        return connectorStore.insert(tx, id, account.id, user.id, input);
      });
      await forget(account.id, [row.code]);
      return row;
    },

    /** `expected` is the version that the caller has seen; undefined = any. */
    async update(
      { account, user }: Author,
      id: string,
      patch: ConnectorPatch,
      expected?: number,
    ): Promise<ConnectorRow> {
      const { before, after } = await ctx.transaction(async (tx) => {
        const row = await connectorStore.lock(tx, account.id, id);
        if (!row) throw notFound();
        mustMatch(row, expected);
        const input: ConnectorInput = {
          name: patch.name ?? row.name,
          code: patch.code || row.code,
          kind: patch.kind ?? row.kind,
          url: patch.url === undefined ? row.url : (patch.url?.trim() ?? ""),
          fields: patch.fields === undefined ? row.fields : (patch.fields ?? {}),
          active: patch.active ?? row.active,
          ...secretColumns(id, patch.secret_token, row),
        };
        checkConnector(kinds, input, patch, row);
        return { before: row, after: await connectorStore.update(tx, account.id, id, user.id, input) };
      });
      await forget(account.id, [before.code, after.code]);
      return after;
    },

    async delete({ account }: Author, id: string, expected?: number): Promise<void> {
      const row = await ctx.transaction(async (tx) => {
        const found = await connectorStore.lock(tx, account.id, id);
        if (!found) throw notFound();
        mustMatch(found, expected);
        await connectorStore.delete(tx, account.id, id);
        return found;
      });
      await forget(account.id, [row.code]);
    },

    /** By id or code; a code never has the form of an id. Throws the 404. */
    async find(accountId: number, key: string): Promise<ConnectorRow> {
      if (!isCode(key)) throw notFound();
      const row = isUuid(key)
        ? await connectorStore.byId(accountId, key.toLowerCase())
        : await connectorStore.byCode(accountId, key);
      if (!row) throw notFound();
      return row;
    },
  };
}

/** What a secret is sealed for: it cannot be opened for another row. */
export function secretPlace(id: string): string {
  return `connectors.secret_token:${id}`;
}
