/** Where reads run when there are replicas: counted at the servers, by the statements that each has run. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openPool } from "../../runtime/db/db.ts";
import { adminToken, eventually, startTestApp, type Answer, type TestApp } from "../harness.ts";
import { startNetwork, type Network } from "./network.ts";
import { programs, startCluster, statementsAt, type Cluster, type Standby, type Statements } from "./postgres.ts";

let cluster: Cluster;
let second: Standby;
/** Leads to both standbys in turn. */
let rotating: Network;

beforeAll(async () => {
  if (programs === undefined) return;
  cluster = await startCluster();
  second = await cluster.addStandby();
  rotating = await startNetwork([cluster.ports.standby, second.port]);
});
afterAll(async () => {
  await rotating?.stop();
  await second?.stop();
  await cluster?.stop();
});

const start = async (readUrl: string): Promise<TestApp> => {
  const app = await startTestApp({
    target: { url: cluster.primaryUrl },
    env: {
      DATABASE_URL: cluster.primaryUrl,
      DATABASE_READ_URL: readUrl,
      // An account's lists leave places to those of others.
      DATABASE_POOL: "10",
      CORE_ADMIN_TOKEN: adminToken,
    },
  });
  await eventually(async () => {
    const { json } = await app.get("/ready", { token: null });
    return json.replicas?.ready === json.replicas?.of;
  }, "the replicas");
  return app;
};
const made = async (answer: Promise<Answer>): Promise<Answer["json"]> => {
  const { status, json } = await answer;
  expect([status, json]).toEqual([201, expect.anything()]);
  return json;
};
const times = (statements: Statements, pattern: RegExp) =>
  [...statements].reduce((sum, [text, calls]) => sum + (pattern.test(text) ? calls : 0), 0);

describe.skipIf(programs === undefined)("with replicas", () => {
  test("all that visitors of a site read comes from the replica, and what decides from the primary", async () => {
    const app = await start(cluster.standbyUrl);
    const visit = (path: string) => app.get(path, { token: null, headers: { host: "shop.test" } });
    try {
      await made(app.post("/cms/sites.json", { site: { code: "shop", name: "Shop", locale: "pl" } }));
      await made(app.post("/cms/domains.json", { domain: { name: "shop.test", site_code: "shop" } }));
      await made(app.post("/cms/categories.json", { category: { code: "news", name: "News", site_code: "shop" } }));
      const layout = { code: "main", name: "Main", site_code: "shop", content: "{{ content }}" };
      await made(app.post("/cms/layouts.json", { layout }));
      const list =
        '{% articles category="news" %}{% list %}[{{ article.title }}]{% show %}<{{ article.title }}>{% endarticles %}';
      const page = { code: "blog", name: "Blog", path: "blog", site_code: "shop", layout_code: "main" };
      await made(app.post("/cms/pages.json", { page: { ...page, content: `${list}{% paragraph "aside" %}` } }));
      await made(
        app.post("/cms/paragraphs.json", { paragraph: { code: "aside", site_code: "shop", content: "aside" } }),
      );
      const article = (code: string, more = {}) => ({
        article: { code, path: code, title: code, site_code: "shop", category_code: "news", ...more },
      });
      await made(app.post("/cms/articles.json", article("later", { published_at: "2999-01-01" })));
      const db = { name: "Goods", code: "goods", public_methods: { search: true } };
      await made(app.post("/core/dbs.json", { db }));
      await statementsAt(cluster.primaryUrl);
      await statementsAt(cluster.standbyUrl);

      // Published by the primary's clock, a moment ago.
      await made(app.post("/cms/articles.json", article("one")));
      await made(app.post("/core/dbs/goods/records.json", { record: { data: { name: "lamp" } } }));
      await statementsAt(cluster.primaryUrl);
      expect((await visit("/blog")).text).toBe("[one]aside");
      expect((await visit("/blog/one")).text).toBe("<one>aside");
      const { text } = await visit("/sitemap.xml");
      expect([...text.matchAll(/<loc>[^<]*shop.test\/([^<]*)<\/loc>/g)].map(([, path]) => path)).toEqual([
        "blog",
        "blog/one",
      ]);
      expect((await visit("/blog/two")).status).toBe(404);
      expect((await app.get("/core/db/goods/search?q=lamp", { token: null })).json).toHaveLength(1);

      const [primary, replica] = [await statementsAt(cluster.primaryUrl), await statementsAt(cluster.standbyUrl)];
      const shown = /\bfrom (cms_(articles a|pages|layouts|categories|paragraphs|redirects|redirect_rules)|records)\b/;
      expect([...primary.keys()].filter((statement) => shown.test(statement))).toEqual([]);
      for (const table of ["cms_articles a", "cms_pages", "cms_layouts", "cms_categories", "cms_paragraphs", "records"])
        expect([table, times(replica, new RegExp(`from ${table}\\b`)) > 0]).toEqual([table, true]);
      expect(times(primary, /pg_current_wal_flush_lsn/)).toBeGreaterThan(0);

      // Who may do what is asked at the primary alone.
      const { token } = await made(app.post("/account/api_tokens.json", { api_token: { name: "short" } }));
      expect((await app.get("/account/me.json", { token })).status).toBe(200);
      expect(times(await statementsAt(cluster.primaryUrl), /from api_tokens\b/)).toBeGreaterThan(0);
      expect(times(await statementsAt(cluster.standbyUrl), /api_tokens|sessions|users/)).toBe(0);
    } finally {
      await app.stop();
    }
  });

  test("an address that leads to several servers in turn shows every acknowledged write, however far each server is", async () => {
    const app = await start(`postgres://core@127.0.0.1:${rotating.port}/corestead`);
    const path = "/core/dbs/several/records.json";
    const writeAndSee = async (n: number) => {
      await made(app.post(path, { record: { data: { n } } }));
      // At once, so that they need several connections.
      const lists = await Promise.all(Array.from({ length: 6 }, () => app.get(`${path}?limit=1`)));
      expect(lists.map(({ json }) => json[0]?.data)).toEqual(lists.map(() => ({ n })));
    };
    const servers = () => Promise.all([statementsAt(cluster.standbyUrl), statementsAt(second.url)]);
    try {
      await made(app.post("/core/dbs.json", { db: { name: "Several", code: "several" } }));
      for (let n = 0; n < 5; n++) await writeAndSee(n);
      await servers();
      for (let n = 5; n < 10; n++) await writeAndSee(n);
      for (const statements of await servers()) expect(times(statements, /from records\b/)).toBeGreaterThan(0);

      await second.pauseReplay();
      for (let n = 10; n < 15; n++) await writeAndSee(n);
      const [ahead, behind] = await servers();
      expect([times(ahead, /from records\b/) > 0, times(behind, /from records\b/)]).toEqual([true, 0]);
      await second.resumeReplay();
    } finally {
      await app.stop();
    }
  });

  test("connections that reach their age, and a primary whose packets are dropped, cost no acknowledged write", async () => {
    const network = await startNetwork([cluster.ports.primary]);
    const hosts = `127.0.0.1:${network.port},127.0.0.1:${cluster.ports.standby}`;
    const limits = { DATABASE_CONNECT_SECONDS: "5", DATABASE_ANSWER_SECONDS: "5", DATABASE_QUEUE_SECONDS: "5" };
    const url = `postgres://core@${hosts}/corestead?max_lifetime=0.1`;
    const app = await startTestApp({ target: { url }, env: { ...limits, CORE_ADMIN_TOKEN: adminToken } });
    const path = "/core/dbs/aged/records.json";
    const direct = openPool({ url: cluster.primaryUrl }, { max: 1 });
    const kept: number[] = [];
    const write = async (n: number) => {
      const { status } = await app.post(path, { record: { data: { n } } });
      if (status === 201) kept.push(n);
      return status;
    };
    const isWritten = (from: number) => {
      let n = from;
      return eventually(async () => (await write(n++)) === 201, "a write");
    };
    try {
      await made(app.post("/core/dbs.json", { db: { name: "Aged", code: "aged" } }));
      const begun = async () => {
        const [row] = await direct<{ sessions: number }[]>`
          select sessions from pg_stat_database where datname = current_database()`;
        return row?.sessions ?? 0;
      };
      const before = await begun();
      const statuses = new Set<number>();
      for (let n = 0; (await begun()) < before + 15; n++) statuses.add(await write(n));
      await direct.end();
      expect([...statuses]).toEqual([201]);

      network.swallow();
      expect(await write(10_000)).toBe(503);
      network.deliver();
      await isWritten(20_000);
      network.swallow();
      await cluster.failOver();
      await isWritten(30_000);
      const found: { data: { n: number } }[] = [];
      do found.push(...(await app.get(`${path}?limit=100&offset=${found.length}`)).json);
      while (found.length % 100 === 0);
      expect(found.map(({ data }) => data.n)).toEqual(expect.arrayContaining(kept));
    } finally {
      await app.stop();
      await network.stop();
    }
  });
});
