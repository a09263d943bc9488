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
import { memoryOf, postgresOf, startCorestead, temporaryFolder } from "./processes.ts";
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
await Bun.sleep(3000);
const idleBefore = memoryOf(server.pid).now;

const browser = await launchChromium();
const starts: number[] = [];
const firstRows: number[] = [];
const sorted: number[] = [];
const filtered: number[] = [];
for (let round = 0; round < rounds; round++) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-US" });
  const page = await context.newPage();
  starts.push(await signIn(page));
  firstRows.push(await timed(() => open(page, "/studio/core/dbs/contacts/records")));
  sorted.push(await timed(() => open(page, "/studio/core/dbs/contacts/records?sort=-joined_at")));
  filtered.push(await timed(() => open(page, "/studio/core/dbs/contacts/records?filter[age]=30")));
  await context.close();
}
const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-US" })).newPage();
await signIn(page);
const scrolling = await scroll(page);
await browser.close();
await Bun.sleep(3000);
const idleAfter = memoryOf(server.pid).now;
await server.stop();

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
      ["page of records, opened anew: first rows", number(median(firstRows), 0)],
      ["the same, by an indexed order", number(median(sorted), 0)],
      ["the same, by an indexed filter", number(median(filtered), 0)],
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
    verdict("next rows, p95", scrolling.nextRowsP95, { most: 100 }, "ms"),
    verdict("longest task while scrolling", scrolling.longestTask, { most: 50 }, "ms"),
    verdict("heap of the page, after by before scrolling", scrolling.heapRatio, { most: 1.5 }),
    verdict("memory of the idle server, after minus before", idleAfter - idleBefore, { most: 5 }, "MB"),
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
  await on.locator("[role=grid] [role=gridcell]").first().waitFor();
}

/** Scrolls through 10,000 rows in steps of a screen, as a wheel does. */
async function scroll(on: Page): Promise<{ nextRowsP95: number; longestTask: number; heapRatio: number }> {
  await open(on, "/studio/core/dbs/contacts/records");
  const measured = await on.evaluate(async () => {
    const grid = document.querySelector("[role=grid]");
    const scroller = [grid, ...document.querySelectorAll("main *")].find(
      (element) =>
        element instanceof HTMLElement &&
        element.scrollHeight > element.clientHeight + 500 &&
        getComputedStyle(element).overflowY !== "visible",
    );
    if (!(scroller instanceof HTMLElement)) throw new Error("nothing scrolls");
    let longestTask = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) longestTask = Math.max(longestTask, entry.duration);
    }).observe({ type: "longtask" });
    const memory = () => (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize; // Chromium's own
    const isFilled = () => {
      const box = scroller.getBoundingClientRect();
      const rows = [...scroller.querySelectorAll("[role=row]")].filter((row) => {
        const { top, bottom } = row.getBoundingClientRect();
        return bottom > box.top + 60 && top < box.bottom - 60;
      });
      return rows.length > 5 && rows.every((row) => (row.textContent ?? "").trim().length > 3);
    };
    const waits: number[] = [];
    let before = 0;
    for (let step = 0; step < 500; step++) {
      if (step === 50) before = memory();
      const began = performance.now();
      scroller.scrollTop += 720;
      do await new Promise(requestAnimationFrame);
      while (!isFilled() && performance.now() - began < 5000);
      waits.push(performance.now() - began);
    }
    return { waits, longestTask, heapRatio: memory() / before };
  });
  const ordered = measured.waits.toSorted((a, b) => a - b);
  return { ...measured, nextRowsP95: ordered[Math.floor(ordered.length * 0.95)] ?? 0 };
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await run();
  return performance.now() - began;
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
