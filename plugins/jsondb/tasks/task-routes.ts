import { answer, list, notFound, ok, pageOf, pageQuery, route, uuidOf, type Route } from "platform";
import type { Databases } from "../databases/database-store.ts";
import { databaseAt } from "../records/record-routes.ts";
import { ListedTask, ShownTask } from "./answers.ts";
import { toApi, type TaskStore } from "./task-store.ts";

const access = { privilege: "dbs" } as const;

const example = {
  id: "019a9c1e-0000-7000-8000-000000000003",
  kind: "import",
  status: "finished",
  done: 3,
  total: 3,
  stored: 2,
  failed: 1,
  error: null,
  created_by_id: 1,
  started_at: "2026-01-31T10:00:00.000Z",
  finished_at: "2026-01-31T10:00:04.000Z",
};

interface Needed {
  readonly databases: Databases;
  readonly taskStore: Pick<TaskStore, "list" | "byId">;
}

/** Imports, exports and re-indexing that run or ran; `:id` of a database is an id or a code. */
export function taskRoutes({ databases, taskStore }: Needed): Route[] {
  return [
    route(
      "GET",
      "/core/dbs/:id/tasks",
      {
        summary: "List imports, exports and re-indexing",
        description:
          "The newest first, kept for 7 days, at most 100 of a database. `done` counts the rows that were read, or the records that were exported or indexed; `total` is null until it is known; `stored` and `failed` are rows of an import. An import or export whose server stopped is `failed` two minutes later. Exports of more than 1,000 records are listed.",
        access,
        query: { kind: "import, export or reindex", status: "running, finished or failed", ...pageQuery },
        answers: { 200: answer.list(ListedTask) },
        responses: { 200: [example] },
      },
      async ({ account, params, query }) => {
        const db = await databaseAt(databases, account.id, params.id);
        const filter = { kind: query.get("kind") || undefined, status: query.get("status") || undefined };
        const { rows, total } = await taskStore.list(account.id, db.id, filter, pageOf(query));
        return list(rows.map(toApi), total);
      },
    ),
    route(
      "GET",
      "/core/dbs/:id/tasks/:task_id",
      {
        summary: "One import, export or re-indexing, with its faulty rows",
        description: "`errors` are the first 100 mistakes in rows, as the answer of the import has them.",
        access,
        answers: { 200: ShownTask },
        responses: { 200: { ...example, errors: [{ row: 3, line: 4, field: "email", message: "is required" }] } },
      },
      async ({ account, params }) => {
        const db = await databaseAt(databases, account.id, params.id);
        const row = await taskStore.byId(account.id, db.id, uuidOf(params.task_id));
        if (!row) throw notFound();
        return ok({ ...toApi(row), errors: row.errors });
      },
    ),
  ];
}
