/** The apps that pages and the runtime ask for at every request, cached. A change drops them before it is answered. */
import { cacheKey, isUuid, parseCacheKey, type BaseContext } from "platform";
import type { BuildStore } from "../build/build-store.ts";
import type { Builds } from "../build/builds.ts";
import { databasesOf, isKey, type ServedRow } from "../store.ts";

/** An active app with its build. The same object until something about the app changes. */
export type ServedApp = ServedRow;

/** The part of an app that a visitor's requests need. */
export type AppMeta = Pick<ServedRow, "id" | "accountId" | "active" | "public" | "actions"> & {
  /** The databases that it names. */
  readonly dbCodes: readonly string[];
};

interface Needed {
  readonly ctx: Pick<BaseContext, "cache">;
  readonly buildStore: Pick<BuildStore, "find">;
  readonly builds: Pick<Builds, "current">;
}

export type ServedApps = ReturnType<typeof createServedApps>;

export function createServedApps({ ctx, buildStore, builds }: Needed) {
  // The builds: at most 400 kB each.
  const pages = ctx.cache<ServedRow>({ name: "apps.pages", max: 200, load: loadPage });
  const metas = ctx.cache<AppMeta>({ name: "apps.metas", max: 10_000, load: loadMeta });

  async function loadPage(key: string): Promise<ServedRow | undefined> {
    const row = await readApp(key);
    return row && builds.current(row);
  }

  async function loadMeta(key: string): Promise<AppMeta | undefined> {
    const row = await readApp(key);
    if (!row) return undefined;
    const { id, accountId, active, actions } = row;
    return { id, accountId, active, public: row.public, actions, dbCodes: databasesOf(row) };
  }

  function readApp(key: string): Promise<ServedRow | undefined> {
    const { accountId, name } = parseCacheKey(key);
    return buildStore.find(accountId, name);
  }

  return {
    /** The active app with this url_code or id, or undefined. */
    async findForPage(accountId: number, codeOrId: string): Promise<ServedApp | undefined> {
      if (!isKey(codeOrId)) return undefined;
      const key = keyOf(accountId, codeOrId);
      const app = pages.peek(key) ?? (await pages.get(key));
      return app?.active ? app : undefined;
    },

    /** The same without its build. */
    async findActive(accountId: number, codeOrId: string): Promise<AppMeta | undefined> {
      if (!isKey(codeOrId)) return undefined;
      const key = keyOf(accountId, codeOrId);
      const app = metas.peek(key) ?? (await metas.get(key));
      return app?.active ? app : undefined;
    },

    /** After the commit, before the answer. */
    async forget(...rows: readonly Pick<ServedRow, "accountId" | "id" | "urlCode">[]): Promise<void> {
      const keys = new Set(
        rows.flatMap(({ accountId, id, urlCode }) => [keyOf(accountId, id), keyOf(accountId, urlCode)]),
      );
      await Promise.all([...keys].flatMap((key) => [pages.invalidate(key), metas.invalidate(key)]));
    },
  };
}

function keyOf(accountId: number, codeOrId: string): string {
  return cacheKey(accountId, isUuid(codeOrId) ? codeOrId.toLowerCase() : codeOrId);
}
