/**
 * The weight of the source, which may only fall. `bun run check` fails if a figure is above scripts/house.json.
 *
 *     bun scripts/house.ts              prints the table
 *     bun scripts/house.ts --write      lowers the limits to the present figures, each rounded up by its room
 *     bun scripts/house.ts --circles    prints the pairs of folders of runtime/ that import each other
 *
 * The source is all TypeScript, Svelte and SQL that git knows, without tests.
 */
import { dirname, join, resolve } from "node:path";
import { $ } from "bun";
import limits from "./house.json" with { type: "json" };

type Name = keyof typeof limits;

/**
 * Room: limits are written in these steps, so that a small commit does not fail because another one has just lowered
 * them. Cure: what to do instead of raising a limit.
 */
const measures: Readonly<Record<Name, { readonly room: number; readonly cure: string }>> = {
  lines: { room: 500, cure: "delete what the change makes useless, or as much elsewhere" },
  files: { room: 10, cure: "join files of under 20 lines with the only file that imports them" },
  kernelLines: { room: 250, cure: "what only a plugin needs belongs there; what a library does, to the library" },
  operationsLines: { room: 250, cure: "delete as much in runtime/operations" },
  exportedFactories: { room: 5, cure: "export functions that take a context first; create* is for what has a life" },
  needed: { room: 5, cure: "pass the plugin's one context type instead of another Needed" },
  runtimeCircles: { room: 1, cure: "bun scripts/house.ts --circles names the folders; move what both need" },
  readmeWords: { room: 10, cure: "the README is one page: move details to docs/" },
  benchFiles: { room: 1, cure: "add to one of the benchmarks that are there" },
};
const names = Object.keys(measures).filter((name): name is Name => name in limits);

const operations = "runtime/operations/";
const root = resolve(import.meta.dir, "..");

interface Source {
  readonly path: string;
  readonly text: string;
}

type Figures = Readonly<Record<Name, number>>;

async function sources(): Promise<readonly Source[]> {
  const paths = (await $`git ls-files --cached --others --exclude-standard`.cwd(root).text()).split("\n");
  const shipped = paths.filter((path) => /\.(ts|svelte|sql)$/.test(path) && !/^tests\/|\.test\.ts$/.test(path));
  const read = shipped.map(async (path) => ({ path, file: Bun.file(join(root, path)) }));
  const found = await Promise.all(read);
  // A file that has been deleted is still in git's index until that is committed.
  const texts = found.map(async ({ path, file }) => ((await file.exists()) ? [{ path, text: await file.text() }] : []));
  return (await Promise.all(texts)).flat();
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
for (const name of names)
  process.stdout.write(
    `${name.padEnd(20)} ${`${figures[name]}`.padStart(8)}  at most ${`${limits[name]}`.padStart(8)}\n`,
  );
if (process.argv.includes("--circles"))
  for (const pair of circlesOf(all.filter(({ path }) => path.startsWith("runtime/"))))
    process.stdout.write(`${pair}\n`);
for (const name of names.filter((one) => figures[one] > limits[one])) {
  process.stderr.write(
    `${name} has grown by ${figures[name] - limits[name]}; it may only fall: ${measures[name].cure}.\n`,
  );
  process.exitCode = 1;
}
if (process.argv.includes("--write")) {
  const rounded = (name: Name) => Math.ceil(figures[name] / measures[name].room) * measures[name].room;
  const lowered = Object.fromEntries(names.map((name) => [name, Math.min(limits[name], rounded(name))]));
  await Bun.write(join(import.meta.dir, "house.json"), `${JSON.stringify(lowered, null, 2)}\n`);
}
