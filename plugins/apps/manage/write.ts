/** Creates, changes and deletes apps: checks rights, builds, saves and tells others. */
import * as appStore from "../store.ts";
import * as builds from "../build/builds.ts";
import * as copyStore from "../copies-store.ts";
import {
  freeCode,
  notFound,
  preconditionFailed,
  slugOf,
  uuidv7,
  credentialOf,
  forbidden,
  isObject,
  type ModelEvent,
  type Tx,
  type Caller,
} from "platform";
import { applied, blank, patchTo, checkPatch, sameCode, sameAction, type AppPatch, type NewApp } from "./patch.ts";
import { toApi, databasesOf, type AppRow, type Saved } from "../store.ts";
import type { AppsContext } from "../context.ts";
import { forget } from "../serve/served-apps.ts";
import type { Apps } from "../api.ts";

/** The version of this app that the caller has seen; undefined = any. */
export type SeenVersion = (id: string) => number | undefined;

export async function find(ctx: AppsContext, accountId: number, key: string): Promise<AppRow> {
  const row = await appStore.findApp(ctx.sql, accountId, key);
  if (!row) throw notFound();
  return row;
}

export async function create(ctx: AppsContext, author: Author, given: NewApp): Promise<AppRow> {
  const { accountId, userId } = author;
  checkPatch(given, author.token);
  const app = applied(blank, given);
  const trusted = given.trusted ?? false;
  mustBeAllowed(author, { before: undefined, after: app, trusted });
  const build = await builds.buildOf(ctx, app, accountId);
  const row = await ctx.transaction(async (tx) => {
    const whole = await withUrlCode(tx, accountId, app);
    const owned = { id: uuidv7(), accountId, userId, trusted };
    const made = await appStore.insert(tx, { ...whole, ...owned, build });
    await ctx.changed(eventOf("create", made), tx);
    return made;
  });
  await forget(ctx, row);
  return row;
}

/** `key` is an id or a url_code; `work` gets the current app. */
export async function update(
  ctx: AppsContext,
  author: Author,
  key: string,
  work: (before: AppRow) => AppPatch,
  seenVersion: SeenVersion,
): Promise<AppRow> {
  const id = await idOf(ctx, author.accountId, key);
  const expected = seenVersion(id);
  return ctx.saving.run(id, () => updated(ctx, author, id, work, expected));
}

export async function remove(ctx: AppsContext, author: Author, key: string, seenVersion: SeenVersion): Promise<AppRow> {
  const id = await idOf(ctx, author.accountId, key);
  const expected = seenVersion(id);
  const row = await ctx.transaction(async (tx) => {
    const found = await appStore.remove(tx, author.accountId, id);
    if (!found) throw notFound();
    mustBeAllowed(author, { before: found, after: found, trusted: found.trusted });
    if (expected !== undefined && found.version !== expected) throw preconditionFailed();
    await ctx.changed(eventOf("destroy", found), tx);
    return found;
  });
  await forget(ctx, row);
  return row;
}

/** Saves an earlier version as a new one. `trusted` is not part of a version. */
export async function restore(
  ctx: AppsContext,
  author: Author,
  key: string,
  version: number,
  seenVersion: SeenVersion,
): Promise<AppRow> {
  const id = await idOf(ctx, author.accountId, key);
  const old = await copyStore.findVersion(ctx.sql, author.accountId, id, version);
  if (!old) throw notFound();
  const patch = patchTo(old);
  return update(ctx, author, id, () => patch, seenVersion);
}

async function idOf(ctx: AppsContext, accountId: number, key: string): Promise<string> {
  const id = await appStore.idOf(ctx.sql, accountId, key);
  if (id === undefined) throw notFound();
  return id;
}

async function updated(
  ctx: AppsContext,
  author: Author,
  id: string,
  work: (before: AppRow) => AppPatch,
  expected: number | undefined,
): Promise<AppRow> {
  const { accountId, userId } = author;
  for (;;) {
    const seen = await find(ctx, accountId, id);
    if (expected !== undefined && seen.version !== expected) throw preconditionFailed();
    const planned = plan(author, seen, work);
    // Built before the transaction, so that the row is not locked meanwhile.
    const build = sameCode(planned.app, seen)
      ? undefined
      : await builds.buildOfChange(ctx, planned.app, seen, () => forget(ctx, seen));
    const saved = await ctx.transaction(async (tx) => {
      // Somebody else has changed it meanwhile: plan again from the current state.
      if ((await appStore.lock(tx, accountId, id)) !== seen.version) return undefined;
      const owned = { id, accountId, userId, trusted: planned.trusted };
      const row = await appStore.update(tx, {
        ...(await withUrlCode(tx, accountId, planned.app, seen.urlCode)),
        ...owned,
        build,
      });
      await ctx.changed(eventOf("update", row), tx);
      return row;
    });
    if (!saved) continue;
    await forget(ctx, seen, saved);
    return saved;
  }
}

/** `own` is the code that the app has: it is not taken by another. */
async function withUrlCode(tx: Tx, accountId: number, app: Saved, own?: string): Promise<Saved> {
  if (app.urlCode !== "") return app;
  const place = { table: "apps", column: "url_code", accountId };
  const wanted = slugOf(app.name) || "app";
  return { ...app, urlCode: wanted === own ? own : await freeCode(tx, place, wanted) };
}

function plan(author: Author, before: AppRow, work: (before: AppRow) => AppPatch): { app: Saved; trusted: boolean } {
  const given = work(before);
  checkPatch(given, author.token);
  const app = applied(before, given);
  const trusted = given.trusted ?? before.trusted;
  mustBeAllowed(author, { before, after: app, trusted });
  return { app, trusted };
}

function eventOf(kind: ModelEvent["kind"], row: AppRow): ModelEvent {
  return { accountId: row.accountId, sourceType: "Core::App", kind, id: row.id, data: toApi(row) };
}

// Who may write an app, beyond the privilege `apps`.

/** Who writes, and the rights that they may lend to an app. */
export interface Author {
  readonly accountId: number;
  /** Null = the command line. */
  readonly userId: number | null;
  readonly mayTrust: boolean;
  readonly mayOpenDatabases: boolean;
  readonly mayNameFlows: boolean;
  /** The token of the request. */
  readonly token?: string;
}

export function authorOf({ account, user, narrowedTo, privileges }: Caller, request: Request): Author {
  return {
    accountId: account.id,
    userId: user.id,
    // A narrowed token could widen itself: its app would run with the full session of an administrator.
    mayTrust: user.role === "admin" && narrowedTo.length === 0,
    mayOpenDatabases: privileges.has("dbs"),
    mayNameFlows: privileges.has("flows"),
    token: credentialOf(request.headers)?.token ?? "",
  };
}

interface Write {
  /** Undefined = the app is new. */
  readonly before: (Saved & Pick<AppRow, "trusted">) | undefined;
  readonly after: Saved;
  readonly trusted: boolean;
}

type Rights = Pick<Author, "mayTrust" | "mayOpenDatabases" | "mayNameFlows">;

/**
 * Throws the 403. Everyone with `apps` may write every app in the account, except for three things that would lend them
 * others' rights: a trusted app runs with its viewer's session, an app with a database opens it to every viewer with
 * `dbs`, and an action runs its flow for anyone who asks.
 */
export function mustBeAllowed({ mayTrust, mayOpenDatabases, mayNameFlows }: Rights, write: Write): void {
  const { before, after, trusted } = write;
  if ((trusted || before?.trusted) && !mayTrust)
    throw forbidden("`trusted`: only an admin may create or change a trusted app, with a token that is not narrowed");
  const [known, named] = [before ? databasesOf(before) : [], databasesOf(after)];
  const isNew = named.some((code) => !known.includes(code));
  const opens = isNew || (named.length > 0 && before !== undefined && !sameCode(before, after));
  if (opens && !mayOpenDatabases)
    throw forbidden("`db_code`, `fields.dbs`: the code of an app with a database needs the privilege `dbs`");
  // Existing actions stay allowed, also when they are sent along with other changes.
  const names = after.actions.some((action) => !before?.actions.some((one) => sameAction(one, action)));
  if (names && !mayNameFlows) throw forbidden("`actions`: naming a flow needs the privilege `flows`");
}

/** Throws the 403. A draft runs in its sandbox with the saved app's database and actions, for whoever opens its page. */
export function mustBeAllowedToDraft({ privileges }: Pick<Caller, "privileges">, saved: Saved, after: Saved): void {
  const rights = { mayTrust: false, mayOpenDatabases: privileges.has("dbs"), mayNameFlows: false };
  const { dbCode, fields, actions } = saved;
  mustBeAllowed(rights, {
    before: { ...saved, trusted: false },
    after: { ...after, dbCode, fields, actions },
    trusted: false,
  });
}

/** Apps for other plugins, which need no privileges for this. */
export function appsService(ctx: AppsContext): Apps {
  return {
    async put({ accountId, userId }, app) {
      const author = { accountId, userId, mayTrust: true, mayOpenDatabases: true, mayNameFlows: true };
      const found = await appStore.findApp(ctx.sql, accountId, app.url_code);
      if (!found) return { id: (await create(ctx, author, app)).id, done: "made" };
      const same = (row: AppRow) =>
        (app.trusted ?? row.trusted) === row.trusted && printed(patchTo(applied(row, app))) === printed(patchTo(row));
      if (same(found)) return { id: found.id, done: "unchanged" };
      await update(
        ctx,
        author,
        found.id,
        () => app,
        () => undefined,
      );
      return { id: found.id, done: "changed" };
    },
    promptOf: async (accountId, key) => (await appStore.findApp(ctx.sql, accountId, key))?.prompt,
  };
}

/** JSON with sorted keys, because the database does not keep their order. */
function printed(value: unknown): string {
  const inOrder = (inner: object) => Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(value, (_, inner: unknown) => (isObject(inner) ? Object.fromEntries(inOrder(inner)) : inner));
}
