import { badRequest, field, invalid, ok, route, Type, warned, type Reply, type Route } from "platform";
import { narrowing, narrows } from "./scope.ts";
import type { Database } from "../databases/database.ts";
import { databaseAt } from "../databases/cache.ts";
import { unknownTable } from "../records/record-routes.ts";
import { fieldHints, namedFields, readList } from "../search/query.ts";
import { filterParameters, namesParameter } from "../search/search-routes.ts";
import { UnknownTable } from "../records/answers.ts";
import { ListedTask } from "../tasks/answers.ts";
import { taskExample } from "../tasks/task-routes.ts";
import { toApi } from "../tasks/task-store.ts";
import * as changes from "./change-many.ts";
import type { JsondbContext } from "../context.ts";

const access = { privilege: "dbs" } as const;

const Change = Type.Object({
  op: field.oneOf(["update", "delete"]),
  data: Type.Optional(field.object()),
  all: Type.Optional(Type.Boolean()),
});

/** `:id` of a database is an id or a code. */
export function changeManyRoute(ctx: JsondbContext): Route {
  return route(
    "POST",
    "/core/dbs/:db_id/bulk",
    {
      summary: "Change or delete all records that filters find",
      description:
        "`update` merges `data` into each record, key by key, and leaves it in its table; `delete` deletes it. The records are those that the list finds with the same `table_name`, `q` and filters, and that existed when it began; without any of them `all` must be true. The answer is a task that goes on by itself: `/core/dbs/:db_id/tasks/:task_id` says how far it is, and names the records that were refused. It cannot be undone, but stopped. One of each database at a time.",
      access,
      query: {
        table_name: "only this table",
        q: "phrase, as in the list of records",
        search_in: namesParameter("fields for `q`"),
        ...filterParameters,
      },
      asks: { "filter[email]": "ann@example.com" },
      body: { schema: Change },
      request: { op: "update", data: { city: "Łódź" } },
      answers: { 202: ListedTask, 400: UnknownTable },
      responses: {
        202: { ...taskExample, kind: "update", status: "running", done: 0, total: null, stored: 0, finished_at: null },
        ...unknownTable,
        409: { error: "many records of this database are being changed already, wait for the end or stop it" },
        422: { data: ["is required"] },
      },
    },
    async ({ account, caller, params, query, body }) => {
      const db = await databaseAt(ctx, account.id, params.db_id);
      const { op, data, all } = body;
      const asked = askedOf(query, all === true);
      if (op === "update" && data === undefined) throw invalid({ data: ["is required"] });
      if (op === "delete" && data !== undefined) throw invalid({ data: ["must be left out of a deletion"] });
      const task = await changes.beginChange(ctx, db, { query: asked, data, userId: caller.user.id });
      const reply: Reply = { ...ok(toApi(task), { "x-task-id": task.id }), status: 202 };
      return warned(reply, hintsOf(db, asked));
    },
  );
}

/** A parameter that was misspelt must not change more records than were meant. */
function askedOf(query: URLSearchParams, all: boolean): URLSearchParams {
  const unknown = [...query.keys()].find((name) => !narrows(name));
  if (unknown !== undefined) throw badRequest(`unknown parameter \`${unknown.slice(0, 100)}\``);
  const asked = new URLSearchParams(narrowing(query));
  if (asked.size === 0 && !all) throw invalid({ all: ["must be true to change every record: or send filters"] });
  return asked;
}

function hintsOf(db: Database, asked: URLSearchParams): string[] {
  const found = readList(db, asked);
  return fieldHints(db, found, namedFields(found));
}
