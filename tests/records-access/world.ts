/** What the matrix of access (records-access.test.ts) looks at: the same databases four times, and a person for each grant. */
import { tokens } from "../../plugins/tokens/api.ts";
import { eventually, person, type Answer, type RequestOptions, type TestApp } from "../harness.ts";

/** In the titles of open records and of closed ones, and in the field of each that some grants hide. */
export const canaries = {
  open: "canary-open",
  closed: "canary-closed",
  hiddenOpen: "secret-open",
  hiddenClosed: "secret-closed",
} as const;
export type Canary = keyof typeof canaries;

/** Its name may not be told either. */
export const hiddenField = "hush";

/** What differs from the first world: nothing that whoever sees no closed record, or no hidden field, could notice. */
export const worlds = [
  { rows: false, field: false },
  { rows: true, field: false },
  { rows: false, field: true },
  { rows: true, field: true },
] as const;

const levels = ["read", "add", "edit", "manage"] as const;
export type Level = "none" | (typeof levels)[number];

export interface Persona {
  readonly name: string;
  readonly level: Level;
  /** `other`: a condition that no record fulfils. */
  readonly where: "all" | "open" | "other";
  readonly hides: boolean;
  readonly id: number;
  readonly login: string;
  readonly token: string;
}

export function may({ level }: Persona, wanted: (typeof levels)[number]): boolean {
  return level !== "none" && levels.indexOf(level) >= levels.indexOf(wanted);
}

export function sees(who: Persona, what: Canary): boolean {
  if (!may(who, "read") || who.where === "other") return false;
  if (who.where === "open" && (what === "closed" || what === "hiddenClosed")) return false;
  return what === "open" || what === "closed" || !who.hides;
}

const privileges = [
  "dbs",
  "flows",
  "webhooks",
  "apps",
  "prompts",
  "crons",
  "activity",
  "media",
  "cms",
  "mails",
  "backups",
];

async function personas(app: TestApp): Promise<Persona[]> {
  const grants = (["read", "add", "edit"] as const).flatMap((level) =>
    (["all", "open", "other"] as const).flatMap((where) => [false, true].map((hides) => ({ level, where, hides }))),
  );
  const whole = { where: "all", hides: false } as const;
  const all = [{ level: "none", ...whole } as const, ...grants, { level: "manage", ...whole } as const];
  return Promise.all(
    all.map(async (grant) => {
      const { level, where, hides } = grant;
      const name = `${level}${where === "all" ? "" : `-${where}`}${hides ? "-hides" : ""}`;
      return { ...grant, name, ...(await person(app, { login: name, privileges })) };
    }),
  );
}

/** Tokens of an administrator that open the databases up to a level. */
async function tokenPersonas(app: TestApp, dbIds: readonly string[]): Promise<Persona[]> {
  const owner = await person(app, { role: "admin", login: "owner" });
  return Promise.all(
    (["none", ...levels] as const).map(async (level) => {
      const [first = ""] = dbIds;
      const databases = level === "none" ? { elsewhere: "read" } : Object.fromEntries(dbIds.map((id) => [id, level]));
      const own = await app.post("/account/api_tokens", { api_token: { name: first, databases } }, owner);
      if (own.status !== 201) throw new Error(own.text);
      return { name: `token-${level}`, level, where: "all", hides: false, ...owner, token: own.json.token as string };
    }),
  );
}

export function grantOf({ id, level, where, hides }: Persona): readonly object[] {
  if (level === "none") return [];
  const condition = { all: undefined, open: { stage: "open" }, other: { stage: "nowhere" } }[where];
  const hide = hides ? [hiddenField, "hush_sum"] : undefined;
  return [{ to: `user:${id}`, may: level, ...(condition && { where: condition }), ...(hide && { hide }) }];
}

/** The ids of one world's things. */
export type Ids = Readonly<
  Record<
    "db" | "open" | "closed" | "note" | "trashed" | "trashedClosed" | "comment" | "view" | "task" | "firm" | "cursor",
    string
  >
>;

export interface World {
  readonly at: number;
  readonly deals: string;
  readonly firms: string;
  readonly notes: string;
  readonly ids: Ids;
}

export interface Everything {
  readonly worlds: readonly World[];
  readonly people: readonly Persona[];
  readonly hook: string;
  readonly delivery: string;
  readonly process: string;
  readonly app: string;
}

export async function makeEverything(app: TestApp): Promise<Everything> {
  await made(app, "/core/dbs", { db: { name: "Elsewhere", code: "elsewhere" } });
  const people = await personas(app);
  const all: World[] = [];
  for (const [at, differs] of worlds.entries()) all.push(await makeWorld(app, at, differs, people));
  const ids = all.flatMap(({ ids: { db } }) => [db]);
  const page = { name: "Deals", url_code: "deals", app_engine: "html", source_code: "x" };
  const codes = all.flatMap(({ deals, firms, notes }) => [deals, firms, notes]);
  return {
    worlds: all,
    people: [...people, ...(await tokenPersonas(app, [...ids, "firms_0", "notes_0"]))],
    app: await made(app, "/core/apps", { app: { ...page, fields: { dbs: codes } } }),
    ...(await makeUses(app, all)),
  };
}

export async function made(app: TestApp, path: string, body: object, options: RequestOptions = {}): Promise<string> {
  const answer = await app.post(path, body, options);
  if (answer.status !== 201) throw new Error(`${path}: ${answer.text}`);
  return String(answer.json.id);
}

export function schemaOf(firms: string) {
  return {
    fields: {
      title: "string",
      stage: "string",
      amount: "integer",
      hush: "string",
      hush_sum: "integer",
      firm: { type: "string", link: firms },
    },
    indexed_fields: ["title", "stage", "amount", "hush"],
    history: true,
  };
}

async function makeWorld(
  app: TestApp,
  at: number,
  { rows, field }: (typeof worlds)[number],
  people: readonly Persona[],
): Promise<World> {
  const [deals, firms, notes] = [`deals_${at}`, `firms_${at}`, `notes_${at}`];
  const rollup = (op: string, of?: string) => ({ of: `${deals}.firm`, op, ...(of && { field: of }) });
  const firmFields = {
    name: "string",
    deals: { type: "integer", rollup: rollup("count") },
    amounts: { type: "number", rollup: rollup("sum", "amount") },
    rest: { type: "number", rollup: rollup("max", "hush_sum") },
  };
  await made(app, "/core/dbs", { db: { name: firms, code: firms, schema: { fields: firmFields } } });
  const db = await made(app, "/core/dbs", { db: { name: deals, code: deals, schema: schemaOf(firms) } });
  const noteFields = { text: "string", of: { type: "string", link: deals } };
  await made(app, "/core/dbs", { db: { name: notes, code: notes, schema: { fields: noteFields } } });

  const add = (code: string, data: object) => made(app, `/core/dbs/${code}/records`, { record: { data } });
  const firm = await add(firms, { name: "Acme" });
  const deal = (title: string, stage: string, amount: number, more: object = {}) => {
    const hush = `${stage === "open" ? canaries.hiddenOpen : canaries.hiddenClosed} ${field ? 99 - amount : amount}`;
    return add(deals, { title, stage, amount, hush, hush_sum: field ? 900 - amount : amount, firm, ...more });
  };
  const closed = await deal(`${canaries.closed} ${rows ? "z" : "a"}`, "closed", rows ? 35 : 5);
  const open = await deal(`${canaries.open} one`, "open", 10);
  await deal(`${canaries.open} two`, "open", 20, field ? { hush: null, hush_sum: null } : {});
  if (rows) for (const n of [1, 2, 3]) await deal(`${canaries.closed} ${n}`, "closed", n);
  const [trashed, trashedClosed] = [await deal(canaries.open, "open", 1), await deal(canaries.closed, "closed", 2)];
  for (const id of [trashedClosed, trashed]) await app.delete(`/core/dbs/${deals}/records/${id}`);

  const note = await add(notes, { text: "of an open one", of: open });
  await add(notes, { text: "of a closed one", of: closed });
  const by = people.find(({ level }) => level === "manage");
  const say = (id: string, text: string, options: RequestOptions = {}) =>
    made(app, `/core/dbs/${deals}/records/${id}/comments`, { comment: { text } }, options);
  const comment = await say(open, canaries.open);
  const filters = { stage: "open", hush: "x" };
  const columns = ["title", hiddenField];
  const view = await made(app, `/core/dbs/${deals}/views`, {
    view: { name: "All", shared: true, filters, columns, sort: ["-hush"], group_by: hiddenField },
  });
  await changed(app, `/core/dbs/${deals}`, { db: { access: people.flatMap(grantOf) } });
  // Once there are grants, so that it is known who may be told.
  const everyone = ["admin", ...people.map(({ login }) => login)].map((login) => `@${login}`).join(" ");
  await say(closed, `${canaries.closed} ${everyone}`, by);
  await say(open, `${canaries.open} ${everyone}`, by);
  const cursor = await app.get(`/core/dbs/${deals}/search?sort=hush&limit=1`);
  const task = await faultyImport(app, deals);

  const ids = { db, open, closed, note, trashed, trashedClosed, comment, view, task, firm };
  return { at, deals, firms, notes, ids: { ...ids, cursor: cursor.headers.get("x-next-cursor") ?? "" } };
}

export async function changed(app: TestApp, path: string, body: object): Promise<Answer> {
  const answer = await app.patch(path, body);
  if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
  return answer;
}

async function faultyImport(app: TestApp, code: string): Promise<string> {
  const answer = await app.request("POST", `/core/dbs/${code}/import?partial=true`, undefined, {
    headers: { "content-type": "text/csv" },
    raw: `title,stage,amount,firm\n${canaries.closed},closed,x,\n${canaries.closed},closed,1,${canaries.closed}\n`,
  });
  return answer.headers.get("x-task-id") ?? "";
}

/** A delivery and a flow's process that have met the records of the first world. */
async function makeUses(app: TestApp, all: readonly World[]) {
  const deals = all[0]?.deals ?? "";
  const receiver = app.receiver();
  const webhook = { source_type: "Core::Record", kind: "update", url: receiver.url, filter: { db_code: deals } };
  const hook = await made(app, "/account/webhooks", { webhook });
  for (const { deals: code, ids } of all)
    await changed(app, `/core/dbs/${code}/records/${ids.closed}`, { record: { data: { stage: "closed" } } });
  const delivery = await eventually(async () => {
    const [one] = (await app.get(`/account/webhooks/${hook}/deliveries`)).json;
    return one?.id as string | undefined;
  });
  const program = [
    { type: "db", op: "search", db: deals, params: {}, as: "found" },
    { type: "mutation", set: { copy: "{{ found }}" } },
    { type: "return", value: "{{ copy }}" },
  ];
  await made(app, "/connect/flows", { flow: { name: "Reads", code: "reads", fields: { program } } });
  const run = await app.post("/connect/flows/reads/run", {});
  return { hook, delivery, process: String(run.json.id) };
}

/** The token of an app's page that the person has opened. */
export async function pageToken(app: TestApp, appId: string, { id }: Persona): Promise<string> {
  const session = await app.service(tokens).startSession({ accountId: 1, userId: id, seconds: 3600 });
  const { text } = await app.get(`/a/${appId}`, { token: null, headers: { cookie: `core_session=${session?.token}` } });
  return JSON.parse(/id="core-page">([^<]*)</.exec(text)?.[1] ?? "").token.value;
}
