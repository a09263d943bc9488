/**
 * Two servers on a primary and a standby, while hosts die: the oracle remembers what was acknowledged. Every such write
 * is there once, every webhook of one has arrived, every flow that was started has ended, and every cron was fired once.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openPool, type Sql } from "../../runtime/db/db.ts";
import { clientOf } from "../../runtime/operations/authors/test-client.ts";
import { adminToken, eventually } from "../harness.ts";
import { followStream, type Follower } from "../event-stream.ts";
import { startReceiver, type Receiver } from "../receiver.ts";
import { cleanUp, folderWith, fromSource, startServer, type ServerProcess } from "../server-process.ts";
import { pgbouncer, programs, readersAt, startCluster, startPgbouncer, type Cluster } from "./postgres.ts";

const timeoutMs = 120_000;

let cluster: Cluster;
let receiver: Receiver;

beforeAll(async () => {
  if (programs === undefined) return;
  cluster = await startCluster();
  receiver = startReceiver();
}, timeoutMs);
afterAll(async () => {
  await cleanUp();
  await receiver?.stop();
  await cluster?.stop();
});

const env = () => ({
  DATABASE_URL: cluster.url,
  OUTBOUND_ALLOW: "127.0.0.1",
  CORE_ADMIN_PASSWORD: "correct horse battery staple",
  CORE_ADMIN_TOKEN: adminToken,
  SECRET_KEY: "a secret key of the tests, 32 characters or more",
  DATABASE_CONNECT_SECONDS: "2",
  // The primary of them is not asked as a replica.
  DATABASE_READ_URL: cluster.url,
  LOG_LEVEL: "error",
  DRAIN_SECONDS: "300",
});
const start = () => startServer(fromSource, { cwd: folderWith(), env: env() });

interface Asked {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever the server answers
  readonly json: any;
}

describe.skipIf(programs === undefined)("two servers on one cluster", () => {
  let hosts: ServerProcess[];
  /** By the id of the record, what was written in it. */
  const acknowledged = new Map<string, number>();
  /** Crons that have fallen due. */
  const due: number[] = [];
  let written = 0;
  let turn = 0;
  const silent = new Set<ServerProcess>();

  beforeAll(async () => {
    hosts = [await start(), await start()];
    await madeOnce("/core/dbs.json", { db: { name: "Orders", code: "orders" } });
    const program = [{ type: "mutation", set: { order: "{{ data.id }}" } }];
    const flow = { name: "Ship", code: "ship", fields: { program } };
    await madeOnce("/connect/flows.json", { flow });
    const common = { source_type: "Core::Record", kind: "create", filter: { db_code: "orders" } };
    for (const target of [{ url: `${receiver.url}/orders` }, { target_kind: "flow", target_code: "ship" }])
      await madeOnce("/account/webhooks.json", { webhook: { ...common, ...target } });
    const tick = [{ type: "return", value: "{{ cron_id }}" }];
    await madeOnce("/connect/flows.json", { flow: { name: "Tick", code: "tick", fields: { program: tick } } });
  }, timeoutMs);

  test(
    "reads go to the replica, see every acknowledged write on any host, and never fail with it",
    async () => {
      const [first, second] = hosts as [ServerProcess, ServerProcess];
      const isRead = async (host: ServerProcess, wanted: boolean) =>
        eventually(async () => (await metricOf(host, "corestead_replica_ready")) === Number(wanted), "the replica");
      const seen = async (id: string, n: number) => {
        for (const host of hosts) {
          const list = await host.request("GET", "/core/dbs/orders/records.json?limit=1");
          expect(list).toMatchObject({ status: 200, json: [{ id, data: { n } }] });
          expect((await host.request("GET", `/core/dbs/orders/records/${id}.json`)).json.data).toEqual({ n });
        }
      };
      const writeAndSee = async (host: ServerProcess) => {
        const n = ++written;
        const { status, json } = await host.request("POST", "/core/dbs/orders/records.json", {
          record: { data: { n } },
        });
        expect(status).toBe(201);
        acknowledged.set(json.id, n);
        await seen(json.id, n);
      };
      await isRead(first, true);
      await isRead(second, true);
      for (let n = 0; n < 10; n++) await writeAndSee(n % 2 ? first : second);
      expect(await metricOf(second, "corestead_replica_reads_total")).toBeGreaterThan(0);

      await madeOnce("/cms/sites.json", { site: { code: "shop", name: "Shop", locale: "pl" } });
      await madeOnce("/cms/domains.json", { domain: { name: "shop.test", site_code: "shop" } });
      const page = { code: "home", name: "Home", path: "", site_code: "shop", content: "old" };
      await madeOnce("/cms/pages.json", { page });
      const { id: tokenId, token } = await madeOnce("/account/api_tokens.json", { api_token: { name: "short" } });
      const shown = async (host: ServerProcess) =>
        (await host.request("GET", "/", undefined, { token: null, headers: { host: "shop.test" } })).text;
      for (const host of hosts) {
        expect(await shown(host)).toBe("old");
        expect((await host.request("GET", "/account/me.json", undefined, { token })).status).toBe(200);
      }

      await cluster.pauseReplay();
      expect((await first.request("PATCH", "/cms/pages/home.json", { page: { content: "new" } })).status).toBe(200);
      for (const host of [second, first, second]) expect(await shown(host)).toBe("new");
      expect((await first.request("DELETE", `/account/api_tokens/${tokenId}.json`)).status).toBe(204);
      expect((await second.request("GET", "/account/me.json", undefined, { token })).status).toBe(401);
      await writeAndSee(first);
      await eventually(async () => ((await metricOf(second, "corestead_replica_lag_bytes")) ?? 0) > 0, "the lag");
      await cluster.resumeReplay();
      await isRead(first, true);
      await isRead(second, true);

      const reads = { areOver: false };
      const statuses = new Set<number>();
      const reading = hosts.map(async (host) => {
        for (; !reads.areOver; await Bun.sleep(10))
          statuses.add((await host.request("GET", "/core/dbs/orders/records.json")).status);
      });
      await cluster.killStandby();
      await isRead(first, false);
      await isRead(second, false);
      await cluster.startStandby();
      await isRead(first, true);
      await isRead(second, true);
      reads.areOver = true;
      await Promise.all(reading);
      expect([...statuses]).toEqual([200]);
    },
    timeoutMs,
  );

  test(
    "a new version on one host after the other: no request fails, no event is missed, and nothing is done twice",
    async () => {
      await makeRolling(receiver.url);
      const told = await followRolling();
      const made: string[] = [];
      const failed: unknown[] = [];
      const over = new AbortController();
      const write = async () => {
        while (!over.signal.aborted) {
          const host = await readyHost();
          const answer = await ask(host, "POST", "/core/dbs/rolling/records.json", { record: { data: {} } });
          if (answer?.status === 201) made.push(answer.json.id);
          else failed.push(answer ?? "no answer");
        }
      };
      const writers = [write(), write()];
      const more = (count: number) => eventually(() => made.length >= count, `${count} records`, 60_000);
      await more(10);
      for (const at of [0, 1]) {
        const leaving = hosts[at];
        const after = await start();
        const ended = leaving?.stop();
        await eventually(async () => (await ask(leaving, "GET", "/ready"))?.json.role === "draining");
        // Behind a load balancer the new host takes the old one's place.
        hosts[at] = after;
        await more(made.length + 10);
        leaving?.kill("SIGTERM"); // a second signal ends the time to drain
        expect(await ended).toBe(0);
        await more(made.length + 5);
      }
      over.abort();
      await Promise.all(writers);
      expect(failed).toEqual([]);
      const all = made.toSorted();
      await eventually(() => told.ids().length >= all.length, "all events", 60_000);
      expect(told.ids().toSorted()).toEqual(all);
      await told.end();
      const arrived = (path: string) => receiver.at(path).map(({ body }) => String(JSON.parse(body).id));
      for (const path of ["/rolling", "/slow"]) {
        await eventually(() => new Set(arrived(path)).size >= all.length, `${all.length} at ${path}`, 60_000);
        expect(arrived(path).toSorted()).toEqual(all);
      }
    },
    timeoutMs,
  );

  test(
    "a killed host, a host that stood still, a failover and the way back lose nothing that was acknowledged",
    async () => {
      await writeUntil(20);
      const [first, second] = hosts as [ServerProcess, ServerProcess];
      await fallDue();
      first.kill("SIGKILL");
      await writeUntil(40);
      hosts[0] = await start();
      await writeUntil(60);
      await fallDue();
      second.kill("SIGSTOP");
      await writeUntil(80);
      second.kill("SIGCONT");
      silent.clear();
      await writeUntil(100);
      await fallDue();
      await cluster.failOver();
      await writeUntil(120);
      // What was the replica takes all connections of the hosts now, and keeps none of those for reads.
      await eventually(async () => (await readersAt(cluster.standbyUrl)) === 0, "no connections for reads");
      await fallDue();
      await cluster.failBack();
      await writeUntil(140);
      await untilAllIsDone();
      await untilAllAreFired();
    },
    timeoutMs,
  );

  test(
    "a token that was revoked while a host stood still is refused there as soon as it goes on",
    async () => {
      const [first, second] = hosts as [ServerProcess, ServerProcess];
      const made = await post("/account/api_tokens.json", { api_token: { name: "short" } });
      expect(made.status).toBe(201);
      const { id, token } = made.json;
      await eventually(
        async () => (await second.request("GET", "/account/me.json", undefined, { token })).status === 200,
      );
      second.kill("SIGSTOP");
      const gone = await first.request("DELETE", `/account/api_tokens/${id}.json`);
      second.kill("SIGCONT");
      expect(gone.status).toBe(204);
      // 503 until it has heard what it missed, and never an answer by the old token.
      const seen = new Set<number>();
      await eventually(async () => {
        const { status } = await second.request("GET", "/account/me.json", undefined, { token });
        seen.add(status);
        return status === 401;
      }, "the refusal");
      expect(seen).not.toContain(200);
    },
    timeoutMs,
  );

  /** Each record is sent to the receiver, and starts a flow with a slow step. */
  async function makeRolling(url: string): Promise<void> {
    receiver.answer = async ({ path }) => {
      if (path === "/slow") await Bun.sleep(300);
      return Response.json({});
    };
    expect((await post("/core/dbs.json", { db: { name: "Rolling", code: "rolling" } })).status).toBe(201);
    const methods = { send: { method: "POST", path: "/slow", body: { id: "{id}" } } };
    const connector = { name: "Slow", code: "slow", url, fields: { methods } };
    expect((await post("/connect/connectors.json", { connector })).status).toBe(201);
    const program = [{ type: "connector", connector: "slow", method: "send", params: { id: "{{ data.id }}" } }];
    const flow = { name: "Slow", code: "slow", fields: { program } };
    expect((await post("/connect/flows.json", { flow })).status).toBe(201);
    const common = { source_type: "Core::Record", kind: "create", filter: { db_code: "rolling" } };
    for (const target of [{ url: `${url}/rolling` }, { target_kind: "flow", target_code: "slow" }])
      expect((await post("/account/webhooks.json", { webhook: { ...common, ...target } })).status).toBe(201);
  }

  /** A load balancer's choice. */
  async function readyHost(): Promise<ServerProcess | undefined> {
    for (;;) {
      const host = hosts[++turn % hosts.length];
      if ((await ask(host, "GET", "/ready"))?.status === 200) return host;
    }
  }

  /** Follows the records as a browser does: when its stream ends, it goes on from the last event at another host. */
  async function followRolling() {
    const ids: string[] = [];
    let current: Follower | undefined;
    const over = new AbortController();
    const connect = async () => {
      const lastId = current?.lastId();
      current = await followStream(`${(await readyHost())?.origin}/core/dbs/rolling/events`, { lastId });
    };
    const take = () => void ids.push(...(current?.events.splice(0) ?? []).map(({ data }) => String(data.id)));
    await connect();
    const following = (async () => {
      while (!over.signal.aborted) {
        await Bun.sleep(20);
        const hasEnded = current?.ended();
        take();
        if (hasEnded && !over.signal.aborted) await connect();
      }
    })();
    return {
      ids: () => ids,
      end: async () => {
        over.abort();
        await following;
        await current?.close();
      },
    };
  }

  /** What is there once: asked for once, however long it takes. */
  async function madeOnce(path: string, body: object): Promise<Asked["json"]> {
    const answer = await hosts[0]?.request("POST", path, body);
    expect(answer).toMatchObject({ status: 201 });
    return answer?.json;
  }

  /** Undefined if the host does not answer in time: what became of a write is then unknown. */
  async function ask(
    host: ServerProcess | undefined,
    method: string,
    path: string,
    body?: object,
  ): Promise<Asked | undefined> {
    const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" };
    const signal = AbortSignal.timeout(4_000);
    try {
      const answer = await fetch(`${host?.origin}${path}`, {
        method,
        headers,
        signal,
        ...(body && { body: JSON.stringify(body) }),
      });
      return { status: answer.status, json: await answer.json() };
    } catch {
      return undefined;
    }
  }

  /** Of the standby. */
  async function metricOf(host: ServerProcess, name: string): Promise<number | undefined> {
    const answer = await fetch(`${host.origin}/metrics`, { headers: { authorization: `Bearer ${adminToken}` } });
    const label = `${name}{replica="${new URL(cluster.standbyUrl).host}"} `;
    const line = (await answer.text()).split("\n").find((one) => one.startsWith(label));
    return line === undefined ? undefined : Number(line.slice(label.length));
  }

  /** As a load balancer does, asks the next host when one is not ready, and no more the one that does not answer. */
  async function post(path: string, body: object): Promise<Asked> {
    let last: Asked | undefined;
    return eventually(
      async () => {
        turn += 1;
        const there = hosts.filter((host) => !silent.has(host));
        const host = there[turn % there.length];
        last = await ask(host, "POST", path, body);
        if (host && !last && there.length > 1) silent.add(host);
        return last && last.status < 500 ? last : undefined;
      },
      `an answer to ${path}, after ${last?.status}`,
      60_000,
    );
  }

  async function writeUntil(count: number): Promise<void> {
    while (written < count) {
      const n = ++written;
      const { status, json } = await post("/core/dbs/orders/records.json", { record: { data: { n } } });
      expect(status).toBe(201);
      acknowledged.set(json.id, n);
    }
  }

  /** Some new crons become due, and are looked for, as once a minute. */
  async function fallDue(): Promise<void> {
    const made: number[] = [];
    for (let n = 0; n < 5; n++) {
      const cron = { target_code: "tick", schedule: "0 0 1 1 *", missed: "latest" };
      const { status, json } = await post("/account/crons.json", { cron });
      expect(status).toBe(201);
      made.push(json.id);
    }
    due.push(...made);
    await inDatabase(async (sql) => {
      await sql`update crons set next_run_at = now() - interval '1 second' where id = any(${made})`;
      await lookForDue(sql);
    });
  }

  const lookForDue = (sql: Sql) => sql`
    insert into jobs (name, run_at, created_at, payload)
    values ('schedule:crons.check', now(), now(), json_build_object('dueAt', to_json(now())))`;

  async function untilAllAreFired(): Promise<void> {
    const firedBy = (sql: Sql) => sql<{ id: number; times: number; finished: number; processes: number }[]>`
      select c.id, (select count(*)::int from cron_runs r where r.cron_id = c.id) as times,
        count(p.id) filter (where p.status = 'finished')::int as finished, count(p.id)::int as processes
      from crons c left join flow_processes p on (p.input ->> 'cron_id')::bigint = c.id
      where c.id = any(${due}) group by c.id order by c.id`;
    await inDatabase(async (sql) => {
      await lookForDue(sql);
      await eventually(
        async () => (await firedBy(sql)).every(({ times, finished }) => times === 1 && finished >= 1),
        "a flow of every cron that was due",
        60_000,
      );
      expect(due).toHaveLength(20);
      const once = { times: 1, finished: 1, processes: 1 };
      expect([...(await firedBy(sql))]).toEqual(due.toSorted((a, b) => a - b).map((id) => ({ id, ...once })));
    });
  }

  async function inDatabase(run: (sql: Sql) => Promise<void>): Promise<void> {
    const sql = openPool({ url: cluster.url }, { max: 1 });
    try {
      await run(sql);
    } finally {
      await sql.end({ timeout: 5 });
    }
  }

  async function untilAllIsDone(): Promise<void> {
    const get = async (path: string) => {
      const answer = await eventually(async () => {
        const found = await ask(hosts[0], "GET", path);
        return found?.status === 200 ? found : undefined;
      }, path);
      return answer.json;
    };
    const all = async (path: string) => {
      const pages: Asked["json"][][] = [];
      do pages.push(await get(`${path}?limit=100&offset=${pages.length * 100}`));
      while (pages.at(-1)?.length === 100);
      return pages.flat();
    };
    const kept = await all("/core/dbs/orders/records.json");
    for (const [id, n] of acknowledged) expect(kept).toContainEqual(expect.objectContaining({ id, data: { n } }));
    await eventually(
      () => {
        const arrived = new Set(receiver.at("/orders").map(({ body }) => String(JSON.parse(body).id)));
        return [...acknowledged.keys()].every((id) => arrived.has(id));
      },
      "a webhook of every acknowledged write",
      60_000,
    );
    await eventually(
      async () => {
        const ended = await all("/connect/flow_processes.json");
        const shipped = new Set(ended.map((one) => one.status === "finished" && one.data?.order));
        return [...acknowledged.keys()].every((id) => shipped.has(id));
      },
      "a flow of every acknowledged write",
      60_000,
    );
  }
});

describe.skipIf(programs === undefined || pgbouncer === null)("behind pgbouncer in transaction mode", () => {
  test(
    "two servers hear of each other's changes",
    async () => {
      // Debian 12's pgbouncer keeps no prepared statements.
      const pooler = await startPgbouncer(cluster.primaryUrl);
      const settings = {
        ...env(),
        DATABASE_URL: pooler.url,
        DATABASE_READ_URL: "",
        DATABASE_LISTEN_URL: cluster.primaryUrl,
        DATABASE_PREPARE: "false",
        DRAIN_SECONDS: "0",
      };
      const startOne = () => startServer(fromSource, { cwd: folderWith(), env: settings });
      const servers = [await startOne(), await startOne()] as const;
      const [a, b] = [clientOf(servers[0].request), clientOf(servers[1].request)];
      try {
        const code = "pooled";
        const prompt = { name: "Hello", code, kind: "chat", content: "one" };
        const made = await a.post("/core/prompts.json", { prompt });
        expect(made.status).toBe(201);
        expect((await b.get(`/core/prompt/${code}.md`)).text).toContain("one");
        expect((await a.patch(`/core/prompts/${made.json.id}.json`, { prompt: { content: "two" } })).status).toBe(200);
        expect((await b.get(`/core/prompt/${code}.md`)).text).toContain("two");
        expect((await a.post("/core/dbs.json", { db: { name: "Pooled", code } })).status).toBe(201);
        const write = (n: number) =>
          (n % 2 ? a : b).post(`/core/dbs/${code}/records.json`, { record: { data: { pooled: n } } });
        const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => write(n)));
        expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
      } finally {
        await Promise.all(servers.map((one) => one.stop()));
        await pooler.stop();
      }
    },
    timeoutMs,
  );
});
