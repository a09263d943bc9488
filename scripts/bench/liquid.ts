/**
 * The page of 31 kB as templates: `bun scripts/bench/liquid.ts [--quick] [--write]`. Compiled, as LiquidJS interprets it
 * under the same limits, and as a function written by hand, by turns in one process.
 */
import { parseArgs } from "node:util";
import { toValueSync } from "liquidjs";
import { render } from "../../runtime/liquid/liquid-compile.ts";
import { GuardedLiquid } from "../../runtime/liquid/liquid-engine.ts";
import { BoundedEmitter } from "../../runtime/liquid/liquid-guard.ts";
import { createRuns } from "../../runtime/liquid/liquid-run.ts";
import { median } from "./compare.ts";
import { number, publish, table, verdict, verdictTable } from "./report.ts";
import { content, fields, layout, layoutFields } from "./site-seed.ts";

const { values: options } = parseArgs({
  options: { quick: { type: "boolean", default: false }, write: { type: "boolean", default: false } },
});
const rounds = options.quick ? 5 : 15;
const times = options.quick ? 100 : 300;

const engine = new GuardedLiquid(false);
const runs = createRuns(engine, { timezone: "UTC", locale: "pl" });
const [page, frame] = [engine.read(content).nodes, engine.read(layout).nodes];
const switches = [1, 2].map(() => ({ url: "http://small.test/big-anew", name: "Polski" }));
const variables = { ...fields, layout: layoutFields, lang_switch: switches };

const ways = {
  compiled: () => both((nodes, given) => rendered(nodes, given, true)),
  interpreted: () => both((nodes, given) => rendered(nodes, given, false)),
  "by hand": byHand,
};
const text = ways.compiled();
for (const way of Object.values(ways)) if (way() !== text) throw new Error("not all give the same page");

const results = new Map<string, number[]>(Object.keys(ways).map((name) => [name, []]));
for (let round = -3; round < rounds; round++)
  for (const [name, way] of Object.entries(ways)) {
    const before = process.cpuUsage();
    for (let time = 0; time < times; time++) way();
    const { user, system } = process.cpuUsage(before);
    if (round >= 0) results.get(name)?.push((user + system) / 1000 / times);
  }
const ms = (name: keyof typeof ways) => median(results.get(name) ?? []);

await publish(
  "liquid",
  [
    `${number(text.length / 1000, 0)} kB; medians of ${rounds} interleaved rounds of ${times} pages, processor time.`,
    table(
      ["", "ms a page"],
      [...results].map(([name, found]) => [name, number(median(found), 3)]),
    ),
    verdictTable([
      verdict("compiled", ms("compiled"), { most: 0.25 }, "ms"),
      verdict("interpreted by compiled", ms("interpreted") / ms("compiled"), { least: 3 }),
    ]),
  ].join("\n\n"),
  options.write,
);

function both(way: (nodes: typeof page, given: Record<string, unknown>) => string): string {
  return way(frame, { ...variables, content: way(page, variables) });
}

/** LiquidJS's own rendering is that of a context which may be interrupted. */
function rendered(nodes: typeof page, given: object, sync: boolean): string {
  const context = runs.start(given, {}, { sync });
  const emitter = new BoundedEmitter(context);
  if (sync) render(nodes, context, emitter);
  else toValueSync(engine.renderer.renderTemplates(nodes, context, emitter));
  return emitter.buffer;
}

function byHand(): string {
  let list = "";
  for (const { name, text: about, price } of fields.items) {
    const shown = price > 50 ? `<strong>${Math.round(price * 1.23 * 100) / 100}</strong>` : `<em>${price}</em>`;
    list += `<section class="item"><h2>${escaped(name)}</h2><p>${about}</p>\n${shown}</section>`;
  }
  let links = "";
  for (const [at, { name, text: about }] of fields.items.entries()) {
    const short = about.length > 40 ? `${about.slice(0, 37)}...` : about;
    links += `<li>${at + 1}. <a href="/${name.toLowerCase()}">${name}</a> ${short}</li>`;
  }
  const main = `<h1>${fields.title}</h1>${fields.text}\n${list}\n<ul>${links}</ul>`;
  const menu = fields.menu.map(({ path, name }) => `<a href="/${path}">${escaped(name)}</a>`).join("");
  const languages = switches.map(({ url, name }) => `<a href="${url}">${name}</a>`).join("");
  return `<!doctype html>\n<html lang=""><head><meta charset="utf-8"><title></title></head>\n<body><header>${menu}\n${languages}</header>\n<main>${main}</main><footer>${layoutFields.foot}</footer></body></html>`;
}

function escaped(value: string): string {
  return Bun.escapeHTML(value);
}
