/** The apps that pages and the runtime ask for at every request, cached. A change drops them before it is answered. */
import * as builds from "../build/builds.ts";
import { cacheKey, isUuid, parseCacheKey, notFound, type RequestInput } from "platform";
import { databasesOf, findBuild, isKey, type AppMeta, type ServedRow } from "../store.ts";
import type { AppsContext } from "../context.ts";

/** The active app with this url_code or id, or undefined. */
export async function findForPage(
  ctx: AppsContext,
  accountId: number,
  codeOrId: string,
): Promise<ServedRow | undefined> {
  if (!isKey(codeOrId)) return undefined;
  const key = keyOf(accountId, codeOrId);
  const app = ctx.pages.peek(key) ?? (await ctx.pages.get(key));
  return app?.active ? app : undefined;
}

/** The same without its build; for a draft of it, one that is off too. */
export async function findActive(
  ctx: AppsContext,
  accountId: number,
  codeOrId: string,
  isDraft = false,
): Promise<AppMeta | undefined> {
  if (!isKey(codeOrId)) return undefined;
  const key = keyOf(accountId, codeOrId);
  const app = ctx.metas.peek(key) ?? (await ctx.metas.get(key));
  return app && (app.active || isDraft) ? app : undefined;
}

/** After the commit, before the answer. */
export async function forget(
  ctx: AppsContext,
  ...rows: readonly Pick<ServedRow, "accountId" | "id" | "urlCode">[]
): Promise<void> {
  const keys = new Set(rows.flatMap(({ accountId, id, urlCode }) => [keyOf(accountId, id), keyOf(accountId, urlCode)]));
  await Promise.all([...keys].flatMap((key) => [ctx.pages.invalidate(key), ctx.metas.invalidate(key)]));
}

export async function loadPage(ctx: AppsContext, key: string): Promise<ServedRow | undefined> {
  const row = await readApp(ctx, key);
  return row && builds.currentBuild(ctx, row);
}

export async function loadMeta(ctx: AppsContext, key: string): Promise<AppMeta | undefined> {
  const row = await readApp(ctx, key);
  if (!row) return undefined;
  const { id, accountId, active, actions } = row;
  return { id, accountId, active, public: row.public, actions, dbCodes: databasesOf(row) };
}

function readApp(ctx: AppsContext, key: string): Promise<ServedRow | undefined> {
  const { accountId, name } = parseCacheKey(key);
  return findBuild(ctx.sql, accountId, name);
}

function keyOf(accountId: number, codeOrId: string): string {
  return cacheKey(accountId, isUuid(codeOrId) ? codeOrId.toLowerCase() : codeOrId);
}

// Identifies who uses an app: a signed-in person, or the visitor of a page or browser.

type Input = Pick<RequestInput, "request" | "account" | "caller" | "app" | "ip" | "secure">;

/** The active app with this id or url_code; 404 if there is none, or if an app's token asks for another app. */
export async function appFor(
  ctx: AppsContext,
  { account, app }: Pick<RequestInput, "account" | "app">,
  codeOrId: string,
): Promise<AppMeta> {
  const found = await findActive(ctx, account.id, codeOrId, app?.isDraft);
  if (!found || (app && app.appId !== found.id)) throw notFound("there is no such app");
  return found;
}

/** The owner of stored values, and the header that identifies a browser without an app's token. */
export function ownerOf({ databases }: Pick<AppsContext, "databases">, input: Input) {
  if (input.caller) return { owner: `user:${input.caller.user.id}`, headers: {} };
  const { cookieKey, headers } = databases.visitor(input);
  return { owner: `visitor:${cookieKey}`, headers };
}
