/**
 * Compares rendering a page with a bare rendering of its templates, alternately in one process, so that other load on
 * the machine affects both. It includes everything but the sockets, which the figures of cached pages include.
 */
import { createRenderStore } from "../../plugins/cms-multilang/render/render-store.ts";
import { createBlocks } from "../../plugins/cms-multilang/render/templates/blocks.ts";
import { createSiteCache } from "../../plugins/cms-multilang/render/door/cache.ts";
import { createComposer } from "../../plugins/cms-multilang/render/compose.ts";
import { createDoor } from "../../plugins/cms-multilang/render/door/door.ts";
import { createSiteEngine } from "../../plugins/cms-multilang/render/templates/engine.ts";
import { createFinder } from "../../plugins/cms-multilang/render/addresses/find.ts";
import { createPictures } from "../../plugins/cms-multilang/render/templates/pictures.ts";
import { createPageUrls } from "../../plugins/cms-multilang/render/templates/page-urls.ts";
import { createShowing } from "../../plugins/cms-multilang/render/templates/showing.ts";
import { createTemplates } from "../../plugins/cms-multilang/render/templates/templates.ts";
import type { Account } from "../../runtime/http/auth.ts";
import type { Cache } from "../../runtime/events/cache.ts";
import type { Sql } from "../../runtime/db.ts";
import { createLog } from "../../runtime/log.ts";
import { median } from "./compare.ts";
import * as site from "./site-seed.ts";

/** Processor milliseconds each. */
export interface Rendering {
  readonly bare: number;
  /** Each request renders the page; its data is in memory. */
  readonly anew: number;
  /** The first rendering after a change, with all its queries. */
  readonly first: number;
  /** Medians of the rounds' ratios of a bare rendering to these. */
  readonly anewRatio: number;
  readonly firstRatio: number;
}

export async function compareRendering(sql: Sql, rounds: number, times: number): Promise<Rendering> {
  const bare = bareRendering();
  const { request, change } = await benchDoor(sql);
  const results: { bare: number; anew: number; first: number }[] = [];
  for (let round = -3; round < rounds; round++) {
    const result = {
      bare: await cpuEach(times, async () => bare()),
      anew: await cpuEach(times, request),
      first: await cpuEach(times, async () => {
        await change();
        await request();
      }),
    };
    if (round >= 0) results.push(result);
  }
  const of = (value: (result: (typeof results)[number]) => number) => median(results.map(value));
  return {
    bare: of((one) => one.bare),
    anew: of((one) => one.anew),
    first: of((one) => one.first),
    anewRatio: of((one) => one.bare / one.anew),
    firstRatio: of((one) => one.bare / one.first),
  };
}

async function cpuEach(times: number, run: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  for (let index = 0; index < times; index++) await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / times;
}

/** The page's two parsed templates, with their values in memory. */
function bareRendering(): () => string {
  const engine = createSiteEngine();
  const [page, layout] = [engine.parse(site.content + site.uncached), engine.parse(site.layout)];
  const nothing = {
    paragraph: () => undefined,
    paragraphs: () => [],
    block: () => undefined,
    picture: () => undefined,
    pageUrl: () => "",
  };
  const rendering = { timezone: "UTC", locale: "pl", usesClock: false, usesChance: false, ...nothing };
  const switches = [1, 2].map(() => ({ url: "http://small.test/big-anew", name: "Polski" }));
  const own = { ...site.fields, layout: site.layoutFields, params: {}, lang_switch: switches };
  const values = (more: object) => Object.assign(Object.create(null), own, more);
  return () => engine.render(layout, values({ content: engine.render(page, values({}), rendering) }), rendering);
}

async function benchDoor(sql: Sql) {
  const renderStore = createRenderStore(sql);
  const engine = createSiteEngine();
  const log = createLog("error");
  const account: Account = { id: 1, name: "", baseUrl: "", timezone: "UTC", locale: "pl" };
  const broadcast = { publish: () => {}, on: () => () => {}, onReset: () => () => {} };
  const sites = createSiteCache({
    ctx: { cache: simpleCache, broadcast, log },
    renderStore,
    account: async () => account,
  });
  await sites.load();
  const templatesOf = createTemplates(renderStore, engine);
  const blocksOf = createBlocks(engine, templatesOf);
  const showingOf = createShowing({ renderStore, engine, blocksOf });
  const picturesOf = createPictures({ picturesOf: async () => new Map() });
  const door = createDoor({
    sites,
    renderStore,
    showingOf,
    finder: createFinder(renderStore, blocksOf),
    composer: createComposer({
      renderStore,
      engine,
      templatesOf,
      showingOf,
      picturesOf,
      pageUrlsOf: createPageUrls(renderStore),
    }),
    scheme: () => "http:",
  });
  const [row] = await sql<{ id: number }[]>`select id from cms_sites where code = 'small'`;
  let count = 0;
  const request = async () => {
    const url = `http://small.test/big-anew?r=${++count}`;
    const reply = await door.find("small.test")?.page({
      request: new Request(url),
      requestId: "",
      log,
    });
    if (reply?.status !== 200) throw new Error(`the page was not rendered: ${reply?.status}`);
  };
  return { request, change: () => sites.invalidate(1, row?.id ?? 0) };
}

/** What the runtime's broadcast does in a single process. */
function simpleCache<V>({ load }: { load: (key: string) => Promise<V | undefined> }): Cache<V> {
  const values = new Map<string, V>();
  return {
    peek: (key) => values.get(key),
    async get(key) {
      const value = values.get(key) ?? (await load(key));
      if (value !== undefined) values.set(key, value);
      return value;
    },
    invalidate: async (key) => void values.delete(key),
    clear: async () => values.clear(),
  };
}
