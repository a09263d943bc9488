/** What each person tries to change in a database of their own, and what comes of it. */
import type { RequestOptions, TestApp } from "../harness.ts";
import { canaries, grantOf, made, may, sees, type Canary, type Persona } from "./world.ts";

export interface Place {
  readonly db: string;
  readonly open: string;
  readonly closed: string;
  readonly trashed: string;
  readonly trashedClosed: string;
  readonly comment: string;
  readonly closedComment: string;
  readonly view: string;
  readonly task: string;
}

export interface Attempt {
  readonly route: `${string} /${string}`;
  readonly path: (place: Place) => string;
  readonly body?: object | ((place: Place) => object);
  readonly raw?: RequestOptions;
  readonly status: (who: Persona) => number;
  /** It is about a record that some people cannot see: to them it is as if there were none. */
  readonly of?: (place: Place) => string;
}

const fields = { title: "string", stage: "string", amount: "integer", hush: "string" };
const schema = { fields, history: true };

export async function placeFor(app: TestApp, who: Persona, at: number): Promise<{ place: Place; token: string }> {
  const code = `own_${at}`;
  const db = await made(app, "/core/dbs", { db: { name: code, code, schema } });
  const deal = (stage: "open" | "closed") => {
    const hush = stage === "open" ? canaries.hiddenOpen : canaries.hiddenClosed;
    return made(app, `/core/dbs/${db}/records`, {
      record: { data: { title: canaries[stage], stage, amount: 1, hush } },
    });
  };
  const [open, closed, trashed, trashedClosed] = [
    await deal("open"),
    await deal("closed"),
    await deal("open"),
    await deal("closed"),
  ];
  for (const id of [trashed, trashedClosed]) await app.delete(`/core/dbs/${db}/records/${id}`);
  const say = (id: string) => made(app, `/core/dbs/${db}/records/${id}/comments`, { comment: { text: "x" } });
  const [comment, closedComment] = [await say(open), await say(closed)];
  const view = await made(app, `/core/dbs/${db}/views`, { view: { name: "All", shared: true } });
  const raw = { raw: "amount\nx\n", headers: { "content-type": "text/csv" } };
  const task = (await app.post(`/core/dbs/${db}/import?partial=true`, undefined, raw)).headers.get("x-task-id") ?? "";
  const place = { db, open, closed, trashed, trashedClosed, comment, closedComment, view, task };
  await app.patch(`/core/dbs/${db}`, { db: { access: grantOf(who) } });
  if (!who.name.startsWith("token")) return { place, token: who.token };
  const databases = who.level === "none" ? { elsewhere: "read" } : { [db]: who.level };
  const own = await app.post("/account/api_tokens", { api_token: { name: code, databases } });
  return { place, token: own.json.token };
}

type Level = Parameters<typeof may>[1];

/** 404 for whom the database is closed, 403 below the level, then what follows. */
function gate(level: Level, then: (who: Persona) => number): Attempt["status"] {
  return (who) => (may(who, "read") ? (may(who, level) ? then(who) : 403) : 404);
}

const seen =
  (what: Canary, status: number, unseen = 404) =>
  (who: Persona) =>
    sees(who, what) ? status : unseen;

const stays = (who: Persona) => (who.where === "all" ? 200 : 403);
const manages = (status: number) => gate("manage", () => status);
const at = (rest: (place: Place) => string) => (place: Place) => `/core/dbs/${place.db}${rest(place)}`;
const record = (data: object) => ({ record: { data } });
const csv = (raw: string): RequestOptions => ({ raw, headers: { "content-type": "text/csv" } });
const one = "/core/dbs/:db_id/records/:id";
const batched = (...operations: object[]) => ({ operations });
const added = { op: "create", data: { title: "new", stage: "open" } };

/** In this order, first those that are refused. */
export const attempts: readonly Attempt[] = [
  {
    route: "POST /core/dbs/:db_id/records",
    path: at(() => "/records"),
    body: record({ title: "new", stage: "open" }),
    status: gate("add", seen("open", 201, 403)),
  },
  {
    route: "POST /core/dbs/:db_id/records",
    path: at(() => "/records"),
    body: record({ title: "new", stage: "elsewhere" }),
    status: gate("add", ({ where }) => (where === "all" ? 201 : 403)),
  },
  {
    route: "POST /core/dbs/:db_id/records",
    path: at(() => "/records"),
    body: record({ title: "new", stage: "open", hush: "x" }),
    status: gate("add", (who) => (who.hides ? 422 : seen("open", 201, 403)(who))),
  },
  ...(["open", "closed"] as const).flatMap((what): Attempt[] => [
    {
      route: "POST /core/dbs/:db_id/batch",
      path: at(() => "/batch"),
      body: (place: Place) => batched({ op: "update", id: place[what], data: { amount: 3 } }),
      status: gate("add", (who) => (sees(who, what) ? (may(who, "edit") ? 200 : 403) : 422)),
    },
    {
      route: `PATCH ${one}`,
      path: at((place) => `/records/${place[what]}`),
      body: record({ amount: 2 }),
      status: gate("edit", seen(what, 200)),
      of: (place) => place[what],
    },
    {
      route: "POST /core/dbs/:db_id/records/:id/history/:n/restore",
      path: at((place) => `/records/${place[what]}/history/1/restore`),
      status: gate("edit", seen(what, 200)),
      of: (place) => place[what],
    },
    {
      route: "POST /core/dbs/:db_id/records/:id/comments",
      path: at((place) => `/records/${place[what]}/comments`),
      body: { comment: { text: "y" } },
      status: (who) => (may(who, "add") ? seen(what, 201)(who) : may(who, "read") ? 403 : 404),
      of: (place) => place[what],
    },
  ]),
  {
    route: `PATCH ${one}`,
    path: at(({ open }) => `/records/${open}`),
    body: record({ hush: "x" }),
    status: gate("edit", (who) => (sees(who, "open") ? (who.hides ? 422 : 200) : 404)),
  },
  {
    route: `PATCH ${one}`,
    path: at(({ open }) => `/records/${open}`),
    body: record({ stage: "elsewhere" }),
    status: gate("edit", (who) => (sees(who, "open") ? stays(who) : 404)),
  },
  {
    route: "POST /core/dbs/:db_id/batch",
    path: at(() => "/batch"),
    body: batched(added),
    status: gate("add", seen("open", 200, 403)),
  },
  {
    route: "POST /core/dbs/:db_id/batch",
    path: at(() => "/batch"),
    body: batched(added, { op: "create", data: { title: "new", stage: "elsewhere" } }),
    status: gate("add", ({ where }) => (where === "all" ? 200 : 403)),
  },
  {
    route: "POST /core/dbs/:db_id/batch",
    path: at(() => "/batch"),
    body: batched(added, { op: "create", data: { title: "new", stage: "open", hush: "x" } }),
    status: gate("add", (who) => (who.hides ? 422 : seen("open", 200, 403)(who))),
  },
  {
    route: "POST /core/dbs/:db_id/bulk",
    path: at(() => "/bulk?filter[title]=nothing"),
    body: { op: "update", data: { amount: 4 } },
    status: gate("edit", () => 202),
  },
  {
    route: "POST /core/dbs/:db_id/import",
    path: at(() => "/import"),
    raw: csv("title,stage\nnew,open\n"),
    status: gate("add", seen("open", 201, 403)),
  },
  {
    route: "POST /core/dbs/:db_id/import",
    path: at(() => "/import"),
    raw: csv("title,stage\nnew,elsewhere\n"),
    status: gate("add", ({ where }) => (where === "all" ? 201 : 403)),
  },
  {
    route: "POST /core/dbs/:db_id/import",
    path: at(() => "/import"),
    raw: csv("title,stage,hush\nnew,open,x\n"),
    status: gate("add", (who) => (who.hides ? 422 : seen("open", 201, 403)(who))),
  },
  {
    route: "POST /core/dbs/import/preview",
    path: ({ db }) => `/core/dbs/import/preview?db=${db}`,
    raw: csv("title,stage\nnew,open\n"),
    status: gate("add", () => 200),
  },
  {
    route: "POST /core/dbs/:db_id/tasks/:task_id/stop",
    path: at(({ task }) => `/tasks/${task}/stop`),
    status: gate("edit", (who) => (who.where === "all" && !who.hides ? 409 : 404)),
  },
  {
    route: "POST /core/dbs/:db_id/tasks/:task_id/undo",
    path: at(({ task }) => `/tasks/${task}/undo`),
    body: {},
    status: gate("edit", (who) => (who.where === "all" && !who.hides ? 409 : 404)),
  },
  {
    route: "POST /core/dbs/:db_id/views",
    path: at(() => "/views"),
    body: { view: { name: "Own" } },
    status: gate("read", () => 201),
  },
  {
    route: "POST /core/dbs/:db_id/views",
    path: at(() => "/views"),
    body: { view: { name: "For all", shared: true } },
    status: gate("manage", () => 201),
  },
  {
    route: "PATCH /core/dbs/:db_id/views/:id",
    path: at(({ view }) => `/views/${view}`),
    body: { view: { name: "Other" } },
    status: manages(200),
  },
  { route: "DELETE /core/dbs/:db_id/views/:id", path: at(({ view }) => `/views/${view}`), status: manages(204) },
  ...(["trashed", "trashedClosed"] as const).map((what): Attempt => ({
    route: "POST /core/dbs/:db_id/trash/:id/restore",
    path: at((place) => `/trash/${place[what]}/restore`),
    status: gate("edit", seen(what === "trashed" ? "open" : "closed", 200)),
    of: (place) => place[what],
  })),
  {
    route: "DELETE /core/dbs/:db_id/trash/:id",
    path: at(() => `/trash/${crypto.randomUUID()}`),
    status: manages(404),
  },
  {
    route: "PATCH /core/dbs/:db_id/records/:id/comments/:comment_id",
    path: at(({ open, comment }) => `/records/${open}/comments/${comment}`),
    body: { comment: { text: "z" } },
    status: (who) =>
      who.name === "token-none" || !may(who, "read") ? 404 : may(who, "add") ? othersComment(who) : 403,
  },
  {
    route: "DELETE /core/dbs/:db_id/records/:id/comments/:comment_id",
    path: at(({ closed, closedComment }) => `/records/${closed}/comments/${closedComment}`),
    status: gate("read", (who) => (sees(who, "closed") ? (may(who, "manage") || isOwner(who) ? 204 : 403) : 404)),
  },
  ...(["open", "closed"] as const).map((what): Attempt => ({
    route: `DELETE ${one}`,
    path: at((place) => `/records/${place[what]}`),
    status: gate("edit", seen(what, 204)),
    of: (place) => place[what],
  })),
  {
    route: "PATCH /core/dbs/:db_id/replace",
    path: at(() => "/replace"),
    body: { field: "schema", old_string: "title", new_string: "heading" },
    status: manages(200),
  },
  { route: "PATCH /core/dbs/:id", path: at(() => ""), body: { db: { name: "Mine" } }, status: manages(200) },
  { route: "DELETE /core/dbs/:id", path: at(() => ""), status: manages(204) },
];

/** The administrator, whose tokens these are, has written the comments. */
const isOwner = ({ name }: Persona) => name.startsWith("token");
const othersComment = (who: Persona) => (sees(who, "open") ? (isOwner(who) ? 200 : 403) : 404);
