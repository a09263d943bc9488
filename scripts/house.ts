/**
 * How heavy the source is, and what of it should become lighter:
 *
 *     bun scripts/house.ts            prints the table; fails if a figure has grown beyond scripts/house.json
 *     bun scripts/house.ts --write    writes today's figures there, which must not be larger
 *
 * Source is what git knows of TypeScript, Svelte and SQL, without tests.
 */
import { dirname, join, resolve } from "node:path";
import { $ } from "bun";
import limits from "./house.json" with { type: "json" };

const operations = "runtime/operations/";
const root = resolve(import.meta.dir, "..");

interface Source {
  readonly path: string;
  readonly text: string;
}

type Figures = Record<keyof typeof limits, number>;

async function sources(): Promise<readonly Source[]> {
  const paths = (await $`git ls-files --cached --others --exclude-standard`.cwd(root).text()).split("\n");
  const shipped = paths.filter((path) => /\.(ts|svelte|sql)$/.test(path) && !/^tests\/|\.test\.ts$/.test(path));
  const read = shipped.map(async (path) => ({ path, text: await Bun.file(join(root, path)).text() }));
  return Promise.all(read);
}

function figuresOf(all: readonly Source[], readme: string): Figures {
  const within = (folder: string) => all.filter(({ path }) => path.startsWith(folder));
  return {
    lines: linesOf(all),
    files: all.length,
    kernelLines: linesOf(within("runtime/").filter(({ path }) => !path.startsWith(operations))),
    operationsLines: linesOf(within(operations)),
    exportedFactories: countOf(all, /^export (?:async )?function create[A-Z]/gm),
    needed: countOf(all, /^(?:export )?(?:interface|type) Needed\b/gm),
    runtimeCircles: circlesOf(within("runtime/")).length,
    readmeWords: readme.split(/\s+/).filter(Boolean).length,
    benchFiles: within("scripts/bench/").length,
  };
}

const linesOf = (some: readonly Source[]) => some.reduce((sum, { text }) => sum + text.split("\n").length - 1, 0);
const countOf = (some: readonly Source[], what: RegExp) =>
  some.reduce((sum, { text }) => sum + (text.match(what)?.length ?? 0), 0);

/** Pairs of folders of runtime/ that import each other, as `events <-> http`. */
function circlesOf(runtime: readonly Source[]): readonly string[] {
  const folderOf = (path: string) => path.split("/")[1]?.replace(/^.*\.\w+$/, "") || "(runtime)";
  const imports = new Set<string>();
  for (const { path, text } of runtime)
    for (const [, name = ""] of text.matchAll(/\bfrom "(\.[^"]+)"/g)) {
      const target = join(dirname(path), name);
      if (target.startsWith("runtime/")) imports.add(`${folderOf(path)} ${folderOf(target)}`);
    }
  const pairs = [...imports].map((one) => one.split(" "));
  return pairs.flatMap(([a = "", b = ""]) => (a < b && imports.has(`${b} ${a}`) ? `${a} <-> ${b}` : []));
}

const all = await sources();
const figures = figuresOf(all, await Bun.file(join(root, "README.md")).text());
const grown: string[] = [];
for (const [name, limit] of Object.entries(limits)) {
  const now = Object.entries(figures).find(([key]) => key === name)?.[1] ?? Number.NaN;
  if (!(now <= limit)) grown.push(name);
  process.stdout.write(`${name.padEnd(20)} ${`${now}`.padStart(8)}  at most ${`${limit}`.padStart(8)}\n`);
}
if (process.argv.includes("--circles"))
  for (const pair of circlesOf(all.filter(({ path }) => path.startsWith("runtime/"))))
    process.stdout.write(`${pair}\n`);
if (grown.length > 0) {
  process.stderr.write(`grown: ${grown.join(", ")}. Take as much away elsewhere.\n`);
  process.exitCode = 1;
} else if (process.argv.includes("--write"))
  await Bun.write(join(import.meta.dir, "house.json"), `${JSON.stringify(figures, null, 2)}\n`);
