import { isOpenTo } from "./databases/database.ts";
import { definePlugin, setting, type Route, type Nameable, type Sql, type Uses } from "platform";
import { accounts } from "../accounts/api.ts";
import { mail } from "../mail/api.ts";
import { media } from "../media/api.ts";
import { tokens } from "../tokens/api.ts";
import { aggregateRoutes } from "./search/aggregate-routes.ts";
import { jsonDatabases } from "./api.ts";
import { backgroundJobs } from "./databases/jobs.ts";
import { batchRoute, changeManyRoute } from "./bulk/routes.ts";
import { exportRoute } from "./bulk/exports/routes.ts";
import { fileReading } from "./bulk/files/files.ts";
import { fromFileRoute, previewRoute } from "./bulk/files/routes.ts";
import { createImportPlaces } from "./bulk/imports/body.ts";
import { importRoute } from "./bulk/imports/routes.ts";
import * as liveStore from "./live/store.ts";
import { find, forget } from "./databases/cache.ts";
import { clientCommand, clientFacts } from "./databases/commands.ts";
import { databaseCache, Db, dropRecords } from "./databases/db.ts";
import { dropKeysHandler, endUnfinished } from "./databases/switch.ts";
import { dropViewsOfNobody, expireDeleted, namingApp } from "./databases/store.ts";
import type { JsondbContext } from "./context.ts";
import { createEvents } from "./live/events.ts";
import { indexRoute } from "./indexes/routes.ts";
import { buildDeclared, createLearning, indexHandler, pruneIndexes } from "./indexes/learning.ts";
import { followAccounts, prepareSorted, sortedHandler, tendSorted } from "./indexes/sorted.ts";
import { eventRoutes } from "./live/routes.ts";
import * as importStore from "./bulk/imports/store.ts";
import { changeManyHandler } from "./bulk/change-many.ts";
import migration from "./migrations/001_jsondb.sql" with { type: "text" };
import bulkMigration from "./migrations/002_bulk.sql" with { type: "text" };
import sortMigration from "./migrations/003_sort_indexes.sql" with { type: "text" };
import taskMigration from "./migrations/004_tasks.sql" with { type: "text" };
import changesMigration from "./migrations/005_bulk_changes.sql" with { type: "text" };
import fragmentMigration from "./migrations/006_fragments.sql" with { type: "text" };
import finishedMigration from "./migrations/008_finished_imports.sql" with { type: "text" };
import declaredMigration from "./migrations/009_declared_sorts.sql" with { type: "text" };
import fragmentPlanMigration from "./migrations/011_fragment_plan.sql" with { type: "text" };
import pendingMigration from "./migrations/012_pending_list.sql" with { type: "text" };
import taskWarnings from "./migrations/013_task_warnings.sql" with { type: "text" };
import textSizeMigration from "./migrations/014_text_size.sql" with { type: "text" };
import hashesMigration from "./migrations/015_learned_hashes.sql" with { type: "text" };
import sortedStrings from "./migrations/016_sorted_strings.sql" with { type: "text" };
import equalStrings from "./migrations/017_equal_strings.sql" with { type: "text" };
import learnedMigration from "./migrations/007_learned_indexes.sql" with { type: "text" };
import accountKeys from "./migrations/010_account_keys.sql" with { type: "text" };
import accessMigration from "./migrations/018_access.sql" with { type: "text" };
import linkMigration from "./migrations/019_links.sql" with { type: "text" };
import { linkingCache } from "./links/links.ts";
import { linkedRoute } from "./links/routes.ts";
import { peopleRoute } from "./people/routes.ts";
import { lookRoute } from "./access/routes.ts";
import uniqueMigration from "./migrations/020_unique_fields.sql" with { type: "text" };
import renamesMigration from "./migrations/021_renames.sql" with { type: "text" };
import viewMigration from "./migrations/022_views.sql" with { type: "text" };
import trashMigration from "./migrations/023_trash.sql" with { type: "text" };
import commentMigration from "./migrations/024_comments.sql" with { type: "text" };
import dbTrashMigration from "./migrations/025_db_trash.sql" with { type: "text" };
import historyMigration from "./migrations/026_history.sql" with { type: "text" };
import leftMigration from "./migrations/027_left_records.sql" with { type: "text" };
import look from "./migrations/028_look.sql" with { type: "text" };
import historyOfDb from "./migrations/029_history_of_db.sql" with { type: "text" };
import charts from "./migrations/030_charts.sql" with { type: "text" };
import importedRecords from "./migrations/031_imported_records.sql" with { type: "text" };
import instructions from "./prompts/dbs_api.md" with { type: "text" };
import { publicRoutes } from "./public/routes.ts";
import { recordExample, recordRoutes } from "./records/routes.ts";
import { accountSettings } from "./records/events.ts";
import { visitorsRoom } from "./public/room.ts";
import { dbRoutes } from "./databases/routes.ts";
import { createFragments } from "./search/fragments.ts";
import { filterHints } from "./search/query.ts";
import { searchRoutes } from "./search/routes.ts";
import { hasFragmentIndex, searchCaches, tidyFragments } from "./search/store.ts";
import { jsondbService } from "./service.ts";
import { taskRoutes } from "./tasks/routes.ts";
import * as taskStore from "./tasks/store.ts";
import { Comment, commentSample } from "./comments/comment.ts";
import { inboxRoutes } from "./comments/inbox-routes.ts";
import { mentionTemplate } from "./comments/mails.ts";
import { commentRoutes } from "./comments/routes.ts";
import * as commentStore from "./comments/store.ts";
import { viewRoutes } from "./views/routes.ts";
import { View } from "./views/view.ts";
import { historyRoutes } from "./history/routes.ts";
import { sweepHistory } from "./history/history.ts";
import { trashRoutes } from "./trash/routes.ts";
import * as trashStore from "./trash/store.ts";

const { data: recordData, ...recordFacts } = recordExample;
/** Flat, as events have it (behaviour B.8). */
const recordSample = { ...recordData, ...recordFacts, db_code: "customers" };

/** JSON databases and their records. behaviour 2.4, B.7. */
export default definePlugin({
  name: "jsondb",
  needs: { accounts, mail, media, tokens },
  accountSettings,
  provides: jsonDatabases,
  config: {
    rateLimitRequests: setting.integer(
      "RATE_LIMIT_REQUESTS",
      300,
      "Calls of public methods per client address and window",
      {
        min: 1,
        max: 1e9,
      },
    ),
    rateLimitCreates: setting.integer(
      "RATE_LIMIT_CREATES",
      60,
      "Public records created per client address and window",
      { min: 1, max: 1e9 },
    ),
    rateLimitWindowSeconds: setting.integer("RATE_LIMIT_WINDOW_SECONDS", 10, "Length of that window", {
      min: 1,
      max: 86_400,
    }),
    historyDays: setting.integer(
      "HISTORY_DAYS",
      365,
      "Days that changes of records are kept, where a table keeps them",
      {
        min: 1,
        max: 36_500,
      },
    ),
    historyEntries: setting.integer("HISTORY_ENTRIES", 1000, "Changes of each record that are kept", {
      min: 1,
      max: 100_000,
    }),
    historyBytes: setting.integer("HISTORY_BYTES", 20_000_000, "Bytes that the changes of each record may take", {
      min: 10_000,
      max: 1e12,
    }),
    visitorBytesPerDatabase: setting.integer(
      "VISITOR_BYTES_PER_DATABASE",
      1_000_000_000,
      "Visitors store nothing more in a database of this size",
      { min: 0, max: 1e15 },
    ),
    visitorBytesPerAddress: setting.integer(
      "VISITOR_BYTES_PER_ADDRESS",
      100_000_000,
      "Bytes that the visitors of one address may store per day",
      { min: 0, max: 1e15 },
    ),
  },
  migrations: [
    { name: "001_jsondb", sql: migration },
    { name: "002_bulk", sql: bulkMigration },
    { name: "003_sort_indexes", sql: sortMigration },
    { name: "004_tasks", sql: taskMigration },
    { name: "005_bulk_changes", sql: changesMigration },
    { name: "006_fragments", sql: fragmentMigration },
    { name: "007_learned_indexes", sql: learnedMigration },
    { name: "008_finished_imports", sql: finishedMigration },
    { name: "009_declared_sorts", sql: declaredMigration },
    { name: "010_account_keys", sql: accountKeys },
    { name: "011_fragment_plan", sql: fragmentPlanMigration },
    { name: "012_pending_list", sql: pendingMigration },
    { name: "013_task_warnings", sql: taskWarnings },
    { name: "014_text_size", sql: textSizeMigration },
    { name: "015_learned_hashes", sql: hashesMigration },
    { name: "016_sorted_strings", sql: sortedStrings },
    { name: "017_equal_strings", sql: equalStrings },
    { name: "018_access", sql: accessMigration },
    { name: "019_links", sql: linkMigration },
    { name: "020_unique_fields", sql: uniqueMigration },
    { name: "021_renames", sql: renamesMigration },
    { name: "022_views", sql: viewMigration },
    { name: "023_trash", sql: trashMigration },
    { name: "024_comments", sql: commentMigration },
    { name: "025_db_trash", sql: dbTrashMigration },
    { name: "026_history", sql: historyMigration },
    { name: "027_left_records", sql: leftMigration },
    { name: "028_look", sql: look },
    { name: "029_history_of_db", sql: historyOfDb },
    { name: "030_charts", sql: charts },
    { name: "031_imported_records", sql: importedRecords },
  ],
  commands: [clientFacts],
  privileges: [{ name: "dbs", doc: "databases and their records", roles: ["manager", "user"] }],
  prompts: { "dbs_api.md": instructions },
  children: { files: () => import("./bulk/files/child.ts") },
  models: [
    { name: Db.model, privilege: "dbs", sample: Db.examples.one },
    {
      name: "Core::Record",
      privilege: "dbs",
      sample: recordSample,
      anyKeys: true,
      partOf: { model: Db.model, key: "db_code" },
    },
    {
      name: Comment.model,
      privilege: "dbs",
      sample: commentSample,
      partOf: { model: Db.model, key: "db_code" },
    },
  ],
  resources: [Db, View, Comment],
  activity: {
    dbs: { ...Db.activity, quiet: [...(Db.activity.quiet ?? []), "plan_xid", "key_sets", "renames", "former"] },
    records: false,
    db_tasks: false,
    bulk_changes: false,
    db_task_errors: false,
    db_task_records: false,
    db_indexes: false,
    record_links: false,
    // Who may read the log may not be who may read the record.
    record_comments: { ...Comment.activity, secrets: ["text"] },
    inbox_notices: false,
    record_keys: false,
    record_trash: false,
    record_history: false,
    db_trash: false,
  },

  setup(ctx) {
    const { sql } = ctx;
    const databaseContext = {
      ...ctx,
      accounts: ctx.services.accounts,
      databases: databaseCache(ctx.cache, sql),
      linking: linkingCache(ctx.cache, sql),
    };
    const fragments = createFragments(ctx, { exists: () => hasFragmentIndex(sql), empty: () => tidyFragments(sql) });
    const jsondb: JsondbContext = {
      ...databaseContext,
      tokens: ctx.services.tokens,
      mail: ctx.services.mail,
      media: ctx.services.media,
      inboxSources: [],
      mentionMails: ctx.limiter("jsondb.mentions", { limit: 100, windowSeconds: 3600 }),
      fragments,
      learning: createLearning(ctx),
      searches: searchCaches(),
      visitors: visitorsRoom(ctx.limiter, ctx.config.visitorBytesPerAddress),
      live: createEvents(databaseContext),
      fileReader: fileReading(ctx),
      importPlaces: createImportPlaces(),
    };
    followAccounts(jsondb);
    ctx.services.mail.registerTemplate(mentionTemplate(jsondb));
    return {
      nameables: [nameable(jsondb)],
      uses: appUses(sql),
      service: jsondbService(jsondb),
      handlers: [
        ...backgroundJobs(jsondb),
        dropKeysHandler(jsondb),
        changeManyHandler(jsondb),
        indexHandler(jsondb),
        sortedHandler(jsondb),
      ],
      schedules: [
        { id: "jsondb.sorts", cron: "*/10 * * * *", run: () => buildDeclared(jsondb) },
        { id: "jsondb.sorted", cron: "*/10 * * * *", run: () => tendSorted(jsondb) },
        { id: "jsondb.comments", cron: "41 3 * * *", run: () => commentStore.dropLost(sql) },
        { id: "jsondb.prune", cron: "23 * * * *", run: () => prune(jsondb) },
      ],
      prepare: async () => {
        await fragments.prepare();
        await prepareSorted(jsondb);
      },
      async stop() {
        jsondb.live.stop();
        await fragments.stop();
        await jsondb.learning.stop();
        await jsondb.fileReader.stop();
      },
      commands: [clientCommand(jsondb)],
      routes: routesOf(jsondb),
    };
  },
});

/** By code or id. */
function nameable(jsondb: JsondbContext): Nameable {
  return {
    model: Db.model,
    noun: "database",
    exists: async (accountId, key) => (await find(jsondb, accountId, key)) !== undefined,
    idOf: async (accountId, key) => (await find(jsondb, accountId, key))?.id,
    opens: async (accountId, key, person) => {
      const stored = await find(jsondb, accountId, key);
      return stored === undefined || isOpenTo(stored, person, "read");
    },
    hints: async (accountId, key, values) => {
      const db = await find(jsondb, accountId, key);
      return db ? filterHints(db.whole, values) : [];
    },
  };
}

/** The databases that name an app. */
function appUses(sql: Sql): Uses {
  return {
    privilege: "dbs",
    find: async (accountId, { model, keys }, limit) => {
      const rows = model === "Core::App" ? await namingApp(sql, accountId, keys, limit) : [];
      return rows.map(({ id, name }) => ({ kind: "database", id, name, path: `/core/dbs/${id}.json` }));
    },
  };
}

function routesOf(jsondb: JsondbContext): Route[] {
  return [
    ...dbRoutes(jsondb),
    ...viewRoutes(jsondb),
    ...recordRoutes(jsondb),
    ...trashRoutes(jsondb),
    ...historyRoutes(jsondb),
    ...commentRoutes(jsondb),
    ...inboxRoutes(jsondb),
    ...searchRoutes(jsondb),
    linkedRoute(jsondb),
    peopleRoute(jsondb),
    lookRoute(jsondb),
    ...publicRoutes(jsondb),
    previewRoute(jsondb),
    fromFileRoute(jsondb),
    importRoute(jsondb),
    ...taskRoutes(jsondb),
    indexRoute(jsondb),
    exportRoute(jsondb),
    batchRoute(jsondb),
    changeManyRoute(jsondb),
    ...aggregateRoutes(jsondb),
    ...eventRoutes(jsondb),
  ];
}

/** Deletes what nobody can ask for any more. */
async function prune(jsondb: JsondbContext): Promise<void> {
  const { sql } = jsondb;
  await importStore.prune(sql, 2);
  await endUnfinished(jsondb);
  await taskStore.prune(sql, 7);
  const idle = await jsondb.transaction(liveStore.endIdle);
  for (const db of idle) await forget(jsondb, db.accountId, db);
  await liveStore.prune(sql, 24);
  await pruneIndexes(jsondb);
  while ((await trashStore.prune(sql, 1000)) > 0);
  await sweepHistory(jsondb);
  await dropViewsOfNobody(sql);
  await commentStore.prune(sql, 365);
  await jsondb.transaction(async (tx) => {
    for (const { id: dbId, accountId } of await expireDeleted(tx))
      await jsondb.enqueue(dropRecords, { accountId, dbId }, { key: dbId, tx, accountId });
  });
}
