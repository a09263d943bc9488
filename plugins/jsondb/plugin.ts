import { definePlugin } from "platform";
import { accounts } from "../accounts/api.ts";
import { createChanges } from "./changes.ts";
import { createDbs } from "./dbs.ts";
import migration from "./migrations/001_jsondb.sql" with { type: "text" };
import { recordExample, recordRoutes } from "./record-routes.ts";
import { createRecordStore } from "./record-store.ts";
import { createRecords } from "./records.ts";
import { dbExample, dbRoutes } from "./routes.ts";
import { searchRoutes } from "./search-routes.ts";
import { createSearchStore, hasFragmentIndex } from "./search-store.ts";
import { createDatabases, createDbStore } from "./store.ts";

/** JSON databases and their records. SPEC 2.4, CONTRACT 7. */
export default definePlugin({
  name: "jsondb",
  needs: { accounts },
  migrations: [{ name: "001_jsondb", sql: migration }],
  privileges: [{ name: "dbs", doc: "databases and their records", roles: ["manager", "user"] }],
  models: [
    { name: "Core::Db", sample: dbExample },
    {
      name: "Core::Record",
      sample: { ...recordExample.data, ...recordExample, db_code: "customers" },
    },
  ],

  async setup(ctx) {
    const { sql } = ctx;
    const store = createDbStore(sql);
    const databases = createDatabases(ctx, store);
    const recordStore = createRecordStore(sql);
    const searches = createSearchStore(sql, databases, await hasFragmentIndex(sql));
    const changes = createChanges();
    const dbs = createDbs({ ctx, store, databases });
    const records = createRecords({ ctx, databases, store: recordStore, changes });
    return {
      routes: [
        ...dbRoutes({ store, dbs }),
        ...recordRoutes({ databases, records, store: recordStore }),
        ...searchRoutes({ ctx, databases, searches }),
      ],
    };
  },
});
