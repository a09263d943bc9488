/** Creates, changes and deletes apps: checks rights, builds, saves and tells others. */
import { freeCode, notFound, preconditionFailed, slugOf, uuidv7, type ModelEvent, type Tx } from "platform";
import { applied, blank, patchTo, checkPatch, sameCode, type AppPatch, type NewApp } from "./patch.ts";
import { mustBeAllowed, type Author } from "./rights.ts";
import { toApi, type AppRow, type Saved } from "../store.ts";
import * as appStore from "../store.ts";
import * as builds from "../build/builds.ts";
import * as versionStore from "./version-store.ts";
import type { AppsContext } from "../context.ts";
import { forget } from "../serve/served-apps.ts";

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
  const old = await versionStore.find(ctx.sql, author.accountId, id, version);
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
