/** An Idempotency-Key under faults: whatever fails and when, a retry makes nothing twice and is answered at once. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openPool, type Sql } from "../runtime/db/db.ts";
import { adminToken, databaseSettings, eventually, startTestApp, type Answer, type TestApp } from "./harness.ts";
import { startReceiver, type Receiver } from "./receiver.ts";
import { cleanUp, folderWith, fromSource, startServer, type ServerProcess } from "./server-process.ts";

let app: TestApp;
/** Not from the server's own pool. */
let outside: Sql;
let remote: Receiver;

beforeAll(async () => {
  // Only two connections, so that a handler that uses the pool while its own transaction waits would never end.
  app = await startTestApp({ env: { DATABASE_POOL: "2" } });
  outside = openPool(app.target, { max: 1 });
  remote = startReceiver();
  await made("/core/dbs.json", {
    db: { name: "Orders", code: "orders", public_methods: { create: true, list: true } },
  });
  await made("/cms/sites.json", { site: { name: "Site", code: "site" } });
  await made("/cms/pages.json", { page: { name: "Drafted", code: "drafted", ...at } });
  await made("/connect/flows.json", { flow: { name: "Waits", code: "waits", fields: { program: waits } } });
  await made("/connect/flows.json", { flow: { name: "Quick", code: "quick", fields: { program: quick } } });
  const server = { url: "smtp://127.0.0.1:1", from: "a@example.com" };
  expect((await app.patch("/core/mail_server.json", { mail_server: server })).status).toBe(200);
  const actions = [{ action: "wait", flow_code: "waits" }];
  await made("/core/apps.json", {
    app: { name: "App", url_code: "app", app_engine: "html", source_code: "x", actions },
  });
});
afterAll(async () => {
  await outside.end({ timeout: 5 });
  await app.stop();
  await remote.stop();
  await cleanUp();
});

const waits = [{ type: "wait", seconds: 3600 }];
const quick = [{ type: "return", value: 1 }];

async function made(path: string, body: object): Promise<string> {
  const answer = await app.post(path, body);
  expect([path, answer.status]).toEqual([path, 201]);
  return String(answer.json.id);
}

const keyed = (path: string, body: object, key: string) =>
  app.post(path, body, { headers: { "idempotency-key": key } });

const one = { app_engine: "html", source_code: "<p></p>" };
const at = { site_code: "site" };
/** Every POST that creates something: its table, and a body that is different each time. */
const creates: [path: string, table: string, body: (n: string) => object][] = [
  ["/core/dbs/orders/records.json", "records", (n) => ({ record: { data: { n } } })],
  ["/core/db/orders/create", "records", (n) => ({ data: { n } })],
  ["/core/dbs/orders/batch", "records", (n) => ({ operations: [{ op: "create", data: { n } }] })],
  ["/core/dbs/orders/views.json", "db_views", (n) => ({ view: { name: n } })],
  ["/core/dbs.json", "dbs", (n) => ({ db: { name: n } })],
  ["/core/prompts.json", "prompts", (n) => ({ prompt: { name: n, code: n, content: "x", kind: "chat" } })],
  ["/core/apps.json", "apps", (n) => ({ app: { name: n, ...one } })],
  ["/core/apps/preview.json", "app_previews", (n) => ({ app: { name: n, ...one } })],
  ["/account/api_tokens.json", "api_tokens", (n) => ({ api_token: { name: n } })],
  ["/account/users.json", "users", (n) => ({ user: { login: n, name: n, password: "a long enough password" } })],
  ["/account/invitations.json", "password_links", (n) => ({ invitation: { email: `${n}@example.com` } })],
  ["/account/teams.json", "units", (n) => ({ team: { name: n } })],
  ["/account/departments.json", "units", (n) => ({ department: { name: n } })],
  ["/account/groups.json", "units", (n) => ({ group: { name: n } })],
  [
    "/account/webhooks.json",
    "webhooks",
    (n) => ({ webhook: { source_type: "A::B", kind: "create", url: `https://example.com/${n}` } }),
  ],
  [
    "/account/sign_in_providers.json",
    "sign_in_providers",
    (n) => ({ sign_in_provider: { name: n, issuer: "https://login.example.com", client_id: n } }),
  ],
  ["/account/crons.json", "crons", (n) => ({ cron: { name: n, target_code: "quick", schedule: "0 7 * * *" } })],
  ["/connect/hooks.json", "hooks", (n) => ({ hook: { name: n, flow_code: "quick", scheme: "none" } })],
  ["/connect/connectors.json", "connectors", (n) => ({ connector: { name: n, url: "https://example.com" } })],
  ["/connect/flows.json", "flows", (n) => ({ flow: { name: n, fields: { program: [{ type: "flow", flow: n }] } } })],
  ["/connect/flows/waits/run.json?wait=0", "flow_processes", (n) => ({ n })],
  ["/connect/flows/quick/run.json", "flow_processes", (n) => ({ n })],
  ["/core/apps/app/action/wait", "flow_processes", (n) => ({ n })],
  ["/core/mail_templates.json", "mail_templates", (n) => ({ mail_template: { ...placeOf(n), subject: n, text: "x" } })],
  ["/cms/sites.json", "cms_sites", (n) => ({ site: { name: n, code: n } })],
  ["/cms/domains.json", "cms_domains", (n) => ({ domain: { name: `${n}.test`, ...at } })],
  ["/cms/layouts.json", "cms_layouts", (n) => ({ layout: { name: n, code: n, ...at } })],
  ["/cms/pages.json", "cms_pages", (n) => ({ page: { name: n, code: n, path: n, ...at } })],
  ["/cms/pages/preview.json", "cms_previews", (n) => ({ page: { id: "drafted", content: n, ...at } })],
  ["/cms/redirects.json", "cms_redirect_rules", (n) => ({ redirect: { path: n, to: "/x", ...at } })],
  ["/cms/paragraphs.json", "cms_paragraphs", (n) => ({ paragraph: { name: n, code: n, ...at } })],
  ["/cms/categories.json", "cms_categories", (n) => ({ category: { name: n, code: n, ...at } })],
  ["/cms/articles.json", "cms_articles", (n) => ({ article: { title: n, code: n, ...at } })],
];
/** A mail has one text for each language: the n-th name of this file takes the n-th of them. */
const takenBy: string[] = [];
function placeOf(n: string) {
  if (!takenBy.includes(n)) takenBy.push(n);
  const turn = takenBy.indexOf(n);
  const codes = ["password_changed", "sign_in_alert", "test"];
  return { code: codes[turn % codes.length], language: ["en", "pl", "de"][Math.floor(turn / codes.length)] };
}
const shows = new Set(["api_tokens", "webhooks"]);

test("every POST route that makes something is in the table", () => {
  const tried = creates.map(([path]) => path.replace(/\.json.*|\?.*/, ""));
  const others = [
    "/run",
    "/test",
    "/retry",
    "/cancel",
    "/restore",
    "/import",
    "/rotate_secret",
    "/redeliver",
    "/token",
    "/link",
    // A form, and a file; their own tests send them twice.
    "/core/media",
    "/core/dbs/from_file",
  ];
  const makes = app.app.routes.filter(
    ({ method, path }) => method === "POST" && !path.includes(":") && !others.some((end) => path.endsWith(end)),
  );
  const makeNothing = new Set([
    "/account/session",
    "/account/session/second_factor",
    "/account/session/second_factor/setup",
    "/account/session/passkey",
    "/account/session/passkey/options",
    // Takes what an authenticator has signed.
    "/account/me/passkeys",
    "/account/me/passkeys/options",
    "/account/me/totp",
    "/account/me/totp/confirm",
    "/account/me/recovery_codes",
    "/core/dbs/import/preview",
    "/core/inbox/read",
    // They call what they are given, and store nothing.
    "/connect/connectors/try",
    "/connect/flow_steps/try",
    "/login",
    // Codes and refresh tokens count once themselves.
    "/oauth/authorize",
    "/oauth/register",
    "/oauth/token",
    "/oauth/revoke",
    "/login/second_factor",
    "/logout",
    "/csp-report",
    "/core/probe",
    // Its tool `create` passes a key on.
    "/mcp",
    "/core/prompts/preview",
    "/core/mail_templates/preview",
    "/core/media_folders/rename",
    "/core/media/uploads",
    "/forgot_password",
    "/set_password",
    "/confirm_email",
    "/account/password_resets",
  ]);
  expect(makes.map(({ path }) => path).filter((path) => !tried.includes(path) && !makeNothing.has(path))).toEqual([]);
});

describe("a POST with an Idempotency-Key to", () => {
  const count = async (table: string) => Number((await outside`select count(*) as n from ${outside(table)}`)[0]?.["n"]);

  test.each(creates)(
    "%s stores neither what it makes nor its answer where the other cannot be stored",
    async (path, table, body) => {
      const n = `n${crypto.randomUUID().slice(0, 8)}`;
      const before = await count(table);
      await outside.unsafe(`create function fail() returns trigger language plpgsql as
      $$ begin raise exception using errcode = '57P01', message = 'cut off'; end $$`);
      await outside.unsafe(
        "create trigger fail before insert or update on idempotency_keys for each row execute function fail()",
      );
      try {
        expect((await keyed(path, body(n), n)).status).toBe(503);
      } finally {
        await outside.unsafe("drop function fail cascade");
      }
      expect(await count(table)).toBe(before);
      const first = await keyed(path, body(n), n);
      expect(first.status).toBeLessThan(202);
      expect(await count(table)).toBe(before + 1);
      const again = await keyed(path, body(n), n);
      expect(await count(table)).toBe(before + 1);
      if (shows.has(table)) expect(again.status).toBe(409);
      else {
        expect([again.status, again.text]).toEqual([first.status, first.text]);
        expect(again.headers.get("idempotency-replayed")).toBe("true");
      }
      expect((await keyed(path, body(`${n}x`), n)).status).toBe(409);
    },
  );

  test.each(creates)("%s, sent six times at once, makes one", async (path, table, body) => {
    const n = `n${crypto.randomUUID().slice(0, 8)}`;
    const before = await count(table);
    const answers = await Promise.all(Array.from({ length: 6 }, () => keyed(path, body(n), n)));
    expect(await count(table)).toBe(before + 1);
    const firsts = answers.filter(({ headers, status }) => status < 300 && !headers.has("idempotency-replayed"));
    expect(firsts).toHaveLength(1);
    if (!shows.has(table)) expect([...new Set(answers.map(({ text }) => text))]).toEqual([firsts[0]?.text ?? ""]);
  });

  test.each(creates)("%s, six of them at once, makes six", async (path, table, body) => {
    const before = await count(table);
    const names = Array.from({ length: 6 }, () => `n${crypto.randomUUID().slice(0, 8)}`);
    const answers = await Promise.all(names.map((n) => keyed(path, body(n), n)));
    expect(answers.filter(({ status }) => status >= 300).map(({ text }) => text)).toEqual([]);
    expect(await count(table)).toBe(before + 6);
  });
});

test("clients that repeat a keyed create until it is acknowledged make each record once while connections are ended", async () => {
  const acknowledged = new Map<string, string>();
  const statuses = new Map<number, number>();
  const ending = new AbortController();
  const client = async () => {
    while (!ending.signal.aborted) {
      const key = crypto.randomUUID();
      let answer: Answer;
      do {
        answer = await keyed("/core/dbs/orders/records.json", { record: { data: { key } } }, key);
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      } while (answer.status !== 201);
      acknowledged.set(key, answer.json.id);
    }
  };
  const clients = Array.from({ length: 6 }, client);
  // Each time after some more have been made, so that every termination of connections hits writes.
  for (let ended = 0; ended < 40; ended++) {
    const reached = acknowledged.size + 10;
    await eventually(() => acknowledged.size >= reached, "further records");
    await outside`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name = 'corestead'`;
  }
  ending.abort();
  await Promise.all(clients);
  const stored = await outside<{ key: string; ids: string[] }[]>`
    select data->>'key' as key, array_agg(id::text) as ids from records where data ? 'key' group by 1`;
  expect(stored.filter(({ ids }) => ids.length > 1)).toEqual([]);
  expect(new Map(stored.map(({ key, ids }) => [key, ids[0] ?? ""]))).toEqual(acknowledged);
  expect([...statuses.keys()].filter((status) => status !== 201 && status !== 503)).toEqual([]);
});

/** Starts one server after the other on one database. */
async function servers(settings: Record<string, string>) {
  const env = { DATA_DIR: "data", ...settings, ...(await databaseSettings()) };
  const cwd = folderWith();
  return (armed: string) => startServer(fromSource, { cwd, env: { ...env, CORESTEAD_FAILPOINT: armed } });
}

test.each([
  ["idempotency.committing:kill", "before the commit"],
  ["idempotency.committed:kill", "after the commit and before the answer"],
])("kill -9 at %s, %s: the retry has its answer at once, and there is one record", async (failpoint) => {
  const serve = await servers({ CORE_ADMIN_TOKEN: adminToken });
  const victim = await serve(failpoint);
  await victim.request("POST", "/core/dbs.json", { db: { name: "Orders", code: "orders" } });
  const create = (server: typeof victim) =>
    server.request(
      "POST",
      "/core/dbs/orders/records.json",
      { record: { data: { n: 1 } } },
      { headers: { "idempotency-key": "k" } },
    );
  await create(victim).catch(() => undefined);
  expect(await victim.exited).toBe(137);
  const server = await serve("");
  const [first, again] = [await create(server), await create(server)];
  expect([first.status, again.text]).toEqual([201, first.text]);
  expect((await server.request("GET", "/core/dbs/orders/records.json")).json).toHaveLength(1);
  await server.stop();
});

test.each([
  ["idempotency.committing:kill", "before the commit", 201],
  ["idempotency.committed:kill", "after the commit and before the answer", 409],
] as const)(
  "kill -9 of a sign-in at %s, %s: the retry is %i, and there is one session",
  async (failpoint, _, retried) => {
    const password = "a password of theirs";
    const serve = await servers({ CORE_ADMIN_PASSWORD: password });
    const signIn = (server: ServerProcess, key: string) =>
      server.request(
        "POST",
        "/account/session.json",
        { login: "admin", password },
        { token: null, headers: { "idempotency-key": key } },
      );
    const victim = await serve(failpoint);
    await signIn(victim, "k").catch(() => undefined);
    expect(await victim.exited).toBe(137);
    const server = await serve("");
    expect((await signIn(server, "k")).status).toBe(retried);
    const cookie = ((await signIn(server, "another")).headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const listed = await server.request("GET", "/account/api_tokens.json?kind=web_token", undefined, {
      token: null,
      headers: { cookie },
    });
    expect(listed.json).toHaveLength(2); // that of `k`, and that of this cookie
    await server.stop();
  },
);

describe("a call of a connector with an Idempotency-Key", () => {
  const call = (key: string) => keyed("/connect/connectors/remote/send", { a: 1 }, key);
  beforeAll(async () => {
    const methods = { send: { method: "POST", path: "/send" } };
    await made("/connect/connectors.json", {
      connector: { name: "Remote", code: "remote", url: remote.url, fields: { methods } },
    });
  });

  test("is 409 while the first one runs, and then has its answer", async () => {
    const reached = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    remote.answer = async () => {
      reached.resolve();
      await go.promise;
      return Response.json({ ok: true });
    };
    const first = call("call-1");
    await reached.promise;
    const second = await call("call-1");
    expect([second.status, second.json.error]).toEqual([409, expect.stringContaining("still running")]);
    go.resolve();
    const { status, text } = await first;
    expect([status, (await call("call-1")).text]).toEqual([200, text]);
    expect(remote.at("/send")).toHaveLength(1);
  });

  test("goes on at once where the process that made the first one is dead", async () => {
    remote.answer = () => Response.json({ ok: true });
    await call("call-2");
    await outside`update idempotency_keys set status = null, claimed_by = ${`${crypto.randomUUID()}/1`} where key = 'call-2'`;
    const { status, headers } = await call("call-2");
    expect([status, headers.get("idempotency-replayed")]).toEqual([200, null]);
  });

  test("that failed may be made again", async () => {
    remote.answer = () => new Response("no", { status: 500 });
    expect((await call("call-3")).status).toBe(502);
    remote.answer = () => Response.json({ ok: true });
    expect((await call("call-3")).status).toBe(200);
  });
});
