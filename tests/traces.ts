/**
 * What a request leaves behind; a refused one must leave no row and no event.
 *
 *     const app = await startTestApp({ plugins: [...plugins, follower] });
 *     const before = await traces(app, "apps", "app_versions");
 *     expect((await app.post("/core/apps.json", { app: {} })).status).toBe(422);
 *     expect(await traces(app, "apps", "app_versions")).toEqual(before);
 */
import { modelChanged, type ModelEvent } from "../runtime/events/models.ts";
import { definePlugin, onEvent } from "../runtime/plugin/plugin.ts";
import type { TestApp } from "./harness.ts";

const name = "everything";

/** What is logged is told of later, in a transaction of its own. */
const when = ({ sourceType }: ModelEvent) => sourceType !== "Core::Activity";

/** Follows every change of every model, so that each event is written. */
export const follower = definePlugin({
  name: "follower",
  setup: () => ({ handlers: [onEvent(modelChanged, name, async () => {}, { when })] }),
});

/** A digest of each table's rows, and the number of events ever written. */
export async function traces({ sql }: Pick<TestApp, "sql">, ...tables: string[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const table of tables) {
    const [row] = await sql<{ rows: string }[]>`
      select count(*) || ' ' || coalesce(md5(string_agg(row::text, ' ' order by row::text)), '') as rows
      from ${sql(table)} t, lateral (select to_jsonb(t) - 'last_used_at' - 'last_address' as row) shown`;
    found[table] = row?.rows ?? "";
  }
  const [events] = await sql<{ count: string }[]>`
    select count(*)::text as count from (select name from jobs union all select name from job_history) all_jobs
    where name like ${`%${name}%`}`;
  return { ...found, events: events?.count ?? "" };
}
