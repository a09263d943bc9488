/** Creates, changes and deletes apps: checks rights, builds, saves and tells others. */
import {
  createTurnsByKey,
  credentialOf,
  forbidden,
  freeCode,
  invalid,
  notFound,
  preconditionFailed,
  slugOf,
  uuidv7,
  ValidationError,
} from "platform";
import type { BaseContext, Caller, ModelEvent, Tx } from "platform";
import { applied, blank, changeTo, checkChange, sameAction, sameCode, type AppChange, type NewApp } from "./change.ts";
import type { Compiler } from "./compile.ts";
import { toApi, type AppRow, type AppStore, type Build, type Saved } from "./store.ts";

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "changed">;
  readonly store: AppStore;
  readonly compiler: Compiler;
  /** Called after the commit and before the answer, with the rows that have changed. */
  readonly forget: (...rows: readonly AppRow[]) => Promise<void>;
}

/** The version of this app that the caller has seen; undefined = any. */
export type SeenVersion = (id: string) => number | undefined;

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

export type Writing = ReturnType<typeof createWriting>;

export function createWriting({ ctx, store, compiler, forget }: Needed) {
  // Changes of one app at once would all be built, and all but one built again.
  const turns = createTurnsByKey<string>();

  /** Throws the 422 if the build fails; nothing is changed then. behaviour B.10. */
  const buildOf = async ({ appEngine, cssEngine, sourceCode: source }: Saved, accountId: number): Promise<Build> => {
    const result = await compiler.compile({ appEngine, cssEngine, source }, accountId);
    if (!result.ok) throw invalid({ source_code: [...result.mistakes] });
    return { ...result.compiled, toolchain: compiler.toolchain };
  };

  /** A failed build is also reported to the app's authors on its page. */
  const rebuilt = async (app: Saved, seen: AppRow): Promise<Build> => {
    try {
      return await buildOf(app, seen.accountId);
    } catch (error) {
      if (error instanceof ValidationError) {
        await store.noteFailedBuild(seen.accountId, seen.id, error.fields["source_code"] ?? []);
        await forget(seen);
      }
      throw error;
    }
  };

  const withUrlCode = async (tx: Tx, accountId: number, app: Saved): Promise<Saved> => {
    if (app.urlCode !== "") return app;
    const place = { table: "apps", column: "url_code", accountId };
    return { ...app, urlCode: await freeCode(tx, place, slugOf(app.name) || "app") };
  };

  const find = async (accountId: number, key: string): Promise<AppRow> => {
    const row = await store.find(accountId, key);
    if (!row) throw notFound();
    return row;
  };

  const idOf = async (accountId: number, key: string): Promise<string> => {
    const id = await store.idOf(accountId, key);
    if (id === undefined) throw notFound();
    return id;
  };

  const create = async (author: Author, given: NewApp): Promise<AppRow> => {
    const { accountId, userId } = author;
    checkChange(given, author.token);
    const app = applied(blank, given);
    const trusted = given.trusted ?? false;
    mayWrite(author, { before: undefined, after: app, trusted });
    const build = await buildOf(app, accountId);
    const row = await ctx.transaction(async (tx) => {
      const whole = await withUrlCode(tx, accountId, app);
      const owned = { id: uuidv7(), accountId, userId, trusted };
      const made = await store.insert(tx, { ...whole, ...owned, build });
      await ctx.changed(changeOf("create", made), tx);
      return made;
    });
    await forget(row);
    return row;
  };

  /** `key` is an id or a url_code; `work` gets the current app. */
  const update = async (
    author: Author,
    key: string,
    work: (before: AppRow) => AppChange,
    seenVersion: SeenVersion,
  ): Promise<AppRow> => {
    const id = await idOf(author.accountId, key);
    const expected = seenVersion(id);
    return turns.run(id, () => updated(author, id, work, expected));
  };

  const updated = async (
    author: Author,
    id: string,
    work: (before: AppRow) => AppChange,
    expected: number | undefined,
  ): Promise<AppRow> => {
    const { accountId, userId } = author;
    for (;;) {
      const seen = await find(accountId, id);
      if (expected !== undefined && seen.version !== expected) throw preconditionFailed();
      const planned = plan(author, seen, work);
      // Built before the transaction, so that the row is not locked meanwhile.
      const build = sameCode(planned.app, seen) ? undefined : await rebuilt(planned.app, seen);
      const saved = await ctx.transaction(async (tx) => {
        // Somebody else has changed it meanwhile: plan again from the current state.
        if ((await store.lock(tx, accountId, id)) !== seen.version) return undefined;
        const owned = { id, accountId, userId, trusted: planned.trusted };
        const row = await store.update(tx, { ...(await withUrlCode(tx, accountId, planned.app)), ...owned, build });
        await ctx.changed(changeOf("update", row), tx);
        return row;
      });
      if (!saved) continue;
      await forget(seen, saved);
      return saved;
    }
  };

  const remove = async (author: Author, key: string, seenVersion: SeenVersion): Promise<void> => {
    const id = await idOf(author.accountId, key);
    const expected = seenVersion(id);
    const row = await ctx.transaction(async (tx) => {
      const found = await store.delete(tx, author.accountId, id);
      if (!found) throw notFound();
      mayWrite(author, { before: found, after: found, trusted: found.trusted });
      if (expected !== undefined && found.version !== expected) throw preconditionFailed();
      await ctx.changed(changeOf("destroy", found), tx);
      return found;
    });
    await forget(row);
  };

  /** Saves an earlier version as a new one. `trusted` is not part of a version. */
  const restore = async (author: Author, key: string, version: number, seenVersion: SeenVersion): Promise<AppRow> => {
    const id = await idOf(author.accountId, key);
    const old = await store.version(author.accountId, id, version);
    if (!old) throw notFound();
    const change = changeTo(old);
    return update(author, id, () => change, seenVersion);
  };

  return { find, create, update, remove, restore, buildOf };
}

function plan(author: Author, before: AppRow, work: (before: AppRow) => AppChange): { app: Saved; trusted: boolean } {
  const given = work(before);
  checkChange(given, author.token);
  const app = applied(before, given);
  const trusted = given.trusted ?? before.trusted;
  mayWrite(author, { before, after: app, trusted });
  return { app, trusted };
}

interface Write {
  readonly before: AppRow | undefined;
  readonly after: Saved;
  readonly trusted: boolean;
}

/**
 * Everyone with `apps` may write every app in the account, except for three things that would lend them others' rights:
 * a trusted app runs with its viewer's session, an app with a database opens it to every viewer with `dbs`, and an
 * action runs its flow for anyone who asks.
 */
function mayWrite({ mayTrust, mayOpenDatabases, mayNameFlows }: Author, { before, after, trusted }: Write): void {
  if ((trusted || before?.trusted) && !mayTrust)
    throw forbidden("`trusted`: only an admin may create or change a trusted app, with a token that is not narrowed");
  const opens = after.dbCode !== null && (!before || after.dbCode !== before.dbCode || !sameCode(before, after));
  if (opens && !mayOpenDatabases)
    throw forbidden("`db_code`: the code of an app with a database needs the privilege `dbs`");
  // Existing actions stay allowed, also when they are sent along with other changes.
  const names = after.actions.some((action) => !before?.actions.some((one) => sameAction(one, action)));
  if (names && !mayNameFlows) throw forbidden("`actions`: naming a flow needs the privilege `flows`");
}

function changeOf(kind: ModelEvent["kind"], row: AppRow): ModelEvent {
  return { accountId: row.accountId, sourceType: "Core::App", kind, id: row.id, data: toApi(row) };
}
