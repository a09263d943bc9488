/** Deliveries of webhooks by one server to a receiver in this process. */
import type { Sql } from "../../runtime/db.ts";
import { adminToken, cpuOf, cpuOfPostgres, type Server } from "./processes.ts";

export interface Arrival {
  /** Unix milliseconds. */
  readonly at: number;
  /** The time of the change, stored in the record. */
  readonly changedAt: number;
}

export type Receiver = ReturnType<typeof startReceiver>;

/** Notes when each path's requests arrive. Those below `/hang` are never answered. */
export function startReceiver() {
  const arrivals = new Map<string, Arrival[]>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const at = performance.timeOrigin + performance.now();
      const { pathname } = new URL(request.url);
      const { created_at: changedAt } = await request.json();
      const seen = arrivals.get(pathname) ?? [];
      arrivals.set(pathname, seen);
      seen.push({ at, changedAt: Date.parse(changedAt) });
      if (pathname.startsWith("/hang")) return new Promise<Response>(() => {});
      return new Response("ok");
    },
  });
  return { arrivals, port: server.port, stop: () => server.stop(true) };
}

interface Needed {
  readonly server: Server;
  readonly sql: Sql;
  readonly postgresPid: number;
  readonly receiver: Receiver;
}

export interface BulkOptions {
  readonly hooks: number;
  /** At once, of each webhook. */
  readonly concurrency: number;
  readonly total: number;
  /** Tells apart bulks of the same shape. */
  readonly name?: string;
}

export interface Bulk {
  readonly perSecond: number;
  /** Processor milliseconds of a delivery. */
  readonly server: number;
  readonly postgres: number;
  readonly receiver: number;
}

export type Deliveries = ReturnType<typeof createDeliveries>;

/** The server must be allowed to reach the receiver: OUTBOUND_ALLOW=127.0.0.1. */
export function createDeliveries({ server, sql, postgresPid, receiver: { arrivals, port } }: Needed) {
  const origin = `http://127.0.0.1:${server.port}`;
  const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" };

  const post = async (path: string, body: object) => {
    const answer = await fetch(`${origin}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const webhook = async (kind: string, path: string, fields: object = {}): Promise<number> => {
    const url = `http://127.0.0.1:${port}${path}`;
    const given = { source_type: "Core::Record", kind, url, filter: { db_code: "bench" }, ...fields };
    return (await post("/account/webhooks.json", { webhook: given })).id;
  };
  const remove = async (id: number) => {
    await fetch(`${origin}/account/webhooks/${id}.json`, { method: "DELETE", headers });
  };
  const missing = async (): Promise<string> => {
    const came = [...arrivals].map(([path, all]) => [path, all.length]);
    const jobs = await sql`select count(*) from jobs`;
    const logged = await sql`
      select status, count(*), min(error), max(attempts), min(next_attempt_at) from webhook_deliveries group by 1`;
    const queued =
      await sql`select count(*), min(due_at), max(due_at), count(worker) as held, now() from webhook_queue`;
    return JSON.stringify({ came, jobs, logged, queued });
  };
  const until = async (check: () => boolean) => {
    const end = performance.now() + 60_000;
    while (!check()) {
      if (performance.now() > end) throw new Error(`deliveries are missing: ${await missing()}`);
      await Bun.sleep(10);
    }
  };

  /** Events that are already waiting, timed from the first arrival to the last. */
  const bulk = async ({ hooks, concurrency, total, name = "bulk" }: BulkOptions): Promise<Bulk> => {
    const kind = `${name}${hooks}x${concurrency}x${total}`;
    const source = "Bench::Thing";
    const paths = Array.from({ length: hooks }, (_, n) => `/${kind}/${n}`);
    const made = await Promise.all(
      paths.map((path) => webhook(kind, path, { source_type: source, filter: null, concurrency })),
    );
    const events = total / hooks;
    const data = {
      id: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e0f",
      created_at: new Date().toISOString(),
      note: "x".repeat(200),
    };
    const before = { server: cpuOf(server.pid), postgres: cpuOfPostgres(postgresPid), receiver: cpuOf(process.pid) };
    const payload = JSON.stringify({ accountId: 1, sourceType: source, kind, id: data.id, data });
    await sql`
      insert into jobs (name, run_at, created_at, payload)
      select 'event:core.model.changed:webhooks', now() + n * interval '1 microsecond', now(), ${payload}::text::json
      from generate_series(1, ${events}::integer) n`;
    await until(() => paths.every((path) => arrivals.get(path)?.length === events));
    const times = paths.flatMap((path) => arrivals.get(path) ?? []).map(({ at }) => at);
    const milliseconds = (used: number) => (used / total) * 1000;
    const measured = {
      perSecond: (total / durationOf(times)) * 1000,
      server: milliseconds(cpuOf(server.pid) - before.server),
      postgres: milliseconds(cpuOfPostgres(postgresPid) - before.postgres),
      receiver: milliseconds(cpuOf(process.pid) - before.receiver),
    };
    await Promise.all(made.map(remove));
    return measured;
  };
  return { post, webhook, remove, until, bulk };
}

/** From the first to the last, which are too many for spread arguments. */
function durationOf(times: readonly number[]): number {
  return times.reduce((a, b) => Math.max(a, b), -Infinity) - times.reduce((a, b) => Math.min(a, b), Infinity);
}
