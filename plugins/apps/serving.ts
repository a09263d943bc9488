/** What pages and the runtime ask of apps at every request: kept in caches, right again before a change is answered. */
import { cacheKey, isUuid, parseCacheKey, type BaseContext, type Caller } from "platform";
import type { ForeignCredential } from "../tokens/api.ts";
import { type AppTokens, type Claims, type IssuedAppToken } from "./app-token.ts";
import type { Compiler } from "./compile.ts";
import { isKey, type AppStore, type ServedRow } from "./store.ts";

/** An active app with its build. The same object until something about the app changes. */
export type ServedApp = ServedRow;

/** What a visitor's requests ask about an app. */
export type AppMeta = Pick<ServedRow, "id" | "accountId" | "active" | "public" | "dbCode" | "actions">;

interface Needed {
  readonly ctx: Pick<BaseContext, "cache" | "log">;
  readonly store: AppStore;
  readonly compiler: Compiler;
  readonly tokens: AppTokens;
}

export type Serving = ReturnType<typeof createServing>;

export function createServing({ ctx, store, compiler, tokens }: Needed) {
  // The builds: at most 400 kB each.
  const pages = ctx.cache<ServedRow>({ name: "apps.pages", max: 200, load: loadPage });
  const metas = ctx.cache<AppMeta>({ name: "apps.metas", max: 10_000, load: loadMeta });

  async function loadPage(key: string): Promise<ServedRow | undefined> {
    const row = await readApp(key);
    return row && row.toolchain !== compiler.toolchain ? rebuilt(row) : row;
  }

  async function loadMeta(key: string): Promise<AppMeta | undefined> {
    const row = await readApp(key);
    if (!row) return undefined;
    const { id, accountId, active, dbCode, actions } = row;
    return { id, accountId, active, public: row.public, dbCode, actions };
  }

  function readApp(key: string): Promise<ServedRow | undefined> {
    const { accountId, name } = parseCacheKey(key);
    return store.served(accountId, name);
  }

  /** Built anew where a compiler or a runtime has changed since. What no longer builds is served as it was. */
  async function rebuilt(row: ServedRow): Promise<ServedRow> {
    const app = await store.find(row.accountId, row.id);
    if (!app || app.version !== row.version) return row;
    const { appEngine, cssEngine, sourceCode: source } = app;
    const result = await compiler.compile({ appEngine, cssEngine, source }, row.accountId);
    if (!result.ok) {
      ctx.log.warn("an app does not build any more", { app_id: row.id, mistakes: result.mistakes.slice(0, 3) });
      return row;
    }
    const { appCode, cssCode } = result.compiled;
    const build = { ...result.compiled, toolchain: compiler.toolchain };
    await store.saveBuild(row.accountId, row.id, row.version, build);
    return { ...row, appCode, cssCode, toolchain: compiler.toolchain };
  }

  const meta = async (accountId: number, codeOrId: string): Promise<AppMeta | undefined> => {
    if (!isKey(codeOrId)) return undefined;
    const key = keyOf(accountId, codeOrId);
    return metas.peek(key) ?? metas.get(key);
  };

  return {
    /** The active app of this url_code or id, or undefined. */
    async findForPage(accountId: number, codeOrId: string): Promise<ServedApp | undefined> {
      if (!isKey(codeOrId)) return undefined;
      const key = keyOf(accountId, codeOrId);
      const app = pages.peek(key) ?? (await pages.get(key));
      return app?.active ? app : undefined;
    },

    /** The same without its build. */
    async findActive(accountId: number, codeOrId: string): Promise<AppMeta | undefined> {
      const app = await meta(accountId, codeOrId);
      return app?.active ? app : undefined;
    },

    /** The token for a page that is being loaded now; nobody (`caller` null) is only ever shown a public app. */
    tokenFor(
      app: Pick<ServedApp, "id" | "accountId">,
      { caller, visitor }: { readonly caller: Caller | null; readonly visitor: string },
    ): IssuedAppToken {
      const viewer = caller && { userId: caller.user.id, tokenId: caller.tokenId };
      return tokens.issue({ accountId: app.accountId, appId: app.id, viewer, visitor });
    },

    /** The same claims for an hour more, or undefined a day after the page was loaded. */
    renew(token: string): IssuedAppToken | undefined {
      const claims = tokens.read(token);
      return claims && tokens.renew(claims);
    },

    /** What a token opens now; the person's own rights are looked at by who asks. */
    async verify(token: string): Promise<ForeignCredential | undefined> {
      const claims = tokens.read(token);
      const app = claims && (await meta(claims.accountId, claims.appId));
      return app && mayStillSee(claims, app) ? credentialOf(claims, app) : undefined;
    },

    /** After the commit, before the answer. */
    async changed(...rows: readonly Pick<ServedRow, "accountId" | "id" | "urlCode">[]): Promise<void> {
      const keys = new Set(
        rows.flatMap(({ accountId, id, urlCode }) => [keyOf(accountId, id), keyOf(accountId, urlCode)]),
      );
      await Promise.all([...keys].flatMap((key) => [pages.invalidate(key), metas.invalidate(key)]));
    },
  };
}

function mayStillSee({ viewer }: Claims, app: AppMeta): boolean {
  return app.active && (viewer !== null || app.public);
}

/** A viewer's token opens the private API too, where the viewer may: of the app's own database (jsondb sees to that). */
function credentialOf({ accountId, viewer, visitor }: Claims, { id, dbCode }: AppMeta): ForeignCredential {
  return { accountId, viewer, privileges: ["dbs"], app: { appId: id, dbCode, visitor } };
}

function keyOf(accountId: number, codeOrId: string): string {
  return cacheKey(accountId, isUuid(codeOrId) ? codeOrId.toLowerCase() : codeOrId);
}
