import { afterAll, beforeAll, expect, test } from "bun:test";
import { adminToken, eventually, otherAccount, startTestApp, type TestApp } from "../../../tests/harness.ts";
import type { Client } from "../../../runtime/operations/authors/test-client.ts";
import { startReceiver, type Receiver } from "../../../tests/receiver.ts";
import { cleanUp, folderWith, fromSource, startServer } from "../../../tests/server-process.ts";

let remote: Receiver;
beforeAll(() => {
  remote = startReceiver();
  remote.answer = ({ path }) => (path === "/healthy" ? Response.json({}) : new Promise<Response>(() => {}));
});
afterAll(async () => {
  await cleanUp();
  await remote.stop();
});

test("more requests hang than Bun sends at once by itself, and a healthy receiver hears all the same", async () => {
  const env = {
    DATA_DIR: "data",
    CORE_ADMIN_TOKEN: adminToken,
    OUTBOUND_ALLOW: "127.0.0.1",
    WEBHOOK_TIMEOUT_SECONDS: "60",
  };
  const server = await startServer(fromSource, { cwd: folderWith(), env });
  await server.request("POST", "/core/dbs.json", { db: { name: "Orders", code: "orders" } });
  const follow = (path: string) =>
    server.request("POST", "/account/webhooks.json", {
      webhook: { source_type: "Core::Record", kind: "create", url: `${remote.url}${path}`, concurrency: 10 },
    });
  const change = () => server.request("POST", "/core/dbs/orders/records.json", { record: { data: {} } });
  for (let n = 0; n < 30; n++) expect((await follow(`/hangs/${n}`)).status).toBe(201);
  for (let n = 0; n < 10; n++) await change();
  await eventually(() => remote.requests.length === 300, "three hundred requests at once", 30_000);
  await follow("/healthy");
  await change();
  await eventually(() => remote.at("/healthy").length === 1, "the healthy receiver's request");
  server.kill("SIGKILL");
}, 600_000);

/** A webhook of this account, which follows the records of its database. */
async function webhookOf(client: Client, url: string): Promise<{ id: number; change: () => Promise<void> }> {
  await client.post("/core/dbs.json", { db: { name: "Orders", code: "orders" } });
  const { status, json } = await client.post("/account/webhooks.json", {
    webhook: { source_type: "Core::Record", kind: "create", url, concurrency: 100 },
  });
  expect(status).toBe(201);
  const change = async () =>
    expect((await client.post("/core/dbs/orders/records.json", { record: { data: {} } })).status).toBe(201);
  return { id: json.id, change };
}

/** So many deliveries wait for a webhook. */
const backlog = ({ sql }: TestApp, webhookId: number, most: number, bytes = 100) => sql`
  with made as (
    insert into webhook_deliveries (account_id, webhook_id, message_id, source_type, kind, body, status, next_attempt_at)
    select w.account_id, w.id, 'msg_' || n, 'Core::Record', 'create', json_build_object('id', n, 'text', repeat('x', ${bytes})),
      'pending', now()
    from webhooks w, generate_series(1, ${most}::integer) n where w.id = ${webhookId}
    returning id, account_id, webhook_id
  )
  insert into webhook_queue (delivery_id, account_id, webhook_id, due_at)
  select id, account_id, webhook_id, now() - interval '1 minute' from made`;

test("receivers of twenty accounts that hang keep no place from the next account's", async () => {
  const app = await startTestApp({ env: { WEBHOOK_CONCURRENCY: "30", WEBHOOK_TIMEOUT_SECONDS: "60" } });
  for (let n = 0; n < 20; n++) {
    const { id, change } = await webhookOf(await otherAccount(app), `${remote.url}/hogs/${n}`);
    await backlog(app, id, 50);
    await change();
    await eventually(() => remote.at(`/hogs/${n}`).length > 0, `the receiver of account ${n}`);
  }
  expect(remote.requests.filter(({ path }) => path.startsWith("/hogs/")).length).toBeLessThan(60);
  const before = remote.at("/healthy").length;
  const { change } = await webhookOf(await otherAccount(app), `${remote.url}/healthy`);
  await change();
  await eventually(() => remote.at("/healthy").length > before, "the next account's request");
  await app.sql`delete from webhook_queue`;
  await app.stop();
}, 600_000);

test("a backlog of one account, of records that are large, too, lets in who comes next", async () => {
  const app = await startTestApp();
  for (const [n, bytes] of [100, 400_000].entries()) {
    const most = n === 0 ? 100_000 : 200;
    const { id } = await webhookOf(n === 0 ? app : await otherAccount(app), `${remote.url}/healthy/${n}`);
    remote.answer = ({ path }) => (path.startsWith("/healthy") ? Response.json({}) : new Promise<Response>(() => {}));
    await backlog(app, id, most, bytes);
    await eventually(() => remote.at(`/healthy/${n}`).length > 20, "the backlog's first requests");
    const { change } = await webhookOf(await otherAccount(app), `${remote.url}/healthy/next/${n}`);
    await change();
    await eventually(() => remote.at(`/healthy/next/${n}`).length === 1, "the next account's request");
    expect(remote.at(`/healthy/${n}`).length).toBeLessThan(most);
    await app.sql`delete from webhook_queue`;
  }
  await app.stop();
}, 600_000);

test("an account with one webhook has as many requests as one with ten, however long their backlogs", async () => {
  const app = await startTestApp({ env: { WEBHOOK_CONCURRENCY: "4", WEBHOOK_TIMEOUT_SECONDS: "60" } });
  const [many, one] = ["many", "one"];
  const [busy, quiet] = [await otherAccount(app), await otherAccount(app)];
  const ids: number[] = [];
  for (let n = 0; n < 10; n++) ids.push((await webhookOf(busy, `${remote.url}/${many}/${n}`)).id);
  ids.push((await webhookOf(quiet, `${remote.url}/${one}`)).id);
  const order: string[] = [];
  const answers: (() => void)[] = [];
  remote.answer = async ({ path }) => {
    order.push(path.split("/")[1] ?? "");
    await new Promise<void>((resolve) => answers.push(resolve));
    return Response.json({});
  };
  for (const id of ids) await backlog(app, id, 100);
  const next = async () => {
    const before = order.length;
    answers.shift()?.();
    await eventually(() => order.length > before, "the request that takes the place");
  };
  // All four may have been taken when the one beyond them came, which an account without any may have.
  await eventually(() => order.length >= 4 && order.includes(one), "the requests that go at once");
  answers.shift()?.();
  for (let n = 0; n < 10; n++) await next();
  const from = order.length;
  for (let n = 0; n < 40; n++) await next();
  const sent = order.slice(from);
  expect(sent.filter((name) => name === one).length).toBeGreaterThanOrEqual(18);
  expect(sent.filter((name) => name === many).length).toBeGreaterThanOrEqual(18);
  await app.sql`delete from webhook_queue`;
  remote.answer = () => Response.json({});
  for (const answer of answers) answer();
  await app.stop();
}, 600_000);
