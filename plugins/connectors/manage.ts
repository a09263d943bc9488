/** Making, changing and deleting connectors. No HTTP, no SQL. */
import { freeCode, mistakes, notFound, slugOf, uuidv7, type BaseContext } from "platform";
import type { ConnectorKind } from "./api.ts";
import { codeMistake, isCode, isUuid } from "./code.ts";
import type { ConnectorInput, ConnectorRow, ConnectorStore } from "./store.ts";

/** The fields of a request; each may be missing. */
export interface ConnectorChange {
  readonly name?: string;
  readonly code?: string | null;
  readonly kind?: string;
  readonly url?: string | null;
  /** null or "" takes the secret away; left out it stays. */
  readonly secret_token?: string | null;
  readonly fields?: Readonly<Record<string, unknown>> | null;
  readonly active?: boolean;
}

/** Who changes it: a caller, or no person. */
interface Author {
  readonly account: { readonly id: number };
  readonly user: { readonly id: number | null };
}

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "secrets">;
  readonly store: ConnectorStore;
  readonly kinds: ReadonlyMap<string, ConnectorKind>;
  /** After the commit, before the answer. */
  readonly forget: (accountId: number, codes: readonly string[]) => Promise<void>;
}

export const customKind = "core/custom_connector";
const maxFieldsChars = 500_000;

export type Managing = ReturnType<typeof createManaging>;

export function createManaging({ ctx, store, kinds, forget }: Needed) {
  const secretColumns = (id: string, given: string | null | undefined, before?: ConnectorRow) => {
    if (given === undefined)
      return { secretToken: before?.secretToken ?? null, secretTokenInfo: before?.secretTokenInfo ?? null };
    if (given === null || given === "") return { secretToken: null, secretTokenInfo: null };
    return { secretToken: ctx.secrets.seal(given, secretPlace(id)), secretTokenInfo: secretInfo(given) };
  };

  /** Everything that is wrong with it, told at once. */
  const check = (input: ConnectorInput, change: ConnectorChange, before?: ConnectorRow): void => {
    const found = mistakes();
    const wrongCode = codeMistake(input.code);
    if (wrongCode !== undefined) found.add("code", wrongCode);
    const kind = kinds.get(input.kind);
    if (change.secret_token) {
      const wrong = isOneLine(change.secret_token)
        ? kind?.secretMistake?.(change.secret_token)
        : "must be one line without control characters";
      if (wrong !== undefined) found.add("secret_token", wrong);
    }
    // Who changes the address has not seen the secret, and must not have it sent there.
    if (before?.secretToken && change.secret_token === undefined && originOf(before.url) !== originOf(input.url))
      found.add("secret_token", "must be given again, or taken away with null, where the url has another origin");
    if (JSON.stringify(input.fields).length > maxFieldsChars)
      found.add("fields", `may have at most ${maxFieldsChars} characters as JSON`);
    if (!kind) found.add("kind", `must be one of ${[...kinds.keys()].join(", ")}`);
    else if (kind.needsUrl && input.url === "") found.add("url", "can't be blank");
    else {
      const wrong = kind.check({ url: input.url, fields: input.fields, hasSecret: input.secretToken !== null });
      for (const [field, messages] of Object.entries(wrong)) for (const message of messages) found.add(field, message);
    }
    found.check();
  };

  return {
    async create({ account, user }: Author, change: ConnectorChange & { name: string }): Promise<ConnectorRow> {
      const id = uuidv7();
      const row = await ctx.transaction(async (tx) => {
        const input: ConnectorInput = {
          name: change.name,
          code:
            change.code ||
            (await freeCode(tx, { table: "connectors", accountId: account.id }, slugOf(change.name) || "connector")),
          kind: change.kind ?? customKind,
          url: change.url?.trim() ?? "",
          fields: change.fields ?? {},
          active: change.active ?? true,
          ...secretColumns(id, change.secret_token),
        };
        check(input, change);
        return store.insert(tx, id, account.id, user.id, input);
      });
      await forget(account.id, [row.code]);
      return row;
    },

    async update({ account, user }: Author, id: string, change: ConnectorChange): Promise<ConnectorRow> {
      const { before, after } = await ctx.transaction(async (tx) => {
        const row = await store.lock(tx, account.id, id);
        if (!row) throw notFound();
        const input: ConnectorInput = {
          name: change.name ?? row.name,
          code: change.code || row.code,
          kind: change.kind ?? row.kind,
          url: change.url === undefined ? row.url : (change.url?.trim() ?? ""),
          fields: change.fields === undefined ? row.fields : (change.fields ?? {}),
          active: change.active ?? row.active,
          ...secretColumns(id, change.secret_token, row),
        };
        check(input, change, row);
        return { before: row, after: await store.update(tx, account.id, id, user.id, input) };
      });
      await forget(account.id, [before.code, after.code]);
      return after;
    },

    async delete({ account }: Author, id: string): Promise<void> {
      const row = await store.delete(account.id, id);
      if (!row) throw notFound();
      await forget(account.id, [row.code]);
    },

    /** By id or code; codes never have the form of an id. */
    async find(accountId: number, key: string): Promise<ConnectorRow> {
      if (!isCode(key)) throw notFound();
      const row = isUuid(key) ? await store.byId(accountId, key.toLowerCase()) : await store.byCode(accountId, key);
      if (!row) throw notFound();
      return row;
    },
  };
}

/** The place a secret is sealed for. */
export function secretPlace(id: string): string {
  return `connectors.secret_token:${id}`;
}

/** Scheme, host and port, of any scheme: `URL.origin` is "null" for those that browsers do not know. */
function originOf(url: string): string {
  const parsed = URL.parse(url);
  return parsed ? `${parsed.protocol}//${parsed.host}` : url;
}

/** Enough to tell two keys apart, too little to use one. */
function secretInfo(given: string): string {
  return given.length >= 16 ? `${given.slice(0, 4)}...${given.slice(-4)}` : "...";
}

function isOneLine(text: string): boolean {
  // oxlint-disable-next-line eslint/no-control-regex -- control characters are what is looked for
  return !/[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]/.test(text) && text.isWellFormed();
}
