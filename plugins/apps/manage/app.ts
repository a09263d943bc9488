/** An app: what it is to others, and how it is made, changed and deleted. behaviour 2.3, B.10. */
import {
  change,
  create,
  credentialOf,
  filter,
  find,
  found,
  freeCode,
  isObject,
  isUuid,
  misspeltNames,
  mustMatch,
  resource,
  slugOf,
  Type,
} from "platform";
import type { At, Change, Changed, DraftOf, Names, Queryable, Ref, Tx } from "platform";
import type { Apps } from "../api.ts";
import * as builds from "../build/builds.ts";
import { appEngines } from "../choices.ts";
import type { AppsContext } from "../context.ts";
import { fields, type AppPatch, type NewApp } from "../fields.ts";
import { forget } from "../serve/served-apps.ts";
import { databasesOf, isKey, keepBuild, keepVersion, tileOrNot } from "../store.ts";
import type { AppRow, Build, SavedFields } from "../store.ts";
import {
  applied,
  blank,
  checkPatch,
  mustBeAllowed,
  mustOpenAll,
  patchTo,
  rightsOf,
  sameCode,
  type AppAuthor,
} from "./patch.ts";

export interface AppAt extends At<AppAuthor>, AppsContext {
  readonly caller: AppAuthor;
  /** No text may contain its token. */
  readonly request?: Request;
  /** What the change was checked against and built from. */
  readonly seen?: AppRow;
  /** Undefined: the code stays what it is. */
  readonly build?: Build | undefined;
}

export type FullRow = NonNullable<Awaited<ReturnType<typeof findApp>>>;
type AppChange = Change<typeof fields, "uuid">;

export const ifMatch = 'With `If-Match: "<etag>"`: 412 if that version is no longer the latest.';
const buildFails = { source_code: ["3:14 Unexpected token"] };

/** Changed meanwhile: it is checked and built again. */
class Outdated extends Error {}

export const App = resource("app", {
  table: "apps",
  path: "/core/apps",
  id: "uuid",
  byCode: "url_code",
  privilege: "apps",
  model: "Core::App",
  events: true,
  others: ["app_code", "css_code", "toolchain", "failed_build"],
  fields,
  filters: {
    q: filter.searching(
      ["name", "url_code", "description"],
      "searches name, url_code and description; `*` and `%` are wildcards",
    ),
    app_engine: filter.exact(appEngines.join(", ")),
    show_in_module: filter.exact("exactly this module or view"),
    dashboard_widget: {
      doc: Type.Boolean({ description: "`true`: only apps that can be dashboard tiles" }),
      where: tileOrNot,
    },
    active: filter.flagged(Type.Boolean({ description: "true or false" })),
    public: filter.flagged(Type.Boolean({ description: "true or false" })),
  },
  check,
  mayErase({ caller }: AppAt, row) {
    mustBeAllowed(rightsOf(caller), { before: row, after: row, trusted: row.trusted });
  },
  async changed({ build }, { after }, tx) {
    if (after && build) await keepBuild(tx, after.accountId, after.id, build);
    if (after) await keepVersion(tx, after);
  },
  committed: (at, { before, after }: Changed<typeof fields, "uuid">) =>
    forget(at, ...[before, after].filter((row) => row !== undefined)),
  hints: ({ names }, row) => unknownNames(names, row),
  named: { noun: "an app", keys: ({ urlCode, id }) => [urlCode, id] },
  example: { id: "019a9c1e-0000-7000-8000-000000000003" },
  request: [
    "name",
    "url_code",
    "description",
    "app_engine",
    "css_engine",
    "source_code",
    "public",
    "db_code",
    "actions",
  ],
  change: { name: "Clicks" },
  changes: { updated_by_id: 1 },
  docs: {
    create: {
      summary: "Create an app",
      description:
        "The source is compiled at once; a failed build is 422 under `source_code`, with line and column. Without a " +
        "`url_code` one is made from the name. The page is at `/a/<url_code>`. `db_code` requires the privilege `dbs`, " +
        "and `actions` require `flows`.",
      refusals: { 422: buildFails },
    },
    change: {
      summary: "Change an app",
      description:
        "Changes only the given fields. A failed build changes nothing. `fields` is replaced as a whole, but keeps " +
        `\`dashboard_widget\`. ${ifMatch}`,
      refusals: { 422: buildFails },
    },
    delete: { summary: "Delete an app with its versions and its visitors' stored values", description: ifMatch },
  },
});

/** By id or url_code. */
export async function findApp(on: Queryable, accountId: number, ref: Ref<"uuid">) {
  return "id" in ref || isKey(ref.code) ? find(App, on, accountId, ref) : undefined;
}

export async function makeApp(at: AppAt, given: NewApp): Promise<FullRow> {
  const app = await planned(at, undefined, given);
  const build = await builds.buildOf(at, app, at.caller.account.id);
  return create(App, { ...at, build }, given);
}

/** `work` gets the current app. `expected` is the version that the caller has seen; undefined = any. */
export async function changeApp(
  at: AppAt,
  ref: Ref<"uuid">,
  work: (before: FullRow) => AppPatch,
  expected: (id: string) => number | undefined = () => undefined,
): Promise<{ before: FullRow; after: FullRow }> {
  const { id } = await found(App, at, ref);
  return at.saving.run(id, async () => {
    for (;;) {
      const seen = await found(App, at, { id });
      mustMatch(seen, expected(id));
      const given = work(seen);
      const app = await planned(at, seen, given);
      // Built before the transaction, so that the row is not locked meanwhile.
      const build = sameCode(app, seen) ? undefined : await builds.buildOfChange(at, app, seen, () => forget(at, seen));
      try {
        return await change(App, { ...at, seen, build }, { id }, given, expected);
      } catch (error) {
        if (!(error instanceof Outdated)) throw error;
      }
    }
  });
}

/** The app after the change, which is checked: 422, 403. */
async function planned(
  { caller, request, databases }: AppAt,
  before: FullRow | undefined,
  given: AppPatch,
): Promise<SavedFields> {
  checkPatch(given, request && (credentialOf(request.headers)?.token ?? ""));
  const after = applied(before ?? blank, given);
  const trusted = given.trusted ?? before?.trusted ?? false;
  mustBeAllowed(rightsOf(caller), { before, after, trusted });
  await mustOpenAll(databases, caller, after);
  return after;
}

async function check(
  { seen, build, caller }: AppAt,
  { tx, given, before }: AppChange,
): Promise<DraftOf<typeof fields>> {
  if (before && before.version !== seen?.version) throw new Outdated();
  const app = applied(before ?? blank, given);
  return {
    ...app,
    urlCode: app.urlCode === "" ? await codeFor(tx, caller.account.id, app.name, before?.urlCode) : app.urlCode,
    trusted: given.trusted ?? before?.trusted ?? false,
    icon: given.icon === undefined ? (before?.icon ?? null) : given.icon,
    color: given.color === undefined ? (before?.color ?? null) : given.color,
    appBuildTime: build?.appBuildMs ?? before?.appBuildTime ?? 0,
    cssBuildTime: build?.cssBuildMs ?? before?.cssBuildTime ?? 0,
  };
}

/** `own` is the code that the app has: it is not taken by another. */
async function codeFor(tx: Tx, accountId: number, name: string, own?: string): Promise<string> {
  const wanted = slugOf(name) || "app";
  return wanted === own ? own : freeCode(tx, { table: "apps", column: "url_code", accountId }, wanted);
}

/** The keys of `fields` that mean something here; people keep others beside them. */
const readFields = ["dashboard_widget", "dbs", "home_width"];

/** Hints about databases and flows that the account does not have, and about keys of `fields` that are nearly known. */
export async function unknownNames(names: Names, row: AppRow): Promise<readonly string[]> {
  const { accountId, dbCode, fields: own } = row;
  const further = databasesOf({ dbCode: null, fields: own });
  const unknown = await names.unknown(accountId, [
    ...(dbCode === null ? [] : [{ place: "db_code", model: "Core::Db", key: dbCode }]),
    ...further.map((key) => ({ place: "fields.dbs", model: "Core::Db", key })),
    ...row.actions.map(({ flow_code: key }, at) => ({ place: `actions[${at}].flow_code`, model: "Core::Flow", key })),
  ]);
  return [...unknown, ...misspeltNames(Object.keys(own), readFields, (key) => `unknown field "${key}" in "fields"`)];
}

/** Apps for other plugins, which need no privileges for this. */
export function appsService(ctx: AppsContext): Apps {
  return {
    async put({ accountId, userId }, app) {
      const at = { ...ctx, caller: { account: { id: accountId }, user: { id: userId }, privileges: null } };
      const row = await findApp(ctx.sql, accountId, { code: app.url_code });
      if (!row) return { id: (await makeApp(at, app)).id, done: "made" };
      const { id, trusted } = row;
      if ((app.trusted ?? trusted) === trusted && printed(patchTo(applied(row, app))) === printed(patchTo(row)))
        return { id, done: "unchanged" };
      await changeApp(at, { id }, () => app);
      return { id, done: "changed" };
    },
    promptOf: async (accountId, key) =>
      (await findApp(ctx.sql, accountId, isUuid(key) ? { id: key } : { code: key }))?.prompt,
  };
}

/** JSON with sorted keys, because the database does not keep their order. */
function printed(value: unknown): string {
  const inOrder = (inner: object) => Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(value, (_, inner: unknown) => (isObject(inner) ? Object.fromEntries(inOrder(inner)) : inner));
}
