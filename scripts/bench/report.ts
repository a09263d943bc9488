/** Makes tables of results and puts them into README.md. */
import { join } from "node:path";
import { dependencies } from "../../package.json";
import type { Sql } from "../../runtime/db.ts";
import type { Comparison, SideResult } from "./compare.ts";

/** A target and the measured value. */
export interface Verdict {
  readonly target: string;
  readonly measured: string;
  readonly met: boolean;
}

/** Rows of cells as a Markdown table; all columns but the first are aligned to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) => Math.max(3, title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(" | ")} |`;
  const rule = widths.map((width, i) => (i === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`));
  return [line(head), `| ${rule.join(" | ")} |`, ...rows.map(line)].join("\n");
}

/** Two tables: speed and cost. In each pair Corestead is first and `other` second. */
export function comparisonTables(comparisons: readonly Comparison[], other = "ceiling"): string {
  const both = ({ corestead, ceiling }: Comparison, of: (side: SideResult) => number, digits: number) => [
    number(of(corestead), digits),
    number(of(ceiling), digits),
  ];
  const label = ({ operation, connections }: Comparison) => [operation, `${connections}`];
  const pair = (name: string) => [name, other];
  const speed = table(
    ["operation", "connections", ...pair("requests/s"), "ratio", ...pair("p50 ms"), ...pair("p99 ms"), "p99 ratio"],
    comparisons.map((one) => [
      ...label(one),
      ...both(one, ({ perSecond }) => perSecond, 0),
      number(one.ratio, 2),
      ...both(one, ({ p50 }) => p50, 2),
      ...both(one, ({ p99 }) => p99, 2),
      number(one.p99Ratio, 2),
    ]),
  );
  const cost = table(
    ["operation", "connections", ...pair("server"), ...pair("PostgreSQL"), ...pair("together"), "ratio"],
    comparisons.map((one) => [
      ...label(one),
      ...both(one, ({ serverCpu }) => serverCpu, 3),
      ...both(one, ({ postgresCpu }) => postgresCpu, 3),
      ...both(one, ({ serverCpu, postgresCpu }) => serverCpu + postgresCpu, 3),
      number(one.cpuRatio, 2),
    ]),
  );
  return `${speed}\n\nProcessor seconds per 1,000 requests:\n\n${cost}`;
}

export function verdictTable(verdicts: readonly Verdict[]): string {
  return table(
    ["target", "measured", ""],
    verdicts.map(({ target, measured, met }) => [target, measured, met ? "met" : "missed"]),
  );
}

/** The verdict on a bound (`at most` or `at least`). */
export function verdict(what: string, value: number, bound: { most: number } | { least: number }, unit = ""): Verdict {
  const suffix = unit === "" ? "" : ` ${unit}`;
  const digits = value < 10 ? 2 : 0;
  const measured = `${number(value, digits)}${suffix}`;
  if ("most" in bound) return { target: `${what}: at most ${bound.most}${suffix}`, measured, met: value <= bound.most };
  return { target: `${what}: at least ${bound.least}${suffix}`, measured, met: value >= bound.least };
}

export function number(value: number, digits: number): string {
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** The day and versions, without names of the machine or its folders. */
export function measuredWith(postgresVersion: string): string {
  const day = new Date().toISOString().slice(0, 10);
  const processors = `${navigator.hardwareConcurrency} processors`;
  const libraries = `Elysia ${dependencies.elysia}, postgres.js ${dependencies.postgres}, PostgreSQL ${postgresVersion}`;
  return `Measured ${day} with Bun ${Bun.version}, ${libraries}, ${processors} shared by client, servers and PostgreSQL.`;
}

export async function versionOf(on: Sql): Promise<string> {
  const [row] = await on<{ serverVersion: string }[]>`show server_version`;
  return row?.serverVersion ?? "";
}

/** Prints a section; with `--write` also puts it into README.md between its markers. */
export async function publish(section: string, text: string, write: boolean): Promise<void> {
  process.stdout.write(`\n${text}\n`);
  if (!write) return;
  const file = join(import.meta.dir, "README.md");
  const readme = await Bun.file(file).text();
  const [begin, end] = [`<!-- ${section}: written by the benchmark -->`, `<!-- end of ${section} -->`];
  const [from, to] = [readme.indexOf(begin), readme.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`README.md has no place for ${section}`);
  await Bun.write(file, `${readme.slice(0, from + begin.length)}\n\n${text}\n\n${readme.slice(to)}`);
}
