import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { accounts } from "../plugins/accounts/api.ts";
import { mail } from "../plugins/mail/api.ts";
import { plugins } from "../plugins/index.ts";
import type { Route } from "../runtime/http/route.ts";
import {
  adminPassword,
  eventually,
  otherAccount,
  person,
  startTestApp,
  type Answer,
  type RequestOptions,
  type TestApp,
} from "./harness.ts";

/**
 * Every route x { no token, unknown, expired, inactive, narrowed, guest, other account }: made from the routes
 * themselves, so a new one is in it at once.
 */
let app: TestApp;
let expired: string;
let inactive: string;
let narrowed: Record<string, string>;
let guest: string;
let other: RequestOptions & { token: string; headers: Record<string, string> };
/** The objects of the first account, by the path that leads to them. */
let ids: Record<string, Record<string, string>>;

const code = "matrix";

beforeAll(async () => {
  app = await startTestApp();
  const token = async (fields: object): Promise<{ id: number; token: string }> =>
    (await app.post("/account/api_tokens.json", { api_token: fields })).json;
  expired = (await token({ name: "expired", expires_at: new Date(Date.now() + 60_000).toISOString() })).token;
  await app.sql`update api_tokens set expires_at = now() - interval '1 minute' where name = 'expired'`;
  const off = await token({ name: "inactive" });
  await app.patch(`/account/api_tokens/${off.id}.json`, { api_token: { active: false } });
  inactive = off.token;
  const privileges = new Set(privilegedRoutes().map(({ privilege }) => privilege));
  narrowed = {};
  for (const privilege of privileges) {
    const another = [...privileges].find((name) => name !== privilege);
    narrowed[privilege] = (await token({ name: `not ${privilege}`, privileges: [another] })).token;
  }
  guest = (await person(app, { role: "guest" })).token;
  const stranger = await otherAccount(app);
  other = { token: stranger.adminToken, headers: { host: stranger.host } };
  ids = await fixtures();
});
afterAll(() => app.stop());

/** One object of each kind, made by the administrator of the first account. */
async function fixtures(): Promise<Record<string, Record<string, string>>> {
  const made = async (path: string, body: object): Promise<string> => {
    const answer = await app.post(path, body);
    expect(answer.status).toBe(201);
    return String(answer.json.id);
  };
  const schema = { fields: { file: { type: "string", format: "file" } } };
  const db = await made("/core/dbs.json", { db: { name: "Matrix", code, schema, public_methods: { list: true } } });
  const file = await mediaFixture();
  const record = await made(`/core/dbs/${db}/records.json`, { record: { data: { a: 1, file } } });
  const program = [{ type: "wait", seconds: 3600 }];
  const flow = await made("/connect/flows.json", { flow: { name: "Matrix", code, fields: { program } } });
  const webhook = await made("/account/webhooks.json", {
    webhook: { source_type: "Matrix::Thing", kind: "create", url: "http://127.0.0.1:1/" },
  });
  const delivery = (await app.post(`/account/webhooks/${webhook}/test.json`)).json;
  const person7 = { login: "matrix", name: "Matrix", password: "a long enough password" };
  return {
    "/account/users": { id: await made("/account/users.json", { user: { ...person7, role: "user" } }) },
    "/account/me/sessions": { id: await ownSession() },
    "/account/me/passkeys": { id: await ownPasskey() },
    "/account/teams": { id: await made("/account/teams.json", { team: { name: "Matrix" } }) },
    "/account/departments": { id: await made("/account/departments.json", { department: { name: "Matrix" } }) },
    "/account/groups": { id: await made("/account/groups.json", { group: { name: "Matrix" } }) },
    "/account/api_tokens": { id: await made("/account/api_tokens.json", { api_token: { name: "Matrix" } }) },
    "/core/tokens": { id: await made("/account/api_tokens.json", { api_token: { name: "Matrix care" } }) },
    "/account/webhooks": { id: webhook, delivery_id: String(delivery.id) },
    "/core/prompts": {
      id: await made("/core/prompts.json", { prompt: { name: "Matrix", code, content: "x", kind: "chat" } }),
      n: "1",
    },
    "/core/prompt": { code },
    "/core/prompts/system": { code },
    "/connect/connectors": {
      id: await made("/connect/connectors.json", { connector: { name: "Matrix", code, url: "https://example.com" } }),
      method_name: "get",
    },
    "/connect/flows": { id: flow, code },
    "/connect/flow_processes": { id: await made(`/connect/flows/${code}/run.json?wait=0`, {}) },
    "/account/crons": {
      id: await made("/account/crons.json", { cron: { name: "Matrix", target_code: code, schedule: "0 7 * * *" } }),
    },
    ...(await hookFixture(code)),
    "/core/dbs": { id: db, db_id: db, task_id: await importTask(db) },
    "/core/dbs/:db_id/records": {
      id: record,
      db_id: db,
      n: "1",
      file_id: file,
      comment_id: await made(`/core/dbs/${db}/records/${record}/comments.json`, { comment: { text: "Matrix" } }),
    },
    "/core/inbox": { id: await noticeFixture(db, record) },
    ...(await askFixture()),
    "/core/dbs/:db_id/views": { id: await made(`/core/dbs/${db}/views.json`, { view: { name: "Matrix" } }), db_id: db },
    "/core/dbs/:db_id/trash": { id: await trashFixture(db), db_id: db },
    "/core/db_trash": { id: await dbTrashFixture() },
    "/studio/ext": { plugin: "matrix", file: "page.js" },
    "/core/db": { db_code: code, method_name: "list" },
    "/core/media": { id: file },
    "/core/media/uploads": { id: await uploadFixture() },
    "/core/mails": { id: await mailFixture() },
    "/account/invitations": {
      id: await made("/account/invitations.json", { invitation: { email: "matrix@example.com", name: "Matrix" } }),
    },
    "/account/sign_in_providers": await providerFixture(made),
    "/core/activity": { id: String((await app.get("/core/activity.json?limit=1")).json[0].id) },
    "/core/backups": { id: await backupFixture() },
    "/core/mail_templates": {
      id: await made("/core/mail_templates.json", {
        mail_template: { code: "test", language: "en", subject: "Matrix", text: "Matrix" },
      }),
    },
    ...(await appFixtures(made)),
    ...(await siteFixtures(made)),
  };
}

/** A question that waits for the administrator, and what a form sends. */
async function askFixture() {
  const program = [{ type: "ask", to: "user:1", title: "Matrix?" }];
  await app.post("/connect/flows.json", { flow: { name: "Ask", code: `${code}-ask`, fields: { program } } });
  await app.post(`/connect/flows/${code}-ask/run.json?wait=0`, {});
  const open = async () => (await app.get("/core/inbox.json?kind=ask&open=true")).json[0]?.id;
  return {
    "/core/inbox/:id/answer": { id: await eventually(open) },
    "/core/inbox/:id/pass_on": { id: await eventually(open) },
    "/asks": { token: "none" },
  };
}

async function dbTrashFixture(): Promise<string> {
  const { id } = (await app.post("/core/dbs.json", { db: { name: "Deleted" } })).json;
  await app.delete(`/core/dbs/${id}.json`);
  return id;
}

async function trashFixture(db: string): Promise<string> {
  const { id } = (await app.post(`/core/dbs/${db}/records.json`, { record: { data: { a: 2 } } })).json;
  await app.delete(`/core/dbs/${db}/records/${id}.json`);
  return id;
}

/** Of a comment by somebody else that mentions the administrator. */
async function noticeFixture(db: string, record: string): Promise<string> {
  const { token } = await person(app, { role: "user" });
  const comment = { text: "@admin" };
  expect((await app.post(`/core/dbs/${db}/records/${record}/comments.json`, { comment }, { token })).status).toBe(201);
  return (await app.get("/core/inbox.json")).json[0].id;
}

/** With somebody who signs in by it. */
async function providerFixture(made: (path: string, body: object) => Promise<string>) {
  const sign_in_provider = { name: "Matrix", issuer: "http://127.0.0.1:1", client_id: "matrix" };
  const id = await made("/account/sign_in_providers.json", { sign_in_provider });
  const [identity] = await app.sql<{ id: number }[]>`
    insert into sign_in_identities (account_id, provider_id, user_id, issuer, subject, email)
    select account_id, ${id}, id, 'http://127.0.0.1:1', 'matrix', 'matrix@example.com' from users where login = 'admin' order by id limit 1
    returning id`;
  return { id, identity_id: `${identity?.id}` };
}

async function uploadFixture(): Promise<string> {
  const headers = { "tus-resumable": "1.0.0", "upload-length": "5", "upload-metadata": "filename bWF0cml4LmJpbg==" };
  return (await app.post("/core/media/uploads.json", undefined, { headers, raw: "" })).json.id;
}

async function mediaFixture(): Promise<string> {
  const form = new FormData();
  form.append("file", new Blob(["Matrix"]), "Matrix.txt");
  return (await app.post("/core/media.json", undefined, { raw: form })).json.id;
}

/** A mail that waits, because nobody answers at that address. */
async function mailFixture(): Promise<string> {
  const server = { url: "smtp://127.0.0.1:1", from: "matrix@example.com" };
  expect((await app.patch("/core/mail_server.json", { mail_server: server })).status).toBe(200);
  const accountId = (await app.service(accounts).defaultAccount()).id;
  return app.service(mail).send({ accountId, to: "matrix@example.com", template: "test", values: {} });
}

async function importTask(db: string): Promise<string> {
  const answer = await app.post(`/core/dbs/${db}/import`, undefined, {
    raw: '{"a":1}',
    headers: { "content-type": "application/x-ndjson" },
  });
  return answer.headers.get("x-task-id") ?? "";
}

/** A session of the administrator. */
/** A hook with an arrival. */
async function hookFixture(flow_code: string): Promise<Record<string, Record<string, string>>> {
  const hook = { name: "Matrix", flow_code, scheme: "none" };
  const made = (await app.post("/connect/hooks.json", { hook })).json;
  const arrival = (await app.post(`/hooks/${made.code}`, { order: 17 }, { token: null })).json;
  return { "/connect/hooks": { id: String(made.id), arrival_id: arrival.id }, "/hooks": { code: made.code } };
}

async function ownSession(): Promise<string> {
  await app.post("/account/session.json", { login: "admin", password: adminPassword }, { token: null });
  return String((await app.get("/account/me/sessions.json")).json[0].id);
}

/** One of the administrator. */
async function ownPasskey(): Promise<string> {
  const [row] = await app.sql<{ id: number }[]>`
    insert into passkeys (account_id, user_id, name, credential_id, public_key, counter)
    select account_id, id, 'Matrix', 'matrix', '', 0 from users order by id limit 1 returning id`;
  return String(row?.id);
}

async function appFixtures(made: (path: string, body: object) => Promise<string>) {
  const one = { name: "Matrix", app_engine: "html", source_code: "<p>Matrix</p>" };
  const preview = (await app.post("/core/apps/preview.json", { app: one })).json;
  return {
    "/core/apps": { id: await made("/core/apps.json", { app: one }), n: "1" },
    "/core/modules": { module: "crm" },
    "/a/preview": { token: String(preview.url).slice("/a/preview/".length) },
  };
}

async function siteFixtures(made: (path: string, body: object) => Promise<string>) {
  const one = { name: "Matrix", code, site_code: code };
  const preview = async () => (await app.post("/cms/pages/preview.json", { page: { id: code } })).json.url;
  return {
    "/w": { site_code: code },
    "/cms/sites": { id: await made("/cms/sites.json", { site: { name: "Matrix", code } }), code },
    "/cms/domains": { id: await made("/cms/domains.json", { domain: { name: "matrix.test", site_code: code } }) },
    "/core/certificates": { host: await certificateHost() },
    "/cms/layouts": { id: await made("/cms/layouts.json", { layout: one }) },
    "/cms/pages": { id: await made("/cms/pages.json", { page: { ...one, path: "matrix" } }) },
    "/cms/previews": { token: String(await preview()).slice("/cms/previews/".length) },
    "/cms/paragraphs": { id: await made("/cms/paragraphs.json", { paragraph: one }) },
    "/cms/redirects": {
      id: await made("/cms/redirects.json", { redirect: { path: "matrix-old", to: "/matrix", site_code: code } }),
    },
    "/cms/categories": { id: await made("/cms/categories.json", { category: one }) },
    "/cms/articles": { id: await made("/cms/articles.json", { article: { ...one, title: "Matrix" } }) },
  };
}

/** As the server writes a host down that it serves. */
async function certificateHost(): Promise<string> {
  await app.sql`insert into certificates (host, account_id) select 'matrix.test', min(id) from accounts`;
  return "matrix.test";
}

async function backupFixture(): Promise<string> {
  const [row] = await app.sql`insert into backup_runs (started_at) values (now()) returning id`;
  return String(row?.["id"]);
}

function allRoutes(): readonly Route[] {
  return app.app.routes;
}

function privilegedRoutes(): { route: Route; privilege: string }[] {
  return allRoutes().flatMap((route) =>
    "privilege" in route.spec.access ? [{ route, privilege: route.spec.access.privilege }] : [],
  );
}

/** The address of this route's fixture. */
function addressOf(route: Route): string {
  const prefixes = Object.keys(ids).filter((prefix) => route.path.startsWith(`${prefix}/`));
  const prefix = prefixes.toSorted((a, b) => b.length - a.length)[0] ?? "";
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const id = ids[prefix]?.[name];
    if (id === undefined) throw new Error(`the matrix has no fixture for ${name} of ${route.path}`);
    return id;
  });
  return path;
}

function send(route: Route, options: RequestOptions): Promise<Answer> {
  const { body, request } = route.spec;
  const sent = body?.key
    ? { [body.key]: request ?? {} }
    : typeof request === "object"
      ? (request ?? undefined)
      : undefined;
  return app.request(route.method, addressOf(route), route.method === "GET" ? undefined : sent, options);
}

const name = (route: Route) => `${route.method} ${route.path}`;

describe("every route that is not open", () => {
  test("says what it needs, or why it needs nothing", () => {
    for (const { path, spec } of allRoutes()) {
      const [said] = Object.values(spec.access);
      expect(`${path}: ${said}`).toMatch(/: \S.+/);
    }
    expect(allRoutes().length).toBeGreaterThan(40);
  });

  test("refuses no token, an unknown, an expired and an inactive one with 401", async () => {
    const wrong: string[] = [];
    for (const route of allRoutes().filter(({ spec }) => !("open" in spec.access))) {
      for (const [what, token] of Object.entries({ none: null, unknown: "core_nobody", expired, inactive })) {
        const answer = await send(route, { token });
        const right =
          answer.status === 401 &&
          /^Bearer( resource_metadata="http[^"]+")?$/.test(answer.headers.get("www-authenticate") ?? "") &&
          typeof answer.json?.error === "string";
        if (!right) wrong.push(`${name(route)} with ${what} token: ${answer.status} ${answer.text}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("refuses a token of this account on the host of another with 401", async () => {
    const wrong: string[] = [];
    for (const route of allRoutes().filter(({ spec }) => !("open" in spec.access))) {
      const answer = await send(route, { headers: other.headers });
      if (answer.status !== 401) wrong.push(`${name(route)}: ${answer.status}`);
    }
    expect(wrong).toEqual([]);
  });
});

/** Without the privilege these open what one was granted: a guest without a grant finds nothing. */
const nothingOf: Readonly<Record<string, number>> = { "/core/db_trash": 200, "/core/db_trash/:id/restore": 404 };

describe("every route with a privilege", () => {
  test("refuses a token narrowed to another one, and a guest, with 403 that names it", async () => {
    const wrong: string[] = [];
    for (const { route, privilege } of privilegedRoutes()) {
      for (const token of [narrowed[privilege] ?? "", guest]) {
        const answer = await send(route, { token });
        if (token === guest && nothingOf[route.path] === answer.status) continue;
        if (answer.status !== 403 || !answer.json.error.includes(privilege))
          wrong.push(`${name(route)}: ${answer.status} ${answer.text}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe("every model", () => {
  test("names a privilege that a plugin declares, and webhooks on it are refused without it", async () => {
    const declared = new Set(plugins.flatMap(({ privileges }) => privileges.map(({ name: each }) => each)));
    const wrong: string[] = [];
    for (const { name: model, privilege = "none" } of plugins.flatMap(({ models }) => models)) {
      if (!declared.has(privilege)) wrong.push(`${model}: ${privilege}`);
      const others = [...declared].filter((each) => each !== privilege);
      const { token } = await person(app, { role: "admin", narrowedTo: others });
      const webhook = { source_type: model, kind: "create", url: "http://127.0.0.1:1/model" };
      const answer = await app.post("/account/webhooks.json", { webhook }, { token });
      if (answer.status !== 403 || !answer.json.error.includes(privilege)) wrong.push(`${model}: ${answer.text}`);
    }
    expect(wrong).toEqual([]);
    expect(await app.sql`select 1 from webhooks where url like '%/model'`).toHaveLength(0);
  });
});

describe("another account", () => {
  test("finds nothing of this account: 404 for every object", async () => {
    const wrong: string[] = [];
    const addressed = allRoutes().filter(({ path, spec }) => path.includes(":") && !("open" in spec.access));
    for (const route of addressed) {
      // Built-in files and the names of modules are visible to everybody.
      if (/^\/core\/(prompts\/system|modules)\//.test(route.path)) continue;
      const answer = await send(route, other);
      if (answer.status !== 404) wrong.push(`${name(route)}: ${answer.status} ${answer.text}`);
    }
    expect(wrong).toEqual([]);
    expect(addressed.length).toBeGreaterThan(20);
  });

  test("and left everything as it was", async () => {
    for (const route of allRoutes().filter(({ method, path }) => method === "GET" && /\/:id$/.test(path))) {
      expect(`${name(route)} ${(await send(route, {})).status}`).toBe(`${name(route)} 200`);
    }
  });

  test("sees none of it in its lists", async () => {
    for (const route of allRoutes().filter(({ method, path }) => method === "GET" && !path.includes(":"))) {
      // A stream of events has no end.
      if ("open" in route.spec.access || route.path.endsWith("/events")) continue;
      const { text } = await send(route, other);
      expect(text).not.toContain("Matrix");
    }
  });
});
