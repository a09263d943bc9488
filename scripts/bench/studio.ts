/**
 * The Studio in Chromium against its bars: `bun scripts/bench/studio.ts [--quick] [--write]`. Sizes of what is loaded,
 * time from the sign-in to an interactive list, a grid over a million records (first rows, order, filter, scrolling), and
 * the memory of the server and of the page.
 */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { openPool } from "../../runtime/db.ts";
import { launchChromium } from "../../tests/chromium.ts";
import { makeStudio } from "../studio.ts";
import { median } from "./compare.ts";
import { adminToken, memoryOf, postgresOf, startCorestead, temporaryFolder } from "./processes.ts";
import { number, publish, table, verdict, verdictTable } from "./report.ts";
import { seedCorestead } from "./seed.ts";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    total: { type: "string" },
  },
});
const total = Number(options.total ?? (options.quick ? 100_000 : 1_000_000));
const rounds = options.quick ? 3 : 7;

await makeStudio();
const sizes = await sizesOf();
const dataDir = await temporaryFolder();
const server = await startCorestead(dataDir);
const origin = `http://127.0.0.1:${server.port}`;
const sql = openPool((await postgresOf(dataDir)).target, { max: 2, statementTimeoutMs: 0 });
await seedCorestead(server, sql, "contacts", total);
await sql.end();
const browser = await launchChromium();
const starts: number[] = [];
const opened: number[] = [];
const firstRows: number[] = [];
const orders: number[] = [];
const filters: number[] = [];
for (let round = 0; round < rounds; round++) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-US" });
  const page = await context.newPage();
  starts.push(await signIn(page));
  opened.push(await openAnew(page, "/studio/core/dbs/contacts/records"));
  await page.locator("#menu a[href='/studio/core/dbs']").click();
  await page.locator("main h1").filter({ hasText: "Databases" }).waitFor();
  firstRows.push(await stepTo(page, "/studio/core/dbs/contacts/records"));
  for (let step = 0; step < 5; step++) {
    orders.push(await stepTo(page, `?sort=${step % 2 === 0 ? "-" : ""}joined_at`));
    filters.push(await stepTo(page, `?filter[age]=${30 + step}`));
  }
  await context.close();
}
const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-US" })).newPage();
await signIn(page);
const scrolling = await scroll(page);
await browser.close();
await server.stop();
const memory = await memoryOfStudio();

const text = [
  `${number(total, 0)} records, medians of ${rounds} rounds, each in a new browser profile; browser, server and PostgreSQL share the processors.`,
  table(
    ["", "kB after gzip"],
    sizes.map(({ name, bytes }) => [name, number(bytes / 1000, 1)]),
  ),
  table(
    ["", "ms"],
    [
      ["from sign-in to an interactive dashboard", number(median(starts), 0)],
      ["page of records, opened anew in an empty browser: first rows", number(median(opened), 0)],
      ["page of records, from the list of databases: first rows", number(median(firstRows), 0)],
      ["another indexed order, p95", number(p95(orders), 0)],
      ["another indexed filter, p95", number(p95(filters), 0)],
      ["next rows while scrolling, p95", number(scrolling.nextRowsP95, 0)],
      ["longest task while scrolling 10,000 rows", number(scrolling.longestTask, 0)],
    ],
  ),
  verdictTable([
    verdict("first load, script", sizes[0]!.bytes / 1000, { most: 90 }, "kB"),
    verdict("first load, style", sizes[1]!.bytes / 1000, { most: 12 }, "kB"),
    verdict("the largest page", sizes[2]!.bytes / 1000, { most: 40 }, "kB"),
    verdict("the editor with everything that it may load", sizes[3]!.bytes / 1000, { most: 220 }, "kB"),
    verdict("first rows", median(firstRows), { most: 300 }, "ms"),
    verdict("first rows, opened anew", median(opened), { most: 300 }, "ms"),
    verdict("indexed order, p95", p95(orders), { most: 150 }, "ms"),
    verdict("indexed filter, p95", p95(filters), { most: 150 }, "ms"),
    verdict("next rows, p95", scrolling.nextRowsP95, { most: 100 }, "ms"),
    verdict("longest task while scrolling", scrolling.longestTask, { most: 50 }, "ms"),
    verdict("heap of the page, after 10,000 rows by after 3,000", scrolling.heapRatio, { most: 1.1 }),
    verdict("memory of an idle server, after the whole Studio was loaded", memory, { most: 5 }, "MB"),
  ]),
].join("\n\n");
await publish("studio", text, options.write);

/** First load, style, largest page, editor. */
async function sizesOf(): Promise<{ name: string; bytes: number }[]> {
  const folder = resolve(import.meta.dir, "../../dist/studio");
  const manifest: { script: string; preloads: string[]; style: string; files: Record<string, string> } = await Bun.file(
    join(folder, "manifest.json"),
  ).json();
  const size = async (name: string) => gzipSync(await Bun.file(join(folder, name)).bytes(), { level: 9 }).length;
  const first = [manifest.script, ...manifest.preloads];
  const lazy = Object.keys(manifest.files).filter((name) => name.endsWith(".js") && !first.includes(name));
  const isEditor = async (name: string) => (await Bun.file(join(folder, name)).text()).includes("cm-editor");
  const [pages, editors]: [number[], number[]] = [[], []];
  for (const name of lazy) ((await isEditor(name)) ? editors : pages).push(await size(name));
  const firstSizes = await Promise.all(first.map(size));
  return [
    { name: "first load, script", bytes: sum(firstSizes) },
    { name: "first load, style", bytes: await size(manifest.style) },
    { name: "largest page or language", bytes: Math.max(0, ...pages) },
    { name: "largest part of the editor", bytes: Math.max(0, ...editors) },
  ];
}

async function signIn(on: Page): Promise<number> {
  await on.goto(`${origin}/login`);
  await on.locator("[autocomplete=username]").fill("admin");
  await on.locator("[autocomplete=current-password]").fill("the password of the benchmark");
  return timed(async () => {
    await on.locator("form button").click();
    await on.locator("main .tiles a").first().waitFor();
  });
}

async function open(on: Page, path: string): Promise<void> {
  await on.goto(origin + path, { waitUntil: "commit" });
  await on.locator("[role=grid] [role=gridcell] bdi").first().waitFor();
}

/** From the beginning of the navigation until the frame that shows rows; measured in the page, without the driver. */
async function openAnew(on: Page, path: string): Promise<number> {
  await on.goto(origin + path, { waitUntil: "commit" });
  return on.evaluate(async () => {
    do await new Promise(requestAnimationFrame);
    while (!document.querySelector("[role=grid] [role=gridcell] bdi") && performance.now() < 5000);
    await new Promise(requestAnimationFrame);
    return performance.now();
  });
}

/** Another page, order or filter within the Studio, until other rows are seen; measured in the page, without the driver. */
function stepTo(on: Page, address: string): Promise<number> {
  return on.evaluate(async (to) => {
    const firstRow = () => document.querySelector("[role=grid] .body [role=row] button")?.getAttribute("aria-label");
    const before = firstRow();
    const began = performance.now();
    history.pushState(null, "", to);
    dispatchEvent(new PopStateEvent("popstate"));
    do await new Promise(requestAnimationFrame);
    while ((!firstRow() || firstRow() === before) && performance.now() - began < 5000);
    return performance.now() - began;
  }, address);
}

/** Of a server that nobody uses: after all files of the Studio were served, minus before; megabytes. */
async function memoryOfStudio(): Promise<number> {
  const idle = await startCorestead(await temporaryFolder());
  const headers = { authorization: `Bearer ${adminToken}` };
  const get = async (path: string) => (await fetch(`http://127.0.0.1:${idle.port}${path}`, { headers })).text();
  for (const path of ["/openapi.json", "/core/modules.json", "/account/me.json"]) await get(path);
  await Bun.sleep(8000);
  const before = memoryOf(idle.pid).now;
  const { files }: { files: Record<string, string> } = await Bun.file(
    resolve(import.meta.dir, "../../dist/studio/manifest.json"),
  ).json();
  for (const name of [...Object.keys(files), "pages.json"]) await get(`/studio/-/${name}`);
  await Bun.sleep(8000);
  const after = memoryOf(idle.pid).now;
  await idle.stop();
  return after - before;
}

/** Scrolls through 10,000 rows in steps of a screen, as a wheel does. */
async function scroll(on: Page): Promise<{ nextRowsP95: number; longestTask: number; heapRatio: number }> {
  await open(on, "/studio/core/dbs/contacts/records");
  // The grid keeps 2,000 rows: from there on its memory may not grow.
  const first = await scrollOn(on, 150);
  const before = await heapOf(on);
  const second = await scrollOn(on, 350);
  return {
    nextRowsP95: p95([...first.waits, ...second.waits]),
    longestTask: Math.max(first.longestTask, second.longestTask),
    heapRatio: (await heapOf(on)) / before,
  };
}

function scrollOn(on: Page, steps: number): Promise<{ waits: number[]; longestTask: number }> {
  return on.evaluate(async (count) => {
    const scroller = document.querySelector("[role=grid]")?.closest(".scroller");
    if (!scroller) throw new Error("nothing scrolls");
    let longestTask = 0;
    const tasks = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) longestTask = Math.max(longestTask, entry.duration);
    });
    tasks.observe({ type: "longtask" });
    const isFilled = () => {
      const box = scroller.getBoundingClientRect();
      const rows = [...scroller.querySelectorAll("[role=row]")].filter((row) => {
        const { top, bottom } = row.getBoundingClientRect();
        return bottom > box.top + 60 && top < box.bottom - 60;
      });
      return rows.length > 5 && rows.every((row) => row.querySelector("bdi"));
    };
    const waits: number[] = [];
    for (let step = 0; step < count; step++) {
      const began = performance.now();
      scroller.scrollTop += 720;
      do await new Promise(requestAnimationFrame);
      while (!isFilled() && performance.now() - began < 5000);
      waits.push(performance.now() - began);
    }
    tasks.disconnect();
    return { waits, longestTask };
  }, steps);
}

/** What the page holds, without garbage. */
async function heapOf(on: Page): Promise<number> {
  const inspector = await on.context().newCDPSession(on);
  await inspector.send("HeapProfiler.collectGarbage");
  const { usedSize } = await inspector.send("Runtime.getHeapUsage");
  await inspector.detach();
  return usedSize;
}

function p95(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? 0;
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await run();
  return performance.now() - began;
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
